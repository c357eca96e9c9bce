"""The CPU work and the waits of a rank as spans of time, and lanes on which spans do not overlap."""

from __future__ import annotations

import heapq

import numpy as np
import numpy.typing as npt

from .ops import AWAIT, RECEIVING, REMOTE, Ints, Ops


def cpu_spans(ops: Ops, first: int, last: int) -> tuple[Ints, Ints]:
    """When the CPU of the rank with rows `first` to `last` worked for each of its ops: begins and ends, ps.

    A calc and an eager send: from start to end; a rendezvous send: its last transmission; a put, get, lock or unlock:
    its initiation, or the reception of the reply to a get. A reception: until the CPU was free, which may be before
    the message was there (the last bytes take the NIC only) and before its receive was posted. If the table does not
    say when that was: until the message was there, the put acknowledged and so on, or the CPU took up something else.
    """
    if "free_ps" in ops.given:
        work = ops.work[first:last]
        return work, np.maximum(ops.free[first:last], work)
    kind, start, end = ops.kind[first:last], ops.start[first:last], ops.end[first:last]
    received = np.isin(kind, RECEIVING)
    longer = received | np.isin(kind, REMOTE)
    begin = np.where(received, ops.work[first:last], np.maximum(ops.work[first:last], start))
    late = received & (begin < start) & (end == start)
    end = np.where(late, begin, end)
    ordered = np.sort(begin)
    next_begin = np.append(ordered, np.iinfo(np.int64).max)[np.searchsorted(ordered, begin, side="right")]
    return begin, np.where(longer, np.minimum(end, next_begin), end)


def waiting_spans(ops: Ops, first: int, last: int) -> tuple[Ints, Ints]:
    """The same for the time in which an op waited for its peer, empty if it did not.

    It is that from an op's start to the CPU work that ended it: a posted receive's until its message was received, a
    rendezvous send's until its data went, a get's until the CPU received the reply; an await's likewise, or until its
    end if its put took no CPU. Another get's, a put's, lock's or unlock's is that from its initiation to its end.
    """
    start, end = ops.start[first:last], ops.end[first:last]
    work, free = ops.work[first:last], ops.free[first:last]
    remote = np.isin(ops.kind[first:last], REMOTE) & ~ops.is_replied[first:last]
    begin = np.where(remote, np.minimum(np.maximum(free, start), end), start)
    until_end = remote | takes_no_cpu(ops, first, last)
    return begin, np.where(until_end, end, np.maximum(np.minimum(work, end), start))


def takes_no_cpu(ops: Ops, first: int, last: int) -> npt.NDArray[np.bool_]:
    """Of each of these ops: whether it is an await whose put took no CPU of its target, as far as the table says."""
    begin, end = cpu_spans(ops, first, last)
    without: npt.NDArray[np.bool_] = (ops.kind[first:last] == AWAIT) & (begin == end)
    return without


def lanes(begin: Ints, end: Ints) -> Ints:
    """A lane for each span: spans of a lane do not overlap, and there are as few lanes as possible."""
    order = np.lexsort((end, begin))
    found = np.zeros(len(begin), dtype=np.int64)
    latest = np.maximum.accumulate(end[order])
    if np.all(begin[order][1:] >= latest[:-1]):
        return found
    free: list[int] = []
    busy: list[tuple[int, int]] = []
    used = 0
    for row, from_, until in zip(order.tolist(), begin[order].tolist(), end[order].tolist(), strict=True):
        while busy and busy[0][0] <= from_:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if not free:
            free.append(used)
            used += 1
        lane = heapq.heappop(free)
        found[row] = lane
        heapq.heappush(busy, (until, lane))
    return found
