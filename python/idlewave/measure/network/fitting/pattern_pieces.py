"""The division of the sizes of patterns into pieces, in each of which every pattern's time is a line over size.

A change of protocol, or a cache that messages outgrow, ends a piece. Dynamic programming finds the pieces with the
least sum of squared relative residuals and a price for each piece, as an information criterion has it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .observations import Array

SCATTER = 0.03
"""The relative residual that counts as one standard deviation, beside what repetition shows of a median: real curves
are no closer to lines."""
NORMAL = 1.96
"""Standard errors of a 95 % interval."""
WORST = 9.0
"""A squared residual, in standard deviations, counts as at most this."""
VALUES = 9
"""The parameters of a piece."""


def pattern_pieces(table: pd.DataFrame, changes: Sequence[int]) -> list[int]:
    """The first size of each piece, the first one 0.

    `table` has the columns pattern, window, size, median_ps, and where it is known its 95 % interval, low_ps and
    high_ps; `changes` are sizes at which a piece begins in any case.
    """
    edges = [0, *sorted({size for size in changes if size > int(table["size"].min())}), 2**62]
    starts: list[int] = []
    for low, high in pairwise(edges):
        part = table[(table["size"] >= low) & (table["size"] < high)]
        if len(part):
            starts += _divided(part, _scatter(table))
    return [0, *starts[1:]]


def _scatter(table: pd.DataFrame) -> float:
    """The standard deviation of a relative residual."""
    if not {"low_ps", "high_ps"} <= set(table.columns):
        return SCATTER
    of_medians = float(((table["high_ps"] - table["low_ps"]) / table["median_ps"]).median()) / (2 * NORMAL)
    return math.hypot(SCATTER, of_medians)


def _divided(table: pd.DataFrame, scatter: float) -> list[int]:
    """The first size of each piece between two changes."""
    curves = table.pivot_table(index="size", columns=["pattern", "window"], values="median_ps")
    sizes = curves.index.to_numpy(dtype=np.int64)
    values = curves.to_numpy(dtype=np.float64)
    price = VALUES * math.log(int(np.isfinite(values).sum()))
    best, before = [0.0], [0]
    for end in range(1, len(sizes) + 1):
        costs = [best[first] + _cost(sizes[first:end], values[first:end], scatter) + price for first in range(end)]
        before.append(int(np.argmin(costs)))
        best.append(costs[before[-1]])
    first, starts = len(sizes), []
    while first > 0:
        first = before[first]
        starts.append(int(sizes[first]))
    return starts[::-1]


def _cost(sizes: NDArray[np.int64], values: Array, scatter: float) -> float:
    """The squared residuals of lines through the curves (columns), in standard deviations."""
    values = values[:, np.isfinite(values).sum(axis=0) > 2]  # a line through two points always fits
    weights = np.where(np.isfinite(values), values, np.inf) ** -2.0
    totals = weights.sum(axis=0)
    off = sizes[:, None] - (weights * sizes[:, None]).sum(axis=0) / totals
    times = np.nan_to_num(values)
    slopes = (weights * off * times).sum(axis=0) / (weights * off**2).sum(axis=0)
    lines = (weights * times).sum(axis=0) / totals + slopes * off
    residuals = (lines / values - 1) / scatter
    return float(np.nansum(np.minimum(residuals**2, WORST)))
