"""The machines and schedules that commands read, and the options that name them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, cast

import click

from .. import _core
from ..algorithm_choice import AlgorithmChoice, choice_named, choice_of_machine
from ..algorithm_tables import LIBRARIES
from ..errors import UsageError
from ..escaping import cut, quote
from ..formatting import join_words
from ..machine import Machine
from ..parameters import parameters_of
from ..pattern_options import (
    ConversionParameters,
    OperationParameters,
    ReductionParameters,
    TraceParameters,
)
from ..schedule import Schedule
from ..timed_calls import timed_calls_notes
from .completion import algorithms, machines
from .option_types import Count, refuse_given
from .parameter_options import options_of
from .progress import doing, rank_progress

if TYPE_CHECKING:
    from ..trace import Trace

F = TypeVar("F", bound=Callable[..., Any])


OR_RULES = "[COLLECTIVE=]NAME|FILE"
"""The form of --algorithm where it may name rules for all collectives, too; `RULES` says in its help which."""
RULES = "or openmpi, mpich, or a FILE of rules: CSV, or the one that Open MPI reads"
_DEFAULTS_ON_MACHINES = {
    "interrupts": "what the machine's noise says if it was measured where the trace was recorded, else 0"
}
_OUTSIDE = f"{__name__}.outside"


def machine_options(command: F) -> F:
    """--machine, --allow-outside, and the options of `between_options`; `load_machine` reads what they name."""
    return machine_options_by()(command)


def machine_options_by(default: str | None = None) -> Callable[[F], F]:
    """The same for a command with a machine of its own unless another is given."""
    # A default that is given, if only as None, is the value of an option that nobody names.
    needed: dict[str, Any] = {"required": True} if default is None else {"default": default, "show_default": True}
    machine = click.option(
        "-m",
        "--machine",
        "machine_name",
        metavar="MACHINE",
        help="The machine: a machine.toml, a folder with one, or a preset (listed by `idlewave machines`).",
        shell_complete=machines,
        **needed,
    )
    text = "Allow files named in machine.toml that lie outside its folder."
    outside = click.option("--allow-outside", is_flag=True, expose_value=False, callback=_allow, help=text)

    def add(command: F) -> F:
        return machine(between_options()(outside(command)))

    return add


def _allow(context: click.Context, _option: click.Parameter, given: bool) -> None:
    context.meta[_OUTSIDE] = given


def between_options(default: str | None = None) -> Callable[[F], F]:
    """--between and --node-ranks: another machine's network between nodes that have the measured network inside."""

    def add(command: F) -> F:
        text = "Ranks of a node, with --between.  [default: the processors of the measured node]"
        command = click.option("--node-ranks", type=Count(1, 2**31 - 1), help=text)(command)
        text = "The machine whose network lies between nodes; the simulated machine's own network lies within them."
        return click.option(
            "--between", default=default, show_default=True, metavar="MACHINE", help=text, shell_complete=machines
        )(command)

    return add


def algorithm_options(command: F) -> F:
    """--algorithm and --reduction-cost, for traces."""
    option = algorithm_option(f"as COLLECTIVE=NAME, which may be repeated; {RULES}", OR_RULES)
    return option(options_of(ReductionParameters)(command))


def algorithm_option(remark: str, form: str) -> Callable[[F], F]:
    """--algorithm, with a remark for the help, and its form."""
    _, parameter = parameters_of(OperationParameters)["algorithm"]
    return click.option(
        "-a",
        "--algorithm",
        "chosen",
        multiple=True,
        metavar=form,
        help=f"{parameter.help}; {remark}.",
        shell_complete=algorithms,
    )


def load_machine(name: str, between: str | None = None, node_ranks: int | None = None) -> Machine:
    """The machine of --machine, with the network of --between between nodes of `node_ranks` ranks."""
    machine = Machine.named(name, outside=bool(click.get_current_context().meta.get(_OUTSIDE)))
    if between is None:
        if node_ranks is not None:
            raise UsageError("--node-ranks belongs to --between")
        return machine
    return machine.between(between, node_ranks=node_ranks)


def note_scope(machine: Machine, ranks: int) -> None:
    """Print a note if the machine was measured within a node, and the node has fewer ranks than are simulated."""
    scope = machine.scope
    if scope.beyond_node(ranks):
        from .terminal import say_note

        say_note(
            f"the network of {cut(machine.name)} was measured within a node of {scope.node_ranks} ranks, and {ranks:,} "
            "ranks are simulated as if they were on one; --between PRESET puts a network between nodes (idlewave "
            "machines lists them)"
        )


def load_schedule(
    source: str,
    choice: AlgorithmChoice,
    reduction_cost: float,
    machine: Machine | None = None,
    *,
    quiet: bool = False,
    **conversion: Unpack[ConversionParameters],
) -> Schedule:
    """The schedule in a file (GOAL, or a binary one) or in a directory (a trace). That of a trace is made for
    `machine`: with the algorithms of `choice`, its costs of cold caches, and without what its interrupts took if it was
    traced there. `quiet`: without notes on them."""
    if not Path(source).is_dir():
        if Path(source).exists():
            context = click.get_current_context()
            why = "a schedule file has messages, not calls"
            refuse_given(context, ("chosen", *parameters_of(TraceParameters)), why)
        with rank_progress(f"reading {Path(source).name}") as progress:
            return Schedule.load(source, progress=progress)
    from ..computation_options import refuse_without_effect
    from ..trace import Trace

    refuse_without_effect(conversion)
    with doing(f"reading the trace {source}"):
        trace = Trace.load(source)
        if machine is not None and "interrupts" not in conversion and conversion.get("gaps") != "wall":
            conversion["interrupts"] = _interrupts_of(trace, machine, quiet=quiet)
        return Schedule.from_trace(
            trace,
            algorithms=choice.named,
            rules=choice.rules,
            cold_caches=None if machine is None else machine.cold_caches,
            reduction_cost=reduction_cost,
            **conversion,
        )


