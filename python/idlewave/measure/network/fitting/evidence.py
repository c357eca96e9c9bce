"""How much evidence the residuals of a fit are.

Those of neighbouring sizes are alike where the model is off. The evidence of n residuals is then that of fewer: of n
divided by 1 + 2 sum over k of (1 - k/n) r^k, if r is the correlation of neighbours (Bayley and Hammersley, The
"effective" number of independent observations in an autocorrelated time series, 1946). And where the machine changes
between epochs, another run has other residuals.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from .observations import Array
from .piece_fit import LOSS, loss


def cost_of_epochs(epochs: Array) -> float:
    """What a residual costs by the scatter of the epochs, whose mean is measured, in units of half the square of LOSS;
    at least 1. `epochs`: the times of each epoch (epochs by rows), NaN where an epoch has none."""
    n = np.isfinite(epochs).sum(axis=0)
    times = np.log(epochs[:, n > 1])
    off = (times - np.nanmean(times, axis=0)) / np.sqrt(n[n > 1] - 1) if times.size else times
    off = off[np.isfinite(off)]
    return max(loss(off) / (len(off) * LOSS**2 / 2), 1.0) if len(off) else 1.0


def residuals_per_observation(rows: pd.DataFrame, residuals: Array) -> float:
    """How many of the residuals, by row with pattern, window and size, count as one: at least 1, at most the sizes.

    Each curve (a pattern with a window) has a correlation of its own, and their mean counts, weighted by the numbers of
    neighbours: a curve that is far off does not make the others alike."""
    sizes, row = np.unique(rows["size"].to_numpy(), return_inverse=True)
    curve = rows.groupby(["pattern", "window"]).ngroup().to_numpy()
    values = np.full((len(sizes), curve.max() + 1), np.nan)
    values[row, curve] = residuals
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
