"""The options of studies that simulate generated programs, or a trace or schedule of one's own, on a machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..errors import UsageError
from ..machine import Machine
from ..pattern_options import MOST_BYTES
from ..schedule import Schedule
from ..studies.case_study import CaseStudy
from ..studies.programs import MACHINE, NAMES, RANKS, ProgramSettings
from .input_options import (
    algorithm_options,
    choice_from,
    conversion_of,
    conversion_options,
    load_machine,
    load_schedule,
    machine_options_by,
    note_scope,
    note_traced,
)
from .number_lists import counts_from
from .option_types import Count, Size, refuse_given
from .structure_options import by_structure, structure_of, structure_options
from .terminal import say

if TYPE_CHECKING:
    import pandas as pd

F = TypeVar("F", bound=Callable[..., Any])
_OWN = (
    "source",
    "machine_name",
    "between",
    "node_ranks",
    "programs",
    "ranks",
    "volume",
    "compute_ns",
    "iterations",
    "chosen",
    "reduction_cost",
)
_GENERATED = ("volume", "compute_ns", "iterations")
"""What generated programs alone have."""


@dataclass(frozen=True)
class ProgramChoice:
    """The programs of a command, and the machine that they are simulated on: arguments of a study's cases."""

    machine: Machine
    programs: Sequence[str | Schedule]
    ranks: Sequence[int] | None
    settings: ProgramSettings


def program_options(programs: Sequence[str]) -> Callable[[F], F]:
    """The options that name the programs, by default these, and the machine; `programs_of` takes their values."""

    def add(command: F) -> F:
        for option in reversed(_options(programs)):
            command = option(command)
        return command

    return add


def _options(programs: Sequence[str]) -> list[Callable[[Any], Any]]:
    sizes = ",".join(map(str, RANKS))
    return [
        click.argument("source", metavar="[TRACE|FILE]", required=False),
        machine_options_by(MACHINE),
        click.option(
            "--programs",
            metavar="NAME,…",
            help=f"Generated programs: {', '.join(NAMES)}.  [default: {','.join(programs)}; none beside a TRACE or "
            "FILE]",
        ),
        click.option(
            "--ranks",
            metavar="COUNT,…",
            help=f"Numbers of ranks, such as 64,1024,1e5.  [default: {sizes}; of a TRACE or FILE its own]",
        ),
        click.option(
            "--bytes",
            "volume",
            type=Size(0, MOST_BYTES),
            help="Size of a message or vector of generated programs.  [default: of each program its own]",
        ),
        click.option(
            "--compute-ns",
            type=Count(0, 2**53),
            help="Computation after each exchange, block or slab of generated programs, ns.  [default: of each program "
            "its own]",
        ),
        click.option(
            "--iterations",
            type=Count(1, 2**32 - 1),
            help="Iterations of generated programs.  [default: of each program its own]",
        ),
        algorithm_options,
        conversion_options,
        structure_options,
    ]


def programs_of(options: dict[str, Any], default: Sequence[str]) -> ProgramChoice:
    """The programs and the machine, taken out of all options of a command; `default` are those without others.

    Notes on a trace are printed.
    """
    own = {name: options.pop(name) for name in _OWN}
    source, names = own["source"], own["programs"]
    machine = load_machine(own["machine_name"], own["between"], own["node_ranks"])
    choice = choice_from(own["chosen"], machine)
    conversion, structure = conversion_of(options), structure_of(options)
    settings = ProgramSettings(
        own["volume"], own["compute_ns"], own["iterations"], own["reduction_cost"], choice.named, choice.rules
    )
    programs: list[str | Schedule] = [] if names is None else names.split(",")
    if source is not None and not programs:
        refuse_given(click.get_current_context(), _GENERATED, "your own program is what it is")
    if source is None:
        if structure.is_wanted or conversion:
            raise UsageError("options of a trace, such as --extrapolate and --cut, are of use with a TRACE alone")
        programs = programs or list(default)
    scales = counts_from(own["ranks"], "numbers of ranks", 1) if own["ranks"] else None
    if source is not None:
        schedule = load_schedule(source, choice, own["reduction_cost"], machine, **conversion)
        if structure.is_wanted:
            load = partial(
                load_schedule, choice=choice, reduction_cost=own["reduction_cost"], machine=machine, quiet=True
            )
            schedule = by_structure(schedule, structure, lambda trace: load(trace, **conversion))
        note_traced(
            schedule.extrapolate(max(scales)) if structure.is_wanted and scales else schedule, conversion, choice
        )
        programs = [*programs, schedule]
    note_scope(machine, max(scales or [*RANKS, *(p.ranks for p in programs if isinstance(p, Schedule))]))
    return ProgramChoice(machine, programs, scales, settings)


def show_findings(study: CaseStudy[Any], table: pd.DataFrame) -> None:
    """Print the sentences of the page of a study."""
    if study.page is None:
        return
    for topic, text in study.page(table).findings:
        say(f"• {topic}: {text}")
