"""How a command simulates, and the options that say so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ..machine import Machine
from ..schedule import Schedule
from ..simulation import DIALECTS, SCHEDULERS, simulate
from ..timeline import Timeline

F = TypeVar("F", bound=Callable[..., Any])

OPTIONS = (
    click.option("--scheduler", type=click.Choice(SCHEDULERS), default=SCHEDULERS[0], show_default=True),
    click.option("--threads", type=click.IntRange(1), default=1, show_default=True),
    click.option("--seed", type=click.IntRange(0, 2**64 - 1), default=0, show_default=True, help="Of the noise."),
    click.option("--no-noise", is_flag=True, help="Leave the machine's noise out."),
    click.option(
        "--noise-reaches", metavar="PARTS", help="Parts of a CPU's work that noise reaches, such as o_s,calc."
    ),
)


def run_options(command: F) -> F:
    """The options of `simulated`, but for what it keeps and the dialect."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def simulated(
    schedule: Schedule,
    machine: Machine,
    *,
    scheduler: str,
    threads: int,
    seed: int,
    no_noise: bool,
    noise_reaches: str | None,
    record: bool,
    dialect: str = DIALECTS[0],
) -> Timeline:
    """The timeline, simulated as the options say."""
    return simulate(
        schedule,
        machine.with_noise(None) if no_noise else machine,
        noise_reaches=None if noise_reaches is None else [part for part in noise_reaches.split(",") if part],
        seed=seed,
        record=record,
        scheduler=scheduler,
        threads=threads,
        dialect=dialect,
    )
