"""Small OTF2 archives for executions of their reader: of one or two ranks with a few calls each, and together with all
that the reader reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import otf2
from idlewave.importing.otf2_reader import _mend_definitions
from otf2 import CollectiveOp
from otf2.enums import CollectiveRoot
from otf2.events import (
    BufferFlush,
    MpiCollectiveBegin,
    MpiCollectiveEnd,
    MpiIrecv,
    MpiIrecvRequest,
    MpiIsend,
    MpiIsendComplete,
    MpiRecv,
    MpiRequestCancelled,
    MpiRequestTest,
    MpiSend,
    NonBlockingCollectiveComplete,
    NonBlockingCollectiveRequest,
    RmaPut,
)
from otf2_archive import TICKS, Archive, Rank
from reader_attempts import Files
from reader_mutations import contents

_KINDS = (
    *("BARRIER", "BCAST", "REDUCE", "ALLREDUCE", "GATHER", "GATHERV", "SCATTER", "SCATTERV", "ALLGATHER", "ALLGATHERV"),
    *("ALLTOALL", "ALLTOALLV", "ALLTOALLW", "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "SCAN", "EXSCAN"),
    *("CREATE_HANDLE", "DESTROY_HANDLE"),
)
"""Kinds of collectives."""
SMALLEST_CHUNK = 1 << 18
"""Bytes: the library takes so much memory, and clears it, for each file that it reads."""
Calls: TypeAlias = Callable[[Archive, Rank], object]


def small_otf2() -> Sequence[Files]:
    """Archives with all kinds of calls, and of each kind of collective."""
    _mend_definitions(otf2.definitions)  # so that there are intercommunicators
    two_ranks = (_exchange, _nonblocking, _persistent, _probed, _of_some_ranks, _cancelled, _other)
    calls: list[tuple[int, Calls]] = [(2, one) for one in two_ranks]
    calls += [(1 + number % 2, one) for number, one in enumerate(_collectives())]
    return [_archive(ranks, one) for ranks, one in calls]


def _archive(ranks: int, calls: Calls) -> Files:
    """The files of an archive in which each rank makes these calls after MPI_Init."""
    with TemporaryDirectory() as made:
        sizes = {"chunk_size_events": SMALLEST_CHUNK, "chunk_size_definitions": SMALLEST_CHUNK}
        with otf2.writer.open(f"{made}/in", timer_resolution=TICKS, **sizes) as trace:
            archive = Archive(trace, ranks)
            for rank in archive.ranks:
                rank.call("MPI_Init")
                calls(archive, rank)
        return contents(Path(made))


def _sent(archive: Archive, rank: Rank, **more: int) -> dict[str, Any]:
    return {"communicator": archive.world, "receiver": 1 - rank.number, "msg_tag": 3, "msg_length": 800} | more


def _received(archive: Archive, rank: Rank, **more: int) -> dict[str, Any]:
    return {"communicator": archive.world, "sender": 1 - rank.number, "msg_tag": 3, "msg_length": 800} | more


def _exchange(archive: Archive, rank: Rank) -> None:
    rank.call("MPI_Sendrecv", (MpiSend, _sent(archive, rank)), (MpiRecv, _received(archive, rank)))
    rank.call("MPI_Finalize")


def _nonblocking(archive: Archive, rank: Rank) -> None:
    rank.call("MPI_Irecv", (MpiIrecvRequest, {"request_id": 7}))
    rank.call("MPI_Issend", (MpiIsend, _sent(archive, rank, request_id=8)))
    ended = (MpiIrecv, _received(archive, rank, request_id=7)), (MpiIsendComplete, {"request_id": 8})
    rank.call("MPI_Waitall", *ended)


def _persistent(archive: Archive, rank: Rank) -> None:
    rank.call("MPI_Start", (MpiSend, _sent(archive, rank)))
    rank.call("MPI_Wait", (MpiRecv, _received(archive, rank)))


def _probed(archive: Archive, rank: Rank) -> None:
    rank.call("MPI_Iprobe")
    rank.call("MPI_Send", (MpiSend, _sent(archive, rank)))
    rank.call("MPI_Mrecv")


def _cancelled(_: Archive, rank: Rank) -> None:
    rank.call("MPI_Irecv", (MpiIrecvRequest, {"request_id": 7}))
    rank.call("MPI_Test", (MpiRequestTest, {"request_id": 7}))
    rank.call("MPI_Wait", (MpiRequestCancelled, {"request_id": 7}))


def _other(archive: Archive, rank: Rank) -> None:
    """What is counted and left out."""
    window = archive.definitions.rma_win(f"window {rank.number}", comm=archive.world)
    rank.call("MPI_Put", (RmaPut, {"win": window, "remote": 0, "bytes": 8, "matching_id": 1}))
    rank.call("main", (BufferFlush, {"stop_time": rank.now + 2000}))
    rank.call("MPI_Neighbor_alltoall")
    rank.call("MPI_Psend_init")


def _of_some_ranks(archive: Archive, rank: Rank) -> None:
    """Communicators of one rank, and of two groups."""
    if rank.number == 1:
        return
    halves = [archive.comm("half", [one.location], archive.world) for one in archive.ranks]
    archive.comm("MPI_COMM_SELF", [rank.location], None)
    between = archive.definitions.inter_comm(
        "between", groupA=halves[0].group, groupB=halves[1].group, parent=archive.world
    )
    rank.call("MPI_Send", (MpiSend, {"communicator": between, "receiver": 0, "msg_tag": 3, "msg_length": 800}))
    _end(rank, "MPI_Bcast", CollectiveOp.BCAST, 0, halves[0])


def _collectives() -> Iterator[Calls]:
    """A call of each kind of collective; of every third one it does not block."""
    for number, kind in enumerate(_KINDS):
        root = 0 if kind.startswith(("BCAST", "GATHER", "SCATTER")) or kind == "REDUCE" else CollectiveRoot.NONE
        end = _complete if number % 3 == 0 else _end
        yield partial(_of_kind, end, getattr(CollectiveOp, kind), root)


def _of_kind(end: Callable[..., object], kind: Any, root: Any, archive: Archive, rank: Rank) -> None:
    end(rank, "MPI_Some", kind, root, archive.world)


def _end(rank: Rank, name: str, kind: Any, root: Any, comm: Any) -> None:
    rank.call(name, (MpiCollectiveBegin, {}), (MpiCollectiveEnd, _said(kind, root, comm)))


def _complete(rank: Rank, name: str, kind: Any, root: Any, comm: Any) -> None:
    rank.call(name, (NonBlockingCollectiveRequest, {"request_id": 9}))
    rank.call("MPI_Wait", (NonBlockingCollectiveComplete, _said(kind, root, comm) | {"request_id": 9}))


def _said(kind: Any, root: Any, comm: Any) -> dict[str, Any]:
    return {"collective_op": kind, "communicator": comm, "root": root, "size_sent": 48, "size_received": 48}
