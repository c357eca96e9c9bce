"""Simulations with many seeds of noise: how long they take, what noise adds, and intervals of the means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..simulation import simulate
from .stopping import check_stop

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from ..machine import Machine
    from ..schedule import Schedule

CONFIDENCE = 0.95
LEAST_SEEDS = 5
"""Of fewer, no statement is said to hold or not to hold."""
QUANTILES = {"least": 0.0, "q25": 0.25, "median": 0.5, "q75": 0.75, "most": 1.0}


@dataclass(frozen=True)
class Interval:
    """The mean of some values, and the ends of the interval of the mean of their distribution."""

    mean: float
    low: float
    high: float


def finish_times(schedule: Schedule, machine: Machine, seeds: int, seed: int = 0) -> npt.NDArray[np.int64]:
    """When the slowest rank ends, ps, for each of `seeds` seeds from `seed` on; without noise for one alone."""
    import numpy as np

    numbers = range(seed, seed + (seeds if machine.noise else 1))
    return np.array([simulate(schedule, machine, seed=one, progress=check_stop).max_finish for one in numbers])


def mean_interval(values: npt.NDArray[np.float64]) -> Interval:
    """The mean, and an interval in which that of the distribution lies: Student's, NaN of fewer than two values.

    Where no value is negative, no mean is taken to be.
    """
    import numpy as np

    mean = float(np.mean(values))
    if len(values) < 2:
        return Interval(mean, math.nan, math.nan)
    reach = errors_of_interval(len(values)) * float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return Interval(mean, max(mean - reach, min(0.0, float(np.min(values)))), mean + reach)


def errors_of_interval(values: int) -> float:
    """How many standard errors the interval of the mean of so many values reaches to each side: Student's quantile,
    times 1 + 1 / n.

    Losses are skewed, few but large, so that Student's interval alone holds their mean in less than 90 % of cases.
    Widened it does in 90 to 94 % with 2 to 20 exponentially distributed ones.
    """
    from scipy.special import stdtrit

    return float(stdtrit(values - 1, (1 + CONFIDENCE) / 2)) * (1 + 1 / values)


def share_taken_away(before: npt.NDArray[np.float64], after: npt.NDArray[np.float64]) -> Interval:
    """By which share the mean of `after` is below that of `before`, and its interval: Fieller's of a ratio of means.

    Its lower end is -inf where the mean before may be 0; both are NaN of fewer than two values.
    """
    m, n, seeds = float(before.mean()), float(after.mean()), min(len(before), len(after))
    if m <= 0:
        return Interval(math.nan, math.nan, math.nan)
    if seeds < 2:
        return Interval(1 - n / m, math.nan, math.nan)
    reach = errors_of_interval(seeds)
    a, c = (mean**2 - reach**2 * values.var(ddof=1) / len(values) for mean, values in ((m, before), (n, after)))
    if a <= 0:
        return Interval(1 - n / m, -math.inf, 1.0)
    root = math.sqrt(max((m * n) ** 2 - a * c, 0.0))
    return Interval(1 - n / m, 1 - (m * n + root) / a, min(1 - (m * n - root) / a, 1.0))


def slowdowns(table: pd.DataFrame, by: Sequence[str], quiet_by: Sequence[str]) -> pd.DataFrame:
    """For each noise and each set of the values of `by`: by which share noise makes the run longer.

    Columns: noise, those of `by`, quiet_ps (the time without noise of the same values of `quiet_by`), seeds, mean, low
    and high (its interval over the seeds, NaN of one), median, q10, q90. Runs that take no time are left out.
    """
    import numpy as np
    import pandas as pd

    quiet = table[table["noise"] == ""].groupby(list(quiet_by), sort=False)["finish_ps"].first()
    rows = []
    for keys, own in table[table["noise"] != ""].groupby(["noise", *by], sort=False):
        named: dict[str, Any] = dict(zip(["noise", *by], keys, strict=True))
        base = int(quiet[tuple(named[name] for name in quiet_by)])
        if base <= 0:
            continue
        added = own.sort_values("seed")["finish_ps"].to_numpy() / base - 1
        q10, median, q90 = (float(value) for value in np.quantile(added, [0.1, 0.5, 0.9]))
        if len(added) == 1:
            q10 = q90 = np.nan
        quantiles = {"q10": q10, "median": median, "q90": q90}
        rows.append({**named, "quiet_ps": base, "seeds": len(added), **vars(mean_interval(added)), **quantiles})
    columns = ["noise", *by, "quiet_ps", "seeds", "mean", "low", "high", "q10", "median", "q90"]
    return pd.DataFrame(rows, columns=columns)


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows by the names of their columns."""
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def at_most_ranks(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of each program with the most ranks that it was simulated on."""
    return table[table["ranks"] == table.groupby("program")["ranks"].transform("max")]


def check_seeds(seeds: int, seed: int) -> None:
    """Raise UsageError for seeds of which no interval can be made."""
    if seeds < 2:
        raise UsageError(f"expected at least 2 seeds, found {seeds}")
    if not 0 <= seed <= 2**62 - seeds:
        raise UsageError(f"expected a seed from 0 on, found {seed}")
