"""How much the residuals of a fit repeat each other: those of neighbouring sizes are alike where the model is off.

The evidence of n residuals is then that of fewer: of n divided by 1 + 2 sum over k of (1 - k/n) r^k, if r is the
correlation of neighbours (Bayley and Hammersley, The "effective" number of independent observations in an
autocorrelated time series, 1946).
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from .observations import Array


def residuals_per_observation(rows: pd.DataFrame, residuals: Array) -> float:
    """How many of the residuals, by row with pattern, window and size, count as one: at least 1, at most the sizes.

    Each curve (a pattern with a window) has a correlation of its own, and their mean counts, weighted by the numbers of
    neighbours: a curve that is far off does not make the others alike."""
    curves = rows.assign(residual=residuals).pivot_table(
        index="size", columns=["pattern", "window"], values="residual", aggfunc="first"
    )
    values = curves.to_numpy(dtype=np.float64)
    both = np.isfinite(values[:-1]) & np.isfinite(values[1:])
    one, next_one = np.where(both, values[:-1], 0.0), np.where(both, values[1:], 0.0)
    scale = np.sqrt(np.square(one).sum(axis=0) * np.square(next_one).sum(axis=0))
    neighbours = both.sum(axis=0) * (scale > 0)
    if not neighbours.any():
        return 1.0
    each = (one * next_one).sum(axis=0) / np.where(scale > 0, scale, 1.0)
    correlation = max(float(np.average(each, weights=neighbours)), 0.0)
    n = len(values)
    lags = np.arange(1, n)
    return float(1 + 2 * ((1 - lags / n) * correlation**lags).sum())
