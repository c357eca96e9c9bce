"""``idlewave study sensitivity``: how sensitive programs are to latency and bandwidth."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from ..studies.latency_bandwidth import FACTORS, PARAMETERS, SENSITIVITY, sensitivity_cases
from ..studies.machine_variants import NAMES
from ..studies.programs import GENERATED
from ..tolerance import GROWTHS
from .case_study_options import case_study_options, run_command
from .number_lists import numbers_from
from .program_options import program_options, programs_of, show_findings


@click.command("sensitivity")
@program_options(GENERATED)
@click.option(
    "--parameters",
    metavar="NAME,…",
    default=",".join(PARAMETERS),
    show_default=True,
    help=f"Parameters that are changed, each alone, of {', '.join(NAMES)}.",
)
@click.option(
    "--factors",
    metavar="NUMBER,…",
    default=",".join(f"{factor:g}" for factor in FACTORS),
    show_default=True,
    help="Factors of a parameter.",
)
@click.option(
    "--growths",
    metavar="NUMBER,…",
    default=",".join(f"{growth:g}" for growth in GROWTHS),
    show_default=True,
    help="Shares by which the run time may grow, for which the tolerated factors are sought.",
)
@case_study_options("sensitivity")
def study_sensitivity(
    parameters: str,
    factors: str,
    growths: str,
    **options: Any,  # noqa: ANN401 - of program_options and case_study_options
) -> None:
    """Simulate programs with other latencies and bandwidths, and find how much of each they tolerate.

    Programs are generated, or your own TRACE or schedule FILE.
    """
    chosen = programs_of(options, GENERATED)
    cases = sensitivity_cases(
        chosen.machine,
        chosen.programs,
        chosen.ranks,
        chosen.settings,
        parameters.split(","),
        numbers_from(factors, "factors"),
        numbers_from(growths, "growths"),
    )
    run_command(SENSITIVITY, cases, options, partial(show_findings, SENSITIVITY))
