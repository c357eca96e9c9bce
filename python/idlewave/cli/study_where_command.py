"""``idlewave study where``: in which work of a CPU noise does its damage."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from ..studies.programs import GENERATED
from ..studies.simulated_case import SEEDS
from ..studies.where import WHERE, where_cases
from .case_study_options import case_study_options, run_command
from .noise_options import noise_options, noises_of
from .option_types import Count
from .program_options import program_options, programs_of, show_findings


@click.command("where")
@program_options(GENERATED)
@noise_options()
@click.option("--seeds", type=Count(1), default=SEEDS, show_default=True, help="Number of seeds of the noise.")
@case_study_options("where")
def study_where(
    noise: str | None,
    seeds: int,
    **options: Any,  # noqa: ANN401 - of program_options and case_study_options
) -> None:
    """Simulate programs under noise in one kind of a CPU's work alone: overheads of sends or of receives, costs per
    byte, computation, reductions; and in all of them.

    Programs are generated, or your own TRACE or schedule FILE.
    """
    chosen = programs_of(options, GENERATED)
    cases = where_cases(chosen.machine, chosen.programs, chosen.ranks, chosen.settings, noises_of(noise), seeds)
    run_command(WHERE, cases, options, partial(show_findings, WHERE))
