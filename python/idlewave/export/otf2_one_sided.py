"""One-sided ops in an OTF2 archive: events of remote memory access in one window, which all ranks have.

A put is complete at its origin and at its target when it ends. An await is a wait for a change of the window.
"""

from __future__ import annotations

from ..otf2_library import Library
from .ops import AWAIT, GET, LOCK, PUT, SHARED_LOCK, UNLOCK, Ops

REGIONS = {
    PUT: "MPI_Put",
    GET: "MPI_Get",
    AWAIT: "await",
    LOCK: "MPI_Win_lock",
    SHARED_LOCK: "MPI_Win_lock",
    UNLOCK: "MPI_Win_unlock",
}
REQUEST_REGIONS = {PUT: "MPI_Rput", GET: "MPI_Rget"}
"""Those that a rank begins before it does something else. MPI has no such calls for the others."""
WINDOW = 0


class OneSidedEvents:
    """Writes the events of the one-sided ops of a table."""

    def __init__(self, library: Library, ops: Ops) -> None:
        self._library = library
        self._ops = ops

    def begin(self, writer: Library, time: int, row: int) -> None:
        """The events at the beginning of the op in `row`."""
        ops, library = self._ops, self._library
        kind, peer = int(ops.kind[row]), int(ops.peer[row])
        if kind in (PUT, GET):
            access = library.EvtWriter_RmaPut if kind == PUT else library.EvtWriter_RmaGet
            access(writer, None, time, WINDOW, peer, int(ops.size[row]), row)
        if kind in (LOCK, SHARED_LOCK):
            library.EvtWriter_RmaRequestLock(writer, None, time, WINDOW, peer, *self._lock(row))

    def end(self, writer: Library, time: int, row: int, *, blocking: bool) -> None:
        """The events at its end; `blocking`: the rank did nothing else meanwhile."""
        ops, library = self._ops, self._library
        kind, peer = int(ops.kind[row]), int(ops.peer[row])
        if kind in (PUT, GET):
            here = library.EvtWriter_RmaOpCompleteBlocking if blocking else library.EvtWriter_RmaOpCompleteNonBlocking
            here(writer, None, time, WINDOW, row)
        if kind == PUT:
            library.EvtWriter_RmaOpCompleteRemote(writer, None, time, WINDOW, row)
        if kind in (LOCK, SHARED_LOCK):
            library.EvtWriter_RmaAcquireLock(writer, None, time, WINDOW, peer, *self._lock(row))
        if kind == UNLOCK:
            library.EvtWriter_RmaReleaseLock(writer, None, time, WINDOW, peer, int(ops.tag[row]))
        if kind == AWAIT:
            library.EvtWriter_RmaWaitChange(writer, None, time, WINDOW)

    def _lock(self, row: int) -> tuple[int, int]:
        """The number of a lock, and its type."""
        library = self._library
        shared = self._ops.kind[row] == SHARED_LOCK
        return int(self._ops.tag[row]), library.LOCK_SHARED if shared else library.LOCK_EXCLUSIVE


def define_window(library: Library, writer: Library, name: int, communicator: int) -> None:
    """Write the window of the communicator of all ranks; `name` is the number of a string."""
    library.GlobalDefWriter_WriteRmaWin(writer, WINDOW, name, communicator, library.RMA_WIN_FLAG_NONE)
