"""Options of the commands that simulate: scheduler, threads, noise and seed."""

from __future__ import annotations

from typing import Any

import click

from ..escaping import cut, name_of
from ..machine import Machine
from ..schedule import Schedule
from ..simulation import SCHEDULERS
from .kernel_options import THREADS, all_of
from .option_types import Count

SCHEDULER = click.option(
    "--scheduler",
    type=click.Choice(SCHEDULERS),
    default=SCHEDULERS[0],
    show_default=True,
    help="How events are scheduled: one after another, or conservatively in windows on --threads threads.",
)
NOISE = (
    click.option("--seed", type=Count(0, 2**64 - 1), default=0, show_default=True, help="Seed of the noise."),
    click.option("--no-noise", is_flag=True, help="Simulate without the noise of the machine."),
    click.option(
        "--noise-reaches",
        metavar="PARTS",
        help="Parts of a CPU's work that noise lengthens: a list of o_s, o_r, O, calc, reduction.",
    ),
)


run_options = all_of((SCHEDULER, THREADS, *NOISE))
"""The options that `run_arguments` takes."""


def heading(schedule: Schedule, machine: Machine) -> str:
    """The schedule and the machine in words, for lines and pictures; the names are cut and printable."""
    return f"{name_of(schedule.name)} on {cut(machine.name)}"


def run_arguments(options: dict[str, object]) -> dict[str, Any]:
    """Take these options out of a command's options; returns the arguments of `simulate` and similar functions."""
    reaches = options.pop("noise_reaches")
    return {
        "noise": None if options.pop("no_noise") else "machine",
        "noise_reaches": None if reaches is None else [part for part in str(reaches).split(",") if part],
        "seed": options.pop("seed"),
        "scheduler": options.pop("scheduler"),
        "threads": options.pop("threads"),
    }
