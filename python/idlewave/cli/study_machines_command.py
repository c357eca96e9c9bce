"""``idlewave study machines``: one program on several machines, and on each with what-if edits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ..errors import UsageError
from ..escaping import quote
from ..formatting import plain_percent, plain_time
from ..machine import Machine
from ..noise_presets import with_noise_named
from ..schedule import Schedule
from ..studies.machines import (
    COMPUTE_PS,
    EDITS,
    ITERATIONS,
    LEAST_RANKS,
    MACHINES,
    PROGRAMS,
    RANKS,
    SEEDS,
    SIZE,
    MachinesPlan,
    machine_cases,
)
from ..units import exact_time, parse_time
from .case_study_options import case_study_options, run_command
from .completion import machines
from .input_options import load_machine
from .noise_options import one_noise_option
from .number_lists import names_from
from .option_types import Count, Size, refuse_given
from .own_program import ProgramOptions, load_program, program_options
from .terminal import say, show_table

if TYPE_CHECKING:
    import pandas as pd

_GENERATED = ("programs", "ranks", "iterations", "compute", "size")
"""The parameters of generated programs."""


@click.command("machines")
@click.option(
    "-m",
    "--machine",
    "names",
    metavar="MACHINE",
    multiple=True,
    shell_complete=machines,
    help="A machine: a machine.toml, a folder with one, or a preset; may be repeated.  [default: all presets]",
)
@click.option(
    "--set",
    "edits",
    metavar="NAME=VALUE,…",
    multiple=True,
    help="An edit, which makes a machine of its own of each: L=0.5x, o=1us, node.G=2x, S=inf; edits with a comma "
    f"between them are made together; may be repeated; none: no edits.  [default: {', '.join(EDITS)}]",
)
@click.option("--noise-of", metavar="MACHINE", shell_complete=machines, help="Give all machines the noise of this one.")
@one_noise_option()
@program_options
@click.option("--programs", metavar="NAME,…", default=",".join(PROGRAMS), show_default=True, help="Generated programs.")
@click.option("--ranks", type=Count(LEAST_RANKS), default=RANKS, show_default=True, help="Number of ranks.")
@click.option("--iterations", type=Count(1), default=ITERATIONS, show_default=True, help="Number of iterations.")
@click.option(
    "--compute",
    metavar="TIME",
    default=exact_time(COMPUTE_PS),
    show_default=True,
    help="Computation of an iteration, in whole ns.",
)
@click.option(
    "--bytes",
    "size",
    type=Size(0),
    default=SIZE,
    show_default=True,
    help="Size of a message of halo3d and sweep; allreduce has 8 B, alltoall 1024 B.",
)
@click.option("--seeds", type=Count(0), default=SEEDS, show_default=True, help="Number of seeds of the noise.")
@click.option("--seed", type=Count(0), default=0, show_default=True, help="The first seed.")
@case_study_options("machines")
def study_machines(
    names: tuple[str, ...],
    edits: tuple[str, ...],
    noise_of: str | None,
    noise: str | None,
    programs: str,
    ranks: int,
    iterations: int,
    compute: str,
    size: int,
    seeds: int,
    seed: int,
    **given: Any,  # noqa: ANN401 - of program_options and case_study_options
) -> None:
    """Simulate a program on several machines, and on each with edits of its parameters: what is fastest where, what
    each edit gives, and how much longer it takes with noise.

    Generated programs compute and communicate in turn; --program is one of your own.
    """
    own = ProgramOptions.taken_from(given)
    if own.source is not None:
        refuse_given(click.get_current_context(), _GENERATED, "your own program is what it is")
    plan = MachinesPlan(
        edits=_edits(edits),
        program=None if own.source is None else _OwnProgram(own),
        programs=names_from(programs, "programs"),
        ranks=ranks,
        iterations=iterations,
        compute_ps=_time(compute),
        size=size,
        seeds=seeds,
        seed=seed,
    )
    run_command(MACHINES, machine_cases(_machines(names, noise_of, noise), plan), given, _show)


class _OwnProgram:
    """Makes the schedule of --program for a machine; only for the first one with notes."""

    def __init__(self, options: ProgramOptions) -> None:
        self._options = options
        self._quiet = False

    def __call__(self, machine: Machine) -> Schedule:
        schedule = load_program(self._options, machine, quiet=self._quiet)
        self._quiet = True
        return schedule


def _machines(names: tuple[str, ...], noise_of: str | None, noise: str | None) -> list[Machine]:
    if noise_of is not None and noise is not None:
        raise UsageError("expected --noise-of or --noise, found both")
    found = [load_machine(name) for name in names or Machine.presets()]
    if noise is not None:
        return [with_noise_named(each, noise) for each in found]
    if noise_of is None:
        return found
    noisy = load_machine(noise_of)
    if noisy.noise is None:
        raise UsageError(f"--noise-of: {quote(noisy.name)} has no noise")
    reaches = noisy.noise_reaches
    return [replace(each.with_noise(noisy.noise, noisy.noise_origin), noise_reaches=reaches) for each in found]


def _edits(given: tuple[str, ...]) -> tuple[str, ...]:
    if "none" not in given:
        return given or EDITS
    if len(given) > 1:
        raise UsageError("expected --set none alone, or edits")
    return ()


def _time(text: str) -> int:
    try:
        return parse_time(text)
    except ValueError:
        raise UsageError(f"expected a computation, such as 200us, found {quote(text)}") from None


def _show(table: pd.DataFrame) -> None:
    """Print the times without noise, and the sentences of the page."""
    from ..report.machines_page import machines_page, without_noise

    quiet = without_noise(table)
    for program, rows in quiet.groupby("program", sort=False):
        shown = rows.pivot(index="base", columns="edit", values="gain").reindex(index=rows["base"].unique())
        shown = shown[[edit for edit in rows["edit"].unique() if edit]]
        edits: dict[str, Any] = {str(edit): lambda gain: plain_percent(gain, signed=True) for edit in shown}
        shown.insert(0, "time", 1e12 * rows[rows["edit"] == ""].set_index("base")["seconds"])
        title = (
            f"{program}, {rows['ranks'].iloc[0]:,} ranks: the time on each machine, and how much faster with an edit"
        )
        show_table(shown.reset_index(names="machine"), title, edits | {"time": plain_time})
    for topic, text in machines_page(table).findings:
        say(f"• {topic}: {text}")
