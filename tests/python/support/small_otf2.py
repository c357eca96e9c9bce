"""Small OTF2 archives for executions of their reader, of one or two ranks with a few calls each."""

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
from otf2_archive import COLLECTIVES, TICKS, Archive, Rank, collective_end
from reader_attempts import Files
from reader_mutations import contents

_CHUNK = 1 << 18
"""Bytes, the fewest that OTF2 takes: it allocates so many for each file that it reads."""
_BYTES = 48
"""What a rank has of a collective."""
Calls: TypeAlias = Callable[[Archive, Rank], object]


def small_otf2() -> Sequence[Files]:
    """Archives with all kinds of calls, and of each kind of collective."""
    _mend_definitions(otf2.definitions)  # so that there are intercommunicators
    two_ranks = (_exchange, _nonblocking, _persistent, _probed, _cancelled, _communicators, _left_out)
    calls: list[tuple[int, Calls]] = [(2, one) for one in two_ranks]
    calls += [(1 + number % 2, one) for number, one in enumerate(_collectives())]
    return [_archive(ranks, one) for ranks, one in calls]


def _archive(ranks: int, calls: Calls) -> Files:
    """The files of an archive in which each rank makes these calls after MPI_Init."""
    with TemporaryDirectory() as made:
        sizes = {"chunk_size_events": _CHUNK, "chunk_size_definitions": _CHUNK}
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


def _left_out(archive: Archive, rank: Rank) -> None:
    """What is counted as left out."""
    window = archive.definitions.rma_win(f"window {rank.number}", comm=archive.world)
    rank.call("MPI_Put", (RmaPut, {"win": window, "remote": 0, "bytes": 8, "matching_id": 1}))
    rank.call("main", (BufferFlush, {"stop_time": rank.now + 2000}))
    rank.call("MPI_Neighbor_alltoall")
    rank.call("MPI_Psend_init")


def _communicators(archive: Archive, rank: Rank) -> None:
    """Communicators of one rank, and one of two groups. The definitions are made once."""
    if rank.number == 0:
        halves = [archive.comm("half", [one.location], archive.world) for one in archive.ranks]
        archive.comm("MPI_COMM_SELF", [rank.location], None)
        archive.between = archive.definitions.inter_comm(
            "between", groupA=halves[0].group, groupB=halves[1].group, parent=archive.world
        )
        _blocking(rank, collective_end(CollectiveOp.BCAST, halves[0], 0, _BYTES, _BYTES))
    rank.call("MPI_Send", (MpiSend, {"communicator": archive.between, "receiver": 0, "msg_tag": 3, "msg_length": 800}))
    root = CollectiveRoot.SELF if rank.number == 0 else 0
    _blocking(rank, collective_end(CollectiveOp.REDUCE, archive.between, root, _BYTES, _BYTES))


def _collectives() -> Iterator[Calls]:
    """A call of each kind of collective; of every third kind one that does not block."""
    for number, kind in enumerate((*COLLECTIVES, "CREATE_HANDLE", "DESTROY_HANDLE")):
        yield partial(_collective, _nonblocking_call if number % 3 == 0 else _blocking, kind)


def _collective(call: Callable[[Rank, dict[str, Any]], None], kind: str, archive: Archive, rank: Rank) -> None:
    is_rooted = kind.startswith(("BCAST", "GATHER", "SCATTER")) or kind == "REDUCE"
    root = 0 if is_rooted else CollectiveRoot.NONE
    sent = received = _BYTES
    at_root = _BYTES * len(archive.ranks) if rank.number == 0 else 0  # Score-P has the sum of what a rank exchanges
    if kind.startswith("GATHER"):
        received = at_root
    if kind.startswith("SCATTER"):
        sent = at_root
    call(rank, collective_end(getattr(CollectiveOp, kind), archive.world, root, sent, received))


def _blocking(rank: Rank, fields: dict[str, Any]) -> None:
    """The reader goes by the event, whatever the call is named."""
    rank.call("MPI_Some", (MpiCollectiveBegin, {}), (MpiCollectiveEnd, fields))


def _nonblocking_call(rank: Rank, fields: dict[str, Any]) -> None:
    rank.call("MPI_Isome", (NonBlockingCollectiveRequest, {"request_id": 9}))
    rank.call("MPI_Wait", (NonBlockingCollectiveComplete, fields | {"request_id": 9}))
