"""How long a program takes with many seeds of a machine's noise, and what that says of the mean."""

from __future__ import annotations

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
RESAMPLES = 2000
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


def mean_interval(values: npt.NDArray[np.float64], seed: int = 0) -> Interval:
    """The mean, and an interval in which that of the distribution lies: bootstrap percentiles over the values."""
    import numpy as np

    drawn = np.random.default_rng([seed, len(values)]).integers(0, len(values), (RESAMPLES, len(values)))
    outside = (1 - CONFIDENCE) / 2
    low, high = np.quantile(values[drawn].mean(axis=1), [outside, 1 - outside])
    return Interval(float(values.mean()), float(low), float(high))


def check_seeds(seeds: int, seed: int) -> None:
    """Raise UsageError for seeds of which no interval can be made."""
    if seeds < 2:
        raise UsageError(f"expected at least 2 seeds, found {seeds}")
    if not 0 <= seed <= 2**62 - seeds:
        raise UsageError(f"expected a seed from 0 on, found {seed}")
