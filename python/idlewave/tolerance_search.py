"""The search for the finish time as a function of the latency: each simulation is made where it reduces the error
most."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt

from .tolerance_samples import Sample, Samples, deviation, unevenness

CHECKS = 9
"""How many random latencies are simulated to check that a curve is convex."""
HELD_OUT = 19
"""How many random latencies are simulated to estimate the error of a curve that is not convex: it holds for 19 of
20."""
FEWEST_PIECES = 32
"""The fewest pieces of a curve that may jump, because the slopes at the ends of a piece say little about its inside."""


def _corners(curve: list[Sample]) -> list[Sample]:
    """The samples of a convex curve without those on a straight line between their neighbours."""
    kept: list[Sample] = []
    for sample in curve:
        while len(kept) > 1 and deviation(kept[-2], sample) == unevenness(kept[-2], sample, kept[-1]) == 0:
            kept.pop()
        kept.append(sample)
    return kept


class Search:
    """Finds a bracket for each limit of the time, and the curve up to the last limit."""

    def __init__(self, samples: Samples, limits: list[int], precision: float, *, noise: bool) -> None:
        """`limits`: finish times, ps, ascending. `precision`: as of `latency_tolerance`."""
        self.samples = samples
        self.held_out: list[int] = []
        self._limits = limits
        self._precision = precision
        self._tolerated = int(precision * (limits[0] - samples.known[0].time))
        self._noise = noise
        self._curve: list[Sample] | None = None
        self._halvings = dict.fromkeys(limits, _Halving())

    def run(self) -> None:
        """Simulate until the precision is reached, or no simulation is left."""
        kept = self.samples.left() // 4
        self._look(self.next_for_brackets, kept=0)
        self._look(self.next_of_all, kept)
        if self.bounded:
            self._check(kept // 2)
        if not self.bounded:
            self._look(self.next_of_all, kept)
            self._hold_out()
            self._look(self.next_for_brackets, kept=0)

    @property
    def unlimited(self) -> bool:
        """Whether the time does not depend on the latency.

        A message that is received makes a finish of at least L. So where the time is less than the latency, none is.
        """
        last = self.samples.known[-1]
        return last.added > last.time

    @property
    def bounded(self) -> bool:
        """Whether the errors are bounds: no simulation contradicts that the time is convex, and there is no noise."""
        return self.unlimited or (self.samples.convex and not self._noise)

    @property
    def curve(self) -> list[Sample]:
        """The simulations on the curve; of a straight line only its ends."""
        if self._curve is not None:
            return self._curve
        curve = self.samples.until(self.end)
        return _corners(curve) if self.bounded else curve

    def errors(self) -> list[int]:
        """For each piece of the curve, how far the time may lie from the straight line, ps."""
        curve = self.curve
        pieces = list(pairwise(curve))
        more = 0
        for held_out in self.held_out:
            place = max(1, bisect_left(curve, held_out, key=lambda sample: sample.added))
            a, b = curve[place - 1], curve[place]
            between = next(sample for sample in self.samples.known if sample.added == held_out)
            more = max(more, unevenness(a, b, between) - deviation(a, b))
        return [deviation(a, b) + (more if b.added - a.added > 1 else 0) for a, b in pieces]

    def _look(self, where: Callable[[], int | None], kept: int) -> None:
        """Simulate at the latencies of `where`, until it returns None or only `kept` simulations are left."""
        while self.samples.left() > kept:
            added = where()
            if added is None:
                return
            self.samples.take(added)

    def _check(self, kept: int) -> None:
        """Simulate at random latencies, as long as no simulation contradicts that the time is convex."""
        dice = random.Random(0)
        for _ in range(CHECKS):
            if self.samples.left() > kept and self.bounded:
                self.samples.take(dice.randint(0, self.end))

    def _hold_out(self) -> None:
        """Simulate at random latencies of the range of the curve, without adding them to the curve."""
        self._curve = self.curve
        dice = random.Random(1)
        end = self._curve[-1].added
        for _ in range(HELD_OUT if end else 0):
            if self.samples.left() > 0:
                added = dice.randint(0, end)
                self.samples.take(added)
                self.held_out.append(added)

    def next_of_all(self) -> int | None:
        """The next latency: first for brackets, then for the curve."""
        added = self.next_for_brackets()
        return self.next_for_curve() if added is None else added

    # Brackets

    def next_for_brackets(self) -> int | None:
        """The next latency to simulate for a bracket; None if all brackets are narrow enough."""
        candidates = [limit for limit in self._limits if self._is_open(limit)]
        if not candidates:
            return None
        limit = max(candidates, key=lambda limit: (self._openness(limit), limit))
        low, high = self.samples.around(limit)
        if high is None:
            return self._next_beyond(low, limit)
        halving = self._halvings[limit] = self._halvings[limit].after(high.added - low.added)
        return _halfway(low, high) if halving.stalls else _by_slopes(low, high, limit)

    def _is_open(self, limit: int) -> bool:
        low, high = self.samples.around(limit)
        if high is None:
            return self._next_beyond(low, limit) is not None
        width = high.added - low.added
        return width > 1 and (self.bounded or width > self._precision * high.added)

    def _openness(self, limit: int) -> float:
        """The part of the tolerated latency of `limit` that is not known yet."""
        low, high = self.samples.around(limit)
        return 1.0 if high is None else 1 - low.added / high.added

    def _next_beyond(self, low: Sample, limit: int) -> int | None:
        """A latency at which the time may exceed `limit`, if no simulation does so far; None if none can be
        simulated."""
        if self.unlimited:
            return None
        base = self.samples.known[0].time
        step = (limit - low.time) // low.slope + 1 if low.slope else limit - base + 1
        added = min(max(low.added + step, 2 * low.added), limit + 1)
        if added < self.samples.unreachable:
            return added
        left = self.samples.unreachable - low.added
        return low.added + left // 2 if left > 1 + self._precision * low.added else None

    # The curve

    @property
    def end(self) -> int:
        """The end of the curve: the added latency just beyond the last limit."""
        _, high = self.samples.around(self._limits[-1])
        return self.samples.known[-1].added if high is None else high.added

    def next_for_curve(self) -> int | None:
        """The latency where the curve is least certain; None if its errors are small enough."""
        pieces = list(pairwise(self.samples.until(self.end)))
        if not pieces:
            return None
        if self.bounded:
            a, b = max(pieces, key=lambda piece: deviation(*piece))
            return _meeting(a, b) if deviation(a, b) > self._tolerated else None
        return self._next_for_uneven(pieces)

    def _next_for_uneven(self, pieces: list[tuple[Sample, Sample]]) -> int | None:
        """The same for a curve that may jump. Narrow pieces are left alone: a jump remains however narrow its piece
        is."""
        widest = max(pieces, key=lambda piece: piece[1].added - piece[0].added)
        narrow = max(1, self._precision * self.end)
        if widest[1].added - widest[0].added > max(narrow, self.end / FEWEST_PIECES):
            return (widest[0].added + widest[1].added) // 2
        wide = [(a, b) for a, b in pieces if b.added - a.added > narrow]
        a, b = max(wide, key=lambda piece: deviation(*piece), default=pieces[0])
        return (a.added + b.added) // 2 if wide and deviation(a, b) > self._tolerated else None


@dataclass(frozen=True)
class _Halving:
    """Whether an interval shrinks: its width when it was last halved, and the simulations since."""

    width: int = 0
    looks: int = 0

    def after(self, width: int) -> _Halving:
        """The state after one more simulation, which left the interval `width` wide."""
        if self.width == 0 or 2 * width <= self.width:
            return _Halving(width, 0)
        return _Halving(self.width, self.looks + 1)

    @property
    def stalls(self) -> bool:
        """Whether the last two simulations did not halve the interval."""
        return self.looks >= 2


def _halfway(low: Sample, high: Sample) -> int:
    """A latency between two others: their mean, or their geometric mean if they differ in magnitude."""
    if high.added <= 8 * (low.added + 1):
        return (low.added + high.added) // 2
    return isqrt(high.added * max(low.added, high.added // 1024, 1))


def _by_slopes(low: Sample, high: Sample, limit: int) -> int:
    """The last latency at which the time is within `limit` by the slopes at `low` and `high`, or the one after it."""
    guesses = []
    if low.slope:
        guesses.append(low.added + (limit - low.time) // low.slope)
    if high.slope:
        guesses.append(high.added + (limit - high.time) // high.slope)
    inside = [guess for guess in guesses if low.added <= guess < high.added]
    if not inside:
        return _halfway(low, high)
    return max(min(inside), low.added + 1)


def _meeting(a: Sample, b: Sample) -> int:
    """The latency between `a` and `b` at which the tangents of both meet."""
    meeting = a.added + (b.time - b.slope * (b.added - a.added) - a.time) // (a.slope - b.slope)
    return min(max(meeting, a.added + 1), b.added - 1)
