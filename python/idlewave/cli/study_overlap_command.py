"""``idlewave study overlap``: how much of its communication a program can hide."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from ..studies.overlap import OVERLAP, PROGRAMS, SHARES, overlap_cases
from .case_study_options import case_study_options, run_command
from .number_lists import numbers_from
from .program_options import program_options, programs_of, show_findings


@click.command("overlap")
@program_options(PROGRAMS)
@click.option(
    "--shares",
    metavar="NUMBER,…",
    default=",".join(f"{share:g}" for share in SHARES),
    show_default=True,
    help="What of g and G a CPU spends with a message, as o and O; 0 and 1 are always among them.",
)
@case_study_options("overlap")
def study_overlap(
    shares: str,
    **options: Any,  # noqa: ANN401 - of program_options and case_study_options
) -> None:
    """Simulate programs from o = O = 0, where the network does all by itself, to o = g and O = G, where a CPU does
    nothing beside a message.

    Programs are generated, or your own TRACE or schedule FILE.
    """
    chosen = programs_of(options, PROGRAMS)
    cases = overlap_cases(
        chosen.machine, chosen.programs, chosen.ranks, chosen.settings, numbers_from(shares, "shares")
    )
    run_command(OVERLAP, cases, options, partial(show_findings, OVERLAP))
