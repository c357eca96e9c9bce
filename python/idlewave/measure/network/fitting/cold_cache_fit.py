"""What messages take longer after a computation: the costs of cold caches, from exchanges after computations."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ....cold_caches import ColdCaches
from ....formatting import plain_time, size_text
from .bootstrap import RESAMPLES, TAILS, Intervals
from .observations import Array
from .pattern_times import AFTER

FEWEST_DELAYS = 3
"""Lengths of computations below which nothing is fitted: the shortest one leaves the caches as they are."""
GRID = 24
"""Lengths of a computation that are tried, from a part of the second shortest to the longest that was measured."""
SHORTEST_PART = 0.1
NS = 1000.0
SEED = 1


@dataclass(frozen=True)
class ColdCacheFit:
    """Costs of cold caches and the 95 % intervals of their times, in ps: by "call", "call_after", "buffer_after", and
    "buffer[i].time"."""

    costs: ColdCaches
    intervals: Intervals

    @property
    def note(self) -> str:
        """A sentence on the costs."""
        largest, time = self.costs.buffers[-1]
        return (
            f"After a computation the caches are cold: the first call takes {plain_time(self.costs.call, 3)} longer "
            f"(after {plain_time(self.costs.call_after, 3)} or more), and a message of {size_text(largest)} "
            f"{plain_time(time, 3)} more at its two ends (after {plain_time(self.costs.buffer_after, 3)}); schedules "
            "of traces have that."
        )


@dataclass(frozen=True)
class _Exchanges:
    """Medians of exchanges: by size (rows) and length of the computation before (columns), both ascending, in ps."""

    sizes: Array
    computed: Array
    medians: Array

    @property
    def longer(self) -> Array:
        """What each takes longer than after the shortest computation."""
        return self.medians[..., 1:] - self.medians[..., :1]


def fit_cold_caches(samples: pd.DataFrame) -> ColdCacheFit | None:
    """The costs by `samples` of patterns (see PatternMeasurement); None where exchanges after computations were not
    measured at enough lengths, or do not take longer: the costs must explain more than they have parameters, by the
    criterion of Schwarz (1978)."""
    own = samples[samples["pattern"] == AFTER]
    groups = own.groupby(["size", "delay_ns"])[["epoch", "elapsed_ns"]]
    cells = {(size, delay): part for (size, delay), part in groups}
    sizes, computed = sorted(own["size"].unique()), sorted(own["delay_ns"].unique())
    whole = [size for size in sizes if all((size, delay) in cells for delay in computed)]
    if not whole or len(computed) < FEWEST_DELAYS:
        return None
    grid = [[cells[size, delay] for delay in computed] for size in whole]
    seen = _Exchanges(np.array(whole, float), np.array(computed, float) * NS, _medians(grid))
    fits = _Fits(seen)
    cost, found = (value[0] for value in fits.best(seen.longer[None]))
    points = seen.longer.size
    nothing = fits.cost_of_nothing(seen.longer)
    parameters = 2 + len(whole) + (len(whole) > 1)
    if points * math.log(nothing / cost) <= parameters * math.log(points):
        return None
    drawn = fits.best(_resampled(grid, np.random.default_rng(SEED)))[1]
    low, high = np.percentile(drawn, TAILS, axis=0)
    return ColdCacheFit(
        _costs_of(found, seen.sizes),
        {name: (float(below), float(above)) for name, below, above in zip(_names(len(whole)), low, high, strict=True)},
    )


def _names(sizes: int) -> list[str]:
    return ["call_after", "buffer_after", "call", *(f"buffer[{i}].time" for i in range(sizes))]


def _costs_of(found: Array, sizes: Array) -> ColdCaches:
    """Times in whole ns."""
    call_after, buffer_after, call, *buffers = (round(value / NS) * round(NS) for value in found)
    return ColdCaches(
        call, call_after, buffer_after, tuple((int(size), time) for size, time in zip(sizes, buffers, strict=True))
    )


class _Fits:
    """Costs fitted to what exchanges take longer, with the errors relative to their times.

    For each pair of the two lengths of computation after which caches are empty, the other costs follow linearly.
    """

    def __init__(self, seen: _Exchanges) -> None:
        self._weights = 1 / seen.medians[:, 1:]
        after = np.geomspace(SHORTEST_PART * seen.computed[1], seen.computed[-1], GRID)
        shares = np.minimum(seen.computed / after[:, None], 1)
        shares = shares[:, 1:] - shares[:, :1]
        self._tried = [
            (call_after, buffer_after, self._design(of_call, of_buffer))
            for call_after, of_call in zip(after, shares, strict=True)
            for buffer_after, of_buffer in zip(after, shares, strict=True)
        ]

    def _design(self, of_call: Array, of_buffer: Array) -> Array:
        """What each exchange takes longer (rows) by the cost of a call and those of the sizes but the smallest, whose
        buffer takes no time (columns)."""
        sizes, lengths = self._weights.shape
        design = np.zeros((sizes, lengths, sizes))
        design[:, :, 0] = of_call
        for i in range(1, sizes):
            design[i, :, i] = of_buffer
        return design.reshape(sizes * lengths, sizes)

    def best(self, longer: Array) -> tuple[Array, Array]:
        """For each of several tables of what exchanges take longer: the cost of the best fit, and its parameters in the
        order of `_names`, ps. No time is negative, and a larger message takes no less."""
        weights = self._weights.ravel()
        seen = longer.reshape(len(longer), -1) * weights
        costs = np.full(len(longer), np.inf)
        found = np.zeros((len(longer), 3 + len(self._weights)))
        for call_after, buffer_after, design in self._tried:
            weighted = design * weights[:, None]
            fitted = np.maximum(seen @ np.linalg.pinv(weighted).T, 0)
            fitted[:, 1:] = _ascending(fitted[:, 1:])
            cost = ((seen - fitted @ weighted.T) ** 2).sum(axis=1)
            better = cost < costs
            costs[better] = cost[better]
            found[better, 0], found[better, 1] = call_after, buffer_after
            found[better, 2] = fitted[better, 0]
            found[better, 4:] = fitted[better, 1:]
        return costs, found

    def cost_of_nothing(self, longer: Array) -> float:
        """The cost of a fit by no parameters."""
        return float(((longer * self._weights) ** 2).sum())


def _ascending(rows: Array) -> Array:
    """Rows that descend nowhere: between the largest value so far and the smallest of those that follow."""
    so_far = np.maximum.accumulate(rows, axis=1)
    following = np.minimum.accumulate(rows[:, ::-1], axis=1)[:, ::-1]
    return np.asarray((so_far + following) / 2)


def _medians(grid: list[list[pd.DataFrame]]) -> Array:
    return np.array([[cell["elapsed_ns"].median() * NS for cell in row] for row in grid])


def _resampled(grid: list[list[pd.DataFrame]], random: np.random.Generator) -> Array:
    """What exchanges take longer in resamples: epochs are drawn with replacement, and then the samples of each."""
    values = [[[part.to_numpy() for _, part in cell.groupby("epoch")["elapsed_ns"]] for cell in row] for row in grid]
    drawn = np.empty((RESAMPLES, len(grid), len(grid[0])))
    for resample in drawn:
        for i, row in enumerate(values):
            for j, epochs in enumerate(row):
                chosen = [epochs[k] for k in random.integers(len(epochs), size=len(epochs))]
                parts = [random.choice(part, len(part)) for part in chosen]
                resample[i, j] = np.median(np.concatenate(parts)) * NS
    return np.asarray(drawn[..., 1:] - drawn[..., :1])
