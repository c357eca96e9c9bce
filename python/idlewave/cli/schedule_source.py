"""What is simulated or written out: a GOAL file, a trace, or a pattern; and the options that say which."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from ..errors import InputError, UsageError
from ..escaping import quote
from ..formatting import did_you_mean
from ..pattern_options import DEFAULT_SEGMENT, PATTERNS
from ..schedule import Schedule
from ..units import parse_count, parse_size
from .completion import algorithms, sources
from .input_options import load_schedule
from .option_types import Count, Size

F = TypeVar("F", bound=Callable[..., Any])


def _numbers(
    separator: str, number: Callable[[str], int], what: str
) -> Callable[[click.Context, click.Parameter, str | None], tuple[int, ...] | None]:
    """Reads numbers with something between them: 4x4x2, or 100,8KiB."""

    def read(_context: click.Context, _option: click.Parameter, text: str | None) -> tuple[int, ...] | None:
        if text is None:
            return None
        try:
            return tuple(number(part) for part in text.split(separator))
        except ValueError:
            raise click.BadParameter(f"expected {what} with '{separator}' between them") from None

    return read


_DIMS = _numbers("x", parse_count, "whole numbers")
_SIZES = _numbers(",", parse_size, "bytes")

OPTIONS = (
    click.option("--ranks", type=Count(1), help="Ranks of a pattern; or extrapolate a trace to so many."),
    click.option("--bytes", "size", type=Size(), help="Bytes of a pattern's messages, such as 8KiB.  [default: 1]"),
    click.option(
        "-a",
        "--algorithm",
        "chosen",
        multiple=True,
        shell_complete=algorithms,
        help="A pattern's algorithm; of a trace COLLECTIVE=NAME (idlewave algorithms).",
    ),
    click.option("--reduction-cost", type=float, default=0.0, show_default=True, help="ns per byte reduced."),
    click.option("--root", type=Count(0), help="Root of bcast, reduce, gather, scatter.  [default: 0]"),
    click.option(
        "--segment",
        type=Size(),
        help=f"Bytes of a piece in a pipeline; 0: all at once.  [default: {DEFAULT_SEGMENT}]",
    ),
    click.option("--ways", type=Count(1), help="n of nway_dissemination.  [default: 2]"),
    click.option("--send-counts", callback=_SIZES, metavar="N,N,...", help="Bytes to each rank; repeated."),
    click.option("--recv-counts", callback=_SIZES, metavar="N,N,...", help="Bytes from each rank; repeated."),
    click.option(
        "--dims",
        callback=_DIMS,
        metavar="NxNxN",
        help="Grid of a halo or sweep; 0: chosen.",
    ),
    click.option("--face-bytes", callback=_SIZES, metavar="N,N,N", help="Bytes through a face, by dimension."),
    click.option("--periodic/--no-periodic", default=None, help="Whether a halo wraps around.  [default: periodic]"),
    click.option("--compute-ns", type=Count(0), help="Computation of a halo, or a sweep's block."),
    click.option("--blocks", type=Count(1), help="Blocks of planes of a sweep.  [default: 1]"),
    click.option("--sweeps", type=Count(1, 8), help="Sweeps, from the corners in turn.  [default: 1]"),
)


def source_options(command: F) -> F:
    """SOURCE, and what belongs to it; the command gets them as keywords and hands them to `schedule_from`."""
    for option in reversed(OPTIONS):
        command = option(command)
    return click.argument("source", metavar="FILE|TRACE|PATTERN", shell_complete=sources)(command)


def schedule_from(source: str, options: Mapping[str, object]) -> Schedule:
    """The schedule that the arguments name. `options` are those above, None where not given."""
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
