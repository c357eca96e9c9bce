"""What interrupts took of traced computations is removed, since the noise of a simulated machine adds it again."""

from __future__ import annotations

import json
import math
import re
import struct
from pathlib import Path

import idlewave
import numpy as np
import numpy.typing as npt
import pytest
from command_runs import run
from idlewave import Machine, Noise, Schedule, Trace, UsageError
from idlewave.detour_file import detours_csv
from idlewave.machine_file.writer import machine_toml
from idlewave.noise_models import NoiseOrigin
from long_cases import most_long
from trace_files import CORE_WAIT, HEADER_BYTES, INIT, SEND, write_threads

NETWORK = 'name = "made"\n[network]\nL = "1us"\no_s = "0ns"\no_r = "0ns"\ng = "0ns"\nG = "0ns"\nO = "0ns"\nS = "inf"\n'
INTERRUPTS, WAITS = (1e-4, 3e-6), (1e-2, 1e-3)
"""The mean CPU time between two detours, and their mean length, s: they take 3 and 10 % as long as the computation."""
NOISE = """
[noise]
kind = "mixture"
host = "node1"
core_wait_share = {waits}
[[noise.source]]
kind = "poisson"
interval = "100us"
length = {{ distribution = "exponential", mean = "3us" }}
[[noise.source]]
kind = "poisson"
interval = "10ms"
length = {{ distribution = "exponential", mean = "1ms" }}
"""
WORK_NS = 50_000
CALLS = 20_000


def noisy_machine(waits: float = 0.1 / 0.13) -> Machine:
    return Machine.from_toml(NETWORK + NOISE.format(waits=waits))


def write_calls(
    folder: Path, rank_gaps: list[list[tuple[int, int]]], host: str = "node1", unknown: tuple[int, ...] = ()
) -> Path:
    """A run whose ranks send to no one, after computations that took so long, in ns, and waited so long for a core. Of
    the ranks `unknown` these waits were not recorded."""
    folder.mkdir()
    for rank, gaps in enumerate(rank_gaps):
        records, now = [struct.pack("<IHHqq", 0, INIT, int(rank not in unknown), 1000, 1000)], 1000
        for ns, waited in gaps:
            if waited and rank not in unknown:
                records.append(struct.pack("<IHHqqqqq", 3, CORE_WAIT, 0, now, now, waited, 0, 0))
            now += ns + waited
            records.append(struct.pack("<IHHqqQ2iq", 3, SEND, 0, now, now, 1, -2, -1, 8))
        header = bytearray(HEADER_BYTES)
        struct.pack_into(
            "<8s4IQ2q2I", header, 0, b"IDLEWTR1", 1, HEADER_BYTES, rank, len(rank_gaps), 1, 1000, now, 1, 0
        )
        struct.pack_into("<64s48s", header, 144, host.encode(), b"Some MPI 1.0")
        (folder / f"rank-{rank:07}.iwtrace").write_bytes(bytes(header) + b"".join(records))
    return folder


def detours(dice: np.random.Generator, source: tuple[float, float]) -> list[int]:
    """By computation of WORK_NS, the time of the random detours in it, in ns."""
    interval, mean = (1e9 * value for value in source)
    return [round(dice.exponential(mean, n).sum()) for n in dice.poisson(WORK_NS / interval, CALLS)]


def deviation(source: tuple[float, float], runs: int = 1) -> float:
    """The standard deviation of the time of the random detours in the mean of so many runs, in ns."""
    interval, mean = (1e9 * value for value in source)
    return mean * math.sqrt(2 * CALLS * WORK_NS / interval / runs)


