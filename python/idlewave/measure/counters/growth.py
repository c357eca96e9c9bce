"""How much counters have grown between two readings: around the end of their range, and NaN where nothing is known."""

from __future__ import annotations

import math
from collections.abc import Mapping

from .source import Counter

_UNKNOWN = Counter()
_SURE = 8
"""A counter of unknown width has wrapped only if it was in the last 1/8 of the range, and is in the first 1/8 now."""


def growth(before: int, after: int, counter: Counter = _UNKNOWN) -> float:
    """By how much a counter has grown; NaN if that is not known.

    A number that has become smaller either wrapped around or began anew: it wrapped if it then grew by less than half
    of its range, which a counter that began anew hardly looks like. Of unknown width it may be of 32 or 64 bits.
    """
    if counter.saturates and counter.bits is not None and after >= 2**counter.bits - 1:
        return math.nan
    if after >= before:
        return float(after - before)
    if counter.saturates:
        return math.nan
    if counter.bits is not None:
        wrapped = after - before + 2**counter.bits
        return float(wrapped) if 0 <= wrapped < 2 ** (counter.bits - 1) else math.nan
    for bits in (32, 64):
        if before < 2**bits:
            edge = 2**bits // _SURE
            return float(after - before + 2**bits) if before >= 2**bits - edge and after < edge else math.nan
    return math.nan


def growths(before: Mapping[str, int], after: Mapping[str, int], known: Mapping[str, Counter]) -> dict[str, float]:
    """By how much each counter of either reading has grown; NaN if it is not in both."""
    return {
        name: growth(before[name], after[name], known.get(name, _UNKNOWN))
        if name in before and name in after
        else math.nan
        for name in {**before, **after}
    }
