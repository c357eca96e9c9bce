"""``idlewave study co-scheduling``: what co-scheduling noise takes away."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from ..studies.co_scheduling import ALL, CO_SCHEDULING, co_scheduling_cases
from ..studies.programs import GENERATED
from ..studies.simulated_case import SEEDS
from .case_study_options import case_study_options, run_command
from .noise_options import noise_options, noises_of
from .number_lists import counts_from
from .option_types import Count
from .program_options import program_options, programs_of, show_findings


@click.command("co-scheduling")
@program_options(GENERATED)
@noise_options()
@click.option(
    "--together",
    metavar="COUNT,…",
    help="Numbers of neighbouring ranks whose detours come at the same time; all: all of them.  [default: 1, those of "
    "a node, or 16, and all]",
)
@click.option(
    "--skews-ns",
    "skews",
    metavar="COUNT,…",
    default="0",
    show_default=True,
    help="How much earlier or later, at most, the detours of ranks come that have theirs together.",
)
@click.option("--seeds", type=Count(1), default=SEEDS, show_default=True, help="Number of seeds of the noise.")
@case_study_options("co-scheduling")
def study_co_scheduling(
    noise: str | None,
    together: str | None,
    skews: str,
    seeds: int,
    **options: Any,  # noqa: ANN401 - of program_options and case_study_options
) -> None:
    """Simulate programs under noise that comes at the same time on all ranks, on those of a node, or on each rank at
    times of its own.

    Programs are generated, or your own TRACE or schedule FILE.
    """
    groups = None if together is None else _groups(together)
    chosen = programs_of(options, GENERATED)
    cases = co_scheduling_cases(
        chosen.machine,
        chosen.programs,
        chosen.ranks,
        chosen.settings,
        noises_of(noise),
        groups,
        counts_from(skews, "skews", 0),
        seeds,
    )
    run_command(CO_SCHEDULING, cases, options, partial(show_findings, CO_SCHEDULING))


def _groups(text: str) -> list[int]:
    return counts_from(",".join(str(ALL) if word == "all" else word for word in text.split(",")), "numbers of ranks", 1)
