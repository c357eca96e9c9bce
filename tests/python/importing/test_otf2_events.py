"""Events and definitions of an OTF2 archive in any order, with any values: a good trace, or an error that names the
place."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from idlewave import InputError
from idlewave.importing.otf2_events import UnknownEvent
from idlewave.importing.otf2_ranks import write_ranks
from otf2 import CollectiveOp, Paradigm
from otf2.enums import CollectiveRoot
from otf2.events import BufferFlush, Enter, MpiCollectiveEnd, MpiRecv, MpiRequestTest, MpiSend
from otf2_event_fuzz import SOURCE, Archive, attempt, executed, sample_folder
from trace_reader import RankFile, read_rank

SEED, EXECUTIONS = 26, 300


class Empty(Archive):
    """The definitions alone."""

    def _run(self, _: random.Random | None) -> None:
        pass


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder for the files of ranks."""
    return sample_folder(str(tmp_path))


def _written(archive: Archive, folder: Path) -> tuple[dict[str, int], list[RankFile]]:
    for rank in range(3):
        archive.call(rank, "MPI_Finalize")
    left_out = write_ranks(archive, archive.events, SOURCE, folder)
    return {kind: number for kind, number in left_out.items() if number}, [
        read_rank(folder / f"rank-{rank:07}.iwtrace") for rank in range(3)
    ]


def test_the_sample_is_imported_whole_and_becomes_a_schedule(folder: Path) -> None:
    archive = Archive()
    assert attempt(archive, folder) == ("imported", "")
    left_out = write_ranks(archive, archive.events, SOURCE, folder)
    assert {kind: number for kind, number in left_out.items() if number} == {
        "one-sided operations": 3,
        "file operations": 3,
        "neighbourhood collectives": 3,
    }


def test_disorder_is_imported_or_refused_in_words(folder: Path) -> None:
    outcomes, said = executed(SEED, EXECUTIONS, folder)
    assert not said, f"python tests/python/support/otf2_event_fuzz.py {SEED} {said}"
    assert outcomes["imported"] > EXECUTIONS // 10
    assert outcomes["refused"] > EXECUTIONS // 10


def _sends(**changed: int) -> Callable[[Archive], object]:
    given = {"receiver": 1, "msg_tag": 3, "msg_length": 8} | changed
    return lambda a: a.call(0, "MPI_Send", lambda at: MpiSend(at, communicator=a.world, **given))


def _ends(kind: str, comm: str, root: int, sent: int = 24) -> Callable[[Archive], object]:
    ended = getattr(CollectiveOp, kind)
    return lambda a: a.call(2, "MPI_X", lambda at: MpiCollectiveEnd(at, ended, getattr(a, comm), root, sent, 24))


def _adds(rank: int, make: Callable[[Archive], object]) -> Callable[[Archive], object]:
    return lambda a: a.events.append((a.locations[rank], make(a)))


def _sets(name: str, **fields: object) -> Callable[[Archive], object]:
    def change(archive: Archive) -> None:
        for field, value in fields.items():
            found = archive
            for step in name.split("."):
                found = found[int(step)] if step.isdigit() else getattr(found, step)
            setattr(found, field, value(archive) if callable(value) else value)

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_sends(receiver=3), r"rank 0, 0\.\d+ s after the beginning: sends to, or receives from, rank 3 of a comm"),
        (_sends(msg_tag=2**31), r"rank 0, 0\.\d+ s after .* the tag 2147483648: expected one from 0 to 2147483647"),
        (_sends(msg_length=2**50 + 1), r"rank 0, .* 1125899906842625 bytes: expected 2\^50 at most"),
        (
            _ends("BCAST", "world", 3),
            r"rank 2, .* calls a collective \(BCAST\) with the root 3: expected one of 3 ranks",
        ),
        (_ends("GATHERV", "world", CollectiveRoot.SELF.value), r"\(GATHERV\) with the root 4294967294: expected"),
        (_ends("BARRIER", "pair", 0), r"rank 2, .* the communicator 'pair': expected one of MPI of which the rank"),
        (_ends("ALLTOALL", "world", 0, 2**60), r"rank 2, .* bytes: expected 2\^50 at most"),
        (
            _ends("REDUCE_SCATTER_BLOCK", "world", 0, 2**50),
            r"rank 2, .* 1688849860263936 bytes: expected 2\^50 at most",
        ),
        (lambda a: a.call(1, "MPI_Recv", lambda at: MpiRecv(at, 0, None, 0, 0)), "communicates on an undefined comm"),
        (lambda a: a.call(0, "MPI_Send") or a.call(0, "MPI_Init"), "calls MPI_Init after other calls of MPI"),
        (_adds(0, lambda a: Enter(a.now, None)), r"rank 0, event 1: is in a region that the archive does not define"),
        (_adds(1, lambda a: Enter(2**62, a.region("main"))), r"rank 1, event 1: happens 4\.\d+e\+09 s after"),
        (
            lambda a: (_adds(1, lambda a: Enter(a.now, a.region("MPI_X")))(a), a.call(1, "main"), a.events.pop(1)),
            r"rank 1, .*: leaves 'main': expected the end of 'MPI_X'",
        ),
        (
            lambda a: (_adds(0, lambda a: BufferFlush(a.now, 9 * 10**9))(a), a.call(0, "main")),
            r"rank 0, event 2: happens .* expected a time from that of the event before it \(8.999999 s\)",
        ),
        (lambda a: a.events.append((a.thread, MpiSend(0, 0, a.world, 0, 0))), "'thread' calls MPI and is no rank"),
        (lambda a: a.events.append((None, MpiSend(0, 0, a.world, 0, 0))), "'None' calls MPI and is no rank"),
        (_sets("locations.1", number_of_events=9), "rank 1 has 2 events: expected 9, as many as the archive's def"),
        (_sets("world", group=None), "communicator 'world': expected a group of ranks of MPI, each there once"),
        (_sets("groups.2", members=lambda a: [a.thread]), "communicator 'pair': expected a group of ranks of MPI"),
        (_sets("groups.2", members=lambda a: a.locations[:1] * 2), "communicator 'pair': expected a group of ranks"),
        (_sets("groups.0", members=lambda a: [a.locations[0], None]), "expected one list of MPI's ranks"),
        (_sets("groups.0", members=[]), "has no ranks of MPI: expected an archive of an MPI program"),
        (_sets("between", groupB=lambda a: a.groups[2]), "communicator 'both': expected two groups of different ranks"),
        (_sets("clock_properties", timer_resolution=0), "has a clock without a resolution: expected ticks a second"),
    ],
)
def test_what_cannot_be_is_refused_with_the_place(folder: Path, change: Callable[[Archive], object], said: str) -> None:
    archive = Empty()
    change(archive)
    with pytest.raises(InputError, match=rf"^archive/traces\.otf2: .*{said}"):
        _written(archive, folder)


