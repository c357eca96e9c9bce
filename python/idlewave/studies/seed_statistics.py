"""Simulations with many seeds of noise: how long they take, what noise adds, and intervals of the means."""

from __future__ import annotations

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
RESAMPLES = 10_000
QUANTILES = {"least": 0.0, "q25": 0.25, "median": 0.5, "q75": 0.75, "most": 1.0}
_ENDS = ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2)
_DRAWN = 10**6
"""So many values are drawn at once at most."""


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


def mean_interval(values: npt.NDArray[np.float64], seed: int = 0) -> Interval:
    """The mean, and an interval in which that of the distribution lies: bootstrap percentiles over the values."""
    import numpy as np

    low, high = np.quantile(_means(values, np.random.default_rng([len(values), seed])), _ENDS)
    return Interval(float(values.mean()), float(low), float(high))


def share_taken_away(before: npt.NDArray[np.float64], after: npt.NDArray[np.float64], seed: int = 0) -> Interval:
    """By which share the mean of `after` is below that of `before`, and its interval: bootstrap over both."""
    import numpy as np

    rng = np.random.default_rng([seed, len(before), len(after)])
    means = [_means(array, rng) for array in (before, after)]
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn = 1 - means[1] / means[0]
    if not before.mean() > 0:
        return Interval(np.nan, np.nan, np.nan)
    low, high = np.quantile(drawn[np.isfinite(drawn)], _ENDS)
    return Interval(float(1 - after.mean() / before.mean()), float(low), float(high))


def _means(values: npt.NDArray[np.float64], rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """The means of resamples of the values."""
    import numpy as np

    count = len(values)
    means = np.empty(RESAMPLES)
    rows = max(1, _DRAWN // count)
    for begin in range(0, RESAMPLES, rows):
        own = means[begin : begin + rows]
        own[:] = values[rng.integers(0, count, (len(own), count))].mean(axis=1)
    return means


def slowdowns(table: pd.DataFrame, by: Sequence[str], quiet_by: Sequence[str]) -> pd.DataFrame:
    """For each noise and each set of the values of `by`: by which share noise makes the run longer.

    Columns: noise, those of `by`, quiet_ps (the time without noise of the same values of `quiet_by`), seeds, mean, low
    and high (its interval by bootstrap over the seeds), median, q10, q90. Runs that take no time are left out.
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
