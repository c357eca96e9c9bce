"""Intervals of the parameters that are fitted to patterns: what another run of as many epochs may give."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import scipy

from .fitted_piece import STRONG, FittedPiece
from .observations import Array
from .pattern_times import KEYS
from .piece_fit import NAMES, TIMES, Descent

FIRST, BEYOND, LAST_STEP = 0.02, 64.0, 2**0.125
"""A parameter that was dropped is looked for from the first to beyond the last multiple of its scale, by such steps."""
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
    which LOSS counts as one standard deviation. The second is what another run may shift between parameters. And this
    around all fits that the patterns do not exclude.
    """
    values = fitted.found.values
    fits = np.stack([values, *(other.values for other in _not_excluded(fitted))])
    measured = _by_epoch(tables, fitted.rows)
    if len(measured) < 2:
        return {}
    each = np.asarray([fitted.piece.step(own, values, fitted.free) for own in measured])
    n = len(each)
    between = scipy.special.stdtrit(n - 1, 0.975) * each.std(axis=0, ddof=1) * math.sqrt(2 / n)
    half = np.hypot(between, _indistinct(fitted))
    return {
        name: (float(max(least - width, 0.0)), float(most + width))
        for name, least, most, width in zip(NAMES, fits.min(axis=0), fits.max(axis=0), half, strict=True)
    }


def _not_excluded(fitted: FittedPiece) -> list[Descent]:
    """Other fits to the same rows, against which there is no strong evidence."""
    measured = fitted.rows["median_ps"].to_numpy(dtype=np.float64)
    elsewhere = [fitted.piece.descend(measured, start, fitted.all_free) for start in fitted.near]
    return [*fitted.others, *(d for d in elsewhere if d.cost <= fitted.whole.cost + STRONG)]


def _indistinct(fitted: FittedPiece) -> Array:
    """How far each parameter may be off at a cost of STRONG, if the others give way: by the covariance of least
    squares, also of those that are 0; an o_p of 0 has none, since the least o_p changes the rules."""
    measured = fitted.rows["median_ps"].to_numpy(dtype=np.float64)
    chosen = [i for i, name in enumerate(NAMES) if name != "o_p" or fitted.free[i]]
    if fitted.rows["size"].nunique() == 1:
        chosen = [i for i in chosen if NAMES[i] in TIMES]
    slopes = fitted.piece.slopes(fitted.found.values, measured, chosen)
    off = np.zeros(len(NAMES))
    off[chosen] = np.sqrt(2 * STRONG * np.diag(np.linalg.pinv(slopes.T @ slopes, rcond=RIDGE)).clip(min=0))
    off *= fitted.piece.scale
    for i in chosen:
        if not fitted.free[i]:
            off[i] = max(off[i], _largest_hidden(fitted, measured, i))
    return off


def _largest_hidden(fitted: FittedPiece, measured: Array, i: int) -> float:
    """The largest value of a parameter that was dropped at which the cost is no more than STRONG above the least: a
    cost that limits nothing does not show, and has no derivative. To a step of an eighth of an octave."""
    values, most = fitted.found.values.copy(), fitted.found.cost + STRONG
    step, largest = 2.0, 0.0
    value = FIRST * fitted.piece.scale[i]
    while step > LAST_STEP and value < fitted.piece.scale[i] * BEYOND:
        values[i] = value
        if fitted.piece.cost(values, measured) <= most:
            largest = value
        else:
            value /= step
            step **= 0.5
        value *= step
    return largest