def test_the_roots_of_a_collective_between_groups_are_told_apart(folder: Path) -> None:
    archive = Empty()
    for rank, root in enumerate((CollectiveRoot.SELF.value, CollectiveRoot.THIS_GROUP.value, 0)):
        ended = (CollectiveOp.BCAST, archive.between, root, 24 * (rank == 0), 24 * (rank == 2))
        archive.call(rank, "MPI_Bcast", lambda at, ended=ended: MpiCollectiveEnd(at, *ended))
    _, ranks = _written(archive, folder)
    assert [rank.named("Bcast")[0].pair(1)[0] for rank in ranks] == [-4, -2, 0]
    assert [rank.named("Bcast")[0].words[2] for rank in ranks] == [24, 0, 24]


def test_a_send_and_a_receive_on_two_communicators_are_no_exchange(folder: Path) -> None:
    archive = Empty()
    events = (lambda at: MpiSend(at, 1, archive.pair, 3, 8), lambda at: MpiRecv(at, 2, archive.world, 3, 8))
    archive.call(0, "MPI_Wait", *events)
    _, ranks = _written(archive, folder)
    assert [record.name for record in ranks[0].records if record.name in ("Send", "Recv", "Sendrecv")] == [
        "Send",
        "Recv",
    ]


@pytest.mark.parametrize("messages", [0, 1, 2])
def test_polls_in_a_call_with_messages_take_no_longer_than_their_record(folder: Path, messages: int) -> None:
    archive = Empty()
    sends = [lambda at: MpiSend(at, 1, archive.world, 3, 8)] * messages
    archive.call(0, "MPI_Test", *sends, lambda at: MpiRequestTest(at, 5))
    _, ranks = _written(archive, folder)
    (polls,) = ranks[0].named("Polls")
    assert polls.end - polls.begin == (0 if messages else 200)
    assert polls.words == (1, polls.end - polls.begin)


def test_calls_that_never_end_and_events_of_unknown_kinds_are_counted(folder: Path) -> None:
    archive = Empty()
    archive.call(0, "MPI_Barrier", UnknownEvent)
    archive.call(1, "MPI_Finalize")
    for rank in (0, 1, 2):
        archive.events.append((archive.locations[rank], Enter(archive.now, archive.region("MPI_Recv"))))
    left_out = write_ranks(archive, archive.events, SOURCE, folder)
    assert left_out["calls that never ended"] == 3
    assert left_out["events of kinds that the bindings of OTF2 do not know"] == 1


def test_the_program_may_ask_before_mpi_init_whether_it_was_called(folder: Path) -> None:
    archive = Empty()
    for rank in range(3):
        archive.call(rank, "MPI_Initialized")
        archive.call(rank, "MPI_Init")
    _, ranks = _written(archive, folder)
    for rank in ranks:
        assert rank.records[0].name == "Init"
        assert rank.header["init_end"] == rank.records[0].end


def test_a_clock_that_steps_back_a_little_stands_still(folder: Path) -> None:
    archive = Empty()
    archive.call(0, "MPI_Barrier", lambda at: MpiCollectiveEnd(at, CollectiveOp.BARRIER, archive.alone, 0, 0, 0))
    archive.now -= 250
    archive.call(0, "MPI_Barrier", lambda at: MpiCollectiveEnd(at, CollectiveOp.BARRIER, archive.alone, 0, 0, 0))
    _, ranks = _written(archive, folder)
    first, second = ranks[0].named("Barrier")
    assert first.end == second.begin < second.end


def test_a_kind_of_collective_that_nobody_knows_is_left_out_with_its_number(folder: Path) -> None:
    archive = Empty()
    unknown = type(CollectiveOp.BARRIER)(77)
    archive.call(0, "MPI_X", lambda at: MpiCollectiveEnd(at, unknown, archive.alone, 0, 0, 0))
    left_out, _ = _written(archive, folder)
    assert left_out == {"collectives of the kind number 77": 1}


def test_a_group_of_a_paradigm_that_nobody_knows_is_none_of_mpi(folder: Path) -> None:
    archive = Empty()
    archive.groups[2].paradigm = type(Paradigm.MPI)(200)
    archive.call(0, "MPI_Send", lambda at: MpiSend(at, 1, archive.pair, 0, 0))
    with pytest.raises(InputError, match="communicates on the communicator 'pair': expected one of MPI"):
        _written(archive, folder)
