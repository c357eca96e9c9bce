"""What noise costs in the simulations of a study, over its seeds: means with their intervals, and quantiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from idlewave.formatting import percent_range, percent_text, plural

CONFIDENCE = 0.95
RESAMPLES = 10_000
_ENDS = ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2)
FEWEST = 5
"""Of fewer seeds, or runs, a page draws no conclusion: intervals by bootstrap are too narrow then."""
LEAST = 0.0005
"""Means below are said to be nothing."""
INTERVALS = (
    "intervals",
    "are of means, 95 %, by bootstrap over seeds, each of which has other times of detours; they say nothing of "
    f"another machine or noise. One seed has none, and of fewer than {FEWEST} nothing is concluded.",
)
"""What a page says of its intervals."""
NOTHING = ("nothing", f"is said of what makes a run longer by less than {percent_text(LEAST)} in the mean.")
"""What a page says of means below `LEAST`."""


def slowdowns(table: pd.DataFrame, by: Sequence[str], quiet_by: Sequence[str]) -> pd.DataFrame:
    """For each noise and each set of the values of `by`: by which share noise makes the run longer.

    Columns: noise, those of `by`, quiet_ps (the time without noise of the same values of `quiet_by`), seeds, mean, low
    and high (its interval by bootstrap over the seeds), median, q10, q90; NaN for the ends of one seed. Runs that
    take no time are left out.
    """
    quiet = table[table["noise"] == ""].groupby(list(quiet_by), sort=False)["finish_ps"].first()
    rows = []
    for keys, own in table[table["noise"] != ""].groupby(["noise", *by], sort=False):
        named: dict[str, Any] = dict(zip(["noise", *by], keys, strict=True))
        base = int(quiet[tuple(named[name] for name in quiet_by)])
        if base <= 0:
            continue
        added = own.sort_values("seed")["finish_ps"].to_numpy() / base - 1
        low, high = interval_of_mean(added)
        q10, median, q90 = (float(value) for value in np.quantile(added, [0.1, 0.5, 0.9]))
        if len(added) == 1:
            q10 = q90 = float("nan")
        rows.append(
            {
                **named,
                "quiet_ps": base,
                "seeds": len(added),
                "mean": float(added.mean()),
                "low": low,
                "high": high,
                "q10": q10,
                "median": median,
                "q90": q90,
            }
        )
    columns = ["noise", *by, "quiet_ps", "seeds", "mean", "low", "high", "q10", "median", "q90"]
    return pd.DataFrame(rows, columns=columns)


def share_taken_away(
    before: npt.NDArray[np.float64], after: npt.NDArray[np.float64], seed: int = 0
) -> tuple[float, float, float]:
    """By which share the mean of `after` is below that of `before`, and its interval: bootstrap over both; NaN for one
    value."""
    rng = np.random.default_rng([seed, len(before), len(after)])
    means = [_means(array, rng) for array in (before, after)]
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn = 1 - means[1] / means[0]
    if not before.mean() > 0:
        return np.nan, np.nan, np.nan
    is_one = min(len(before), len(after)) == 1
    low, high = (np.nan, np.nan) if is_one else np.quantile(drawn[np.isfinite(drawn)], _ENDS)
    return float(1 - after.mean() / before.mean()), float(low), float(high)


def interval_of_mean(values: npt.NDArray[np.float64]) -> tuple[float, float]:
    """The interval of the mean of the distribution from which `values` were drawn: bootstrap percentiles; NaN for one
    value."""
    if len(values) < 2:
        return np.nan, np.nan
    low, high = np.quantile(_means(values, np.random.default_rng(len(values))), _ENDS)
    return float(low), float(high)


def _means(values: npt.NDArray[np.float64], rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """The means of resamples of the values."""
    means: npt.NDArray[np.float64] = values[rng.integers(0, len(values), (RESAMPLES, len(values)))].mean(axis=1)
    return means


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


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows by the names of their columns."""
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def at_most_ranks(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of each program with the most ranks that it was simulated on."""
    return table[table["ranks"] == table.groupby("program")["ranks"].transform("max")]
