"""Computations of a trace by call site, and schedules in which they are drawn or scaled."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path

import idlewave
import numpy as np
import pytest
from command_runs import run
from idlewave import Schedule, Trace, UsageError, traced_run
from idlewave.pattern_options import Gaps
from long_cases import most_long
from trace_files import Message, write_messages, write_trace
from tracer_support import command_of, mpich, open_mpi, program

CALLS = 1200


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A loop of two messages: before the small ones computations of 1 to 2 µs, before the large ones of 50 to 90 µs."""
    dice = np.random.default_rng(7)
    times = [int(dice.integers(1000, 2000) if i % 2 == 0 else dice.integers(50_000, 90_000)) for i in range(CALLS)]
    messages = [Message(ns, 3, 8 if i % 2 == 0 else 4096) for i, ns in enumerate(times)]
    return write_messages(tmp_path_factory.mktemp("computations") / "trace", messages)


def computed(schedule: Schedule) -> list[list[int]]:
    """The computations of each rank, ns."""
    ranks = re.split(r"^rank \d+ ", schedule.to_goal(), flags=re.MULTILINE)[1:]
    return [[int(ns) for ns in re.findall(r"calc (\d+)", rank)] for rank in ranks]


def finish(schedule: Schedule) -> int:
    return idlewave.simulate(schedule, idlewave.Machine.preset("odin")).max_finish


