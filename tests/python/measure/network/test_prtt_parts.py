"""PRTT that was measured in parts, between the epochs of patterns, and at several speeds of the machine."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from collective_recordings import recorded as record_collectives
from idlewave.errors import MeasurementError
from idlewave.measure import assess_pair
from idlewave.measure.network import assessment_run
from idlewave.measure.network.assessment import changes_of, read_assessment
from idlewave.measure.network.files.network_files import load_network, save_network
from idlewave.measure.network.files.network_recording import read_measurement
from idlewave.measure.network.fitting.machine_speeds import at_speed
from idlewave.measure.network.job.collectives import read_collectives
from idlewave.measure.network.job.patterns import findings, read_patterns
from idlewave.measure.network.probing.job_run import JobProbe
from idlewave.measurement_parameters import PATTERN_SECONDS
from pattern_recordings import recorded
from prtt_recordings import FAST_NS, REPETITIONS, SLOW_NS, record
from tracer_support import open_mpi


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


def test_each_epoch_is_one_start_for_a_part_of_prtt_collectives_and_patterns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts: list[dict[str, dict[str, str]]] = []
    seconds: list[float] = []

    def epoch(job: JobProbe, parts: dict[str, list[str]], _progress: object, _title: str) -> None:
        seconds.append(job.seconds)
        starts.append({name: dict(zip(own[::2], own[1::2], strict=True)) for name, own in parts.items()})
        folders = {name: Path(options["--output"]) for name, options in starts[-1].items()}
        record(folders["loggp"], seed=len(starts))
        record_collectives(folders["collectives"])
        recorded(folders["patterns"], changes=[257, 12_289], late_ns=1500.0, late_ns_per_byte=0.25)

    monkeypatch.setattr(assessment_run, "run_epoch", epoch)
    assess_pair(open_mpi(), seconds=4, folder=tmp_path / "raw")
    patterns = PATTERN_SECONDS.default / 3  # and four tenths of that for collectives
    assert seconds == pytest.approx([2.0 + 1.4 * patterns, *2 * [1.0 + 1.4 * patterns]])
    assert [list(start) for start in starts] == 3 * [["loggp", "collectives", "patterns"]]
    outputs = [{name: Path(own["--output"]).relative_to(tmp_path / "raw") for name, own in s.items()} for s in starts]
    assert [str(of["loggp"]) for of in outputs] == ["network-1", "network-1/part-2", "network-1/part-3"]
    assert [str(of["patterns"]) for of in outputs] == [f"patterns/epoch-{number}" for number in (1, 2, 3)]
    assert [start["loggp"]["--seconds"] for start in starts] == ["2.0", "1.0", "1.0"]
    assert [start["loggp"].get("--sizes") for start in starts] == [None, "1,64", "1,64"]
    assert [start["patterns"].get("--changes") for start in starts] == [None, "257,12289", "257,12289"]
    assert [start["patterns"].get("--late") for start in starts] == [None, "1500.0", "1500.0"]
    assert len({start["patterns"]["--seed"] for start in starts}) == 3


def test_patterns_give_a_machine_where_no_repetitions_of_prtt_ran_alike(tmp_path: Path) -> None:
    raw = record(tmp_path / "raw", seed=1)
    for epoch in (1, 2):
        recorded(tmp_path / "patterns" / f"epoch-{epoch}")
    patterns = read_patterns(tmp_path / "patterns")
    samples = pd.read_csv(raw / "samples.csv")
    samples["value_ns"] *= 1.5 ** samples["repetition"]
    samples.to_csv(raw / "samples.csv", index=False)
    with pytest.raises(MeasurementError, match="ran alike"):
        read_measurement(raw)
    found = read_assessment(raw, patterns)
    assert found.notes[0].startswith("Of the 10 repetitions of PRTT too few ran alike")
    assert found.patterns is not None
    assert found.patterns.ranges[-1].intervals.keys() == found.patterns.ranges[0].intervals.keys()
    # Of five rows: which fit is found depends on the processor's kernels of linear algebra.
    assert found.patterns.table["error"].abs().median() < 0.1
    save_network(tmp_path / "m", found, "m")
    assert load_network(tmp_path / "m").notes == found.notes


@pytest.mark.parametrize(("reference_ns", "speed"), [(670, 0), (1100, 1)])
def test_the_speed_of_the_machine_is_one_at_which_collectives_were_measured_too(
    tmp_path: Path, reference_ns: int, speed: int
) -> None:
    raw = record(tmp_path / "raw", seed=1)
    recorded(tmp_path / "patterns")
    record_collectives(tmp_path / "collectives")
    patterns, collectives = read_patterns(tmp_path / "patterns"), read_collectives(tmp_path / "collectives")
    patterns.samples[["reference_before_ns", "reference_after_ns"]] = 670
    patterns.samples.loc[patterns.samples["at_ns"] > 2 * 10**6, ["reference_before_ns", "reference_after_ns"]] = 1100
    collectives.samples[["reference_before_ns", "reference_after_ns"]] = reference_ns
    found = read_assessment(raw, patterns, collectives=collectives)
    assert found.patterns is not None
    assert found.patterns.speed == speed
    assert found.collectives is not None
    assert not any("Collectives were measured at another speed" in note for note in found.collectives.notes)


@pytest.mark.parametrize("reference_ns", [None, 670])
def test_the_speeds_of_patterns_are_in_the_file_of_the_network(tmp_path: Path, reference_ns: int | None) -> None:
    raw = record(tmp_path / "raw", seed=1)
    recorded(tmp_path / "patterns")
    patterns = read_patterns(tmp_path / "patterns")
    if reference_ns is not None:
        patterns.samples[["reference_before_ns", "reference_after_ns"]] = reference_ns
    found = read_assessment(raw, patterns)
    save_network(tmp_path / "m", found, "m")
    read = load_network(tmp_path / "m").patterns
    assert found.patterns is not None
    assert read is not None
    assert read.speeds.to_dict("list") == {
        "pilot_ns": [pytest.approx(200)],
        "share": [1.0],
        "reference_ns": [reference_ns],
    }
    pd.testing.assert_frame_equal(read.speeds, found.patterns.speeds, check_dtype=False)


def test_prtt_is_fitted_to_all_repetitions_where_those_that_ran_alike_have_no_small_messages(tmp_path: Path) -> None:
    """Two whole repetitions and four of one size ran alike, four whole ones unlike any other."""
    raw = record(tmp_path / "raw", seed=1)
    samples = pd.read_csv(raw / "samples.csv")
    repetition, largest = samples["repetition"], samples["size"] == samples["size"].max()
    samples["value_ns"] *= (1.5 ** (repetition - 5)).where(repetition >= 6, 1)
    samples[largest | ~repetition.between(2, 5)].to_csv(raw / "samples.csv", index=False)
    with pytest.raises(MeasurementError, match="message sizes"):
        read_measurement(raw)
    fit = read_measurement(raw, failed_fit="noted").fit
    assert fit.medians["size"].min() == 1
    assert fit.failures[0].startswith("Of the 10 repetitions of PRTT too few ran alike")
    assert not fit.ran_alike


def test_a_jump_of_prtt_is_a_change_of_protocol_only_where_its_repetitions_ran_alike(tmp_path: Path) -> None:
    """Sizes that were measured later may have run at another speed than those beside them."""
    fit = read_measurement(record(tmp_path / "raw", seed=1)).fit
    jump = replace(fit.ranges[1], first=301, cause="jump", onset=(301, 301))
    alike = replace(fit, ranges=(fit.ranges[0], jump, fit.ranges[1]))
    assert changes_of(alike) == [301, 12_289]
    assert changes_of(replace(alike, steady=4)) == [12_289]


@pytest.mark.alone
@pytest.mark.mpi
@pytest.mark.long
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
    late = [findings(tmp_path / "patterns" / f"epoch-{number}") for number in (1, 2)]
    assert late[0] == late[1]
    trips = found.samples[(found.samples["series"] == "rtt") & (found.samples["size"] == 1)]
    medians = trips.groupby("repetition")["value_ns"].median()  # the machine may change its speed between repetitions
    assert medians.min() / 1.5 <= late[0][1].ns / 2 <= medians.max() * 1.5
