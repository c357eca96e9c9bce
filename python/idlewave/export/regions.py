"""The ops of a rank as a tracer would have recorded them: regions that are entered and left, in the order of time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from .ops import RECEIVING, REMOTE, SEND, Ints, Ops
from .spans import lanes


class Step(IntEnum):
    """The kinds of steps of an op."""

    ENTER = 0  # its region begins
    LEAVE = 1  # and ends
    MOMENT = 2  # the region begins and ends
    POST = 3  # MPI_Isend, MPI_Irecv, MPI_Rput or MPI_Rget, which take no time
    ENTER_WAIT = 4  # MPI_Wait for it begins
    LEAVE_WAIT = 5  # and ends
    MOMENT_OF_WAIT = 6  # MPI_Wait begins and ends


# The order at one time: ends, then steps without duration, then beginnings. A wait ends before the next op is posted.
_PHASE = {Step.LEAVE: 0, Step.LEAVE_WAIT: 0, Step.MOMENT: 1, Step.POST: 1, Step.MOMENT_OF_WAIT: 1}


@dataclass(frozen=True)
class Steps:
    """Steps of a lane of a rank, in the order of `times` (ps); `rows` are those of the ops."""

    times: Ints
    steps: Ints
    rows: Ints


def steps_of(ops: Ops, first: int, last: int) -> Iterator[Steps]:
    """The steps of the rank with rows `first` to `last`: of its first lane, and of others if it has several CPUs."""
    kind = ops.kind[first:last]
    start, end, work = ops.start[first:last], ops.end[first:last], ops.work[first:last]
    may_wait = np.isin(kind, RECEIVING + REMOTE) | ((kind == SEND) & (work > start))
    beside = _overlapped(start, end) & may_wait
    regions, requests = np.flatnonzero(~beside), np.flatnonzero(beside)
    lane = lanes(start[regions], end[regions])
    for number in range(int(lane.max(initial=0)) + 1):
        own = regions[lane == number]
        parts = _regions(own, start[own], end[own])
        if number == 0:
            parts += _requests(requests, start, end, work, own)
        rows, times, steps = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        phases = np.array([_PHASE.get(step, 2) for step in Step])[steps]
        order = np.lexsort((steps, rows, phases, times))
        yield Steps(times[order], steps[order], first + rows[order])


def _overlapped(start: Ints, end: Ints) -> Ints:
    """Whether another step of the rank lies within each span."""
    order = np.lexsort((end, start))
    ordered_start, ordered_end = start[order], end[order]
    latest = np.maximum.accumulate(ordered_end)
    overlapped = np.zeros(len(start), dtype=bool)
    overlapped[order[1:]] |= ordered_start[1:] < latest[:-1]
    overlapped[order[:-1]] |= ordered_start[1:] < ordered_end[:-1]
    return overlapped


def _regions(rows: Ints, start: Ints, end: Ints) -> list[tuple[Ints, Ints, Ints]]:
    moments = start == end
    return [
        _part(rows[~moments], start[~moments], Step.ENTER),
        _part(rows[~moments], end[~moments], Step.LEAVE),
        _part(rows[moments], start[moments], Step.MOMENT),
    ]


def _requests(rows: Ints, start: Ints, end: Ints, work: Ints, regions: Ints) -> list[tuple[Ints, Ints, Ints]]:
    """The posts and the waits, which overlap neither each other nor regions; a wait begins as late as needed for
    that."""
    rows = rows[np.lexsort((rows, end[rows]))]
    until = end[rows]
    regions = regions[np.argsort(end[regions], kind="stable")]
    done = np.searchsorted(end[regions], until, side="right")
    free = np.append(end[regions], 0)[done - 1] if len(regions) else np.zeros(len(rows), dtype=np.int64)
    free = np.where(done > 0, free, 0)
    after = np.append(start[regions], np.iinfo(np.int64).max)[done]
    previous = np.insert(until, 0, 0)[:-1]
    begin = np.maximum.reduce([work[rows], start[rows], free, previous])
    moments = (begin >= until) | (after < until)
    return [
        _part(rows, start[rows], Step.POST),
        _part(rows[~moments], begin[~moments], Step.ENTER_WAIT),
        _part(rows[~moments], until[~moments], Step.LEAVE_WAIT),
        _part(rows[moments], until[moments], Step.MOMENT_OF_WAIT),
    ]


def _part(rows: Ints, times: Ints, step: Step) -> tuple[Ints, Ints, Ints]:
    return rows, times, np.full(len(rows), int(step))
