"""How a command simulates, and the options that say so."""

from __future__ import annotations

from typing import Any

import click

from ..escaping import cut, name_of
from ..machine import Machine
from ..schedule import Schedule
from ..simulation import SCHEDULERS
from .kernel_options import THREADS, all_of
from .option_types import Count

SCHEDULER = click.option("--scheduler", type=click.Choice(SCHEDULERS), default=SCHEDULERS[0], show_default=True)
NOISE = (
    click.option("--seed", type=Count(0, 2**64 - 1), default=0, show_default=True, help="Of the noise."),
    click.option("--no-noise", is_flag=True, help="Leave the machine's noise out."),
    click.option(
        "--noise-reaches", metavar="PARTS", help="Parts of a CPU's work that noise reaches, such as o_s,calc."
    ),
)


run_options = all_of((SCHEDULER, THREADS, *NOISE))
"""The options that `run_arguments` takes."""


def heading(schedule: Schedule, machine: Machine) -> str:
    """What is simulated, as lines and pictures call it: both names are cut, and have nothing that a terminal obeys."""
    return f"{name_of(schedule.name)} on {cut(machine.name)}"


def run_arguments(options: dict[str, object]) -> dict[str, Any]:
    """Takes them out of a command's options, as the arguments of `simulate` and its kin."""
    reaches = options.pop("noise_reaches")
    return {
        "noise": None if options.pop("no_noise") else "machine",
        "noise_reaches": None if reaches is None else [part for part in str(reaches).split(",") if part],
        "seed": options.pop("seed"),
        "scheduler": options.pop("scheduler"),
        "threads": options.pop("threads"),
    }
