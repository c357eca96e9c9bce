"""A recorded timeline as an OTF2 archive, for Vampir, Scalasca, Cube and others that read traces.

A location for each rank, with a tick a picosecond, so all times are exact. An op that nothing of its rank overlaps is
a region: MPI_Send, MPI_Recv (from the posting to the end, so that waiting is seen in it), MPI_Put, MPI_Get, await,
MPI_Win_lock, MPI_Win_unlock, or calc. A receive, or a send by rendezvous, beside which the rank does something else is
MPI_Irecv or MPI_Isend when it begins, and an MPI_Wait until it ends; a put or a get MPI_Rput or MPI_Rget. An await, a
lock or an unlock begins where the rank does nothing else any more. Noise is part of the regions that it lengthens.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..otf2_library import Library, load_library
from .ops import RECV, SEND, Ops, read_ops
from .otf2_archive import PROPERTY, Strings, new_archive
from .otf2_one_sided import REGIONS, REQUEST_REGIONS, OneSidedEvents, define_window
from .regions import Step, Steps, steps_of

if TYPE_CHECKING:
    from .ops import Table

TICKS = 10**12  # per second
MPI_REGIONS = ("MPI_Send", "MPI_Recv", "MPI_Isend", "MPI_Irecv", "MPI_Wait")
SEND_REGION, RECV_REGION, ISEND_REGION, IRECV_REGION, WAIT_REGION = range(len(MPI_REGIONS))
WORLD = 0


def write_otf2(ops: Table, directory: str | Path, *, name: str = "timeline") -> None:
    """Write recorded ops (`Timeline.ops_to_arrow` or `ops_to_pandas`) as an OTF2 archive `directory`/traces.otf2, that
    says it was made of `name`.

    The directory is there whole or not at all. Raises InputError if the table cannot be used, OutputError if the
    directory is not empty or cannot be written, LibraryError if the package otf2 is missing.
    """
    library = load_library()
    columns = read_ops(ops)
    with new_archive(library, directory, name) as archive:
        if columns.provenance is not None:
            library.Archive_SetProperty(archive, PROPERTY, columns.provenance.to_json(), True)
        _Writer(library, archive, columns).write(name)


class _Writer:
    def __init__(self, library: Library, archive: Library, ops: Ops) -> None:
        self.library = library
        self.archive = archive
        self.ops = ops
        self.ranks = 1 + int(max(ops.rank.max(), ops.peer.max(), 0))
        calcs = [f"{call}: calc" if call else "calc" for call in ops.call.names]
        kinds = [kind for kind in REGIONS if np.any(ops.kind == kind)]
        self.one_sided = OneSidedEvents(library, ops) if kinds else None
        named = dict.fromkeys(name for kind in kinds for name in (REGIONS[kind], REQUEST_REGIONS.get(kind)) if name)
        self.of_mpi = {*MPI_REGIONS, *named} - {"await"}
        self.regions = [*MPI_REGIONS, *named, *dict.fromkeys(calcs)]
        numbers = np.array([self.regions.index(calc) for calc in calcs])
        regions = {SEND: SEND_REGION, RECV: RECV_REGION} | {kind: self.regions.index(REGIONS[kind]) for kind in kinds}
        self.region = np.select([ops.kind == kind for kind in regions], [*regions.values()], numbers[ops.call.codes])
        self.requests = {SEND: ISEND_REGION, RECV: IRECV_REGION} | {
            kind: self.regions.index(REQUEST_REGIONS[kind]) for kind in kinds if kind in REQUEST_REGIONS
        }
        matched = ops.match >= 0
        self.sender = np.where(matched, ops.rank[ops.match], ops.peer)
        self.tag = np.where(matched, ops.tag[ops.match], ops.tag) & 0xFFFFFFFF
        self.size = np.where(matched, ops.size[ops.match], ops.size)
        self.events: list[tuple[str, int, int]] = [(f"rank {rank}", rank, 0) for rank in range(self.ranks)]

    def write(self, name: str) -> None:
        """Write events rank by rank, so that OTF2 keeps one rank in memory; then the definitions that they refer to."""
        library, archive, ops = self.library, self.archive, self.ops
        empty = set(range(self.ranks))
        for rank, first, last in ops.bounds():
            for lane, steps in enumerate(steps_of(ops, first, last)):
                if lane:
                    self.events.append((f"rank {rank}, CPU {lane}", rank, 0))
                location = len(self.events) - 1 if lane else rank
                self.events[location] = (*self.events[location][:2], self._location(location, steps))
            empty.discard(rank)
        nothing = Steps(*(np.zeros(0, dtype=np.int64) for _ in range(3)))
        for rank in sorted(empty):
            self._location(rank, nothing)
        library.Archive_CloseEvtFiles(archive)
        library.Archive_CloseDefFiles(archive)
        self._definitions(name)

    def _location(self, location: int, steps: Steps) -> int:
        """Write the events of a location; returns their number."""
        library, archive = self.library, self.archive
        # The file of local definitions is empty, but readers expect it.
        library.Archive_CloseDefWriter(archive, library.Archive_GetDefWriter(archive, location))
        writer = library.Archive_GetEvtWriter(archive, location)
        self._events(writer, steps)
        count = int(library.EvtWriter_GetNumberOfEvents(writer))
        library.Archive_CloseEvtWriter(archive, writer)
        return count

    def _events(self, writer: Library, steps: Steps) -> None:
        rows = steps.rows
        columns = (steps.times, steps.steps, rows, self.ops.kind[rows], self.region[rows])
        for time, step, row, kind, region in zip(*(column.tolist() for column in columns), strict=True):
            if step in (Step.ENTER, Step.MOMENT):
                self._enter(writer, time, region)
                self._begin(writer, time, row, kind)
            if step in (Step.LEAVE, Step.MOMENT):
                self._end(writer, time, row, kind)
                self._leave(writer, time, region)
            if step == Step.POST and kind in self.requests:
                self._post(writer, time, row, kind)
            if step in (Step.ENTER_WAIT, Step.MOMENT_OF_WAIT):
                self._enter_wait(writer, time, row, kind)
            if step in (Step.LEAVE_WAIT, Step.MOMENT_OF_WAIT):
                self._complete(writer, time, row, kind)
                self._leave(writer, time, self._wait_region(row, kind))

    def _enter(self, writer: Library, time: int, region: int) -> None:
        self.library.EvtWriter_Enter(writer, None, time, region)

    def _leave(self, writer: Library, time: int, region: int) -> None:
        self.library.EvtWriter_Leave(writer, None, time, region)

    def _message(self, event: Library, writer: Library, time: int, row: int, *request: int) -> None:
        """Write a send, or a receive whose message is known."""
        other = int(self.sender[row])
        if other >= 0:
            event(writer, None, time, other, WORLD, int(self.tag[row]), int(self.size[row]), *request)

    def _begin(self, writer: Library, time: int, row: int, kind: int) -> None:
        """Write the event at the beginning of a blocking call."""
        if kind == SEND:
            self._message(self.library.EvtWriter_MpiSend, writer, time, row)
        elif self.one_sided is not None:
            self.one_sided.begin(writer, time, row)

    def _end(self, writer: Library, time: int, row: int, kind: int) -> None:
        """Write the event at its end."""
        if kind == RECV:
            self._message(self.library.EvtWriter_MpiRecv, writer, time, row)
        elif self.one_sided is not None:
            self.one_sided.end(writer, time, row, blocking=True)

    def _post(self, writer: Library, time: int, row: int, kind: int) -> None:
        region = self.requests[kind]
        self._enter(writer, time, region)
        if kind == SEND:
            self._message(self.library.EvtWriter_MpiIsend, writer, time, row, row)
        elif self.one_sided is not None and kind != RECV:
            self.one_sided.begin(writer, time, row)
        elif self.sender[row] >= 0:
            self.library.EvtWriter_MpiIrecvRequest(writer, None, time, row)
        self._leave(writer, time, region)

    def _wait_region(self, row: int, kind: int) -> int:
        """The region in which the rank waits for the end of an op that is no blocking call."""
        return WAIT_REGION if kind in self.requests else int(self.region[row])

    def _enter_wait(self, writer: Library, time: int, row: int, kind: int) -> None:
        self._enter(writer, time, self._wait_region(row, kind))
        if kind not in self.requests:
            self._begin(writer, time, row, kind)

    def _complete(self, writer: Library, time: int, row: int, kind: int) -> None:
        if kind == SEND:
            self.library.EvtWriter_MpiIsendComplete(writer, None, time, row)
        elif self.one_sided is not None and kind != RECV:
            self.one_sided.end(writer, time, row, blocking=kind not in self.requests)
        else:
            self._message(self.library.EvtWriter_MpiIrecv, writer, time, row, row)

    def _definitions(self, name: str) -> None:
        library = self.library
        writer = library.Archive_GetGlobalDefWriter(self.archive)
        text = Strings(library, writer)
        none = text("")
        end = int(self.ops.end.max())
        library.GlobalDefWriter_WriteClockProperties(writer, TICKS, 0, end, library.UNDEFINED_TIMESTAMP)
        for number, region_name in enumerate(self.regions):
            mpi = region_name in self.of_mpi
            role = self._role(number, region_name)
            paradigm = library.PARADIGM_MPI if mpi else library.PARADIGM_USER
            region = text(region_name)
            flag = library.REGION_FLAG_NONE
            library.GlobalDefWriter_WriteRegion(
                writer, number, region, region, none, role, paradigm, flag, library.UNDEFINED_STRING, 0, 0
            )
        library.GlobalDefWriter_WriteSystemTreeNode(
            writer, 0, text(name), text("machine"), library.UNDEFINED_SYSTEM_TREE_NODE
        )
        for rank in range(self.ranks):
            library.GlobalDefWriter_WriteLocationGroup(
                writer,
                rank,
                text(f"rank {rank}"),
                library.LOCATION_GROUP_TYPE_PROCESS,
                0,
                library.UNDEFINED_LOCATION_GROUP,
            )
        for location, (called, rank, events) in enumerate(self.events):
            library.GlobalDefWriter_WriteLocation(
                writer, location, text(called), library.LOCATION_TYPE_CPU_THREAD, events, rank
            )
        self._world(writer, text("MPI_COMM_WORLD"), none)
        if self.one_sided is not None:
            define_window(library, writer, text("window"), WORLD)
        library.Archive_CloseGlobalDefWriter(self.archive, writer)

    def _role(self, number: int, region: str) -> Library:
        library = self.library
        if number < len(MPI_REGIONS):
            return library.REGION_ROLE_POINT2POINT
        one_sided = region in REGIONS.values() or region in REQUEST_REGIONS.values()
        return library.REGION_ROLE_RMA if one_sided else library.REGION_ROLE_CODE

    def _world(self, writer: Library, name: int, none: int) -> None:
        """Write the communicator: its ranks and their locations."""
        library = self.library
        mpi, flags, everyone = library.PARADIGM_MPI, library.GROUP_FLAG_NONE, list(range(self.ranks))
        kinds = (library.GROUP_TYPE_COMM_LOCATIONS, library.GROUP_TYPE_COMM_GROUP)
        for number, kind in enumerate(kinds):
            library.GlobalDefWriter_WriteGroup(writer, number, none, kind, mpi, flags, everyone)
        library.GlobalDefWriter_WriteComm(writer, WORLD, name, 1, library.UNDEFINED_COMM, library.COMM_FLAG_NONE)
