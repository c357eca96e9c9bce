"""The schedule of a command: from a file, a trace, or a pattern; and the options of patterns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from ..algorithm_choice import AlgorithmChoice
from ..errors import InputError, UsageError
from ..escaping import quote
from ..formatting import did_you_mean
from ..machine import Machine
from ..pattern_options import (
    PATTERNS,
    RANKS,
    ConversionParameters,
    FtParameters,
    OperationParameters,
    PatternParameters,
    ReductionParameters,
)
from ..schedule import Schedule
from .completion import sources
from .input_options import (
    OR_RULES,
    RULES,
    algorithm_option,
    choice_from,
    conversion_of,
    conversion_options,
    load_schedule,
    names_rules,
    note_traced,
    say_notes,
)
from .parameter_options import option, option_of, options_of
from .structure_options import by_structure, structure_of, structure_options

F = TypeVar("F", bound=Callable[..., Any])


_BEFORE_CONVERSION = (
    option("ranks", int, RANKS),
    option_of(OperationParameters, "bytes", unset=True),
    algorithm_option(f"for a trace as COLLECTIVE=NAME, which may be repeated; {RULES}", OR_RULES),
    options_of(ReductionParameters),
)
_AFTER_CONVERSION = (
    structure_options,
    options_of(PatternParameters, unset=True),
    options_of(FtParameters, unset=True),
)


def source_options(command: F) -> F:
    """The argument SOURCE and the options of traces and patterns, for a command with a machine. The command passes them
    to `schedule_from` as keywords."""
    return _source_options(command, conversion_options)


def source_options_without_machine(command: F) -> F:
    """The same for a command without a machine."""
    return _source_options(command, options_of(ConversionParameters, unset=True))


def _source_options(command: F, conversion: Callable[[F], F]) -> F:
    for add in reversed((*_BEFORE_CONVERSION, conversion, *_AFTER_CONVERSION)):
        command = add(command)
    return click.argument("source", metavar="FILE|TRACE|PATTERN", shell_complete=sources)(command)


def schedule_from(
    source: str, options: Mapping[str, object], machine: Machine | None = None
) -> tuple[Schedule, AlgorithmChoice]:
    """The schedule that the command line names, for `machine`, and the choice of its algorithms: with those of the
    machine's MPI library where none are named. An option that was not given is None."""
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    ranks: int | None = given.pop("ranks", None)
    chosen: tuple[str, ...] = given.pop("chosen")
    reduction_cost: float = given.pop("reduction_cost")
    conversion = conversion_of(given)
    structure = structure_of(given)
    if Path(source).exists() or "." in source or "/" in source:
        dims = given.pop("dims", ()) if structure.is_wanted else ()
        if given:
            name = min(given).replace("_", "-")
            raise UsageError(f"--{name} belongs to a pattern, not to a file or a trace")
        choice = choice_from(chosen, machine)
        schedule = load_schedule(source, choice, reduction_cost, machine, **conversion)
        if structure.is_wanted:
            schedule = by_structure(
                schedule,
                structure,
                lambda trace: load_schedule(trace, choice, reduction_cost, machine, quiet=True, **conversion),
            )
        if structure.is_wanted or (ranks is not None and ranks != schedule.ranks):
            schedule = schedule.extrapolate(ranks or schedule.ranks, dims=dims)
        note_traced(schedule, conversion, choice)
        return schedule, choice
    if source not in PATTERNS:
        raise InputError(
            f"{quote(source)} is no file, no trace, and no pattern{did_you_mean(source, PATTERNS)} "
            f"There are the patterns {', '.join(PATTERNS)}"
        )
    if structure.is_wanted:
        raise UsageError("--extrapolate and --smaller belong to a trace, not to a pattern")
    if conversion:
        raise UsageError(f"--{min(conversion).replace('_', '-')} belongs to a trace, not to a pattern")
    if ranks is None:
        raise UsageError(f"the pattern {source} needs --ranks")
    if len(chosen) > 1:
        raise UsageError("a pattern has one algorithm")
    choice = choice_from([_for_pattern(source, text) for text in chosen], machine)
    if any(map(names_rules, chosen)):
        say_notes([f"collectives by {choice.text}", *choice.notes])
    algorithm = choice.named.get(source, "")
    schedule = Schedule.pattern(
        source, ranks=ranks, rules=choice.rules, algorithm=algorithm, reduction_cost=reduction_cost, **given
    )
    return schedule, choice


def _for_pattern(pattern: str, text: str) -> str:
    """A choice of algorithms with the name of the only collective, which a pattern may leave out."""
    return text if names_rules(text) or text.startswith(f"{pattern}=") else f"{pattern}={text}"
