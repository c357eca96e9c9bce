"""Options of the commands that simulate: the run configuration, noise and seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ..escaping import cut, name_of
from ..kernel import SimulationOptions
from ..machine import Machine
from ..noise_models import REACHES
from ..parameters import parameters_of
from ..schedule import Schedule
from ..simulation import checked_machine
from .parameter_options import options_of

F = TypeVar("F", bound=Callable[..., Any])


def run_options(command: F) -> F:
    """The options that `run_arguments` takes."""
    reaches = f"Parts of a CPU's work that noise lengthens: a list of {', '.join(REACHES)}."
    command = click.option("--noise-reaches", metavar="PARTS", help=reaches)(command)
    command = click.option("--no-noise", is_flag=True, help="Simulate without the noise of the machine.")(command)
    return options_of(SimulationOptions)(command)


def heading(schedule: Schedule, machine: Machine) -> str:
    """The schedule and the machine in words, for lines and pictures; the names are cut and printable."""
    return f"{name_of(schedule.name)} on {cut(machine.name)}"


def run_arguments(options: dict[str, object]) -> dict[str, Any]:
    """Take these options out of a command's options; returns the arguments of `simulate` and similar functions."""
    reaches = options.pop("noise_reaches")
    return {
        "noise": None if options.pop("no_noise") else "machine",
        "noise_reaches": None if reaches is None else [part for part in str(reaches).split(",") if part],
        **{name: options.pop(name) for name in parameters_of(SimulationOptions)},
    }


def simulated_machine(machine: Machine, arguments: dict[str, Any]) -> Machine:
    """The machine with the noise that these arguments of `simulate` leave it."""
    return checked_machine(machine, arguments["noise"], arguments["noise_reaches"])
