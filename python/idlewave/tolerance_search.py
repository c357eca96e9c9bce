"""Where to simulate, to know the finish time as a function of the latency: each time where it tells most."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt

from .tolerance_samples import Sample, Samples, deviation, unevenness

CHECKS = 9
"""Latencies chosen at random at which a curve that seems convex is looked at, whether it is."""
HELD_OUT = 19
"""Latencies chosen at random by which the error of a curve that is not convex is estimated: it holds for 19 of 20."""
FEWEST_PIECES = 32
"""A curve that may jump has at least so many pieces: the slopes at a piece's ends say little of its inside."""


def _corners(curve: list[Sample]) -> list[Sample]:
    """Without those that lie on a straight line between their neighbours. The curve is convex as far as is seen."""
    kept: list[Sample] = []
    for sample in curve:
        while len(kept) > 1 and deviation(kept[-2], sample) == unevenness(kept[-2], sample, kept[-1]) == 0:
            kept.pop()
        kept.append(sample)
    return kept


class Search:
    """Brackets, for each limit, of the latency from which on the time exceeds it, and a curve up to the last."""

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
        """Simulates until all is known with the precision, or as many simulations are made as may be."""
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
        """Whether errors are bounded: as far as seen the time is convex, and there is no noise that makes it jump."""
        return self.unlimited or (self.samples.convex and not self._noise)

    @property
    def curve(self) -> list[Sample]:
        """The simulations that the curve goes through; of a straight line its ends."""
        if self._curve is not None:
            return self._curve
        curve = self.samples.until(self.end)
        return _corners(curve) if self.bounded else curve

    def errors(self) -> list[int]:
        """Of each piece of the curve, how far from a straight line the time may lie, ps."""
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
        """Simulates there, until nothing is left to look at, or so many simulations are left."""
        while self.samples.left() > kept:
            added = where()
            if added is None:
                return
            self.samples.take(added)

    def _check(self, kept: int) -> None:
        """Simulates at random, as long as nothing seen contradicts that the time is convex."""
        dice = random.Random(0)
        for _ in range(CHECKS):
            if self.samples.left() > kept and self.bounded:
                self.samples.take(dice.randint(0, self.end))

    def _hold_out(self) -> None:
        """Simulates where the curve does not go through: at random, each latency of its range being as likely."""
        self._curve = self.curve
        dice = random.Random(1)
        end = self._curve[-1].added
        for _ in range(HELD_OUT if end else 0):
            if self.samples.left() > 0:
                added = dice.randint(0, end)
                self.samples.take(added)
                self.held_out.append(added)

    def next_of_all(self) -> int | None:
        """Brackets come first."""
        added = self.next_for_brackets()
        return self.next_for_curve() if added is None else added

    # Brackets

    def next_for_brackets(self) -> int | None:
        """Where to look next for the latency at which the time exceeds a limit; None: that is known of all."""
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
        """Of the latency that the time bears before it exceeds `limit`, which part is not known."""
        low, high = self.samples.around(limit)
        return 1.0 if high is None else 1 - low.added / high.added

    def _next_beyond(self, low: Sample, limit: int) -> int | None:
        """Where the time may exceed `limit`, when it does nowhere so far; None: nowhere that can be simulated."""
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
        """How much added latency the curve goes to: just beyond the last limit."""
        _, high = self.samples.around(self._limits[-1])
        return self.samples.known[-1].added if high is None else high.added

    def next_for_curve(self) -> int | None:
        """Where the curve is least known; None: it is known well enough."""
        pieces = list(pairwise(self.samples.until(self.end)))
        if not pieces:
            return None
        if self.bounded:
            a, b = max(pieces, key=lambda piece: deviation(*piece))
            return _meeting(a, b) if deviation(a, b) > self._tolerated else None
        return self._next_for_uneven(pieces)

    def _next_for_uneven(self, pieces: list[tuple[Sample, Sample]]) -> int | None:
        """Of a curve that may jump. What is narrow is left: a jump remains one however narrow its piece is."""
        widest = max(pieces, key=lambda piece: piece[1].added - piece[0].added)
        narrow = max(1, self._precision * self.end)
        if widest[1].added - widest[0].added > max(narrow, self.end / FEWEST_PIECES):
            return (widest[0].added + widest[1].added) // 2
        wide = [(a, b) for a, b in pieces if b.added - a.added > narrow]
        a, b = max(wide, key=lambda piece: deviation(*piece), default=pieces[0])
        return (a.added + b.added) // 2 if wide and deviation(a, b) > self._tolerated else None


@dataclass(frozen=True)
class _Halving:
    """Whether an interval shrinks: how wide it was when it last was half of what it had been, and looks since."""

    width: int = 0
    looks: int = 0

    def after(self, width: int) -> _Halving:
        """With one more look that left it `width` wide."""
        if self.width == 0 or 2 * width <= self.width:
            return _Halving(width, 0)
        return _Halving(self.width, self.looks + 1)

    @property
    def stalls(self) -> bool:
        """Whether the last two looks did not halve it."""
        return self.looks >= 2


def _halfway(low: Sample, high: Sample) -> int:
    """Between two latencies; where they are of different magnitude, by magnitude."""
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
    """Where the lines that the slopes at `a` and `b` give meet, inside."""
    meeting = a.added + (b.time - b.slope * (b.added - a.added) - a.time) // (a.slope - b.slope)
    return min(max(meeting, a.added + 1), b.added - 1)
