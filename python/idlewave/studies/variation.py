"""How much longer a program takes at scale because L and G vary over time, with an interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from ..errors import InputError, UsageError
from ..machine import Machine
from ..schedule import Schedule
from ..simulation import as_machine, checked_schedule, simulate
from .case_runner import OnProgress, Running, run_cases
from .case_study import CaseStudy, Row
from .seed_statistics import CONFIDENCE, mean_interval
from .stopping import check_stop

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from ..report.study_page import StudyPage
    from ..variation import Variation

RUNS = 100
"""Simulations of each number of ranks, if none are asked for."""
COLUMNS = ["offset_ps", "seed", "constant_ps", "finish_ps", "slowdown"]
_REMEMBERED = 2
"""So many times without a variation are remembered: runs of one number of ranks follow each other."""


@dataclass(frozen=True)
class VariationCase:
    """A run: a program on a machine that has a variation, which begins `offset_ps` into it; `seed` is of the noise."""

    schedule: Schedule
    machine: Machine
    ranks: int
    offset_ps: int
    seed: int


def variation_cases(
    schedules: Sequence[Schedule],
    machine: Machine,
    variation: Variation | None = None,
    runs: int = RUNS,
    seed: int = 0,
) -> list[VariationCase]:
    """Runs of each schedule on the machine with `variation` (None: its own) from random offsets on, drawn by `seed`.

    A machine with noise has other noise in each run, of the seeds `seed` and following. Raises UsageError without a
    variation, for one without a period, and for no runs.
    """
    import numpy as np

    varying = variation or machine.variation
    if varying is None:
        raise UsageError("expected a variation, or a machine with one")
    if varying.period is None:
        raise UsageError("expected a variation with a period, after which it is repeated, as recordings have")
    if runs < 1:
        raise UsageError(f"expected at least one run, found {runs}")
    offsets = np.random.default_rng(seed).integers(0, varying.period, runs).tolist()
    machine = machine.with_variation(varying)
    return [
        VariationCase(schedule, machine, schedule.ranks, offset, seed + number)
        for schedule in schedules
        for number, offset in enumerate(offsets)
    ]


def variation_row(case: VariationCase) -> Row:
    """The time of the run, and that of the same without the variation, with the same detours. Raises InputError for a
    schedule that takes no time."""
    varying = case.machine.variation
    if varying is None:
        raise UsageError("expected a machine with a variation")
    seed = case.seed if case.machine.noise else 0
    of = (case.schedule.identity(), case.machine.identity(), seed)
    constant = _constant_ps(_Constant(case.schedule, case.machine.with_variation(None), seed, of))
    if constant == 0:
        raise InputError("expected a schedule that takes some time: with constant L and G it takes none")
    finish = _finish(case.schedule, case.machine.with_variation(varying.shifted(case.offset_ps)), seed)
    return {"constant_ps": constant, "finish_ps": finish, "slowdown": finish / constant - 1}


def _page(table: pd.DataFrame) -> StudyPage:
    from ..report.variation_page import variation_page

    return variation_page(table)


VARIATION = CaseStudy("variation", 1, variation_row, _page)
"""The study: its table has the columns of `VariationCase`, and those of `variation_row`."""


@dataclass(frozen=True)
class SlowdownByVariation:
    """How much longer a program takes where L and G vary: `mean` 0.1 is a tenth longer, in the mean over the offsets.

    The mean lies between `low` and `high` with a probability of `confidence` (Student's, over the offsets): this covers
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

    @classmethod
    def of(cls, runs: pd.DataFrame) -> SlowdownByVariation:
        """That of runs of one number of ranks, in a table of the study."""
        slowdown = runs["slowdown"].to_numpy()
        found = mean_interval(slowdown)
        rows = runs[COLUMNS].reset_index(drop=True)
        return cls(int(runs["ranks"].iloc[0]), found.mean, found.low, found.high, CONFIDENCE, rows)

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
    on_progress: OnProgress | None = None,
) -> SlowdownByVariation:
    """Simulate `schedule` with `variation` (None: that of the machine) from `runs` random offsets on, drawn by `seed`.

    The slowdown of each is relative to the same simulation without a variation. A machine with noise has other noise in
    each run, of the seeds `seed` and following, and the same one in both. `workers` simulations run at a time (default:
    one a core).

    Raises UsageError without a variation, for one without a period, and for no runs; CaseError for a schedule that
    takes no time.
    """
    cases = variation_cases([checked_schedule(schedule)], as_machine(machine), variation, runs, seed)
    return SlowdownByVariation.of(run_cases(VARIATION, cases, None, Running(workers, None, on_progress)))


def slowdowns(table: pd.DataFrame) -> list[SlowdownByVariation]:
    """That of each number of ranks in a table of the study, in its order."""
    return [SlowdownByVariation.of(runs) for _, runs in table.groupby("ranks", sort=False)]


@dataclass(frozen=True)
class _Constant:
    """A simulation without the variation, which is equal to others of the same schedule, machine and seed."""

    schedule: Schedule = field(compare=False)
    machine: Machine = field(compare=False)
    seed: int = field(compare=False)
    identity: tuple[str, str, int]


@lru_cache(maxsize=_REMEMBERED)
def _constant_ps(of: _Constant) -> int:
    """Its time: without noise it is that of all runs of a schedule."""
    return _finish(of.schedule, of.machine, of.seed)


def _finish(schedule: Schedule, machine: Machine, seed: int) -> int:
    return simulate(schedule, machine, seed=seed, progress=check_stop).max_finish
