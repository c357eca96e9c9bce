"""The schedule of a command: from a file, a trace, or a pattern; and the options of patterns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from ..errors import InputError, UsageError
from ..escaping import quote
from ..formatting import did_you_mean
from ..pattern_options import PATTERNS, PatternParameters
from ..schedule import Schedule
from .completion import algorithms, sources
from .input_options import load_schedule
from .option_types import Count, Size
from .parameter_options import options_of

F = TypeVar("F", bound=Callable[..., Any])


OPTIONS = (
    click.option("--ranks", type=Count(1), help="Number of ranks: of a pattern, or to which a trace is extrapolated."),
    click.option("--bytes", "size", type=Size(), help="Size of the messages of a pattern, such as 8KiB.  [default: 1]"),
    click.option(
        "-a",
        "--algorithm",
        "chosen",
        multiple=True,
        shell_complete=algorithms,
        metavar="[COLLECTIVE=]NAME",
        help="Algorithm of a pattern, or COLLECTIVE=NAME for a trace (listed by `idlewave algorithms`).",
    ),
    click.option(
        "--reduction-cost",
        type=float,
        default=0.0,
        show_default=True,
        help="Computation of a reduction, in ns per byte.",
    ),
    options_of(PatternParameters, unset=True),
)


def source_options(command: F) -> F:
    """The argument SOURCE and the options of patterns. The command passes them to `schedule_from` as keywords."""
    for option in reversed(OPTIONS):
        command = option(command)
    return click.argument("source", metavar="FILE|TRACE|PATTERN", shell_complete=sources)(command)


def schedule_from(source: str, options: Mapping[str, object]) -> Schedule:
    """The schedule that the command line names. An option that was not given is None."""
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    ranks: int | None = given.pop("ranks", None)
    chosen: tuple[str, ...] = given.pop("chosen")
    reduction_cost: float = given.pop("reduction_cost")
    if "size" in given:
        given["bytes"] = given.pop("size")
    if Path(source).exists() or "." in source or "/" in source:
        if given:
            option = min(given).replace("_", "-")
            raise UsageError(f"--{option} belongs to a pattern, not to a file or a trace")
        schedule = load_schedule(source, chosen, reduction_cost)
        return schedule if ranks is None or ranks == schedule.ranks else schedule.extrapolate(ranks)
    if source not in PATTERNS:
        raise InputError(
            f"{quote(source)} is no file, no trace, and no pattern{did_you_mean(source, PATTERNS)} "
            f"There are the patterns {', '.join(PATTERNS)}"
        )
    if ranks is None:
        raise UsageError(f"the pattern {source} needs --ranks")
    if len(chosen) > 1:
        raise UsageError("a pattern has one algorithm")
    algorithm = chosen[0].removeprefix(f"{source}=") if chosen else ""
    return Schedule.pattern(source, ranks=ranks, algorithm=algorithm, reduction_cost=reduction_cost, **given)