def _interrupts_of(trace: Trace, machine: Machine, *, quiet: bool) -> float:
    """The share that interrupts took of the computations' time, with a note on it unless `quiet`."""
    found = trace.interrupts_on(machine)
    if found.note and not quiet:
        from .terminal import say_note

        say_note(f"{found.note} (--interrupts)")
    return found.share


def conversion_options(command: F) -> F:
    """The options by which a trace is converted for a machine; those that are not given are None."""
    return options_of(ConversionParameters, unset=True, default_texts=_DEFAULTS_ON_MACHINES)(command)


def conversion_of(options: Any) -> ConversionParameters:  # noqa: ANN401 - a dict of any options
    """How a trace is converted, taken out of all options of a command; without options that were not given."""
    named = {name: options.pop(name, None) for name in parameters_of(ConversionParameters)}
    return cast("ConversionParameters", {name: value for name, value in named.items() if value is not None})


def note_traced(schedule: Schedule, conversion: ConversionParameters, choice: AlgorithmChoice) -> None:
    """Print notes on what the traced run has that its schedule lacks, or has in another way; and by whose `choice` its
    collectives follow which algorithms."""
    notes = timed_calls_notes(schedule.one_sided, schedule.files)
    if schedule.cut is not None:
        used, recorded = schedule.cut
        why = "" if conversion.get("begin") or conversion.get("end") else "the run ended early; "
        notes.append(f"{why}used: {used:,} of {recorded:,} calls, {_between(conversion)}")
    notes += _wildcard_notes(schedule, conversion)
    if said := choice.sentence(schedule.collectives):
        notes.append(said)
    if schedule.structure is not None:
        traced = [f"in the largest traced run: {note}" for note in notes]
        notes = [*schedule.structure.notes(), *traced]
    say_notes([*notes, *choice.notes])


def say_notes(notes: Sequence[str]) -> None:
    """Print each of them as a note."""
    if not notes:
        return
    from .terminal import say_note

    for note in notes:
        say_note(note)


def _between(conversion: ConversionParameters) -> str:
    """From where to where a trace is used."""
    first = f"from the first consistent point after {conversion['begin']} on" if conversion.get("begin") else ""
    before = f" before {conversion['end']}" if conversion.get("end") else ""
    last = "" if first and not before else f"up to the last consistent point{before}"
    return ", ".join(where for where in (first, last) if where)


def _wildcard_notes(schedule: Schedule, conversion: ConversionParameters) -> list[str]:
    """Which messages the receives take that name no source."""
    keep = conversion.get("wildcards") == "keep"
    first, recorded = "the first with its tag that comes", "the message that it took in the traced run"
    unknown = 0 if keep else schedule.unknown_receives
    known = schedule.wildcard_receives - unknown
    notes = []
    if known:
        said = "receives name" if known > 1 else "receive names"
        notes.append(f"{known:,} {said} no source; each takes {first if keep else recorded} (--wildcards)")
    if unknown:
        said = "receives name" if unknown > 1 else "receive names"
        notes.append(f"{unknown:,} {said} no source, and the trace does not say what they took; each takes {first}")
    return notes


def choice_from(chosen: Iterable[str], machine: Machine | None) -> AlgorithmChoice:
    """The algorithms of --algorithm: the named ones, and the rules of a library or in a file; without such rules those
    of the machine."""
    words = tuple(chosen)
    rules = [text for text in words if names_rules(text)]
    if len(rules) > 1:
        raise UsageError(f"--algorithm names rules for all collectives twice: {join_words(rules)}")
    options = ", ".join(library.option for library in LIBRARIES)
    named = algorithms_from((text for text in words if text not in rules), f", or {options} or a file of rules")
    if rules:
        return replace(choice_named(rules[0]), named=named)
    of_machine = AlgorithmChoice() if machine is None else choice_of_machine(machine.name, machine.algorithm_rules)
    return replace(of_machine, named=named)


def algorithms_from(chosen: Iterable[str], others: str = "") -> dict[str, str]:
    """The choices in ``("allreduce=ring", …)``; `others` says what else was expected instead of one."""
    named = {}
    for text in chosen:
        collective, equals, name = text.partition("=")
        if not equals or not collective or not name:
            raise UsageError(f"expected COLLECTIVE=NAME, such as allreduce=ring{others}, found {quote(text)}")
        named[collective] = name
    return named


def names_rules(text: str) -> bool:
    """Whether a choice names rules for all collectives: of a library, or in a file that has not the name of an
    algorithm."""
    if "=" in text:
        return False
    if text.endswith(".csv") or "/" in text or any(text == library.option for library in LIBRARIES):
        return True
    return Path(text).is_file() and all(text != name for _, name, _ in _core.algorithms())
