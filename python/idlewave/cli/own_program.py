"""--program of studies that simulate generated programs, or one of the user's: a trace, or a file with a schedule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from ..machine import Machine
from ..parameters import parameters_of
from ..pattern_options import ConversionParameters, TraceParameters
from ..schedule import Schedule
from .completion import sources
from .input_options import (
    algorithm_options,
    choice_from,
    conversion_of,
    conversion_options,
    load_schedule,
    note_scope,
    note_traced,
)
from .option_types import refuse_given

F = TypeVar("F", bound=Callable[..., Any])


def program_options(command: F) -> F:
    """--program, and the options by which a trace becomes a schedule; `ProgramOptions` takes their values."""
    command = algorithm_options(conversion_options(command))
    return click.option(
        "--program",
        metavar="TRACE|FILE",
        shell_complete=sources,
        help="Your own program instead: a trace, or a schedule in a file.",
    )(command)


@dataclass(frozen=True)
class ProgramOptions:
    """The values of `program_options`: --program, and those of its conversion."""

    source: str | None
    chosen: tuple[str, ...]
    reduction_cost: float
    conversion: ConversionParameters

    @classmethod
    def taken_from(cls, given: dict[str, Any]) -> ProgramOptions:
        """The values, taken out of all options of a command. Raises UsageError for options of a trace without one."""
        options = cls(given.pop("program"), given.pop("chosen"), given.pop("reduction_cost"), conversion_of(given))
        if options.source is None:
            why = "without --program there is no trace"
            refuse_given(click.get_current_context(), ("chosen", *parameters_of(TraceParameters)), why)
        return options


def load_program(options: ProgramOptions, machine: Machine, *, quiet: bool = False) -> Schedule:
    """The schedule of --program, which was given, for `machine`. `quiet`: without notes. Raises InputError."""
    choice = choice_from(options.chosen, machine)
    source = str(options.source)
    schedule = load_schedule(source, choice, options.reduction_cost, machine, quiet=quiet, **options.conversion)
    if not quiet:
        note_traced(schedule, options.conversion, choice)
        note_scope(machine, schedule.ranks)
    return schedule
