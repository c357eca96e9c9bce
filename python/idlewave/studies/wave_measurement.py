"""An idle wave, measured: two simulations of one program, with delays and without, compared op by op.

A rank goes on where an op of it starts, and where it has done all. There it is late by how much later that is with the
delays; a receive that ends later and that no op waits for makes it not late. A delay reaches a rank
that is late by more than `LATE` of the longest delay at some time. It arrives where its lateness grows most from one
such time to the next; the time of arrival is when the rank would have gone on without the delays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from ..timeline import OP_KINDS, Timeline
from .one_off_delays import Delay

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Times = npt.NDArray[np.int64]

LATE = 0.1
"""The share of the longest delay by which a rank that the wave reaches is late at least."""
NEVER = -1
"""The arrival at a rank that no delay has reached."""


class Ways(Enum):
    """The ways of a wave: both ways round a ring, to higher ranks of it alone, or along messages of any shape."""

    ring = "ring"
    up = "up"
    messages = "messages"


@dataclass(frozen=True)
class Wave:
    """What the delays did to each rank; arrays, one value a rank.

    `distance`: from the nearest delayed rank, in ranks on a ring, else in messages (-1: no messages lead there).
    `above`: on a ring, that way leads to higher ranks. `arrival`: when it began to be late (NEVER: it did not), `most`
    by how much it was late at most, `last` by how much at its end, all in ps.
    """

    distance: Times
    above: npt.NDArray[np.bool_]
    arrival: Times
    most: Times
    last: Times

    @property
    def reached(self) -> npt.NDArray[np.bool_]:
        """The ranks, but for the delayed ones, at which a delay has arrived."""
        found: npt.NDArray[np.bool_] = (self.distance > 0) & (self.arrival != NEVER)
        return found


@dataclass(frozen=True)
class Line:
    """A straight line through points by least squares: its slope, the share of the variance that it explains, and how
    many points there were. Slope and share are None if the points do not determine them."""

    slope: float | None
    r2: float | None
    points: int


def wave_of(without: Timeline, delayed: Timeline, delays: Sequence[Delay], ways: Ways) -> Wave:
    """The wave in two simulations that recorded all ops of the same program."""
    import numpy as np

    ranks = len(without.finish)
    rank, due = goes_on(without)
    late = goes_on(delayed)[1] - due
    most = np.zeros(ranks, np.int64)
    np.maximum.at(most, rank, late)
    origins = np.array([delay.rank for delay in delays])
    up = ((np.arange(ranks)[:, None] - origins) % ranks).min(axis=1)
    down = ((origins - np.arange(ranks)[:, None]) % ranks).min(axis=1)
    above = (up <= down) | (ways == Ways.up)
    return Wave(
        distance=hops(without, origins) if ways == Ways.messages else np.where(above, up, down),
        above=above,
        arrival=np.where(most > LATE * max(delay.length for delay in delays), _steepest(rank, due, late), NEVER),
        most=most,
        last=delayed.finish - without.finish,
    )


def _steepest(rank: Times, due: Times, late: Times) -> Times:
    """When each rank would go on where its lateness grows most; of several such times the first."""
    import numpy as np

    order = np.lexsort((due, rank))
    first = np.searchsorted(rank[order], np.arange(int(rank.max()) + 1))
    grown = np.diff(late[order], prepend=0)
    grown[first] = late[order][first]
    most = np.maximum.reduceat(grown, first)
    steepest = np.flatnonzero(grown == most[rank[order]])
    where = steepest[np.searchsorted(rank[order][steepest], np.arange(len(first)))]
    return np.asarray(due[order][where])


def goes_on(timeline: Timeline) -> tuple[Times, Times]:
    """When ranks go on, rank by rank: the start of each of its ops, in their order, and its finish. Also the ranks."""
    import numpy as np

    rank, start = timeline.columns["rank"].astype(np.int64), timeline.columns["start_ps"]
    behind = np.searchsorted(rank, np.arange(len(timeline.finish)), side="right")
    return np.insert(rank, behind, np.arange(len(timeline.finish))), np.insert(start, behind, timeline.finish)


def hops(timeline: Timeline, origins: npt.ArrayLike) -> Times:
    """Messages, either way, on the shortest way from any of the `origins` to each rank; -1: there is no way."""
    import numpy as np

    pairs = timeline.traffic()
    ends = pairs[["rank", "peer"]].to_numpy(dtype=np.int64)
    source, target = np.concatenate([ends, ends[:, ::-1]]).T
    found = np.full(len(timeline.finish), -1, np.int64)
    found[np.asarray(origins)] = 0
    for step in range(len(found)):
        new = np.unique(target[(found[source] == step) & (found[target] == -1)])
        if not len(new):
            break
        found[new] = step + 1
    return found


def fitted_line(x: npt.ArrayLike, y: npt.ArrayLike) -> Line:
    """The line y = a + slope x with the least squares of the differences in y."""
    import numpy as np

    x, y = np.asarray(x, float), np.asarray(y, float)
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Line(None, None, len(x))
    from_mean = x - x.mean()
    slope = float(from_mean @ (y - y.mean()) / (from_mean @ from_mean))
    rest = y - y.mean() - slope * from_mean
    return Line(slope, 1 - float((rest**2).sum()) / float(((y - y.mean()) ** 2).sum()), len(x))


def speed(wave: Wave, ranks: npt.NDArray[np.bool_]) -> Line:
    """How fast the wave goes through some of the ranks it reached: distance a ps, over the times of arrival.

    Of ranks that are reached at one time, as d are in each iteration with d partners, the nearest counts: such stairs
    have one point a step, whether or not all ranks of the last step are there.
    """
    import numpy as np

    chosen = wave.reached & ranks
    times, step = np.unique(wave.arrival[chosen], return_inverse=True)
    nearest = np.full(len(times), np.iinfo(np.int64).max)
    np.minimum.at(nearest, step, wave.distance[chosen])
    return fitted_line(times, nearest)


def decay(wave: Wave) -> Line:
    """By how much ranks are late at most, over their distance: the slope is ps a rank, below 0 where delays decay."""
    return fitted_line(wave.distance[wave.reached], wave.most[wave.reached])


def period(timeline: Timeline, rank: int, iterations: int, share: float) -> float | None:
    """The time of an iteration on a rank that computes once in each, ps: the mean of those after a share of them. None
    if it does not compute so often."""
    import numpy as np

    columns = timeline.columns
    calcs = (columns["rank"] == rank) & (columns["kind"] == OP_KINDS.index("calc")) & (columns["size"] > 0)
    ends = np.sort(columns["end_ps"][calcs])
    first = int(share * iterations)
    if len(ends) != iterations or first >= iterations - 1:
        return None
    return float((ends[-1] - ends[first]) / (iterations - 1 - first))


def lateness(without: Timeline, delayed: Timeline, rows: int, columns: int) -> tuple[list[list[int]], Any]:
    """By how much ranks are late as time passes with the delays, ps: a list a row, and the times of the columns.

    Of more ranks than `rows`, neighbours share a row, which has the most of them. Between two times at
    which it goes on a rank is as late as at the first until it would have gone on again, and then ever later, until it
    does.
    """
    import numpy as np

    ranks = len(without.finish)
    times = np.linspace(0, delayed.max_finish, columns).astype(np.int64)
    (of_rank, due), (_, went_on) = goes_on(without), goes_on(delayed)
    first = np.searchsorted(of_rank, np.arange(ranks + 1))
    found = np.zeros((min(rows, ranks), columns), np.int64)
    for rank in range(ranks):
        own = slice(first[rank], first[rank + 1])
        row = rank * len(found) // ranks
        late = _late_at(due[own], went_on[own], times)
        found[row] = np.maximum(found[row], late)
    return found.tolist(), times


def _late_at(without: Times, delayed: Times, times: Times) -> Times:
    """By how much a rank is late at these times, from the times at which it goes on."""
    import numpy as np

    order = np.lexsort((without, delayed))
    went_on, due = np.concatenate([[0], delayed[order]]), np.concatenate([[0], without[order]])
    before = np.searchsorted(went_on, times, side="right") - 1
    after = np.minimum(before + 1, len(went_on) - 1)
    late = went_on - due
    low, high = np.minimum(late[before], late[after]), np.maximum(late[before], late[after])
    return np.asarray(np.clip(times - due[after], low, high))
