"""The extra time of messages after a computation, fitted to exchanges after computations."""

from __future__ import annotations

import math
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
        of_call = f"After a computation the caches are cold: the first call takes {call} longer (after {call_after})"
        of_buffers = ""
        if len(self.costs.buffers) > 1:
            largest, time = self.costs.buffers[-1]
            of_buffers = (
                f", and a message of {size_text(largest)} {plain_time(time, 3)} more at its two ends (after "
                f"{buffer_after})"
            )
        return f"{of_call}{of_buffers}. Schedules of traces have that."


@dataclass(frozen=True)
class _Times:
    """Median times of exchanges in ps, by size (rows) and length of the computation before (columns), both ascending;
    NaN where there is no sample."""

    sizes: Array
    computed: Array
    medians: Array


def fit_cold_caches(samples: pd.DataFrame) -> ColdCacheFit | None:
    """The costs by `samples` of patterns (see PatternMeasurement).

    None where exchanges after computations were not measured at enough lengths, or do not take longer: the costs must
    explain more than their number of parameters does by chance, by the criterion of Schwarz (1978).
    """
    own = samples[samples["pattern"] == AFTER]
    own = own.assign(each_ps=own["elapsed_ns"] / own["repetitions"] * NS)
    cells = own.pivot_table(index="size", columns="delay_ns", values="each_ps", aggfunc="median")
    cells = cells[cells.notna().sum(axis=1) >= FEWEST_LENGTHS]
    if cells.empty:
        return None
    sizes, lengths = cells.index.to_numpy(float), cells.columns.to_numpy(float) * NS
    seen = _Times(sizes, lengths, cells.to_numpy())
    fits = _Fits(seen)
    after = fits.best_lengths(seen.medians[None])[0]
    values, misfit = fits.values(after, seen.medians)
    points = int(np.isfinite(seen.medians).sum())
    parameters = (1 if len(sizes) == 1 else len(sizes) + 1) + 1  # a call, other buffers, and the one or two lengths
    plain = fits.misfit_without_costs(seen.medians)
    tiny = 1e-9 * points  # of relative errors, squared: rounding
    gain = math.log((plain + tiny) / (misfit + tiny))
    if points * gain <= parameters * math.log(points):
        return None
    return ColdCacheFit(_costs_of(after, values, sizes), _intervals(own, cells, fits))


def _costs_of(after: Array, values: Array, sizes: Array) -> ColdCaches:
    """Times of three digits, in ps."""
    call_after, buffer_after, call, *buffers = (round(float(f"{value:.3g}")) for value in (*after, *values))
    sized = tuple((int(size), time) for size, time in zip(sizes, (0, *buffers), strict=True))
    return ColdCaches(call, call_after, buffer_after if buffers else call_after, sized)


def _intervals(own: pd.DataFrame, cells: pd.DataFrame, fits: _Fits) -> Intervals:
    """The 95 % intervals of resamples."""
    resampled = _resampled(own, cells)
    after = fits.best_lengths(resampled)
    values = np.array([fits.values(*pair)[0] for pair in zip(after, resampled, strict=True)])
    low, high = np.percentile(np.hstack([after, values]), TAILS, axis=0)
    names = ["call_after", "buffer_after", "call", *(f"buffer[{i}].time" for i in range(1, len(cells)))]
    found = {name: (float(below), float(above)) for name, below, above in zip(names, low, high, strict=True)}
    if len(cells) == 1:
        del found["buffer_after"]
    return found


class _Fits:
    """Costs fitted to times of exchanges: the least sum of squared errors, relative to the medians.

    For each pair of the lengths of computation after which a call and buffers have all of their extra time, the time of
    an exchange is linear in the others: that of its size in warm caches, the extra time of a call, and by how much the
    extra time of its buffer exceeds that of the next smaller size. None of these is negative.
    """

    def __init__(self, seen: _Times) -> None:
        self._weights = np.nan_to_num(1 / seen.medians).ravel()
        self._sizes = len(seen.sizes)
        after = np.geomspace(SHORTEST_PART * seen.computed[1], seen.computed[-1], GRID)
        shares = np.minimum(seen.computed / after[:, None], 1)
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
        """Times with their weights, by table (rows)."""
        return np.nan_to_num(medians.reshape(len(medians), -1)) * self._weights

    def best_lengths(self, medians: Array) -> Array:
        """For each of several tables of medians the two lengths of computation with which the misfit is least, ps."""
        seen = self._scaled(medians)
        misfits = np.array([((seen - seen @ projection.T) ** 2).sum(axis=1) for projection in self._projections])
        return np.asarray(self._after[misfits.argmin(axis=0)])

    def values(self, after: Array, medians: Array) -> tuple[Array, float]:
        """With these lengths: the extra time of a call and those of the buffers of all sizes but the smallest, in ps;
        and the misfit."""
        weighted = self._weighted[int((self._after == after).all(axis=1).argmax())]
        found, norm = scipy.optimize.nnls(weighted, self._scaled(medians[None])[0])
        n = self._sizes
        return np.array([found[n], *np.cumsum(found[n + 1 :])]), float(norm**2)

    def misfit_without_costs(self, medians: Array) -> float:
        """The misfit of warm times alone."""
        warm = self._weighted[0][:, : self._sizes]
        return float(scipy.optimize.nnls(warm, self._scaled(medians[None])[0])[1] ** 2)


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
