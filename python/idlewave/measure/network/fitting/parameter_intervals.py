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
from .piece_fit import LOSS, NAMES, TIMES, Descent

NORMAL = 1.96
"""Standard errors of a 95 % interval."""
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
    well the patterns distinguish the parameters, by the residuals that the model leaves and their derivatives
    (the covariance of least squares). The second is what another run may shift between parameters.
    """
    values = fitted.found.values
    fits = np.stack([values, *(other.values for other in _not_excluded(fitted))])
    measured = _by_epoch(tables, fitted.rows)
    if len(measured) < 2:
        return {}
    each = np.asarray([fitted.piece.step(own, values, fitted.free) for own in measured])
    n = len(each)
    between = scipy.special.stdtrit(n - 1, 0.975) * each.std(axis=0, ddof=1) * math.sqrt(2 / n)
    half = np.hypot(between, NORMAL * _indistinct(fitted))
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
    """The standard errors of the parameters by the covariance of least squares, those among them that are 0, too; an
    o_p of 0 has none, since the least o_p changes the rules."""
    measured = fitted.rows["median_ps"].to_numpy(dtype=np.float64)
    chosen = [i for i, name in enumerate(NAMES) if name != "o_p" or fitted.free[i]]
    if fitted.rows["size"].nunique() == 1:
        chosen = [i for i in chosen if NAMES[i] in TIMES]
    slopes = fitted.piece.slopes(fitted.found.values, measured, chosen)
    residuals = np.minimum(np.abs(fitted.piece.residuals(fitted.found.values, measured)), LOSS)
    variance = float((residuals**2).sum()) / max(len(measured) - sum(fitted.free), 1)
    errors = np.zeros(len(NAMES))
    errors[chosen] = np.sqrt(variance * np.diag(np.linalg.pinv(slopes.T @ slopes, rcond=RIDGE)).clip(min=0))
    return np.asarray(errors * fitted.piece.scale)