def test_the_table_has_the_distribution_of_each_site(trace: Path) -> None:
    rows = Trace.load(trace).computations()
    assert len(rows) == 2 * CALLS
    sites = Trace.load(trace).computation_sites()
    assert sites["count"].sum() == len(rows)
    assert sites["share"].sum() == pytest.approx(1)
    assert sites["total_s"].is_monotonic_decreasing
    for _, site in sites.iterrows():
        own = np.sort(rows.loc[rows["site"] == site["site"], "ns"].to_numpy())
        assert site["count"] == len(own)
        assert site["total_s"] == pytest.approx(own.sum() / 1e9)
        assert (site["min_ns"], site["max_ns"]) == (own[0], own[-1])
        assert site["median_ns"] == own[len(own) // 2]
        assert site["q05_ns"] == own[int(0.05 * len(own))]
    large = sites.iloc[0]
    assert large["call"] in ("MPI_Send", "MPI_Recv")
    assert (large["most_bytes"], large["ranks"]) == (4096, 1)
    assert 50_000 <= large["min_ns"] < large["max_ns"] < 90_000, "the small ones are another site"


def test_by_rank_each_rank_of_a_site_has_a_row(tmp_path: Path) -> None:
    trace = Trace.load(write_trace(tmp_path / "trace", hosts=("a", "b", "c")))
    together, apart = trace.computation_sites(), trace.computation_sites(by_rank=True)
    assert together["ranks"].tolist() == [3] * len(together)
    assert len(apart) == 3 * len(together)
    assert apart.groupby("site")["count"].sum().to_dict() == together.set_index("site")["count"].to_dict()
    assert sorted(apart["rank"].unique()) == [0, 1, 2]


def test_waits_for_a_core_are_in_the_table_only_if_they_are_wanted(tmp_path: Path) -> None:
    trace = Trace.load(write_trace(tmp_path / "trace", waits=[(3000, 0), (10**9, 700), (0, 0)]))
    for gaps, expected in (("own", 2 * (1900 + 4900)), ("wall", 2 * 3 * 4900)):
        rows = trace.computations(gaps)  # type: ignore[arg-type]
        schedule = Schedule.from_trace(trace, gaps=gaps)  # type: ignore[arg-type]
        assert rows["ns"].sum() == expected == sum(map(sum, computed(schedule)))
    with pytest.raises(UsageError, match="no gaps is called 'net'"):
        trace.computations("net")  # type: ignore[arg-type]


def test_a_wait_that_cannot_be_is_refused_in_the_table_as_in_a_schedule(tmp_path: Path) -> None:
    trace = Trace.load(write_trace(tmp_path / "trace", waits=[(2**62, 0), (0, 0), (0, 0)]))
    refused = r"rank 0, call 1 of 4 .* expected a time from 0 to 36 years, found 4611686018427387904 ns"
    for read in (Trace.computations, Trace.computation_sites, Schedule.from_trace):
        with pytest.raises(idlewave.InputError, match=refused):
            read(trace)


def test_the_default_is_as_recorded(trace: Path) -> None:
    schedule = Schedule.from_trace(trace)
    rows = Trace.load(trace).computations()
    assert computed(schedule) == [rows.loc[rows["rank"] == rank, "ns"].tolist() for rank in (0, 1)]
    same = Schedule.from_trace(trace, computation_times="recorded", computation_seed=0, scale_computation="")
    assert same.to_goal() == schedule.to_goal()
    assert Schedule.from_trace(trace, scale_computation="1").to_goal() == schedule.to_goal()
    assert same.identity() == schedule.identity()


def test_drawn_computations_have_the_distribution_of_their_site_and_rank(trace: Path) -> None:
    rows = Trace.load(trace).computations()
    drawn = computed(Schedule.from_trace(trace, computation_times="drawn", computation_seed=3))
    for rank in (0, 1):
        own = rows[rows["rank"] == rank].reset_index(drop=True)
        found = defaultdict(list)
        for site, ns in zip(own["site"], drawn[rank], strict=True):
            found[site].append(ns)
        for site, values in found.items():
            recorded = np.sort(own.loc[own["site"] == site, "ns"].to_numpy())
            assert set(values) <= set(recorded.tolist())
            # Kolmogorov and Smirnov: with n draws the distance exceeds 1.95 / sqrt(n) once in a thousand times.
            at = np.searchsorted(np.sort(values), recorded, side="right") / len(values)
            distance = np.abs(at - np.arange(1, len(recorded) + 1) / len(recorded)).max()
            assert distance < 1.95 / np.sqrt(len(values))
        large = [ns for ns in drawn[rank] if ns >= 50_000]
        assert len(set(large)) < len(large), "drawn with replacement"


def test_the_seed_decides_in_python_and_in_each_command(trace: Path, tmp_path: Path) -> None:
    goal = {
        seed: Schedule.from_trace(trace, computation_times="drawn", computation_seed=seed).to_goal() for seed in (0, 8)
    }
    assert goal[0] != goal[8]
    assert goal[0] == Schedule.from_trace(trace, computation_times="drawn").to_goal()
    drawn = ("--computation-times", "drawn", "--computation-seed", "8")
    file = tmp_path / "drawn.goal"
    assert run("schedule", str(trace), *drawn, "-o", str(file)).returncode == 0
    assert Schedule.load(file).to_goal() == goal[8]
    expected = finish(Schedule.from_goal(goal[8]))
    for threads in ("1", "2"):
        how = ("--scheduler", "yawns", "--threads", threads, "--json")
        said = run("simulate", str(trace), "-m", "odin", *drawn, *how)
        assert said.returncode == 0, said.stderr
        assert json.loads(said.stdout)["max_finish_ps"] == expected


def test_a_seed_without_drawn_computations_is_refused(trace: Path) -> None:
    with pytest.raises(UsageError, match="computation_seed has no meaning unless computation_times is drawn"):
        Schedule.from_trace(trace, computation_seed=8)
    for seed in ("0", "8"):
        for command in (("schedule",), ("simulate", "-m", "odin"), ("study", "-m", "odin")):
            said = run(command[0], str(trace), *command[1:], "--computation-seed", seed)
            assert said.returncode == 2
            assert "computation_seed has no meaning unless computation_times is drawn" in said.stderr


def test_a_factor_scales_all_computation(trace: Path) -> None:
    recorded = [sum(rank) for rank in computed(Schedule.from_trace(trace))]
    for text, factor in (("0.5", 0.5), ("3", 3), ("0.0137", 0.0137)):
        scaled = [sum(rank) for rank in computed(Schedule.from_trace(trace, scale_computation=text))]
        assert scaled == [pytest.approx(factor * ns, abs=1) for ns in recorded]


def test_a_site_has_a_factor_of_its_own(trace: Path) -> None:
    rows = Trace.load(trace).computations()
    site = Trace.load(trace).computation_sites().iloc[0]["site"]
    of_site = int(rows.loc[rows["site"] == site, "ns"].sum())
    scaled = computed(Schedule.from_trace(trace, scale_computation=f"2,{site}=10,level:none=3"))
    assert sum(map(sum, scaled)) == 3 * (int(rows["ns"].sum()) - of_site) + 10 * of_site


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0", "expected a factor from"),
        ("-1", "expected a factor from"),
        ("nan", "expected a factor from"),
        ("1e7", "expected a factor from"),
        ("=2", "expected a factor from"),
        ("fast=2", "found 'fast'"),
        ("level:x=2", "found 'level:x'"),
        ("level:99999999999=2", "found 'level:99999999999'"),
        ("level:4294967297=2", "found 'level:4294967297'"),
        ("2,3", "two factors for all computations"),
        ("level:1=2,level:1=3", "two factors for 'level:1'"),
        ("level:1=2,level:01=3", "two factors for 'level:01'"),
        (None, "found 'None'"),
    ],
)
def test_a_factor_that_is_none_is_refused(trace: Path, text: object, said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        Schedule.from_trace(trace, scale_computation=text)


def test_a_phase_or_site_that_the_trace_lacks_is_refused(trace: Path) -> None:
    with pytest.raises(
        idlewave.InputError, match=r"phase level:1: expected a level of its MPI_Pcontrol, of level:none"
    ):
        Schedule.from_trace(trace, scale_computation="level:1=2")
    with pytest.raises(idlewave.InputError, match=r"no call that is used has the site 0123456789"):
        Schedule.from_trace(trace, scale_computation="0123456789=2")


def test_how_it_was_made_is_in_the_provenance(trace: Path) -> None:
    made = Schedule.from_trace(trace, computation_times="drawn", computation_seed=4, scale_computation="0.5")
    options = made.provenance.options
    assert {name: options[name] for name in ("computation_times", "computation_seed", "scale_computation")} == {
        "computation_times": "drawn",
        "computation_seed": 4,
        "scale_computation": "0.5",
    }
    assert made.identity() != Schedule.from_trace(trace).identity()


def test_positions_in_a_cycle_have_distributions_of_their_own_and_are_drawn_in_order(tmp_path: Path) -> None:
    times = [(2_700_000, 400_000, 100_000)[i % 3] + 11 * i for i in range(300)]
    folder = write_messages(tmp_path / "trace", [Message(ns, 3, 8) for ns in times])
    sites = Trace.load(folder).computation_sites()
    loop = sites[sites["count"] >= 90]
    assert loop["cycle_length"].tolist() == [3] * 6, "of sends and of receives"
    assert (loop["max_ns"] < loop["min_ns"] + 5000).all()
    rows = Trace.load(folder).computations()
    drawn = computed(Schedule.from_trace(folder, computation_times="drawn"))[0]
    own = rows[rows["rank"] == 0].reset_index(drop=True)
    for i, ns in enumerate(drawn):
        same = own[(own["site"] == own["site"][i]) & (own["position"] == own["position"][i])]["ns"]
        assert ns in set(same)
        assert abs(ns - times[i]) < 5000, "the same place of the loop"


@pytest.mark.mpi
@pytest.mark.slow
@pytest.mark.parametrize("what", most_long(["ping_pongs", "awaits", "in_turn"], 1))
@pytest.mark.parametrize("gaps", most_long(["own", "wall"], 1))
def test_the_threads_of_a_schedule_compute_as_long_as_those_of_the_table(tmp_path: Path, what: str, gaps: Gaps) -> None:
    use = open_mpi()
    traced_run.trace(command_of(use, 2, program(use, "thread_calls"), what, 20), tmp_path / "trace")
    trace = Trace.load(tmp_path / "trace")
    assert (trace.processes["threads"] > 1).all()
    rows = trace.computations(gaps)
    scheduled = [sum(rank) for rank in computed(Schedule.from_trace(trace, gaps=gaps))]
    # The ranks do not leave MPI_Init at one time: the later one begins with a computation that no call ends.
    late = np.array(scheduled) - rows.groupby("rank")["ns"].sum().to_numpy()
    left_init = trace.processes["init_end_ns"].to_numpy()
    assert late.min() == 0
    assert late.max() == pytest.approx(np.ptp(left_init + trace.processes["clock_offset_ns"].to_numpy()), abs=1000)


@pytest.mark.mpi
@pytest.mark.slow
@pytest.mark.parametrize("vendor", ["Open MPI", "MPICH"])
def test_a_phase_of_a_traced_program_has_a_factor_of_its_own(tmp_path: Path, vendor: str) -> None:
    use = open_mpi() if vendor == "Open MPI" else mpich()
    traced_run.trace(command_of(use, 2, program(use, "phases"), 50), tmp_path / "trace")
    sites = Trace.load(tmp_path / "trace").computation_sites()
    by_phase = {level: round(1e9 * of["total_s"].sum()) for level, of in sites.groupby(sites["level"].fillna(-1))}
    assert sorted(by_phase) == [-1, 0, 1], "before MPI_Pcontrol(1), until MPI_Pcontrol(0), and after it"
    schedule = Schedule.from_trace(tmp_path / "trace", scale_computation="2,level:1=100,level:none=7")
    expected = 7 * by_phase[-1] + 100 * by_phase[1] + 2 * by_phase[0]
    # The ranks do not leave MPI_Init at one time: the later one begins with a computation that is no one's.
    late = sum(map(sum, computed(Schedule.from_trace(tmp_path / "trace")))) - sum(by_phase.values())
    assert sum(map(sum, computed(schedule))) - late == pytest.approx(expected, abs=2)
    with pytest.raises(idlewave.InputError, match=r"phase level:2: expected .* of level:none, level:0, level:1"):
        Schedule.from_trace(tmp_path / "trace", scale_computation="level:2=3")
