"""The extra time of messages after a computation, fitted to exchanges after computations and in a loop."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy

from ....cold_caches import ColdCaches
from ....formatting import plain_time, size_text
from .bootstrap import RESAMPLES, TAILS, Intervals
from .observations import Array
from .pattern_times import AFTER, BOTH_WAYS, COLD, PING_PONG

FEWEST_LENGTHS = 3
"""A size counts if it was measured in a loop and after computations of at least so many lengths."""
GRID = 48
"""So many values of `buffer_after` are tried, from the shortest to the longest computation that was measured."""
STEP = 4
"""Buffers that are larger than those of exchanges after computations have costs at sizes in steps of this factor."""
FEWEST_SPARE = 7
"""With fewer medians than this beyond the number of parameters the criterion would accept scatter."""
STEPS_OF_NNLS = 30
"""The most steps of a least squares without negative values, for each parameter: ten times what is usual."""
NS = 1000.0
SEED = 1


@dataclass(frozen=True)
class ColdCacheFit:
    """Costs of cold caches, and the 95 % intervals of their times, in ps.

    The intervals are by the keys of machine.toml: "call[i].time"; "buffer[i].time" of all sizes but the smallest, whose
    buffer counts as none; and "buffer_after", if any buffer takes time.
    """

    costs: ColdCaches
    intervals: Intervals

    @property
    def note(self) -> str:
        """A sentence on the costs."""
        costs, said = self.costs, []
        if calls := [f"{plain_time(time, 3)} after {plain_time(after)}" for after, time in costs.calls if time > 0]:
            said.append(f"the first call takes longer, by {_listed(calls)}")
        largest, time = costs.buffers[-1]
        if time > 0:
            said.append(
                f"the two ends of a message of {size_text(largest)} take {plain_time(time, 3)} more after "
                f"{plain_time(costs.buffer_after, 3)} or more"
            )
        return f"After a computation the caches are cold: {'; '.join(said)}."


def _listed(texts: Sequence[str]) -> str:
    return " and ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else texts[0]


def fit_cold_caches(samples: pd.DataFrame) -> ColdCacheFit | None:
    """The costs by `samples` of patterns (see PatternMeasurement): what exchanges after computations take beyond those
    in a loop.

    None where exchanges were not measured in loops and after computations of enough lengths and at enough sizes, or do
    not take longer: the costs must explain more than their number of parameters does by chance, by the criterion of
    Schwarz (1978). Buffers of larger messages than these exchanges have are those of ping-pongs: what one over cold
    buffers takes beyond one over warm buffers, in proportion.
    """
    own = _exchanges(samples)
    cells = own.pivot_table(index="size", columns="delay_ns", values="each_ps", aggfunc="median")
    if 0 not in cells.columns:
        return None
    enough = cells[0].notna() & (cells.notna().sum(axis=1) - 1 >= FEWEST_LENGTHS) & (cells.index > 0)
    cells = cells[enough].dropna(axis="columns", how="all")
    points, warm = int(cells.notna().to_numpy().sum()), len(cells)
    costs = len(cells.columns) - 1 + len(cells)  # calls, the buffers of all sizes but one, and buffer_after
    if points - warm - costs < FEWEST_SPARE:
        return None
    medians = cells.to_numpy()
    fits = _Fits(cells.columns.to_numpy(float) * NS, medians)
    found, misfit = fits.best(medians)
    plain = fits.misfit_without_costs(medians)
    tiny = 1e-9 * points  # of relative errors, squared: rounding
    gain = math.log((plain + tiny) / (misfit + tiny))
    if points * gain <= costs * math.log(points):
        return None
    drawn = [fits.best(medians)[0] for medians in _resampled(own, cells)]
    larger = _larger_buffers(samples, int(cells.index[-1]))
    times = np.array([_with_larger(values, larger.to_numpy()) for values in (found, *drawn)])
    names = [*cells.index, *larger.index]
    lengths = cells.columns.to_numpy(float)[1:]
    return ColdCacheFit(_costs_of(times[0], lengths, names), _intervals(times[1:], len(lengths), fits))


def _exchanges(samples: pd.DataFrame) -> pd.DataFrame:
    """The samples of exchanges, with the time of each in ps: after computations of delay_ns, which is 0 in a loop."""
    after = (samples["pattern"] == AFTER) & (samples["delay_ns"] > 0)
    in_loop = (samples["pattern"] == BOTH_WAYS) & (samples["window"] == 1) & (samples["delay_ns"] == 0)
    own = samples[after | (in_loop & samples["size"].isin(samples.loc[after, "size"]))]
    return own.assign(each_ps=own["elapsed_ns"] / own["repetitions"] * NS)


def _larger_buffers(samples: pd.DataFrame, largest: int) -> pd.Series:
    """How many times as long as those of `largest` bytes the cold buffers of larger messages take, by size: the ratio
    of what a ping-pong over cold buffers takes beyond one over warm ones. Never less than at a smaller size; empty
    where ping-pongs of `largest` bytes show no difference."""
    own = samples[samples["pattern"].isin([PING_PONG, COLD]) & (samples["window"] == 1)]
    each_ns = own.assign(each_ns=own["elapsed_ns"] / own["repetitions"])
    medians = each_ns.pivot_table(index="size", columns="pattern", values="each_ns", aggfunc="median").dropna()
    if largest not in medians.index or not {PING_PONG, COLD} <= set(medians.columns):
        return pd.Series(dtype=float)
    more = medians[COLD] - medians[PING_PONG]
    chosen = [size for size in more.index if size > largest and math.log2(size / largest) % math.log2(STEP) == 0]
    if more[largest] <= 0:
        return pd.Series(dtype=float)
    ratios: pd.Series = (more[chosen] / more[largest]).clip(lower=1.0).cummax()
    return ratios


def _with_larger(values: Array, ratios: Array) -> Array:
    """What `_Fits.best` returns, with the buffers that take `ratios` times as long as the last one."""
    return np.concatenate([values, values[-1] * ratios])


def _costs_of(found: Array, lengths_ns: Array, sizes: Sequence[int]) -> ColdCaches:
    """The costs with times of three digits."""
    times = [round(float(f"{value:.3g}")) for value in found]
    lengths = [round(ns * NS) for ns in lengths_ns]
    buffer_after, *of_calls = times[: 1 + len(lengths)]
    of_buffers = [0, *times[1 + len(lengths) :]]
    buffers = tuple((int(size), time) for size, time in zip(sizes, of_buffers, strict=True))
    return ColdCaches(tuple(zip(lengths, of_calls, strict=True)), buffer_after, buffers)


def _intervals(drawn: Array, calls: int, fits: _Fits) -> Intervals:
    """The 95 % intervals of resamples, of which the first `calls` times behind that of `buffer_after` are of calls."""
    low, high = np.percentile(drawn, TAILS, axis=0)
    buffers = drawn.shape[1] - 1 - calls
    names = ["buffer_after", *(f"call[{i}].time" for i in range(calls))]
    names += [f"buffer[{i}].time" for i in range(1, 1 + buffers)]
    found = {name: (float(below), float(above)) for name, below, above in zip(names, low, high, strict=True)}
    below, above = found.pop("buffer_after")
    if found[names[-1]][1] == 0:
        return found
    return {"buffer_after": (below / fits.half_step, above * fits.half_step)} | found


class _Fits:
    """Costs fitted to median times of exchanges in ps, by size (rows) and length of the computation before (columns,
    the first 0), both ascending, NaN where there is no sample: the least sum of squared errors, relative to the
    medians.

    For a given `buffer_after` the time of an exchange is linear in the other parameters: the time of its size in warm
    caches, the increments of the time of a call from length to length, and the increments of the time of a buffer from
    size to size. None of these is negative.
    """

    def __init__(self, computed: Array, medians: Array) -> None:
        """`computed`: the lengths, ps."""
        self._weights = np.nan_to_num(1 / medians).ravel()
        self._sizes, self._lengths = len(medians), len(computed) - 1
        self._after = np.geomspace(computed[1], computed[-1], GRID)
        self.half_step = math.sqrt(self._after[1] / self._after[0])  # of the grid, a factor
        designs = [self._design(shares) for shares in np.minimum(computed / self._after[:, None], 1)]
        self._weighted = np.array(designs) * self._weights[:, None]
        self._projections = self._weighted @ np.linalg.pinv(self._weighted)

    def _design(self, of_buffer: Array) -> Array:
        """Each exchange (rows) by the parameters (columns): the warm times, the steps between calls, and between
        buffers."""
        n, m = self._sizes, self._lengths
        design = np.zeros((n, m + 1, n + m + n - 1))
        for i in range(n):
            design[i, :, i] = 1
            design[i, :, n + m : n + m + i] = of_buffer[:, None]
        design[:, 1:, n : n + m] = np.tri(m)
        return design.reshape(n * (m + 1), -1)

    def _scaled(self, medians: Array) -> Array:
        """Times with their weights, one after the other."""
        return np.nan_to_num(medians.ravel()) * self._weights

    def best(self, medians: Array) -> tuple[Array, float]:
        """What fits a table of medians best, and the misfit: the length of computation after which buffers are cold,
        the extra times of a call, and those of the buffers of all sizes but the smallest, in ps.

        Without the constraint that nothing is negative a misfit is no larger than with it. So the lengths are tried in
        ascending order of the misfit without, until that exceeds the best one.
        """
        seen = self._scaled(medians)
        least = ((seen - self._projections @ seen) ** 2).sum(axis=1)
        found, misfit = np.zeros(0), math.inf
        for number in np.argsort(least):
            if least[number] >= misfit:
                break
            weighted = self._weighted[number]
            values, norm = scipy.optimize.nnls(weighted, seen, maxiter=STEPS_OF_NNLS * weighted.shape[1])
            if norm**2 < misfit:
                _, calls, buffers = np.split(values, [self._sizes, self._sizes + self._lengths])
                found = np.array([self._after[number], *np.cumsum(calls), *np.cumsum(buffers)])
                misfit = float(norm**2)
        return found, misfit

    def misfit_without_costs(self, medians: Array) -> float:
        """The misfit of warm times alone."""
        warm = self._weighted[0][:, : self._sizes]
        return float(scipy.optimize.nnls(warm, self._scaled(medians))[1] ** 2)


def _resampled(own: pd.DataFrame, cells: pd.DataFrame) -> Array:
    """Medians of resamples: epochs are drawn with replacement, the same for all exchanges, and then samples of these.

    Resamples of the same epochs are drawn together: of three epochs there are ten sets.
    """
    random = np.random.default_rng(SEED)
    epochs = own["epoch"].unique()
    chosen = np.sort(random.choice(epochs, (RESAMPLES, len(epochs))), axis=1)
    sets, members = np.unique(chosen, axis=0, return_inverse=True)
    drawn = np.full((RESAMPLES, *cells.shape), np.nan)
    for (size, length), cell in own.groupby(["size", "delay_ns"]):
        if size not in cells.index or length not in cells.columns:
            continue
        place = cells.index.get_loc(size), cells.columns.get_loc(length)
        times, epoch_of = cell["each_ps"].to_numpy(), cell["epoch"].to_numpy()
        for number, taken in enumerate(sets):
            of_set = np.flatnonzero(members.ravel() == number)
            pool = np.concatenate([times[epoch_of == epoch] for epoch in taken])
            pool = pool if len(pool) else times
            drawn[(of_set, *place)] = np.median(random.choice(pool, (len(of_set), len(pool))), axis=1)
    return drawn
