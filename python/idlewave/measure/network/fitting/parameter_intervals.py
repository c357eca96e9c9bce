"""Intervals of the parameters that are fitted to patterns: what another run of as many epochs may give."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import scipy

from .fitted_piece import FittedPiece
from .observations import Array
from .pattern_times import KEYS
from .piece_fit import NAMES, Descent, weights_of

FIRST, MOST, LAST_STEP = 0.02, 64.0, 1.09
"""A parameter that was dropped is looked for from the first to the most multiple of its scale, to such a factor."""
RIDGE = 1e-6
"""Directions that the patterns show less than this (relative) say nothing about an error."""


def _by_epoch(tables: Sequence[pd.DataFrame], rows: pd.DataFrame) -> list[Array]:
    """The measured times of each epoch, by row; that of all where an epoch has none."""
    measured = rows["median_ps"].to_numpy(dtype=np.float64)
    found = []
    for table in tables:
        own = rows[KEYS].merge(table[[*KEYS, "median_ps"]], on=KEYS, how="left")["median_ps"].to_numpy(dtype=np.float64)
        if np.isfinite(own).mean() >= 0.5:
            found.append(np.where(np.isfinite(own), own, measured))
    return found


def parameter_intervals(fitted: FittedPiece, tables: Sequence[pd.DataFrame]) -> dict[str, tuple[float, float]]:
    """95 % intervals for the result of another run of as many epochs; none without two epochs.

    Two parts, as squares: Student's t of the scatter of the epochs' own fits, for the difference of two means; and how
    far a parameter may be off while there is no strong evidence against it, by the derivatives of the residuals, of
    which LOSS counts as one standard deviation, and those of neighbouring sizes as one if they are alike. The second is
    what another run may shift between parameters. And this around all fits that the patterns do not exclude, up to the
    largest value that does not show.
    """
    measured = _by_epoch(tables, fitted.rows)
    if len(measured) < 2:
        return {}
    values = fitted.found.values
    threshold = fitted.threshold
    fits = np.stack([values, *(other.values for other in _not_excluded(fitted, threshold))])
    each = np.asarray([fitted.piece.step(own, values, fitted.free) for own in measured])
    n = len(each)
    between = scipy.special.stdtrit(n - 1, 0.975) * each.std(axis=0, ddof=1) * math.sqrt(2 / n)
    half = np.hypot(between, _indistinct(fitted, threshold))
    low, high = fits.min(axis=0) - half, np.maximum(fits.max(axis=0) + half, _largest_hidden(fitted, threshold))
    return {name: (max(float(low[i]), 0.0), float(high[i])) for i, name in enumerate(NAMES)}


def _not_excluded(fitted: FittedPiece, threshold: float) -> list[Descent]:
    """Other fits, which do not cost more by the threshold."""
    elsewhere = [fitted.piece.descend(fitted.measured, start, fitted.all_free) for start in fitted.near]
    seen = [d for d in fitted.seen if d.cost <= fitted.found.cost + fitted.piece.price + threshold]
    return [*fitted.others, *seen, *(d for d in elsewhere if d.cost <= fitted.whole.cost + threshold)]


def _indistinct(fitted: FittedPiece, threshold: float) -> Array:
    """How far each parameter may be off at a cost of the threshold, if the others give way: by the covariance of least
    squares, also of those that are 0; an o_p of 0 has none, since the least o_p changes the rules."""
    chosen = _shown(fitted)
    slopes = fitted.piece.slopes(fitted.found.values, fitted.measured, chosen)
    slopes *= weights_of(fitted.residuals)[:, None]
    off = np.zeros(len(NAMES))
    off[chosen] = np.sqrt(2 * threshold * np.diag(np.linalg.pinv(slopes.T @ slopes, rcond=RIDGE)).clip(min=0))
    return np.asarray(off * fitted.piece.scale)


def _shown(fitted: FittedPiece) -> list[int]:
    """The parameters of which the patterns of a piece may say something; an o_p that was dropped is none of them."""
    return [i for i, name in enumerate(NAMES) if fitted.all_free[i] and (name != "o_p" or fitted.free[i])]


def _largest_hidden(fitted: FittedPiece, threshold: float) -> Array:
    """Of each parameter that was dropped, the largest value at which the cost is no more than the threshold above the
    least; else 0. What limits nothing does not show, and has no derivative. The other parameters stay as they are."""
    largest = np.zeros(len(NAMES))
    for i in (i for i in _shown(fitted) if not fitted.free[i]):
        values, step, value = fitted.found.values.copy(), 2.0, FIRST * fitted.piece.scale[i]
        while step > LAST_STEP and value < fitted.piece.scale[i] * MOST:
            values[i] = value
            if fitted.piece.cost(values, fitted.measured) <= fitted.found.cost + threshold:
                largest[i] = value
            else:
                value /= step
                step **= 0.5
            value *= step
    return largest
