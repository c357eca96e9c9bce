"""Which source of a machine's noise to remove first, by what each costs a program at scale: docs/studies/thinning.md.

The program is simulated with all sources, without each, with each alone, and with the costliest removed one after
another, as long as a removal saves more than chance does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from ..errors import UsageError
from ..machine import Machine
from ..multiple_tests import holm
from ..schedule import Schedule
from .case_study import CaseStudy, Row
from .noise_sources import NoiseSources
from .programs import Program, own_program, program_named
from .seed_statistics import Interval, check_seeds, finish_times, mean_interval

if TYPE_CHECKING:
    import pandas as pd

    from ..report.study_page import StudyPage

MACHINE = "odin"
PROGRAM = "solver"
RANKS = (64, 1024)
SEEDS = 20
STEPS = 3
"""So many sources are removed one after another at most."""
LEVEL = 0.05
"""Of the corrected p-value below which a source costs more than chance."""
ALL, WITHOUT, ALONE, REMOVED = "all", "without", "alone", "removed"
BETWEEN = "; "
"""Between names of sources that a row lists."""


@dataclass(frozen=True)
class ThinningCase:
    """A program on a machine with some of its sources of noise.

    `way`: all sources; without `source`; `source` alone; or `source` removed after those in `before`.
    """

    machine: Machine
    schedule: Schedule
    kind: str
    program: str
    ranks: int
    way: str
    source: str
    before: str
    seeds: int
    seed: int


@dataclass(frozen=True)
class ThinningPlan:
    """What a study of thinning simulates: a program, or one's own, on several numbers of ranks of a machine with these
    sources of noise. Sources are removed one after another at the largest number of ranks."""

    machine: Machine
    sources: NoiseSources
    program: str = PROGRAM
    own: Schedule | None = None
    ranks: Sequence[int] = RANKS
    size: int = 8
    operations: int = 1
    seeds: int = SEEDS
    seed: int = 0

    def __post_init__(self) -> None:
        check_seeds(self.seeds, self.seed)
        if not self.ranks or min(self.ranks) < 2:
            raise UsageError(f"expected numbers of ranks from 2 on, found {', '.join(map(str, self.ranks)) or 'none'}")


def thinning_study(plan: ThinningPlan) -> CaseStudy[ThinningCase]:
    """The study: its table has the columns of `ThinningCase`, and those of `thinning_row`."""
    return CaseStudy("thinning", 2, thinning_row, _page, more=partial(_next_cases, plan))


def thinning_cases(plan: ThinningPlan) -> list[ThinningCase]:
    """The first cases: all sources, without each, and each alone. Raises UsageError."""
    names = plan.sources.names
    found = []
    for ranks in sorted(plan.ranks):
        program = _program(plan, ranks)
        found.append(_case(plan, program, ALL, "", names))
        for name in names:
            found.append(_case(plan, program, WITHOUT, name, [other for other in names if other != name]))
        found += [_case(plan, program, ALONE, name, [name]) for name in names]
    return found


def _next_cases(plan: ThinningPlan, table: pd.DataFrame) -> list[ThinningCase]:
    """The cases of the next step: without each of the sources that are left."""
    removed = removals(table)
    left = [name for name in plan.sources.names if name not in removed]
    if not removed or len(removed) >= STEPS or not left:
        return []
    if (table["before"] == BETWEEN.join(removed)).any():
        return []
    program = _program(plan, max(plan.ranks))
    return [_case(plan, program, REMOVED, name, [other for other in left if other != name], removed) for name in left]


def removals(table: pd.DataFrame) -> list[str]:
    """The sources to remove, one after another: of those that save more than chance does, that which saves most."""
    largest = table[table["ranks"] == table["ranks"].max()]
    found: list[str] = []
    current = largest[largest["way"] == ALL].iloc[0]
    while len(found) < STEPS:
        tried = largest[
            (largest["way"] == (REMOVED if found else WITHOUT)) & (largest["before"] == BETWEEN.join(found))
        ]
        if not len(tried):
            break
        saved = savings(current, tried)
        saved = saved[saved["matters"]]
        if not len(saved):
            break
        best = saved.sort_values("saved_ps", ascending=False).iloc[0]
        found.append(str(best["source"]))
        current = tried[tried["source"] == best["source"]].iloc[0]
    return found


def savings(current: pd.Series, tried: pd.DataFrame) -> pd.DataFrame:
    """What each of the rows `tried` saves against the row `current`: source, saved_ps, low_ps, high_ps, p, matters.

    The interval is Welch's at 95 %; p is corrected by Holm's method for as many sources as were tried.
    """
    import pandas as pd
    from scipy.stats import t as student

    rows = []
    for row in tried.to_dict("records"):
        saved = float(current["lost_ps"] - row["lost_ps"])
        parts = [(float(one["lost_sd_ps"]) ** 2 / one["seeds"], one["seeds"] - 1) for one in (current, row)]
        variance = sum(part for part, _ in parts)
        error = math.sqrt(variance)
        freedom = variance**2 / sum(part**2 / free for part, free in parts) if variance else math.inf
        reach = error * float(student.ppf(0.975, freedom)) if variance else 0.0
        p = 2 * float(student.sf(abs(saved) / error, freedom)) if variance else float(saved == 0)
        rows.append((row["source"], saved, saved - reach, saved + reach, p))
    table = pd.DataFrame(rows, columns=["source", "saved_ps", "low_ps", "high_ps", "p"])
    table["p"] = holm(table["p"])
    return table.assign(matters=(table["p"] < LEVEL) & (table["saved_ps"] > 0))


def thinning_row(case: ThinningCase) -> Row:
    """What the sources of the case cost: the time without noise, ps, what is lost to them in the mean and its standard
    deviation over the seeds, and the mean slowdown with its interval.

    `overhead` is the share of a core's time that they take.
    """
    noise = case.machine.noise
    quiet = int(finish_times(case.schedule, case.machine.with_noise(None), 1)[0])
    if quiet == 0:
        raise UsageError("expected a program that takes some time")
    lost = (finish_times(case.schedule, case.machine, case.seeds, case.seed) - quiet).astype(float)
    found = Interval(0.0, 0.0, 0.0) if noise is None else mean_interval(lost / quiet)
    return {
        "overhead": 0.0 if noise is None else float(noise.overhead),
        "quiet_ps": quiet,
        "lost_ps": float(lost.mean()),
        "lost_sd_ps": float(lost.std(ddof=1)) if len(lost) > 1 else 0.0,
        "slowdown": found.mean,
        "low": found.low,
        "high": found.high,
    }


def _program(plan: ThinningPlan, ranks: int) -> Program:
    if plan.own is not None:
        return own_program(plan.own, ranks)
    rules = plan.machine.algorithm_rules
    return program_named(plan.program, ranks, plan.size, plan.operations, rules)


def _case(
    plan: ThinningPlan, program: Program, way: str, source: str, present: Sequence[str], before: Sequence[str] = ()
) -> ThinningCase:
    machine = plan.machine.with_noise(plan.sources.noise(present))
    what = (plan.sources.kind, program.name, program.ranks, way, source, BETWEEN.join(before))
    return ThinningCase(machine, program.schedule, *what, plan.seeds, plan.seed)


def _page(table: pd.DataFrame) -> StudyPage:
    from ..report.thinning_page import thinning_page

    return thinning_page(table)
