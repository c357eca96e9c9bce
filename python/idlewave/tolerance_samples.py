"""Finish times simulated with added latency, and bounds of the times between them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from .errors import TimeOverflow


@dataclass(frozen=True)
class Sample:
    """A simulation: the latency added, the finish time (both in ps), and the slope of the time from there on."""

    added: int
    time: int
    slope: int


class Samples:
    """The simulations so far, in the order of the added latency."""

    def __init__(self, simulate: Callable[[int], Sample], most: int, largest: int) -> None:
        """At most `most` simulations are made. `largest` is the most latency that can be added at all, ps.

        Raises what `simulate` raises without added latency.
        """
        self._simulate = simulate
        self._most = most
        self.known = [simulate(0)]
        self.made = 1
        self.convex = True
        """Whether no simulation contradicts that the time is convex in the latency."""
        self.unreachable = largest + 1
        """An added latency at which times leave the range of int64; the smallest known."""

    def left(self) -> int:
        """The number of simulations that are left."""
        return self._most - self.made

    def take(self, added: int) -> None:
        """Simulate with that added latency, unless it is known."""
        place = bisect_left(self.known, added, key=lambda sample: sample.added)
        if place < len(self.known) and self.known[place].added == added:
            return
        self.made += 1
        try:
            sample = self._simulate(added)
        except TimeOverflow:
            self.unreachable = min(self.unreachable, added)
            return
        self.known.insert(place, sample)
        neighbours = self.known[max(place - 1, 0) : place + 2]
        self.convex &= all(_is_convex(a, b) for a, b in pairwise(neighbours))

    def around(self, limit: int) -> tuple[Sample, Sample | None]:
        """The first simulation whose time exceeds `limit`, if there is one, and the one before it."""
        first = next((i for i, sample in enumerate(self.known) if sample.time > limit), None)
        return (self.known[-1], None) if first is None else (self.known[first - 1], self.known[first])

    def until(self, end: int) -> list[Sample]:
        """The simulations with at most so much added latency."""
        return [sample for sample in self.known if sample.added <= end]


def _is_convex(a: Sample, b: Sample) -> bool:
    """Whether a convex curve may have these neighbours. The slope after b is an upper bound of the slope before b."""
    rise, width = b.time - a.time, b.added - a.added
    return a.slope * width <= rise <= b.slope * width


def deviation(a: Sample, b: Sample) -> int:
    """How far from the straight line between `a` and `b` the time may lie between them, ps, rounded up.

    If the time is convex in the latency, it does not lie above that line, nor below the two that the slopes give: this
    is a bound, reached where those two meet. If the slopes contradict that, the time may jump, and this is how far the
    lines by the slopes lie from the line between.
    """
    width = b.added - a.added
    if width == 1:
        return 0
    left = b.time - a.time - a.slope * width
    right = b.slope * width - (b.time - a.time)
    if left * right < 0:
        return max(abs(left), abs(right))
    return -(-(left * right) // abs(left + right)) if left + right else 0


def unevenness(a: Sample, b: Sample, between: Sample) -> int:
    """How far from the straight line between `a` and `b` a simulation between them lies, ps, rounded up."""
    width = b.added - a.added
    return -(-abs((between.time - a.time) * width - (b.time - a.time) * (between.added - a.added)) // width)
