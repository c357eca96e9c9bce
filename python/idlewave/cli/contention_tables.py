"""What tables of contention have in common: values with the ends of their confidence intervals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def estimate_texts(table: pd.DataFrame, value: str, low: str = "", high: str = "") -> list[str]:
    """Estimates with the ends of their confidence intervals, which are in the columns value_low and value_high if no
    others are named; "" for what is not known."""
    columns = (table[value], table[low or f"{value}_low"], table[high or f"{value}_high"])
    return [_estimate_text(*map(float, row)) for row in zip(*columns, strict=True)]


def slowdown_texts(table: pd.DataFrame) -> list[str]:
    """Slowdowns: the time with traffic over that without."""
    return estimate_texts(table, "slowdown", "low", "high")


def _estimate_text(value: float, low: float, high: float) -> str:
    if math.isnan(value):
        return ""
    return f"{value:.3f}" if math.isnan(low) else f"{value:.3f} ({low:.3f} to {high:.3f})"