@pytest.fixture(scope="module")
def noisy_trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two ranks that compute for the same time again and again, with planted noise."""
    dice = np.random.default_rng(11)
    gaps = [
        [(WORK_NS + short, long) for short, long in zip(detours(dice, INTERRUPTS), detours(dice, WAITS), strict=True)]
        for _ in range(2)
    ]
    return write_calls(tmp_path_factory.mktemp("interrupts") / "trace", gaps)


def computed_ns(schedule: Schedule) -> list[int]:
    """Of each rank."""
    return [int(time) // 1000 for time in idlewave.simulate(schedule, Machine.from_toml(NETWORK)).finish]


def test_the_time_without_planted_noise_is_recovered(noisy_trace: Path) -> None:
    share = noisy_machine().interrupts
    assert share == pytest.approx(0.03 / 1.03)
    left_in = computed_ns(Schedule.from_trace(noisy_trace))
    removed = computed_ns(Schedule.from_trace(noisy_trace, interrupts=share))
    for before, after in zip(left_in, removed, strict=True):
        assert before == pytest.approx(1.03 * CALLS * WORK_NS, abs=4 * deviation(INTERRUPTS))
        assert after == pytest.approx(CALLS * WORK_NS, abs=4 * deviation(INTERRUPTS))
        assert abs(before - CALLS * WORK_NS) > 20 * deviation(INTERRUPTS), "what was removed can be seen"


def test_noise_on_the_cleaned_trace_takes_the_recorded_time_in_the_mean(noisy_trace: Path) -> None:
    machine, seeds = noisy_machine(), 30
    recorded = np.mean([sum(r["ns"]) for _, r in Trace.load(noisy_trace).computations("wall").groupby("rank")])
    means = {}
    for share in (0.0, machine.interrupts):
        schedule = Schedule.from_trace(noisy_trace, interrupts=share)
        runs = [idlewave.simulate(schedule, machine, seed=seed).finish for seed in range(seeds)]
        means[share] = float(np.mean(runs)) / 1000
    # That of the simulated runs, and that of the two recorded ranks.
    spread = sum(deviation(source, runs) ** 2 for source in (INTERRUPTS, WAITS) for runs in (2 * seeds, 2)) ** 0.5
    assert means[machine.interrupts] == pytest.approx(recorded, abs=4 * spread)
    assert means[0.0] - recorded == pytest.approx(0.03 * CALLS * WORK_NS * 1.13, abs=4 * spread), "noise counted twice"


def test_none_becomes_less_than_nothing_and_whole_ns_lose_none(tmp_path: Path) -> None:
    trace = write_calls(tmp_path / "trace", [[(1, 0)] * 1000, [(0, 0), (7, 0), (3, 50)] * 100])
    for share in (0.02, 0.5, 0.99):
        found = computed_ns(Schedule.from_trace(trace, interrupts=share))
        assert found == [pytest.approx((1 - share) * 1000, abs=1), pytest.approx((1 - share) * 1000, abs=1)]


def test_a_share_of_computations_that_stay_as_they_were_is_refused(noisy_trace: Path) -> None:
    with pytest.raises(UsageError, match="interrupts has no meaning if gaps is wall"):
        Schedule.from_trace(noisy_trace, gaps="wall", interrupts=0.2)
    for command in (("schedule",), ("simulate", "-m", "odin"), ("study", "-m", "odin")):
        said = run(command[0], str(noisy_trace), *command[1:], "--gaps", "wall", "--interrupts", "0.2")
        assert said.returncode == 2
        assert "interrupts has no meaning if gaps is wall" in said.stderr
    whole = Schedule.from_trace(noisy_trace, gaps="wall").to_goal()
    assert Schedule.from_trace(noisy_trace, gaps="wall", interrupts=0).to_goal() == whole


@pytest.mark.parametrize("share", [-0.1, 1.0, math.nan])
def test_a_share_that_is_none_is_refused(noisy_trace: Path, share: float) -> None:
    with pytest.raises(UsageError, match="interrupts"):
        Schedule.from_trace(noisy_trace, interrupts=share)


def test_which_part_of_its_noise_are_interrupts_is_a_machines_to_say() -> None:
    quiet = Machine.from_toml(NETWORK)
    noise = Noise(np.array([0]), np.array([100]), 1000)
    assert quiet.interrupts == 0
    assert quiet.with_noise(noise).interrupts is None
    assert quiet.with_noise(noise, NoiseOrigin("node1")).interrupts is None
    half = quiet.with_noise(noise, NoiseOrigin("node1", 0.5))
    assert half.interrupts == pytest.approx((0.1 - 0.05) / (1 - 0.05))
    assert quiet.with_noise(noise, NoiseOrigin("node1", 1.0)).interrupts == 0
    assert quiet.with_noise(noise, NoiseOrigin("node1", 0.0)).interrupts == pytest.approx(0.1)
    assert half.with_noise_reaches(["o_s"]).interrupts == 0, "computations have no noise"
    assert half.with_noise(noise).interrupts is None, "other noise"


def test_a_machine_file_says_where_its_noise_was_recorded(tmp_path: Path) -> None:
    machine = noisy_machine(0.25)
    assert machine.noise_origin == NoiseOrigin("node1", 0.25)

    def save(file: str, starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> None:
        (tmp_path / file).write_text(detours_csv(starts, lengths))

    noise = Noise(np.array([5_000_000]), np.array([100_000]), 10_000_000)
    for made in (machine.noise, machine.noise.random[0], noise):  # type: ignore[union-attr]
        for origin in (NoiseOrigin("node1", 0.25), NoiseOrigin("", 1.0), NoiseOrigin("node1"), None):
            file = tmp_path / "machine.toml"
            file.write_text(machine_toml(machine.with_noise(made, origin), save))
            assert Machine.load(file).noise_origin == origin
    with pytest.raises(idlewave.InputError, match=r"core_wait_share: expected a number from 0 to 1"):
        Machine.from_toml(NETWORK + NOISE.format(waits=1.5))


def finish_of(*arguments: str) -> tuple[int, str]:
    said = run("simulate", *arguments, "--json")
    assert said.returncode == 0, said.stderr
    return json.loads(said.stdout)["max_finish_ps"], " ".join(said.stderr.split())


def test_commands_remove_what_the_simulated_noise_of_the_traced_host_adds(noisy_trace: Path, tmp_path: Path) -> None:
    file = tmp_path / "machine.toml"
    file.write_text(NETWORK + NOISE.format(waits=0.1 / 0.13))
    here = (str(noisy_trace), "-m", str(file))
    cleaned, said = finish_of(*here)
    assert "computations: without 2.9 % of their time, which interrupts took" in said
    assert "doubtful" not in said
    assert cleaned == finish_of(*here, "--interrupts", repr(0.03 / 1.03))[0]
    left_in, said = finish_of(*here, "--interrupts", "0")
    assert left_in > cleaned
    assert "interrupts" not in said
    for how in (("--no-noise",), ("--noise-reaches", "o_s"), ("--gaps", "wall")):
        assert finish_of(*here, *how) == (finish_of(*here, *how, "--interrupts", "0")[0], "")
    elsewhere = write_calls(tmp_path / "trace", [[(1000, 0)]] * 2, host="node2")
    assert finish_of(str(elsewhere), "-m", str(file))[1] == ""


def test_noise_under_another_load_than_the_traced_run_is_said_to_be_doubtful(noisy_trace: Path, tmp_path: Path) -> None:
    file = tmp_path / "machine.toml"
    file.write_text(NETWORK + NOISE.format(waits=0.01))
    said = finish_of(str(noisy_trace), "-m", str(file))[1]
    assert re.search(r"cores for \d\.\d % of the time, and for 0\.12 % when the noise was measured: .* doubtful", said)


def test_noise_that_does_not_say_what_waits_were_is_said(noisy_trace: Path, tmp_path: Path) -> None:
    file = tmp_path / "machine.toml"
    file.write_text((NETWORK + NOISE).replace("core_wait_share = {waits}\n", "").replace("{{", "{").replace("}}", "}"))
    found, said = finish_of(str(noisy_trace), "-m", str(file))
    assert "does not say which of its time other tasks had" in said
    assert found == finish_of(str(noisy_trace), "-m", str(file), "--interrupts", "0")[0]


def test_python_has_the_share_and_the_note_of_the_commands(noisy_trace: Path, tmp_path: Path) -> None:
    trace, machine = Trace.load(noisy_trace), noisy_machine()
    share, note = trace.interrupts_on(machine)
    assert share == machine.interrupts
    assert "computations: without" in note
    assert "doubtful" not in note
    assert trace.interrupts_on(machine.with_noise(None)) == (0, "")
    assert trace.interrupts_on(machine.with_noise_reaches(["o_s"])) == (0, "")
    assert trace.interrupts_on(machine.with_noise(machine.noise)) == (0, ""), "noise of no host"
    elsewhere = Trace.load(write_calls(tmp_path / "trace", [[(1000, 0)]] * 2, host="node2"))
    assert elsewhere.interrupts_on(machine) == (0, "")


def test_waits_of_threads_are_held_against_the_time_of_all_threads(tmp_path: Path) -> None:
    step_ns, wait_ns, machine = 1_000_000, 88_500, noisy_machine()  # as the noise of the machine: 0.1 / 1.13
    for threads in (1, 2, 5):
        folder = write_threads(tmp_path / str(threads), threads=threads, steps=50, step_ns=step_ns, wait_ns=wait_ns)
        trace = Trace.load(folder)
        assert trace.processes["threads"].tolist() == [threads]
        assert trace.share_without_core == pytest.approx(wait_ns / step_ns)
        assert trace.time()["seconds"].sum() == pytest.approx((50 + (threads - 1) * 49) * step_ns / 1e9)
        share, note = trace.interrupts_on(machine)
        assert share == machine.interrupts
        assert "doubtful" not in note


@pytest.mark.parametrize("unknown", most_long([(0, 1), (1,)], 1))
def test_nothing_is_removed_where_a_trace_does_not_say_how_long_ranks_waited(
    unknown: tuple[int, ...], tmp_path: Path
) -> None:
    folder = write_calls(tmp_path / "trace", [[(90_000, 10_000)] * 100] * 2, unknown=unknown)
    file = tmp_path / "machine.toml"
    for waits in (0.1 / 0.13, 1.0):
        file.write_text(NETWORK + NOISE.format(waits=waits))
        found, said = finish_of(str(folder), "-m", str(file))
        assert "the trace does not say how long its ranks waited for a core" in said
        assert "% of the" not in said, "no share is claimed"
        assert found == finish_of(str(folder), "-m", str(file), "--interrupts", "0")[0]
        assert Trace.load(folder).interrupts_on(Machine.load(file)).share == 0
