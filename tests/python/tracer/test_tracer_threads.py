"""Programs whose threads call MPI at a time are traced, and simulated with each thread's calls in its own order."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import idlewave
import pytest
from idlewave import Level, Machine, Parameters, Schedule, mpi
from idlewave.errors import InputError
from long_cases import most_long
from places import PROGRAMS
from trace_reader import RankFile, Record
from tracer_support import compiled, mpich, open_mpi, program, trace_of

pytestmark = [pytest.mark.mpi, pytest.mark.slow]

THREADS = 4
MPIS = pytest.mark.parametrize("find", most_long([mpich, open_mpi], 1))

LATENCY = 10**12
"""1 s, in ps: beside it the computation of the programs, some ms, is nothing."""
SLOW = Machine("slow", Level(Parameters(L=LATENCY, o_s=0, o_r=0, g=0, G=0.0)))


def traced(folder: Path, use: mpi.Mpi, what: str, rounds: int) -> list[RankFile]:
    return trace_of(folder / "trace", use, 2, program(use, "thread_calls"), what, rounds)


def latencies(folder: Path) -> float:
    """How many latencies the traced program takes, one after the other."""
    timeline = idlewave.simulate(Schedule.from_trace(folder / "trace"), SLOW)
    return timeline.max_finish / LATENCY


def by_thread(rank: RankFile) -> dict[int, list[Record]]:
    found: dict[int, list[Record]] = {}
    for record in rank.records:
        found.setdefault(record.thread, []).append(record)
    return found


@MPIS
def test_each_call_has_its_thread(tmp_path: Path, find) -> None:
    rounds = 20
    for rank in traced(tmp_path, find(), "ping_pongs", rounds):
        assert rank.header["thread_level"] == 3
        threads = by_thread(rank)
        assert {"Init", "CommDef", "Finalize"} == {r.name for r in threads.pop(0)} - {"Polls", "Tracer"}
        calls = sorted(Counter(r.name for r in records)["Send"] for records in threads.values())
        assert calls == [rounds * (i + 1) for i in range(THREADS)]
        for records in threads.values():
            assert len({(r.words[0], r.pair(1)) for r in records}) == 1
            assert all(later.begin >= earlier.end for earlier, later in pairwise(records))


@MPIS
def test_threads_go_on_beside_each_other(tmp_path: Path, find) -> None:
    rounds = 20
    traced(tmp_path, find(), "ping_pongs", rounds)
    assert latencies(tmp_path) == pytest.approx(2 * rounds * THREADS, rel=0.01)


@MPIS
def test_collectives_of_threads_on_their_own_communicators_go_on_beside_each_other(tmp_path: Path, find) -> None:
    rounds = 20
    traced(tmp_path, find(), "collectives", rounds)
    assert latencies(tmp_path) == pytest.approx(rounds * THREADS, rel=0.01)


@MPIS
def test_a_thread_waits_for_the_request_of_another(tmp_path: Path, find) -> None:
    traced(tmp_path, find(), "awaits", 1)
    assert latencies(tmp_path) == pytest.approx(2, rel=0.01)


@MPIS
def test_messages_that_threads_race_for_come_to_an_end(tmp_path: Path, find) -> None:
    rounds = 100
    traced(tmp_path, find(), "races", rounds)
    schedule = Schedule.from_trace(tmp_path / "trace")
    timeline = idlewave.simulate(schedule, Machine.preset("odin"))
    assert timeline.messages == 2 * THREADS * rounds
    assert latencies(tmp_path) >= 1.99 * rounds


@MPIS
def test_collectives_by_turns_of_threads_match(tmp_path: Path, find) -> None:
    rounds = 5
    for rank in traced(tmp_path, find(), "in_turn", rounds):
        assert rank.header["thread_level"] == 2
        assert set(by_thread(rank)) == set(range(THREADS + 1))
    timeline = idlewave.simulate(Schedule.from_trace(tmp_path / "trace"), Machine.preset("odin"))
    assert timeline.messages == rounds * THREADS


@MPIS
def test_an_openmp_program_takes_what_its_threads_take_together(tmp_path: Path, find) -> None:
    steps, threads, compute_us = 50, 3, 2000
    use = find()
    source = PROGRAMS / "openmp_ring.c"
    ring = compiled(use.mpicc, source, "-fopenmp")
    for rank in trace_of(tmp_path / "trace", use, 2, ring, steps, threads, compute_us):
        exchanges = Counter(r.thread for r in rank.named("Sendrecv"))
        assert sorted(exchanges.values()) == [steps] * threads
    assert latencies(tmp_path) == pytest.approx(steps, rel=0.05)
    fast = Machine("fast", Level(Parameters(L=0, o_s=0, o_r=0, g=0, G=0.0)))
    simulated = idlewave.simulate(Schedule.from_trace(tmp_path / "trace"), fast).max_finish / 1e12
    trace = idlewave.Trace.load(tmp_path / "trace")
    computed = steps * compute_us / 1e6
    assert computed <= simulated <= trace.measured_s
    if trace.processes["core_waits_known"].all():
        assert simulated <= 2 * computed, "threads that share a core are simulated as if each had its own"


def handles(folder: Path, use: mpi.Mpi, what: str, rounds: int) -> list[RankFile]:
    return trace_of(folder / "trace", use, 2, program(use, "thread_handles"), what, rounds)


@pytest.mark.long
@MPIS
def test_requests_that_a_thread_starts_together_begin_one_after_the_other(tmp_path: Path, find) -> None:
    rounds = 2000
    for rank in handles(tmp_path, find(), "starts", rounds):
        assert len(rank.named("Start")) == 2 * THREADS * rounds
        for records in by_thread(rank).values():
            assert all(later.begin >= earlier.end for earlier, later in pairwise(records))
    assert idlewave.simulate(Schedule.from_trace(tmp_path / "trace"), SLOW).messages == 2 * THREADS * rounds


@MPIS
def test_a_handle_that_a_thread_frees_is_another_one_s_afterwards(tmp_path: Path, find) -> None:
    rounds = 2000
    for rank in handles(tmp_path, find(), "frees", rounds):
        made = set()
        for record in rank.records:
            if record.name in ("SendInit", "RecvInit"):
                assert record.words[3] not in made
                made.add(record.words[3])
            if record.name == "RequestFree":
                made.remove(record.words[0])
    assert idlewave.simulate(Schedule.from_trace(tmp_path / "trace"), SLOW).messages == 2 * THREADS * rounds


@MPIS
def test_a_wait_has_its_request_though_another_thread_gets_the_handle(tmp_path: Path, find) -> None:
    rounds = 5000
    for rank in handles(tmp_path, find(), "waits", rounds):
        waits = rank.named("Wait")
        assert len(waits) == 2 * rounds
        assert [wait for wait in waits if len(wait.words) != 3] == []


@MPIS
def test_threads_that_free_communicators_have_those_of_their_calls(tmp_path: Path, find) -> None:
    rounds = 200
    for rank in handles(tmp_path, find(), "duplicates", rounds):
        duplicates = {record.words[0] for record in rank.named("CommDef")}
        messages = Counter(record.words[0] for record in rank.named("Sendrecv"))
        assert set(messages) == duplicates
        assert sorted(messages.values()) == [1] * THREADS * rounds + [rounds] * THREADS


@pytest.mark.parametrize(
    ("find", "what"),
    # MPICH gives a session beside MPI_Init no higher level than MPI_Init got.
    [(open_mpi, "session"), (open_mpi, "beside_init"), (mpich, "session")],
)
def test_threads_of_a_session_are_traced(tmp_path: Path, find, what: str) -> None:
    rounds = 500
    for rank in handles(tmp_path, find(), what, rounds):
        assert rank.header["thread_level"] == 3
        assert sorted(Counter(r.thread for r in rank.named("Sendrecv")).values()) == [rounds] * THREADS
    assert idlewave.simulate(Schedule.from_trace(tmp_path / "trace"), SLOW).messages == 2 * THREADS * rounds


@pytest.fixture(scope="module")
def ping_pongs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("threads")
    traced(folder, open_mpi(), "ping_pongs", 20)
    return folder / "trace"


@pytest.mark.parametrize(
    "options",
    [
        {"scheduler": "yawns", "threads": 2},
        {"scheduler": "timewarp", "threads": 2},
        {"scheduler": "check"},
        {"scheduler": "yawns", "processes": 2},
    ],
)
def test_every_scheduler_has_the_same_times(ping_pongs: Path, options: dict) -> None:
    schedule = Schedule.from_trace(ping_pongs).extrapolate(8)
    machine = Machine.preset("odin")
    expected = idlewave.simulate(schedule, machine).finish
    found = idlewave.simulate(schedule, machine, **options).finish
    assert list(found) == list(expected)


def test_copies_take_as_long_as_the_traced_ranks(ping_pongs: Path) -> None:
    schedule = Schedule.from_trace(ping_pongs)
    machine = Machine.preset("odin")
    alone = idlewave.simulate(schedule, machine)
    copied = idlewave.simulate(schedule.extrapolate(6), machine)
    assert list(copied.finish) == 3 * list(alone.finish)


def test_the_schedule_written_out_takes_as_long(ping_pongs: Path, tmp_path: Path) -> None:
    schedule = Schedule.from_trace(ping_pongs)
    machine = Machine.preset("odin")
    schedule.save(tmp_path / "threads.goal")
    written = Schedule.load(tmp_path / "threads.goal")
    assert list(idlewave.simulate(written, machine).finish) == list(idlewave.simulate(schedule, machine).finish)


def test_tables_of_the_trace_have_the_threads(ping_pongs: Path) -> None:
    trace = idlewave.Trace.load(ping_pongs)
    assert list(trace.processes["threads"]) == [THREADS + 1] * 2
    assert set(trace.calls["thread"]) == set(range(THREADS + 1))
    time = trace.time()
    assert (time["seconds"] >= 0).all()
    inside = trace.calls.loc[trace.calls["thread"] > 0, "inside_ns"].sum() / 1e9
    assert time["seconds"].sum() > inside


def test_what_needs_one_thread_a_rank_says_so(ping_pongs: Path, tmp_path: Path) -> None:
    threads = rf"rank 0 calls MPI in {THREADS + 1} threads: expected one thread a rank"
    with pytest.raises(InputError, match=threads):
        Schedule.from_trace(ping_pongs, begin="10")
    with pytest.raises(
        InputError, match="rank 0 calls MPI in several threads: expected one thread a rank, to continue"
    ):
        Schedule.from_trace(ping_pongs).by_structure()
    pytest.importorskip("_otf2")
    with pytest.raises(InputError, match=threads):
        idlewave.export.write_trace_otf2(idlewave.Trace.load(ping_pongs), tmp_path / "otf2")
