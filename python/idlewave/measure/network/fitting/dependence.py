"""How much the residuals of a fit repeat each other: those of neighbouring sizes are alike where the model is off.

The evidence of n residuals is then that of fewer: of n divided by 1 + 2 sum over k of (1 - k/n) r^k, if r is the
correlation of neighbours (Bayley and Hammersley, The "effective" number of independent observations in an
autocorrelated time series, 1946).
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from .observations import Array


def alike(rows: pd.DataFrame, residuals: Array) -> float:
    """How many of the residuals, by row with pattern, window and size, count as one: at least 1, at most the sizes."""
    curves = rows.assign(residual=residuals).pivot_table(
        index="size", columns=["pattern", "window"], values="residual", aggfunc="first"
    )
    values = curves.to_numpy(dtype=np.float64)
    one, next_one = values[:-1], values[1:]
    both = np.isfinite(one) & np.isfinite(next_one)
    squares = float(np.square(one[both]).sum() * np.square(next_one[both]).sum())
    if squares == 0.0:
        return 1.0
    correlation = max(float((one[both] * next_one[both]).sum()) / squares**0.5, 0.0)
    n = len(values)
    lags = np.arange(1, n)
    return float(1 + 2 * ((1 - lags / n) * correlation**lags).sum())
