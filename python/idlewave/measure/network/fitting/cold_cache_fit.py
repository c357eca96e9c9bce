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
    own = own.assign(each_ns=own["elapsed_ns"] / own["repetitions"])
    groups = own.groupby(["size", "delay_ns"])[["epoch", "each_ns"]]
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
    """Times of three digits, in ps."""
    call_after, buffer_after, call, *buffers = (round(float(f"{value:.3g}")) for value in found)
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
        self._after = [(call_after, buffer_after) for call_after in after for buffer_after in after]
        designs = [self._design(of_call, of_buffer) for of_call in shares for of_buffer in shares]
        self._weighted = np.array(designs) * self._weights.ravel()[:, None]
        self._solvers = np.linalg.pinv(self._weighted)

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
        seen = longer.reshape(len(longer), -1) * self._weights.ravel()
        costs = np.full(len(longer), np.inf)
        found = np.zeros((len(longer), 3 + len(self._weights)))
        for after, weighted, solver in zip(self._after, self._weighted, self._solvers, strict=True):
            fitted = np.maximum(seen @ solver.T, 0)
            fitted[:, 1:] = _ascending(fitted[:, 1:])
            cost = ((seen - fitted @ weighted.T) ** 2).sum(axis=1)
            better = cost < costs
            costs[better] = cost[better]
            found[better, :2] = after
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
    return np.array([[cell["each_ns"].median() * NS for cell in row] for row in grid])


def _resampled(grid: list[list[pd.DataFrame]], random: np.random.Generator) -> Array:
    """What exchanges take longer in resamples: epochs are drawn with replacement, the same for all exchanges, and then
    samples of these."""
    epochs = np.unique(np.concatenate([cell["epoch"].to_numpy() for row in grid for cell in row]))
    chosen = np.sort(random.choice(epochs, (RESAMPLES, len(epochs))), axis=1)
    sets, members = np.unique(chosen, axis=0, return_inverse=True)
    drawn = np.empty((RESAMPLES, len(grid), len(grid[0])))
    for i, row in enumerate(grid):
        for j, cell in enumerate(row):
            values = cell["each_ns"].to_numpy(float)
            for k, taken in enumerate(sets):
                own = np.concatenate([values[cell["epoch"].to_numpy() == epoch] for epoch in taken])
                pool = own if len(own) else values
                of_set = np.flatnonzero(members.ravel() == k)
                drawn[of_set, i, j] = np.median(random.choice(pool, (len(of_set), len(pool))), axis=1) * NS
    return np.asarray(drawn[..., 1:] - drawn[..., :1])
