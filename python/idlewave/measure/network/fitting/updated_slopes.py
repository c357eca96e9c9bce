"""The derivatives of the residuals along a descent, most of which take no simulation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .observations import Array

MOST_UPDATES, LARGEST_ERROR = 2, 0.5
"""The slopes are updated so often before they are simulated again: sooner where the last step changed the residuals
otherwise than they said, by this share of the change or more."""


class UpdatedSlopes:
    """The derivatives of the residuals along a descent (rows by parameters). To simulate them takes a simulation for
    each parameter, most of a fit's time. So after a step the last ones are corrected by what the step changed (Broyden,
    Mathematics of Computation 19, 1965), where they were near."""

    def __init__(self, simulated: Callable[[Array], Array]) -> None:
        self._simulated = simulated
        self._last: tuple[Array, Array, Array] | None = None
        self._updates = 0

    def at(self, x: Array, residuals: Array) -> Array:
        """The derivatives at `x`, where the residuals are these."""
        slopes = self._updated(x, residuals) if self._updates < MOST_UPDATES else None
        self._updates = 0 if slopes is None else self._updates + 1
        slopes = self._simulated(x) if slopes is None else slopes
        self._last = (x.copy(), residuals, slopes)
        return slopes.copy()  # the caller weighs them in place

    def _updated(self, x: Array, residuals: Array) -> Array | None:
        """The last derivatives, corrected; None if the step was not as they said."""
        if self._last is None:
            return None
        last_x, last_residuals, slopes = self._last
        step, change = x - last_x, residuals - last_residuals
        error = change - slopes @ step
        if np.linalg.norm(error) >= LARGEST_ERROR * np.linalg.norm(change):
            return None
        return np.asarray(slopes + np.outer(error, step) / (step @ step))
