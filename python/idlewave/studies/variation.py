"""How much longer a program takes at scale because L and G vary over time, with an interval."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import InputError, UsageError
from ..kernel import RunConfiguration
from ..simulation import as_machine, checked_schedule, simulate_checked

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from ..machine import Machine
    from ..schedule import Schedule
    from ..variation import Variation

RUNS = 100
"""Simulations, if none are asked for."""
CONFIDENCE = 0.95
RESAMPLES = 10_000
COLUMNS = ["offset_ps", "seed", "constant_ps", "finish_ps", "slowdown"]


@dataclass(frozen=True)
class SlowdownByVariation:
    """How much longer a program takes where L and G vary: `mean` 0.1 is a tenth longer, in the mean over the offsets.

    The mean lies between `low` and `high` with a probability of `confidence` (bootstrap over the offsets): this covers
    which offsets were drawn, and not that the network may vary otherwise at another time than when it was recorded.
    `runs` has a row a simulation: offset_ps into the recording, seed of the noise, constant_ps (without the variation),
    finish_ps, slowdown.
    """

    ranks: int
    mean: float
    low: float
    high: float
    confidence: float
    runs: pd.DataFrame

    def row(self) -> dict[str, float]:
        """As a row of a table: ranks, mean, low, high, and of the single runs the median, the least and the most."""
        slowdown = self.runs["slowdown"]
        return {
            "ranks": self.ranks,
            "mean": self.mean,
            "low": self.low,
            "high": self.high,
            "median": float(slowdown.median()),
            "least": float(slowdown.min()),
            "most": float(slowdown.max()),
            "runs": len(slowdown),
        }


def slowdown_by_variation(
    schedule: Schedule,
    machine: Machine | str | Path,
    variation: Variation | None = None,
    runs: int = RUNS,
    seed: int = 0,
    *,
    workers: int | None = None,
    on_run: Callable[[], None] | None = None,
) -> SlowdownByVariation:
    """Simulate `schedule` with `variation` (None: that of the machine) from `runs` random offsets on, drawn by `seed`.

    The slowdown of each is relative to the same simulation without a variation. A machine with noise has other noise in
    each run, of the seeds `seed` and following, and the same one in both. `workers` simulations run at a time (default:
    one a core); `on_run` is called after each run.

    Raises UsageError without a variation, for one without a period, and for no runs.
    """
    import numpy as np
    import pandas as pd

    schedule, machine = checked_schedule(schedule), as_machine(machine)
    varying = variation or machine.variation
    if varying is None:
        raise UsageError("expected a variation, or a machine with one")
    if varying.period is None:
        raise UsageError("expected a variation with a period, after which it is repeated, as recordings have")
    if runs < 1:
        raise UsageError(f"expected at least one run, found {runs}")
    offsets = np.random.default_rng(seed).integers(0, varying.period, runs).tolist()
    still = machine.with_variation(None)
    configuration = RunConfiguration.of({})

    def finish(on: Machine, number: int) -> int:
        return int(simulate_checked(schedule, on, seed + number, configuration, None).max_finish)

    quiet = None if machine.noise else finish(still, 0)

    def run(number: int) -> tuple[int, ...]:
        offset = offsets[number]
        without = finish(still, number) if quiet is None else quiet
        row = (offset, seed + number, without, finish(still.with_variation(varying.shifted(offset)), number))
        if on_run is not None:
            on_run()
        return row

    if quiet == 0:
        raise InputError("expected a schedule that takes some time: with constant L and G it takes none")

    with ThreadPoolExecutor(workers or len(os.sched_getaffinity(0))) as pool:
        rows = [(*row, row[-1] / row[-2] - 1) for row in pool.map(run, range(runs))]
    table = pd.DataFrame(rows, columns=COLUMNS)
    slowdown = table["slowdown"].to_numpy()
    low, high = mean_interval(slowdown, seed)
    return SlowdownByVariation(schedule.ranks, float(slowdown.mean()), low, high, CONFIDENCE, table)


def mean_interval(values: npt.NDArray[np.float64], seed: int = 0) -> tuple[float, float]:
    """The interval of the mean of the distribution from which `values` were drawn: bootstrap percentiles."""
    import numpy as np

    rng = np.random.default_rng([seed, len(values)])
    means = [values[rng.integers(0, len(values), len(values))].mean() for _ in range(RESAMPLES)]
    outside = (1 - CONFIDENCE) / 2
    low, high = np.quantile(means, [outside, 1 - outside])
    return float(low), float(high)
