"""Statistics over pairs of runs: the mean of a share with a bootstrap interval, and whether victims suffer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .defaults import SEED
from .slowdowns import DRAWS, confidence_interval, expanded_level, slowdown_of

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]

LEVEL = 0.05
"""The share of victims without an effect of which a test says that they suffer."""
MOST_EXACT = 12
"""Up to so many pairs all exchanges within pairs are tried; of more pairs some, drawn at random."""
DRAWN = 4095
SUFFERS, NO_SLOWDOWN, UNDECIDED = "suffers", "no slowdown found", "too few pairs to say"


@dataclass(frozen=True)
class Estimate:
    """An estimate and the ends of its 95 % confidence interval."""

    value: float
    low: float
    high: float


def bootstrap_mean(values: npt.ArrayLike, pairs: npt.ArrayLike, seed: int) -> Estimate:
    """The mean of `values`, with the confidence interval of a bootstrap that draws whole pairs (`expanded_level`); NaN
    for its ends with one pair."""
    _, codes = np.unique(np.asarray(pairs), return_inverse=True)
    sums = np.bincount(codes, np.asarray(values, dtype=np.float64))
    sizes = np.bincount(codes)
    random = np.random.default_rng(seed)
    if len(sums) < 2:
        return Estimate(float(sums.sum() / sizes.sum()), math.nan, math.nan)
    drawn = random.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), DRAWS)
    means = drawn @ sums / (drawn @ sizes)
    return Estimate(float(sums.sum() / sizes.sum()), *confidence_interval(means, expanded_level(len(sums))))


def suffering(table: pd.DataFrame, seed: int = SEED) -> pd.DataFrame:
    """A row a victim: its slowdown by all traffic together (`slowdown_of`), and whether that is more than chance.

    Columns: victim, pairs, slowdown, low, high (its 95 % confidence interval), p, verdict. The test exchanges the two
    runs of a pair, whose order was random, and is one-sided: without an effect p is below 0.05 in at most 5 % of
    tables. With fewer than five pairs it cannot be. Pairs that lack a run are left out.
    """
    rows: list[tuple[object, ...]] = []
    for victim, own in table.groupby("victim", sort=False):
        found = slowdown_of(own, seed=seed)
        pairs = len(found.logarithms)
        p = _exchange_test(found.logarithms, seed) if pairs else np.nan
        verdict = SUFFERS if p <= LEVEL else NO_SLOWDOWN if 2.0**-pairs <= LEVEL else UNDECIDED
        rows.append((victim, pairs, found.value, found.low, found.high, p, verdict))
    return pd.DataFrame(rows, columns=["victim", "pairs", "slowdown", "low", "high", "p", "verdict"])


def _exchange_test(ratios: Numbers, seed: int) -> float:
    """The share of exchanges within pairs, the given one included, whose mean ratio is at least as large."""
    if len(ratios) <= MOST_EXACT:
        signs = np.array([*product((1.0, -1.0), repeat=len(ratios))])
        return float(np.mean(signs @ ratios >= ratios.sum() - 1e-12))
    signs = np.random.default_rng(seed).choice((1.0, -1.0), (DRAWN, len(ratios)))
    return float((1 + np.sum(signs @ ratios >= ratios.sum() - 1e-12)) / (1 + DRAWN))
