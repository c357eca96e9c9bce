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
    exchanged: int | None = None
    """The largest size that was exchanged after computations; larger buffers are known from ping-pongs. None of a fit
    that was read from a file."""

    @property
    def note(self) -> str:
        """A sentence on the costs."""
        costs, said = self.costs, []
        if calls := [f"{plain_time(time, 3)} after {plain_time(after)}" for after, time in costs.calls if time > 0]:
            said.append(f"the first call takes longer, by {_listed(calls)}")
        largest = self.exchanged or costs.buffers[-1][0]
        time = dict(costs.buffers)[largest]
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
    Schwarz (1978). Larger buffers than these exchanges have take more in the ratio of what a ping-pong over cold
    buffers takes beyond one over warm ones.
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
    drawn = np.array([fits.best(medians)[0] for medians in _resampled(own, cells)])
    larger = _LargerBuffers.of(samples, int(cells.index[-1]))
    found, drawn = larger.appended_to(found[None])[0], larger.appended_to(drawn, resampled=True)
    sizes, lengths = [*cells.index, *larger.sizes], cells.columns.to_numpy(float)[1:]
    intervals = _intervals(drawn, len(lengths), fits)
    return ColdCacheFit(_costs_of(found, lengths, sizes), intervals, int(cells.index[-1]))


def _exchanges(samples: pd.DataFrame) -> pd.DataFrame:
    """The samples of exchanges, with the time of each in ps: after computations of delay_ns, which is 0 in a loop."""
    after = (samples["pattern"] == AFTER) & (samples["delay_ns"] > 0)
    in_loop = (samples["pattern"] == BOTH_WAYS) & (samples["window"] == 1) & (samples["delay_ns"] == 0)
    own = samples[after | (in_loop & samples["size"].isin(samples.loc[after, "size"]))]
    return own.assign(each_ps=own["elapsed_ns"] / own["repetitions"] * NS)


@dataclass(frozen=True)
class _LargerBuffers:
    """How many times as long as the cold buffer of the largest exchange those of larger messages take."""

    sizes: tuple[int, ...]
    ratios: Array
    """By size, of all samples."""
    drawn: Array
    """Of resamples: a row each."""

    @classmethod
    def of(cls, samples: pd.DataFrame, largest: int) -> _LargerBuffers:
        """The ratio of what a ping-pong over cold buffers takes beyond one over warm ones, at sizes of a power of STEP
        times `largest`. A buffer takes no less than a smaller one, and no more in proportion to its bytes; as much as
        that of `largest` where ping-pongs of that size do not show with 97.5 % that cold ones take longer."""
        own = samples[samples["pattern"].isin([PING_PONG, COLD]) & (samples["window"] == 1)]
        own = own.assign(each_ps=own["elapsed_ns"] / own["repetitions"] * NS)
        cells = own.pivot_table(index="size", columns="pattern", values="each_ps", aggfunc="median").dropna()
        none = cls((), np.ones(0), np.ones((RESAMPLES, 0)))
        if largest not in cells.index or not {PING_PONG, COLD} <= set(cells.columns):
            return none
        steps = np.log(cells.index.to_numpy(float) / largest) / math.log(STEP)
        cells = cells[(steps >= 0) & (steps == np.round(steps))][[PING_PONG, COLD]]
        drawn = _resampled(own, cells, "pattern")
        more, more_drawn = (times[..., 1] - times[..., 0] for times in (cells.to_numpy(), drawn))
        sizes = cells.index.to_numpy()[1:]
        if np.percentile(more_drawn[:, 0], TAILS[0]) <= 0:
            return cls(tuple(sizes), np.ones(len(sizes)), np.ones((RESAMPLES, len(sizes))))
        return cls(tuple(sizes), _ratios(more[None], sizes / largest)[0], _ratios(more_drawn, sizes / largest))

    def appended_to(self, values: Array, *, resampled: bool = False) -> Array:
        """Rows of what `_Fits.best` returns, and behind them the times of the larger buffers."""
        return np.hstack([values, values[:, -1:] * (self.drawn if resampled else self.ratios)])


def _ratios(more: Array, most: Array) -> Array:
    """What larger sizes take more than the first one, as ratios of at least 1 that do not fall, and at most `most`."""
    first = np.maximum(more[:, :1], 1e-9 * np.abs(more).max())
    return np.minimum(np.maximum.accumulate(np.maximum(more[:, 1:] / first, 1), axis=1), most)


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


def _resampled(own: pd.DataFrame, cells: pd.DataFrame, columns: str = "delay_ns") -> Array:
    """Medians of resamples, of each size (row) and value of `columns`: epochs are drawn with replacement, the same for
    all, and then samples of these.

    Resamples of the same epochs are drawn together: of three epochs there are ten sets.
    """
    random = np.random.default_rng(SEED)
    epochs = own["epoch"].unique()
    chosen = np.sort(random.choice(epochs, (RESAMPLES, len(epochs))), axis=1)
    sets, members = np.unique(chosen, axis=0, return_inverse=True)
    drawn = np.full((RESAMPLES, *cells.shape), np.nan)
    for (size, column), cell in own.groupby(["size", columns]):
        if size not in cells.index or column not in cells.columns:
            continue
        place = cells.index.get_loc(size), cells.columns.get_loc(column)
        times, epoch_of = cell["each_ps"].to_numpy(), cell["epoch"].to_numpy()
        for number, taken in enumerate(sets):
            of_set = np.flatnonzero(members.ravel() == number)
            pool = np.concatenate([times[epoch_of == epoch] for epoch in taken])
            pool = pool if len(pool) else times
            drawn[(of_set, *place)] = np.median(random.choice(pool, (len(of_set), len(pool))), axis=1)
    return drawn
