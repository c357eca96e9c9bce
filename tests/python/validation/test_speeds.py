"""Runs are compared with the machine at their own speed."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from idlewave.machine import Level, Machine, Parameters
from idlewave.measure import describe, write_machine
from idlewave.measure.network.assessment import read_assessment
from idlewave.measure.noise import summarise
from idlewave.validation import LoopRun, Network
from idlewave.validation import loop_validation as loops_of
from idlewave.validation.loops import simulated_ps
from idlewave.validation.rows import Progress, table_of
from idlewave.validation.speeds import machines_at_speeds, nearest
from noise_recordings import detour_summary
from pattern_recordings import measured
from prtt_recordings import record

FAST = Machine("fast", Level(Parameters(L=50_000, o_s=30_000, o_r=40_000, g=30_000)))
SLOW = Machine("slow", Level(Parameters(L=200_000, o_s=50_000, o_r=90_000, g=80_000)))
FAST_NS, SLOW_NS = 240, 680
DETOURS = pd.DataFrame({"core": [0], "start_ps": [1_234], "length_ps": [10]})


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A machine that was slow for two of three epochs."""
    folder = tmp_path_factory.mktemp("speeds") / "machine"
    patterns = measured(folder / "raw/patterns", [(FAST, FAST_NS), (SLOW, SLOW_NS), (SLOW, SLOW_NS)])
    network = read_assessment(record(folder / "raw/network-1", seed=1), patterns)
    write_machine(folder, summarise(DETOURS, [detour_summary(0, 1.0)], describe()), network, "two speeds")
    return str(folder)


@pytest.mark.long
def test_a_machine_has_its_file_and_what_its_recording_gives_at_its_other_speed(machine: str) -> None:
    own, other = machines_at_speeds([machine])
    assert own.machine == Machine.named(machine)
    assert [own.pilot_ns, other.pilot_ns] == pytest.approx([SLOW_NS, FAST_NS], rel=0.02)
    for found, truth in ((own, SLOW), (other, FAST)):
        ways = [simulated_ps(m.with_noise(None), 2, "latency", 64) for m in (found.machine, truth)]
        assert ways[0] == pytest.approx(ways[1], rel=0.05)


@pytest.mark.long
def test_of_two_machines_at_one_speed_the_first_counts(machine: str) -> None:
    assert [m.pilot_ns for m in machines_at_speeds([machine, machine])] == [
        m.pilot_ns for m in machines_at_speeds([machine])
    ]
    assert len(machines_at_speeds(["odin", "bigred"])) == 2, "of presets no speed is known"


def test_a_run_is_simulated_at_the_speed_nearest_to_its_own(machine: str) -> None:
    preset, own, other = machines_at_speeds(["odin", machine])
    assert nearest([own, other], 250.0) is other
    assert nearest([own, other], 2000.0) is own
    assert nearest([own, other], math.nan) is own
    assert nearest([preset], 250.0) is preset
    assert math.isnan(preset.pilot_ns)


def samples_at(pilots_ns: dict[float, float]) -> pd.DataFrame:
    """Three samples of a ping-pong of one byte at each of these speeds, and how long it takes there, ns."""
    rows = [("latency", 1, pilot, pilot, 1000 * time) for pilot, time in pilots_ns.items() for _ in range(3)]
    return pd.DataFrame(rows, columns=["loop", "size", "pilot_before_ns", "pilot_after_ns", "time_ps"])


def test_samples_of_loops_count_at_the_speed_of_a_machine(machine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A third of them is at no speed of the machine."""
    answer: Callable[..., pd.DataFrame] = lambda *_: samples_at({FAST_NS: 230.0, SLOW_NS: 700.0, 1500.0: 1500.0})  # noqa: E731
    monkeypatch.setattr(loops_of, "find_mpi", lambda _: None)
    monkeypatch.setattr(loops_of, "run_loops", answer)
    progress = Progress(lambda _: None, lambda _: None)
    network = Network("net", (machine,), ("mpiexec",))
    loops_of.validate_loops(LoopRun(("latency",)), [network], {"net": machines_at_speeds([machine])}, 2, progress)
    table = table_of(progress.rows)
    assert table["machine_round_trip_ns"].tolist() == pytest.approx([SLOW_NS, FAST_NS], rel=0.02)
    assert table["measured_s"].tolist() == pytest.approx([700e-9, 230e-9])
    assert table["runs"].tolist() == [2, 2]
    assert table["share_at_speed"].tolist() == pytest.approx([1 / 3, 1 / 3])
    assert np.abs(table["error"]).max() < 0.1
