"""What pages of studies say of means over seeds and their intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from idlewave.formatting import percent_range, percent_text, plural
from idlewave.studies.seed_statistics import LEAST_SEEDS

LEAST = 0.0005
"""Means below are said to be nothing."""
INTERVALS = (
    "intervals",
    "are of means, 95 %, Student's, widened for skew, over seeds, each of which has other times of detours; they say "
    f"nothing of another machine or noise. One seed has none, and of fewer than {LEAST_SEEDS} nothing is concluded.",
)
"""What a page says of its intervals."""
NOTHING = ("nothing", f"is said of what makes a run longer by less than {percent_text(LEAST)} in the mean.")
"""What a page says of means below `LEAST`."""


def mean_text(row: Mapping[str, Any]) -> str:
    """A mean slowdown with its interval: "77 % (70 to 85 %)"; of one seed "77 % (1 seed)"."""
    mean, low, high = (max(float(row[name]), 0.0) for name in ("mean", "low", "high"))
    if mean < LEAST:
        return "nothing"
    text = percent_text(mean)
    if row["seeds"] == 1:
        return f"{text} ({plural(1, 'seed')})"
    between = percent_range(low, high)
    return text if between == text else f"{text} ({between})"


def nothing_lost(ranks: int, seeds: int) -> str:
    """The sentence for a program that noise does not make longer in the mean, however it comes."""
    among = "in this one seed" if seeds == 1 else f"in the mean of these {seeds:,} seeds"
    return f"On {plural(ranks, 'rank')} nothing was lost {among}."
