"""Intervals of the parameters that are fitted to patterns: what another run of as many epochs may give."""

from __future__ import annotations

import numpy as np

from .epoch_scatter import half_width
from .fitted_piece import FittedPiece, is_possible
from .observations import Array
from .piece_fit import NAMES, Descent, weights_of

FIRST, MOST, LAST_STEP = 0.02, 64.0, 1.09
"""A parameter that was dropped is looked for from the first to the most multiple of its scale, to such a factor."""
LEAST_SHARE_OF_ROWS = 0.5
"""The least share of a piece's rows of an epoch whose times are fitted by themselves."""
RIDGE = 1e-6
"""Directions that the patterns show less than this (relative) say nothing about an error."""


def parameter_intervals(fitted: FittedPiece) -> dict[str, tuple[float, float]]:
    """95 % intervals for the result of another run of as many epochs; none without two epochs that have most rows.

    Two parts, as squares: Student's t of the scatter of the epochs' own fits, for the difference of two means; and how
    far a parameter may be off while there is no strong evidence against it, by the derivatives of the residuals, of
    which LOSS counts as one standard deviation, and those of neighbouring sizes as one if they are alike. The second is
    what another run may shift between parameters. And this around all fits that the patterns do not exclude, also those
    to other sizes, and up to the largest value that does not show.
    """
    if len(_fitted_epochs(fitted)) < 2:
        return {}
    threshold, half = fitted.threshold, _half(fitted)
    fits = np.stack([fitted.found.values, *(other.values for other in _not_excluded(fitted, threshold))])
    others = [(other.found.values, _half(other)) for other in fitted.others]
    low = np.min([fits.min(axis=0) - half, *(at - off for at, off in others)], axis=0)
    high = np.max([fits.max(axis=0) + half, *(at + off for at, off in others)], axis=0)
    high = np.maximum(high, _largest_hidden(fitted, threshold))
    return {name: (max(float(low[i]), 0.0), float(high[i])) for i, name in enumerate(NAMES)}


def _half(fitted: FittedPiece) -> Array:
    """Half the width of the intervals around a fit."""
    return np.hypot(_between_epochs(fitted), _indistinct(fitted, fitted.threshold))


def _fitted_epochs(fitted: FittedPiece) -> list[Array]:
    """The times of the epochs that have most rows; those of all where one has none."""
    most = (own for own in fitted.by_epoch if np.isfinite(own).mean() >= LEAST_SHARE_OF_ROWS)
    return [np.where(np.isnan(own), fitted.measured, own) for own in most]


def _between_epochs(fitted: FittedPiece) -> Array:
    """How far the parameters of another run of as many epochs may be off by what these epochs differ; 0 without two."""
    epochs = _fitted_epochs(fitted)
    if len(epochs) < 2:
        return np.zeros(len(NAMES))
    return half_width([fitted.piece.step(own, fitted.found.values, fitted.free) for own in epochs])


def _not_excluded(fitted: FittedPiece, threshold: float) -> list[Descent]:
    """Other fits to the same rows, which the times of some epoch, or of all, do not exclude."""
    elsewhere = [fitted.piece.descend(fitted.measured, start, fitted.all_free) for start in fitted.near]
    found, whole = fitted.costs(fitted.found.values) + fitted.piece.price, fitted.costs(fitted.whole.values)
    return [
        *(seen for seen in fitted.seen if is_possible(fitted.costs(seen.values) - found, threshold)),
        *(other for other in elsewhere if is_possible(fitted.costs(other.values) - whole, threshold)),
    ]


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
    largest, found = np.zeros(len(NAMES)), fitted.costs(fitted.found.values)
    for i in (i for i in _shown(fitted) if not fitted.free[i]):
        values, step, value = fitted.found.values.copy(), 2.0, FIRST * fitted.piece.scale[i]
        while step > LAST_STEP and value < fitted.piece.scale[i] * MOST:
            values[i] = value
            if is_possible(fitted.costs(values) - found, threshold):
                largest[i] = value
            else:
                value /= step
                step **= 0.5
            value *= step
    return largest
