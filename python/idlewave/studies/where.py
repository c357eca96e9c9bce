"""Where noise does its damage: in overheads of sends and receives, in costs per byte, or in computation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..machine import Machine
from ..noise_models import REACHES
from ..noise_presets import chosen_noises
from ..schedule import Schedule
from .case_study import CaseStudy
from .programs import GENERATED, ProgramSettings, lacking_work, programs_at, ranks_of
from .simulated_case import SEEDS, SimulatedCase, checked_seeds, simulated_row

if TYPE_CHECKING:
    import pandas as pd

    from ..report.study_page import StudyPage

ALL = "all"
"""Noise that lengthens all of a CPU's work."""


@dataclass(frozen=True)
class WhereCase(SimulatedCase):
    """A simulation under `noise` ("": none) that lengthens only `where` of a CPU's work, one of REACHES, or all."""

    noise: str
    where: str


def where_cases(
    machine: Machine,
    programs: Sequence[str | Schedule] = GENERATED,
    ranks: Sequence[int] | None = None,
    settings: ProgramSettings | None = None,
    noise: Sequence[str] | None = None,
    seeds: int | Sequence[int] = SEEDS,
) -> list[WhereCase]:
    """For each program and number of ranks a case without noise, and one for each noise, kind of work that it reaches,
    and seed. Kinds that a generated program has none of are left out. Raises UsageError."""
    quiet = machine.with_noise(None)
    noises = chosen_noises(noise, machine)
    numbers = checked_seeds(seeds)
    reached: dict[str, tuple[str, ...]] = {ALL: REACHES, **{name: (name,) for name in REACHES}}
    on = {
        (word, where): quiet.with_noise(found).with_noise_reaches(names)
        for word, found in noises.items()
        for where, names in reached.items()
    }
    cases = []
    lacking = [lacking_work(program, settings) for program in programs for _ in ranks_of(program, ranks)]
    for program, without in zip(programs_at(programs, ranks, settings, machine), lacking, strict=True):
        cases.append(WhereCase(program, quiet, program.ranks, 0, "", ALL))
        for (word, where), under in on.items():
            if where not in without:
                cases += [WhereCase(program, under, program.ranks, seed, word, where) for seed in numbers]
    return cases


def _page(table: pd.DataFrame) -> StudyPage:
    from ..report.where_page import where_page

    return where_page(table)


WHERE = CaseStudy("where", 1, simulated_row, _page)
"""The study: its table has the columns of `WhereCase`, and those of `simulated_row`."""
