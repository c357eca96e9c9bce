"""The extra time of messages after a computation, fitted to exchanges after computations."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy

from ....cold_caches import ColdCaches
from ....formatting import plain_time, size_text
from .bootstrap import RESAMPLES, TAILS, Intervals
from .observations import Array
from .pattern_times import AFTER

FEWEST_LENGTHS = 3
"""Lengths of computations below which nothing is fitted."""
GRID = 24
"""Lengths of a computation that are tried, from a part of the second shortest to the longest that was measured."""
SHORTEST_PART = 0.1
FEWEST_SPARE = 7
"""Medians beyond the number of parameters below which the criterion would accept scatter."""
NS = 1000.0
SEED = 1


@dataclass(frozen=True)
class ColdCacheFit:
    """Costs of cold caches, and the 95 % intervals of their times, in ps: by "call", "call_after", "buffer_after", and
    "buffer[i].time" of all sizes but the smallest, whose buffer counts as none."""

    costs: ColdCaches
    intervals: Intervals

    @property
    def note(self) -> str:
        """A sentence on the costs."""
        call, call_after, buffer_after = (
            plain_time(time, 3) for time in (self.costs.call, self.costs.call_after, self.costs.buffer_after)
        )
        said = (
            f"After a computation the caches are cold: after one of {call_after} or more the first call takes {call} "
            "longer"
        )
        largest, time = self.costs.buffers[-1]
        if time > 0:
            said += (
                f", and after one of {buffer_after} or more the two ends of a message of {size_text(largest)} take "
                f"{plain_time(time, 3)} more"
            )
        return f"{said}."


def fit_cold_caches(samples: pd.DataFrame) -> ColdCacheFit | None:
    """The costs by `samples` of patterns (see PatternMeasurement).

    None where exchanges after computations were not measured at enough lengths and sizes, or do not take longer: the
    costs must explain more than their number of parameters does by chance, by the criterion of Schwarz (1978).
    """
    own = samples[samples["pattern"] == AFTER]
    own = own.assign(each_ps=own["elapsed_ns"] / own["repetitions"] * NS)
    cells = own.pivot_table(index="size", columns="delay_ns", values="each_ps", aggfunc="median")
    cells = cells[(cells.index > 0) & (cells.notna().sum(axis=1) >= FEWEST_LENGTHS)]
    points = int(cells.notna().to_numpy().sum())
    parameters = len(cells) + 2  # a call, the buffers of all sizes but one, and the two lengths
    if points - len(cells) - parameters < FEWEST_SPARE:
        return None
    medians = cells.to_numpy()
    fits = _Fits(cells.columns.to_numpy(float) * NS, medians)
    found, misfit = fits.best(medians)
    plain = fits.misfit_without_costs(medians)
    tiny = 1e-9 * points  # of relative errors, squared: rounding
    gain = math.log((plain + tiny) / (misfit + tiny))
    if points * gain <= parameters * math.log(points):
        return None
    return ColdCacheFit(_costs_of(found, cells.index), _intervals(own, cells, fits))


def _costs_of(found: Array, sizes: Iterable[int]) -> ColdCaches:
    """Times of three digits, in ps."""
    call_after, buffer_after, call, *buffers = (round(float(f"{value:.3g}")) for value in found)
    sized = tuple((int(size), time) for size, time in zip(sizes, (0, *buffers), strict=True))
    return ColdCaches(call, call_after, buffer_after, sized)


def _intervals(own: pd.DataFrame, cells: pd.DataFrame, fits: _Fits) -> Intervals:
    """The 95 % intervals of resamples."""
    low, high = np.percentile([fits.best(medians)[0] for medians in _resampled(own, cells)], TAILS, axis=0)
    names = ["call_after", "buffer_after", "call", *(f"buffer[{i}].time" for i in range(1, len(cells)))]
    return {name: (float(below), float(above)) for name, below, above in zip(names, low, high, strict=True)}


class _Fits:
    """Costs fitted to median times of exchanges in ps, by size (rows) and length of the computation before (columns),
    both ascending, NaN where there is no sample: the least sum of squared errors, relative to the medians.

    For each pair of the lengths of computation after which a call and buffers have all of their extra time, the time of
    an exchange is linear in the others: that of its size in warm caches, the extra time of a call, and by how much the
    extra time of its buffer exceeds that of the next smaller size. None of these is negative.
    """

    def __init__(self, computed: Array, medians: Array) -> None:
        """`computed`: the lengths, ps."""
        self._weights = np.nan_to_num(1 / medians).ravel()
        self._sizes = len(medians)
        after = np.geomspace(SHORTEST_PART * computed[1], computed[-1], GRID)
        shares = np.minimum(computed / after[:, None], 1)
        self._after = np.array([(call_after, buffer_after) for call_after in after for buffer_after in after])
        designs = [self._design(of_call, of_buffer) for of_call in shares for of_buffer in shares]
        self._weighted = np.array(designs) * self._weights[:, None]
        self._projections = self._weighted @ np.linalg.pinv(self._weighted)

    def _design(self, of_call: Array, of_buffer: Array) -> Array:
        """Each exchange (rows) by the parameters (columns): the warm times, a call, and the steps between buffers."""
        n, lengths = self._sizes, len(of_call)
        design = np.zeros((n, lengths, 2 * n))
        for i in range(n):
            design[i, :, i] = 1
            design[i, :, n + 1 : n + 1 + i] = of_buffer[:, None]
        design[:, :, n] = of_call
        return design.reshape(n * lengths, 2 * n)

    def _scaled(self, medians: Array) -> Array:
        """Times with their weights, one after the other."""
        return np.nan_to_num(medians.ravel()) * self._weights

    def best(self, medians: Array) -> tuple[Array, float]:
        """What fits a table of medians best, and the misfit: the two lengths of computation, the extra time of a call,
        and those of the buffers of all sizes but the smallest, in ps.

        Without bounds no pair of lengths has a larger misfit than with them, so the pairs are tried from the least of
        these on until none can be better.
        """
        seen = self._scaled(medians)
        least = ((seen - self._projections @ seen) ** 2).sum(axis=1)
        found, misfit = np.zeros(0), math.inf
        for pair in np.argsort(least):
            if least[pair] >= misfit:
                break
            values, norm = scipy.optimize.nnls(self._weighted[pair], seen)
            if norm**2 < misfit:
                n = self._sizes
                found = np.array([*self._after[pair], values[n], *np.cumsum(values[n + 1 :])])
                misfit = float(norm**2)
        return found, misfit

    def misfit_without_costs(self, medians: Array) -> float:
        """The misfit of warm times alone."""
        warm = self._weighted[0][:, : self._sizes]
        return float(scipy.optimize.nnls(warm, self._scaled(medians))[1] ** 2)


def _resampled(own: pd.DataFrame, cells: pd.DataFrame) -> Array:
    """Medians of resamples: epochs are drawn with replacement, the same for all exchanges, and then samples of these.

    What was drawn alike is made at once: three epochs have ten sets.
    """
    random = np.random.default_rng(SEED)
    epochs = own["epoch"].unique()
    chosen = np.sort(random.choice(epochs, (RESAMPLES, len(epochs))), axis=1)
    sets, members = np.unique(chosen, axis=0, return_inverse=True)
    drawn = np.full((RESAMPLES, *cells.shape), np.nan)
    for (size, length), cell in own.groupby(["size", "delay_ns"]):
        if size not in cells.index:
            continue
        place = cells.index.get_loc(size), cells.columns.get_loc(length)
        times, epoch_of = cell["each_ps"].to_numpy(), cell["epoch"].to_numpy()
        for number, taken in enumerate(sets):
            of_set = np.flatnonzero(members.ravel() == number)
            pool = np.concatenate([times[epoch_of == epoch] for epoch in taken])
            pool = pool if len(pool) else times
            drawn[(of_set, *place)] = np.median(random.choice(pool, (len(of_set), len(pool))), axis=1)
    return drawn
