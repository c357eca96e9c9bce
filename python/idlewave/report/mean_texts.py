"""What pages of studies say of means over seeds and their intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from idlewave.formatting import percent_range, percent_text

LEAST = 0.0005
"""Means below are said to be nothing."""
INTERVALS = (
    "intervals",
    "are of means, 95 %, by bootstrap over seeds, each of which has other times of detours; they say nothing of "
    "another machine or noise.",
)
"""What a page says of its intervals."""
NOTHING = ("nothing", f"is said of what makes a run longer by less than {percent_text(LEAST)} in the mean.")
"""What a page says of means below `LEAST`."""


def mean_text(row: Mapping[str, Any]) -> str:
    """A mean slowdown with its interval: "77 % (70 to 85 %)"."""
    mean, low, high = (max(float(row[name]), 0.0) for name in ("mean", "low", "high"))
    if mean < LEAST:
        return "nothing"
    text = percent_text(mean)
    between = percent_range(low, high)
    return text if between == text else f"{text} ({between})"
