"""How much of its communication a program can hide: simulated from o = O = 0, where the network does all by itself, to
o = g and O = G, where a CPU does nothing beside a message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..machine import Machine
from ..schedule import Schedule
from .case_study import CaseStudy
from .machine_variants import with_overhead_share, without_network_costs
from .programs import GENERATED, ProgramSettings, programs_at
from .simulated_case import SimulatedCase, checked_factors, simulated_row

if TYPE_CHECKING:
    import pandas as pd

    from ..report.study_page import StudyPage

PROGRAMS = (*GENERATED, "slabs_two_sided", "packed_slabs_put")
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
OWN, FREE, SHARE = "own", "free", "share"
"""The machine as it is; messages that cost nothing; o = share · g, O = share · G."""


@dataclass(frozen=True)
class OverlapCase(SimulatedCase):
    """A simulation with the `overheads` OWN, FREE or SHARE, the last with o = `share` · g and O = `share` · G."""

    overheads: str
    share: float | None


def overlap_cases(
    machine: Machine,
    programs: Sequence[str | Schedule] = PROGRAMS,
    ranks: Sequence[int] | None = None,
    settings: ProgramSettings | None = None,
    shares: Sequence[float] = SHARES,
) -> list[OverlapCase]:
    """For each program and number of ranks a case on the machine as it is, one where messages cost nothing, and one for
    each share; 0 and 1 are always among these. There is no noise. Raises UsageError."""
    quiet = machine.with_noise(None)
    chosen = checked_factors(sorted({0.0, 1.0, *shares}), least=0.0, most=1.0)
    on: list[tuple[str, float | None, Machine]] = [(OWN, None, quiet), (FREE, None, without_network_costs(quiet))]
    on += [(SHARE, share, with_overhead_share(quiet, share)) for share in chosen]
    return [
        OverlapCase(program, machine_of, program.ranks, 0, kind, share)
        for program in programs_at(programs, ranks, settings, machine)
        for kind, share, machine_of in on
    ]


def _page(table: pd.DataFrame) -> StudyPage:
    from ..report.overlap_page import overlap_page

    return overlap_page(table)


OVERLAP = CaseStudy("overlap", 1, simulated_row, _page)
"""The study: its table has the columns of `OverlapCase`, and those of `simulated_row`."""
