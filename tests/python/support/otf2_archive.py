"""An OTF2 archive of an MPI program, written by the package otf2 with Score-P's events and sizes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import otf2
from otf2 import CollectiveOp, GroupType, LocationGroupType, LocationType, Paradigm, RegionRole
from otf2.enums import CollectiveRoot
from otf2.events import (
    MpiCollectiveBegin,
    MpiCollectiveEnd,
    MpiIrecv,
    MpiIrecvRequest,
    MpiIsend,
    MpiIsendComplete,
    MpiRecv,
    MpiSend,
    NonBlockingCollectiveComplete,
    NonBlockingCollectiveRequest,
)

TICKS = 10**9
COLLECTIVES = (
    *("BARRIER", "BCAST", "REDUCE", "ALLREDUCE", "GATHER", "GATHERV", "SCATTER", "SCATTERV", "ALLGATHER", "ALLGATHERV"),
    *("ALLTOALL", "ALLTOALLV", "ALLTOALLW", "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "SCAN", "EXSCAN"),
)
"""The kinds of collectives that have data or synchronise."""


class Rank:
    """The location of a rank, and its clock in ns."""

    def __init__(self, archive: Archive, number: int) -> None:
        self.archive = archive
        self.number = number
        self.now = 1000
        tree = archive.definitions.system_tree_node(f"node{number // 2}", class_name="node")
        group = archive.definitions.location_group(
            f"MPI Rank {number}", location_group_type=LocationGroupType.PROCESS, system_tree_parent=tree
        )
        self.location = archive.definitions.location("Master thread", type=LocationType.CPU_THREAD, group=group)
        self.writer = archive.trace.event_writer_from_location(self.location)

    def call(self, name: str, *events: Any, took: int = 100, computed: int = 1000) -> None:
        """Compute, and call a function, in the middle of which the events happen: (class, keywords) each."""
        self.now += computed
        self.writer.enter(self.now, self.archive.region(name))
        for kind, given in events:
            self.writer(kind(self.now + took // 2, **given))
        self.now += took
        self.writer.leave(self.now, self.archive.region(name))


class Archive:
    """An archive of `ranks` ranks that is being written."""

    def __init__(self, trace: Any, ranks: int) -> None:
        self.trace = trace
        self.definitions = trace.definitions
        self._regions: dict[str, Any] = {}
        self.ranks = [Rank(self, number) for number in range(ranks)]
        locations = [rank.location for rank in self.ranks]
        self.definitions.group("", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI, members=locations)
        self.world = self.comm("MPI_COMM_WORLD", locations, None)

    def comm(self, name: str, locations: list[Any], parent: Any) -> Any:
        """A communicator."""
        group = self.definitions.group(
            name, group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI, members=list(locations)
        )
        return self.definitions.comm(name, group=group, parent=parent)

    def region(self, name: str) -> Any:
        """The region of a function."""
        if name not in self._regions:
            self._regions[name] = self.definitions.region(name, region_role=RegionRole.FUNCTION, paradigm=Paradigm.MPI)
        return self._regions[name]


def write_ring(folder: Path, ranks: int = 4, bytes_sent: int = 800) -> Path:
    """Each rank sends to the next one, with and without blocking, and all reduce, broadcast and gather. Returns the
    anchor file."""
    with otf2.writer.open(str(folder), timer_resolution=TICKS) as trace:
        archive = Archive(trace, ranks)
        halves = [archive.ranks[: ranks // 2], archive.ranks[ranks // 2 :]]
        comms = [archive.comm("half", [rank.location for rank in half], archive.world) for half in halves]
        for rank in archive.ranks:
            _ring(archive, rank, ranks, bytes_sent, comms[rank.number // (ranks // 2)])
    return folder / "traces.otf2"


def _ring(archive: Archive, rank: Rank, ranks: int, size: int, half: Any) -> None:
    after, before = (rank.number + 1) % ranks, (rank.number - 1) % ranks
    world = {"communicator": archive.world}
    rank.call("MPI_Init")
    rank.call(
        "MPI_Sendrecv",
        (MpiSend, world | {"receiver": after, "msg_tag": 3, "msg_length": size}),
        (MpiRecv, world | {"sender": before, "msg_tag": 3, "msg_length": size}),
    )
    rank.call("MPI_Irecv", (MpiIrecvRequest, {"request_id": 7}))
    rank.call(
        "MPI_Issend", (MpiIsend, world | {"receiver": after, "msg_tag": 4, "msg_length": 2 * size, "request_id": 8})
    )
    rank.call(
        "MPI_Waitall",
        (MpiIrecv, world | {"sender": before, "msg_tag": 4, "msg_length": 2 * size, "request_id": 7}),
        (MpiIsendComplete, {"request_id": 8}),
    )
    _collective(archive, rank, "MPI_Allreduce", CollectiveOp.ALLREDUCE, None, ranks * 64, ranks * 64)
    sent = ranks * 500 if rank.number == 1 else 0
    _collective(archive, rank, "MPI_Bcast", CollectiveOp.BCAST, 1, sent, 500)
    received = (ranks // 2) * 24 if rank.number % (ranks // 2) == 0 else 0
    _collective(archive, rank, "MPI_Gather", CollectiveOp.GATHER, 0, 24, received, comm=half)
    rank.call("MPI_Ibarrier", (NonBlockingCollectiveRequest, {"request_id": 9}))
    ended = {"collective_op": CollectiveOp.BARRIER, "root": CollectiveRoot.NONE, "size_sent": 0, "size_received": 0}
    rank.call("MPI_Wait", (NonBlockingCollectiveComplete, world | ended | {"request_id": 9}))
    rank.call("MPI_Finalize")


def _collective(
    archive: Archive,
    rank: Rank,
    name: str,
    kind: Any,
    root: int | None,
    sent: int,
    received: int,
    comm: Any = None,
) -> None:
    root_or_none = CollectiveRoot.NONE if root is None else root
    ended = collective_end(kind, comm or archive.world, root_or_none, sent, received)
    rank.call(name, (MpiCollectiveBegin, {}), (MpiCollectiveEnd, ended))


def collective_end(kind: Any, comm: Any, root: Any, sent: int, received: int) -> dict[str, Any]:
    """The fields of the event at the end of a collective."""
    return {"collective_op": kind, "communicator": comm, "root": root, "size_sent": sent, "size_received": received}
