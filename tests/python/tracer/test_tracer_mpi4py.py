"""Programs in Python: each message of mpi4py is recorded where it is sent and where it is received."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from pathlib import Path

import pytest
from idlewave import Schedule
from trace_reader import RankFile, read_trace
from tracer_support import WORLD, decoded, mpich, open_mpi, trace_of

if importlib.util.find_spec("mpi4py") is None:  # it is not imported: that would begin MPI
    pytest.skip("mpi4py is not installed", allow_module_level=True)

RANKS = 3
PROGRAM = """
import array
from mpi4py import MPI

world = MPI.COMM_WORLD
after, before = (world.rank + 1) % world.size, (world.rank - 1) % world.size
world.send({"rank": world.rank, "text": "x" * 100}, dest=after, tag=1)
assert world.recv(source=before, tag=1)["rank"] == before
sent, received = array.array("d", [world.rank] * 10), array.array("d", [0] * 10)
world.Allreduce(sent, received)
assert list(received) == [3] * 10
MPI.Request.Waitall([world.Irecv(received, source=before, tag=2), world.Isend(sent, dest=after, tag=2)])
sending = world.isend("x" * 200, dest=after, tag=3)
assert world.irecv(source=before, tag=3).wait() == "x" * 200
sending.wait()
"""


@pytest.fixture(scope="module", params=[open_mpi, mpich])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the trace of the program; mpi4py takes the MPI of the launcher."""
    use = request.param()
    folder = tmp_path_factory.mktemp("mpi4py")
    (folder / "program.py").write_text(PROGRAM)
    trace_of(folder / "trace", use, RANKS, Path(sys.executable), folder / "program.py")
    return folder


@pytest.fixture
def ranks(folder: Path) -> list[RankFile]:
    return read_trace(folder / "trace")


def sent_by(rank: RankFile) -> Counter[tuple[int, int, int]]:
    """The destination, the tag and the bytes of each message."""
    return Counter((*r.pair(1), r.words[2]) for r in rank.named("Send", "Isend"))


def received_by(rank: RankFile) -> Counter[tuple[int, int, int]]:
    """The source, the tag and the bytes of each message."""
    blocking = [(*r.pair(1), r.words[2]) for r in rank.named("Mrecv")] + [
        (*r.pair(3), r.words[4]) for r in rank.named("Recv")
    ]
    completed = [
        (*part[1], part[2])
        for name, *parts in decoded(rank)
        if name.startswith(("Wait", "Test"))
        for part in parts
        if part[0].startswith("Irecv")
    ]
    return Counter([*blocking, *completed])


def test_each_message_is_sent_and_received_with_its_size(ranks: list[RankFile]) -> None:
    for me, rank in enumerate(ranks):
        after = (me + 1) % RANKS
        sent = sent_by(rank)
        assert {(to, tag) for to, tag, _ in sent} == {(after, 1), (after, 2), (after, 3)}
        sizes = {tag: size for _, tag, size in sent}
        assert sizes[1] > 100
        assert sizes[2] == 10 * 8
        assert sizes[3] > 200
        received = received_by(ranks[after])
        assert received == Counter({(me, tag, size): number for (_, tag, size), number in sent.items()})


def test_collectives_on_buffers_have_their_size(ranks: list[RankFile]) -> None:
    for rank in ranks:
        assert [(r.words[0], *r.words[2:]) for r in rank.named("Allreduce")] == [(WORLD, 80, 80)]


def test_the_program_becomes_a_schedule(folder: Path) -> None:
    assert Schedule.from_trace(folder / "trace").ranks == RANKS
