"""The options by which a traced program is continued on more ranks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, get_args

import click

from ..errors import UsageError
from ..parameters import parameters_of
from ..schedule import Schedule
from ..structure import Extrapolation, StructureParameters
from .parameter_options import options_of

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class StructureOptions:
    """What the command line says about it: the traces of fewer ranks, and how computation is continued."""

    is_wanted: bool
    smaller: tuple[str, ...]
    computation: Any


def structure_options(command: F) -> F:
    """--extrapolate, --smaller and --computation; `structure_of` takes them out of a command's options."""
    command = options_of(StructureParameters, unset=True)(command)
    command = click.option(
        "--smaller",
        multiple=True,
        metavar="TRACE",
        help="A trace of the same program on fewer ranks, with --extrapolate structure; may be repeated.",
    )(command)
    return click.option(
        "--extrapolate",
        type=click.Choice(get_args(Extrapolation)),
        help="How a trace is continued on more ranks: copies of the traced ranks side by side, or the structure by "
        "which they exchange messages.  [default: copies]",
    )(command)


def structure_of(options: dict[str, Any]) -> StructureOptions:
    """These options, taken out of all options of a command."""
    how: str | None = options.pop("extrapolate", None)
    smaller: tuple[str, ...] = options.pop("smaller", ()) or ()
    given = {name: options.pop(name, None) for name in parameters_of(StructureParameters)}
    if how != "structure" and (smaller or given["computation"] is not None):
        name = "smaller" if smaller else "computation"
        raise UsageError(f"--{name} belongs to --extrapolate structure")
    return StructureOptions(how == "structure", smaller, given["computation"] or "fitted")


def by_structure(schedule: Schedule, options: StructureOptions, load: Callable[[str], Schedule]) -> Schedule:
    """The schedule, which is continued by its structure; `load` makes the schedule of a trace."""
    return schedule.by_structure([load(trace) for trace in options.smaller], computation=options.computation)
