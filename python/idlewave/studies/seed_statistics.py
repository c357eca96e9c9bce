"""How long a program takes with many seeds of a machine's noise, and what that says of the mean."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import UsageError
from ..simulation import simulate
from .stopping import check_stop

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

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


def check_seeds(seeds: int, seed: int) -> None:
    """Raise UsageError for seeds of which no interval can be made."""
    if seeds < 2:
        raise UsageError(f"expected at least 2 seeds, found {seeds}")
    if not 0 <= seed <= 2**62 - seeds:
        raise UsageError(f"expected a seed from 0 on, found {seed}")
