"""The options that the studies of noise share: the machine, the programs, and one's own program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..errors import UsageError
from ..escaping import quote
from ..studies.noise_study import MACHINE
from ..units import parse_size
from .case_study_options import machine_option
from .input_options import algorithm_options, between_options, choice_from, load_schedule, note_traced
from .option_types import Count, refuse_given

if TYPE_CHECKING:
    from ..machine import Machine
    from ..schedule import Schedule

F = TypeVar("F", bound=Callable[..., Any])
NOTHING = "-"
"""The word for an empty list."""


def machine_of_study(command: F) -> F:
    """--machine, --between and --node-ranks, for `load_machine`; and --algorithm and --reduction-cost, for a trace."""
    command = between_options()(algorithm_options(command))
    return machine_option(MACHINE)(command)


def program_options(programs: Sequence[str], sizes: Sequence[int], ranks: Sequence[int]) -> Callable[[F], F]:
    """--programs, --bytes, --operations and --ranks, with these defaults."""

    def add(command: F) -> F:
        for option in (
            click.option(
                "--ranks",
                "sizes",
                metavar="COUNT,…",
                help=f"Numbers of ranks.  [default: {','.join(map(str, ranks))}; of a trace, its own and multiples]",
            ),
            click.option(
                "--operations",
                type=Count(1),
                default=1,
                show_default=True,
                help="Operations of a collective, one after another.",
            ),
            click.option(
                "--bytes",
                "volumes",
                metavar="SIZE,…",
                default=",".join(map(str, sizes)),
                show_default=True,
                help="Sizes of a collective.",
            ),
            click.option(
                "--programs",
                metavar="NAME,…",
                default=",".join(programs),
                show_default=True,
                help="Collectives, as COLLECTIVE or COLLECTIVE=ALGORITHM, and applications: solver, halo2d, sweep. A "
                "word - is none.",
            ),
        ):
            command = option(command)
        return command

    return add


def words_of(text: str | None) -> tuple[str, ...]:
    """The words of a list with commas; none of "-"."""
    words = [word.strip() for word in (text or NOTHING).split(",")]
    return () if words == [NOTHING] else tuple(words)


def numbers_of(text: str, what: str) -> tuple[int, ...]:
    """The different whole numbers of a list, which may have units of size. Raises UsageError."""
    from ..units import parse_count

    found = []
    for word in text.split(","):
        try:
            found.append(parse_size(word) if word.rstrip().endswith("B") else parse_count(word))
        except ValueError:
            raise UsageError(f"expected {what} such as 64,1024, found {quote(text)}") from None
    if len({*found}) != len(found):
        raise UsageError(f"expected each of the {what} once, found {quote(text)}")
    return tuple(found)


def scales_of(text: str | None, own: Schedule | None, default: Sequence[int]) -> tuple[int, ...]:
    """The numbers of ranks that a study is made for: those of `text`; without any those of one's own program and
    multiples of them, up to the most of the `default`."""
    if text is not None:
        return numbers_of(text, "numbers")
    if own is None:
        return tuple(default)
    found = [own.ranks]
    while _is_traced(own) and 4 * found[-1] <= max(default):
        found.append(4 * found[-1])
    return tuple(found)


def _is_traced(schedule: Schedule) -> bool:
    try:
        schedule.extrapolate(schedule.ranks)
    except UsageError:
        return False
    return True


def own_schedule(source: str | None, machine: Machine, chosen: Sequence[str], reduction_cost: float) -> Schedule | None:
    """The schedule of a TRACE or FILE, if one is given; notes on what it lacks are printed."""
    choice = choice_from(chosen, machine)
    if source is None:
        refuse_given(click.get_current_context(), ("chosen", "reduction_cost"), "a study without a TRACE")
        return None
    schedule = load_schedule(source, choice, reduction_cost, machine)
    note_traced(schedule, {}, choice)
    return schedule
