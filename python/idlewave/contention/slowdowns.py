"""The slowdown by traffic, and its confidence interval.

A *slowdown* is a ratio: of the time with traffic to that without, 1.1 for a tenth longer. Over pairs of runs it is the
geometric mean of each pair's ratio of the medians of an iteration. Its confidence interval is by bootstrap: pairs are
drawn, and in each the iterations of both runs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .defaults import SEED
from .table import complete_pairs, has_traffic

DRAWS = 2000
"""Draws of a bootstrap."""
CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class Slowdown:
    """A slowdown with the ends of its confidence interval (NaN for fewer than two pairs), and the logarithm of each
    pair's own."""

    value: float
    low: float
    high: float
    logarithms: NDArray[np.float64]


def slowdown_of(table: pd.DataFrame, draws: int = DRAWS, seed: int = SEED) -> Slowdown:
    """The slowdown in the pairs of a table that have both runs; NaN if there are none. Raises
    InputError for a time that is not above 0."""
    pairs = pair_draws(complete_pairs(table), draws, seed)
    if not len(pairs):
        return Slowdown(math.nan, math.nan, math.nan, pairs[:, 0])
    means = mean_draws(pairs, seed)
    ends = confidence_interval(means[1:], expanded_level(len(pairs))) if len(pairs) > 1 else (math.nan, math.nan)
    return Slowdown(math.exp(means[0]), math.exp(ends[0]), math.exp(ends[1]), pairs[:, 0])


def pair_draws(own: pd.DataFrame, draws: int, seed: int) -> NDArray[np.float64]:
    """The logarithm of the slowdown of each pair, all of which have both runs: a row a pair; the first column is what
    was measured, the others draws of its iterations."""
    random = np.random.default_rng(seed)
    rows = []
    for _, pair in own.groupby(["run", "pair"]):
        traffic = has_traffic(pair)
        rows.append(
            _medians(pair.loc[traffic, "seconds"].to_numpy(), draws, random)
            - _medians(pair.loc[~traffic, "seconds"].to_numpy(), draws, random)
        )
    return np.array(rows).reshape(-1, draws + 1)


def _medians(values: NDArray[np.float64], draws: int, random: np.random.Generator) -> NDArray[np.float64]:
    logs = np.log(values)
    drawn = np.median(logs[random.integers(0, len(logs), (draws, len(logs)))], axis=1)
    return np.concatenate([[np.median(logs)], drawn])


def mean_draws(pairs: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """The mean over pairs: what was measured, and draws of the pairs and of the iterations in each."""
    random = np.random.default_rng(seed)
    count, columns = pairs.shape
    chosen = random.integers(0, count, (columns - 1, count))
    drawn = pairs[chosen, np.arange(1, columns)[:, None]].mean(axis=1)
    return np.concatenate([[pairs[:, 0].mean()], drawn])


def expanded_level(pairs: int, level: float = CONFIDENCE) -> float:
    """The level of the percentile interval of few pairs, widened by what Student's t is wider than the normal law, and
    by n/(n-1) for the variance of draws (T. Hesterberg, What Teachers Should Know About the Bootstrap, 2015)."""
    from scipy import stats

    if pairs < 2:
        return 1.0
    wide = math.sqrt(pairs / (pairs - 1)) * stats.t.ppf(0.5 + level / 2, pairs - 1)
    return float(1 - 2 * stats.norm.sf(wide))


def confidence_interval(draws: NDArray[np.float64], level: float = CONFIDENCE) -> tuple[float, float]:
    """The ends of the percentile interval of draws."""
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
