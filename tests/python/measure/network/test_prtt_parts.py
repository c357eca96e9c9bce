"""PRTT that was measured in parts, between the epochs of patterns, and at several speeds of the machine."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from collective_recordings import recorded as record_collectives
from emulated_samples import emulate
from idlewave.measure import assess_pair
from idlewave.measure.network import assessment
from idlewave.measure.network.files.network_files import load_network, save_network
from idlewave.measure.network.files.network_recording import described, read_measurement
from idlewave.measure.network.fitting.machine_speeds import at_speed
from idlewave.measure.network.job.patterns import PatternMeasurement, read_patterns
from idlewave.measure.network.probing.network_run import NetworkProbe
from idlewave.measure.network.transports import Transport
from known_networks import RENDEZVOUS
from pattern_recordings import recorded
from tracer_support import open_mpi

NETWORK = RENDEZVOUS["infiniband"]
FAST_NS, SLOW_NS = 500.0, 1000.0
REPETITIONS = 10


def record(folder: Path, seed: int, pilot_ns: float = FAST_NS, slower: float = 1.0, **changes: object) -> Path:
    """A part as the probe leaves it, on a machine whose calls all take `slower` times as long."""
    folder.mkdir(parents=True)
    samples = emulate(NETWORK, seed=seed, repetitions=REPETITIONS, new_series=True)
    pilots = pilot_ns * np.random.default_rng(seed).normal(1, 0.01, len(samples))
    times = {name: samples[name] * slower for name in ("value_ns", "delay_ns")}
    samples.assign(
        **times, start_ns=np.arange(len(samples)), disturbed=0, pilot_before_ns=pilots, pilot_after_ns=pilots
    ).to_csv(folder / "samples.csv", index=False)
    said = {"probe": "loggp", **described(Transport()), "ended": "seconds", "complete": True, "core_sizes": [1, 64]}
    said |= {"breaks": [257], "blocking_from": [12_289], "lost": 0, "samples": len(samples)}
    (folder / "loggp.json").write_text(json.dumps(said | changes))
    return folder


def test_parts_are_one_recording_with_repetitions_and_times_one_after_another(tmp_path: Path) -> None:
    raw = record(tmp_path / "raw", seed=1)
    for part in (2, 10):
        record(raw / f"part-{part}", seed=part)
    found = read_measurement(raw)
    assert found.samples["repetition"].nunique() == 3 * REPETITIONS
    assert found.samples["start_ns"].is_monotonic_increasing
    assert found.probe["samples"] == len(found.samples)
    assert found.fit.S == 12_288


def test_a_part_that_was_interrupted_is_said(tmp_path: Path) -> None:
    raw = record(tmp_path / "raw", seed=1)
    record(raw / "part-2", seed=2, ended="interrupted", complete=False)
    assert any("The measurement was interrupted" in note for note in read_measurement(raw).notes)


def test_the_fit_is_of_the_samples_at_the_speed_of_the_patterns(tmp_path: Path) -> None:
    raw = record(tmp_path / "raw", seed=1)
    record(raw / "part-2", seed=2, pilot_ns=SLOW_NS, slower=2)
    record(raw / "part-3", seed=3, pilot_ns=SLOW_NS, slower=2)
    ways = [read_measurement(raw, pilot_ns=ns).fit.medians["median_ps"].iloc[0] for ns in (0.9 * FAST_NS, SLOW_NS)]
    assert ways[1] == pytest.approx(2 * ways[0], rel=0.02)
    usual = read_measurement(raw)
    assert usual.fit.medians["median_ps"].iloc[0] == ways[1]
    assert any("2 speeds while PRTT was measured" in note for note in usual.notes)
    save_network(tmp_path / "m", usual, "m")
    pd.testing.assert_frame_equal(load_network(tmp_path / "m").samples, usual.samples)


def test_samples_of_one_speed_or_without_pilots_or_too_few_are_all_left(tmp_path: Path) -> None:
    samples = read_measurement(record(tmp_path / "raw", seed=1)).samples
    for one in (samples, samples.drop(columns=["pilot_before_ns", "pilot_after_ns"])):
        assert at_speed(one) == (one, ())
    few = pd.concat([samples, samples.head(len(samples) // 8).assign(pilot_before_ns=SLOW_NS, pilot_after_ns=SLOW_NS)])
    kept, notes = at_speed(few, SLOW_NS)
    assert len(kept) == len(few)
    assert "too few samples at the speed" in notes[0]


def test_a_part_of_prtt_precedes_each_epoch_of_patterns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    asked: dict[str, object] = {}

    def runs(
        _probe: object, raw: Path, seconds: float, seed: int, _progress: object, sizes: tuple[int, ...] = ()
    ) -> None:
        order.append(f"{raw.name}, {seconds} s, {list(sizes)}")
        record(raw, seed)

    def patterns(*_: object, **options: object) -> PatternMeasurement:
        asked.update(options)
        for epoch in (1, 2, 3):
            asked["before"](epoch)  # type: ignore[operator]
            order.append(f"epoch {epoch}")
        recorded(tmp_path / "recorded")
        return read_patterns(tmp_path / "recorded")

    monkeypatch.setattr(NetworkProbe, "of", classmethod(lambda cls, *_, **__: cls(None, (), {})))
    monkeypatch.setattr(NetworkProbe, "record", runs)

    def collectives(_job: object, _size: int, _seed: int, raw: Path, _progress: object) -> None:
        order.append(f"collectives, {raw.name}")
        record_collectives(raw)

    monkeypatch.setattr(assessment, "measure_patterns", patterns)
    monkeypatch.setattr(assessment, "record_collectives", collectives)
    assess_pair(seconds=4, folder=tmp_path / "raw")
    assert order == [
        "network-1, 2.0 s, []",
        "collectives, epoch-1",
        "epoch 1",
        "part-2, 1.0 s, [1, 64]",
        "collectives, epoch-2",
        "epoch 2",
        "part-3, 1.0 s, [1, 64]",
        "collectives, epoch-3",
        "epoch 3",
    ]
    assert asked["changes"] == [257, 12_289]
    assert asked["lateness"].ns > 0  # type: ignore[attr-defined]


@pytest.mark.alone
@pytest.mark.mpi
def test_a_measurement_has_parts_of_the_same_sizes_and_pilots(tmp_path: Path) -> None:
    found = assess_pair(open_mpi(), seconds=1.5, pattern_seconds=0.4, epochs=2, max_size=256, folder=tmp_path)
    raw = tmp_path / "network-1"
    chosen = json.loads((raw / "loggp.json").read_text())["core_sizes"]
    part = pd.read_csv(raw / "part-2" / "samples.csv")
    assert set(part["size"]) - {0} <= set(chosen)
    assert (found.samples[["pilot_before_ns", "pilot_after_ns"]] > 0).all(axis=None)
    assert found.patterns is not None
    assert found.pattern_samples is not None
    assert set(found.pattern_samples["epoch"]) == {1, 2}  # the machine may have another speed in each
