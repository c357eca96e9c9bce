"""``idlewave study network``: what a faster or slower network changes, with and without noise."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from ..studies.machine_variants import NAMES
from ..studies.network import FACTORS, NETWORK, SCALED, network_cases
from ..studies.programs import GENERATED
from ..studies.simulated_case import SEEDS
from .case_study_options import case_study_options, run_command
from .noise_options import noise_options, noises_of
from .number_lists import numbers_from
from .option_types import Count
from .program_options import program_options, programs_of, show_findings


@click.command("network")
@program_options(GENERATED)
@noise_options()
@click.option(
    "--parameters",
    metavar="NAME+NAME,…",
    default=",".join(SCALED),
    show_default=True,
    help=f"Parameters of the network that are multiplied by one factor, of {', '.join(NAMES)}; several sets by commas.",
)
@click.option(
    "--factors",
    metavar="NUMBER,…",
    default=",".join(f"{factor:g}" for factor in FACTORS),
    show_default=True,
    help="Factors; below 1 the network is faster.",
)
@click.option("--seeds", type=Count(1), default=SEEDS, show_default=True, help="Number of seeds of the noise.")
@case_study_options("network")
def study_network(
    noise: str | None,
    parameters: str,
    factors: str,
    seeds: int,
    **options: Any,  # noqa: ANN401 - of program_options and case_study_options
) -> None:
    """Simulate programs on faster and slower networks, with and without noise.

    Programs are generated, or your own TRACE or schedule FILE.
    """
    chosen = programs_of(options, GENERATED)
    cases = network_cases(
        chosen.machine,
        chosen.programs,
        chosen.ranks,
        chosen.settings,
        noises_of(noise),
        parameters.split(","),
        numbers_from(factors, "factors"),
        seeds,
    )
    run_command(NETWORK, cases, options, partial(show_findings, NETWORK))
