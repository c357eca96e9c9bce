"""One-sided communication and files: recorded, converted to their synchronisation and time, counted and said."""

from __future__ import annotations

from pathlib import Path

import idlewave
import pytest
from command_runs import run
from idlewave import Trace
from idlewave.errors import InputError
from idlewave.mpi import Mpi
from trace_reader import RankFile, read_trace
from tracer_support import PROGRAMS, WORLD, compiled, debian_open_mpi, mpich, open_mpi, program, trace_of

pytestmark = pytest.mark.mpi

RANKS = 3
ROUNDS = 3


@pytest.fixture(scope="module", params=["Open MPI", "MPICH"])
def use(request: pytest.FixtureRequest) -> Mpi:
    return open_mpi() if request.param == "Open MPI" else mpich()


@pytest.fixture(scope="module")
def one_sided(use: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("one_sided") / "trace"
    trace_of(folder, use, RANKS, program(use, "one_sided"))
    return folder


@pytest.fixture(scope="module")
def files(use: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    trace_of(folder / "trace", use, RANKS, program(use, "files"), folder / "data")
    return folder / "trace"


def test_operations_have_their_target_and_their_bytes_each_way(one_sided: Path) -> None:
    put, get, accumulate, fetch = 0, 1, 2, 4
    for rank in read_trace(one_sided):
        me = rank.header["rank"]
        after = (me + 1) % RANKS
        target = (RANKS - me) % RANKS  # in the communicator with the ranks in reverse order
        assert [record.pair(1) + tuple(record.words[2:4]) for record in rank.named("OneSided")] == [
            *[(after, put, 1000, 0)] * ROUNDS,
            (target, get, 0, 500),
            (target, accumulate, 4, 0),
            (target, fetch, 4, 4),
            (target, put, 4, 0),
        ]
        assert [len(record.words) for record in rank.named("OneSided")] == [4] * (ROUNDS + 3) + [5]


def test_windows_have_ids_that_all_their_ranks_use(one_sided: Path) -> None:
    ranks = read_trace(one_sided)
    created, allocated, shared, dynamic = range(4)
    for rank in ranks:
        assert [record.pair(2)[0] for record in rank.named("Window")] == [created, allocated, shared, dynamic]
    made = {tuple(record.words[:2] for record in rank.named("Window")) for rank in ranks}
    assert len(made) == 1
    assert len({window for (windows,) in [tuple(made)] for window, _ in windows}) == 4


def test_exposures_and_locks_name_the_ranks_that_they_concern(one_sided: Path) -> None:
    for rank in read_trace(one_sided):
        me = RANKS - 1 - rank.header["rank"]
        (exposed,), (started,) = rank.named("WinPost"), rank.named("WinStart")
        target, origin, every = (me + 1) % RANKS, (me - 1) % RANKS, -1
        assert (exposed.words[1], exposed.pair(2)) == (1, (origin, 0))
        assert (started.words[1], started.pair(2)) == (1, (target, 0))
        assert [len(rank.named(name)) for name in ("WinFence", "WinComplete", "WinWait")] == [ROUNDS + 1, 1, 1]
        lock, unlock, flush, exclusive_lock = 0, 1, 2, 6
        assert [record.pair(1) for record in rank.named("PassiveTarget")] == [
            (target, exclusive_lock),
            (target, unlock),
            (every, lock),
            (target, flush),
            (every, flush),
            (every, unlock),
        ]


def test_a_ring_of_puts_and_fences_waits_for_its_slowest_rank_in_the_simulation(one_sided: Path) -> None:
    schedule = idlewave.Schedule.from_trace(one_sided)
    timeline = idlewave.simulate(schedule, idlewave.Machine.preset("odin"))
    computed = ROUNDS * 2e9  # ps between the fences
    assert timeline.max_finish > computed
    assert schedule.one_sided.calls == 0


def test_operations_of_windows_are_operations_of_the_schedule(one_sided: Path) -> None:
    """The fetch and the get return something, so they are gets; one rank is locked; the others are puts."""
    schedule = idlewave.Schedule.from_trace(one_sided)
    for copies in (1, 4):
        ops = idlewave.simulate(
            schedule.extrapolate(copies * RANKS), idlewave.Machine.preset("odin"), record=True
        ).ops_to_pandas()
        found = ops.groupby(["rank", "kind"], observed=True)["size"].agg(list).unstack().map(sorted)
        assert len(found) == copies * RANKS
        for rank in range(copies * RANKS):
            assert found.loc[rank, "put"] == [4, 4, *ROUNDS * [1000]]
            assert found.loc[rank, "get"] == [4, 500]
            assert len(found.loc[rank, "lock"]) == len(found.loc[rank, "unlock"]) == 1


def test_a_run_that_is_used_in_part_has_their_time(one_sided: Path) -> None:
    schedule = idlewave.Schedule.from_trace(one_sided, begin="1")
    assert (schedule.one_sided.calls, schedule.one_sided.bytes) == (RANKS * 7, RANKS * (3000 + 500 + 4 + 8 + 4))
    assert schedule.extrapolate(4 * RANKS).one_sided.calls == 4 * schedule.one_sided.calls


def test_calls_of_files_have_their_bytes_and_say_who_makes_them_together(files: Path) -> None:
    read, write, other = range(3)
    for rank in read_trace(files):
        assert [(record.pair(1)[0], record.info, record.words[2]) for record in rank.named("File")] == [
            (write, 1, 4096),
            (write, 0, 2048),
            (write, 0, 4096),
            (other, 1, 0),
            (read, 0, 4096),
            (read, 1, 0),
            (write, 1, 4096),  # which fails on rank 0 only
        ]
        ((opened,), (closed,)) = rank.named("FileOpen"), rank.named("FileClose")
        assert opened.words[1] == WORLD
        assert opened.words[0] == closed.words[0]


def test_a_rank_that_comes_late_to_a_file_delays_the_others(files: Path) -> None:
    schedule = idlewave.Schedule.from_trace(files)
    timeline = idlewave.simulate(schedule, idlewave.Machine.preset("odin"))
    late = 20e9
    assert all(finish > late for finish in timeline.finish)
    assert schedule.files.calls == RANKS * 9
    assert schedule.files.bytes == RANKS * (4096 + 2048 + 4096 + 4096 + 4096)


def test_the_table_of_calls_has_what_was_put_and_written(one_sided: Path, files: Path) -> None:
    put = Trace.load(one_sided).totals().set_index("call").loc["a put, get or accumulate"]
    assert (put["count"], put["bytes"]) == (RANKS * 7, RANKS * (3000 + 4 + 4 + 4))
    written = Trace.load(files).totals().set_index("call").loc["a call of a file"]
    assert written["bytes"] == RANKS * (4096 + 2048 + 4096 + 4096)
    groups = Trace.load(files).calls.groupby("call", observed=True)["group"].first()
    assert groups["MPI_File_open"] == "files"


@pytest.mark.parametrize("command", ["schedule", "simulate", "timeline", "study"])
def test_commands_say_what_has_no_messages(one_sided: Path, files: Path, tmp_path: Path, command: str) -> None:
    machine = [] if command == "schedule" else ["--machine", "odin"]
    more = {"timeline": ["-o", str(tmp_path / "timeline.parquet")], "schedule": ["-o", str(tmp_path / "x.goal")]}
    ranks = ["--ranks", str(2 * RANKS), "-o", str(tmp_path / "s.csv")] if command == "study" else []
    part = ["--begin", "1"]  # of which the schedule has no one-sided operations
    for source, words in (
        ([str(one_sided), *part], "21 one-sided operations ("),
        ([str(files)], "27 file operations ("),
    ):
        done = run(command, *source, *machine, *ranks, *more.get(command, []))
        assert done.returncode == 0, done.stderr
        assert words in " ".join(done.stderr.split())


@pytest.mark.parametrize("module", ["mpi", "f08"])
def test_fortran_programs_are_recorded_with_their_windows_and_files(tmp_path: Path, module: str) -> None:
    use = debian_open_mpi()
    executable = compiled("mpif90.openmpi", PROGRAMS / f"timed_{module}.f90")
    ranks = trace_of(tmp_path / "trace", use, 2, executable, tmp_path / "data")
    for rank in ranks:
        (put,) = rank.named("OneSided")
        assert put.pair(1) + put.words[2:] == (1 - rank.header["rank"], 0, 200, 0)
        assert [record.words[2] for record in rank.named("File")] == [0, 400]
        assert len(rank.named("FileOpen")) == len(rank.named("FileClose")) == 1
    assert (tmp_path / "data").stat().st_size == 2 * 400


def names(rank: RankFile) -> list[str]:
    return [record.name for record in rank.records]


def test_processes_that_are_started_by_the_program_are_refused_by_name(tmp_path: Path, use: Mpi) -> None:
    (rank,) = trace_of(tmp_path / "trace", use, 1, program(use, "spawns"))
    assert "Unmodelled" in names(rank)
    with pytest.raises(InputError, match=r"is MPI_Comm_spawn: processes that are started or joined"):
        idlewave.Schedule.from_trace(tmp_path / "trace")
