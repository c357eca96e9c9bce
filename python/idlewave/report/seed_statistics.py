"""What noise costs in the simulations of a study, over its seeds: means with their intervals, and quantiles."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from idlewave.formatting import percent_range, percent_text
from idlewave.studies.seed_statistics import errors_of_interval, mean_interval

LEAST = 0.0005
"""Means below are said to be nothing."""
INTERVALS = (
    "intervals",
    "are of means, 95 %, Student's, over seeds, each of which has other times of detours; they say nothing of another "
    "machine or noise.",
)
"""What a page says of its intervals."""
NOTHING = ("nothing", f"is said of what makes a run longer by less than {percent_text(LEAST)} in the mean.")
"""What a page says of means below `LEAST`."""


def slowdowns(table: pd.DataFrame, by: Sequence[str], quiet_by: Sequence[str]) -> pd.DataFrame:
    """For each noise and each set of the values of `by`: by which share noise makes the run longer.

    Columns: noise, those of `by`, quiet_ps (the time without noise of the same values of `quiet_by`), seeds, mean, low
    and high (its interval over the seeds, NaN of one), median, q10, q90. Runs that take no time are left out.
    """
    quiet = table[table["noise"] == ""].groupby(list(quiet_by), sort=False)["finish_ps"].first()
    rows = []
    for keys, own in table[table["noise"] != ""].groupby(["noise", *by], sort=False):
        named: dict[str, Any] = dict(zip(["noise", *by], keys, strict=True))
        base = int(quiet[tuple(named[name] for name in quiet_by)])
        if base <= 0:
            continue
        added = own.sort_values("seed")["finish_ps"].to_numpy() / base - 1
        found = mean_interval(added)
        q10, median, q90 = (float(value) for value in np.quantile(added, [0.1, 0.5, 0.9]))
        rows.append(
            {
                **named,
                "quiet_ps": base,
                "seeds": len(added),
                "mean": found.mean,
                "low": found.low,
                "high": found.high,
                "q10": q10,
                "median": median,
                "q90": q90,
            }
        )
    columns = ["noise", *by, "quiet_ps", "seeds", "mean", "low", "high", "q10", "median", "q90"]
    return pd.DataFrame(rows, columns=columns)


def share_taken_away(before: npt.NDArray[np.float64], after: npt.NDArray[np.float64]) -> tuple[float, float, float]:
    """By which share the mean of `after` is below that of `before`, and its interval: Fieller's of a ratio of means.

    Its lower end is -inf where the mean before may be 0; both are NaN of fewer than two values.
    """
    if not before.mean() > 0:
        return np.nan, np.nan, np.nan
    share, seeds = float(1 - after.mean() / before.mean()), min(len(before), len(after))
    if seeds < 2:
        return share, np.nan, np.nan
    reach = errors_of_interval(seeds)
    m, n = float(before.mean()), float(after.mean())
    a, c = (mean**2 - reach**2 * values.var(ddof=1) / len(values) for mean, values in ((m, before), (n, after)))
    if a <= 0:
        return share, -np.inf, 1.0
    root = math.sqrt(max((m * n) ** 2 - a * c, 0.0))
    return share, 1 - (m * n + root) / a, min(1 - (m * n - root) / a, 1.0)


def mean_text(row: Mapping[str, Any]) -> str:
    """A mean slowdown with its interval: "77 % (70 to 85 %)"."""
    mean, low, high = (max(float(row[name]), 0.0) for name in ("mean", "low", "high"))
    if mean < LEAST:
        return "nothing"
    text = percent_text(mean)
    if math.isnan(row["low"]):
        return text
    between = percent_range(low, high)
    return text if between == text else f"{text} ({between})"


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows by the names of their columns."""
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def at_most_ranks(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of each program with the most ranks that it was simulated on."""
    return table[table["ranks"] == table.groupby("program")["ranks"].transform("max")]
