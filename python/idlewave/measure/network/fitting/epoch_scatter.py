"""How far another run may be off by what the epochs of this one differ."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import scipy

from .bootstrap import CONFIDENCE
from .observations import Array


def half_width(epochs: Sequence[Array] | Sequence[float]) -> Array:
    """Half the widths of the 95 % intervals of another run of as many epochs, given the values of each epoch: Student's
    t, for the difference of two means. 0 of a single epoch."""
    each = np.asarray(epochs, dtype=np.float64)
    n = len(each)
    if n < 2:
        return np.zeros(each.shape[1:])
    quantile = scipy.special.stdtrit(n - 1, (1 + CONFIDENCE) / 2)
    return np.asarray(quantile * each.std(axis=0, ddof=1) * math.sqrt(2 / n))
