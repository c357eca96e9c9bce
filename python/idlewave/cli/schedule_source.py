"""The schedule of a command: from a file, a trace, or a pattern; and the options of patterns."""

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
    """Reads a list of numbers with a separator: 4x4x2, or 100,8KiB."""

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
    click.option("--root", type=Count(0), help="Root of bcast, reduce, gather and scatter.  [default: 0]"),
    click.option(
        "--segment",
        type=Size(),
        help=f"Size of a segment of a pipelined collective; 0: no segments.  [default: {DEFAULT_SEGMENT}]",
    ),
    click.option("--ways", type=Count(1), help="n of the algorithm nway_dissemination.  [default: 2]"),
    click.option(
        "--send-counts",
        callback=_SIZES,
        metavar="N,N,...",
        help="Bytes sent to each rank; the list is repeated over the ranks.",
    ),
    click.option(
        "--recv-counts",
        callback=_SIZES,
        metavar="N,N,...",
        help="Bytes received from each rank; the list is repeated over the ranks.",
    ),
    click.option(
        "--dims",
        callback=_DIMS,
        metavar="NxNxN",
        help="Process grid of a halo or sweep; a dimension of 0 is chosen.",
    ),
    click.option(
        "--face-bytes", callback=_SIZES, metavar="N,N,N", help="Bytes through a face, one number a dimension."
    ),
    click.option(
        "--periodic/--no-periodic", default=None, help="Whether the grid of a halo is periodic.  [default: periodic]"
    ),
    click.option(
        "--compute-ns",
        type=Count(0),
        help="Computation after an exchange of a halo, or of each block of a sweep, in ns.",
    ),
    click.option("--blocks", type=Count(1), help="Blocks of planes in a sweep.  [default: 1]"),
    click.option(
        "--sweeps",
        type=Count(1, 8),
        help="Number of sweeps; they start in the corners of the grid in turn.  [default: 1]",
    ),
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
