"""``idlewave study variation``: what it costs a program at scale that L and G vary over time."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import UsageError
from ..escaping import quote
from ..formatting import plain_percent
from ..studies.seed_statistics import CONFIDENCE
from ..studies.variation import RUNS, VARIATION, slowdowns, variation_cases
from .case_study_options import case_study_options, run_command
from .input_options import (
    algorithm_options,
    choice_from,
    conversion_of,
    conversion_options,
    load_machine,
    load_schedule,
    machine_options,
    note_scope,
    note_traced,
)
from .option_types import Count
from .structure_options import by_structure, structure_of, structure_options
from .study_command import ranks_from
from .terminal import say, say_note, show_table

if TYPE_CHECKING:
    import pandas as pd

    from ..machine import Machine
    from ..variation import Variation


@click.command("variation")
@click.argument("source", metavar="TRACE|FILE")
@machine_options
@algorithm_options
@conversion_options
@structure_options
@click.option(
    "--recording",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder of `idlewave measure overtime`.  [default: the variation of the machine]",
)
@click.option(
    "--ranks", "sizes", metavar="COUNT,COUNT,...", help="Numbers of ranks, such as 64,1024,1e5.  [default: as traced]"
)
@click.option("--runs", type=Count(1), default=RUNS, show_default=True, help="Random offsets into the recording.")
@click.option("--seed", type=Count(0), default=0, show_default=True, help="Seed of the offsets.")
@case_study_options("variation")
def study_variation(
    source: str,
    machine_name: str,
    between: str | None,
    node_ranks: int | None,
    chosen: tuple[str, ...],
    reduction_cost: float,
    recording: Path | None,
    sizes: str | None,
    runs: int,
    seed: int,
    **options: Any,  # noqa: ANN401 - of conversion_options, structure_options and case_study_options
) -> None:
    """Simulate a TRACE or a schedule FILE on a network whose L and G vary over time as they were recorded.

    Each run begins at a random time of the recording. The slowdown is relative to the same machine without a variation;
    its interval covers which times were drawn.
    """
    conversion, structure = conversion_of(options), structure_of(options)
    machine = load_machine(machine_name, between, node_ranks)
    variation = machine.variation if recording is None else recorded_variation(recording, machine)
    if variation is None:
        raise UsageError(f"{quote(machine.name)} has no [network.variation]: expected --recording, or one in its file")
    choice = choice_from(chosen, machine)
    schedule = load_schedule(source, choice, reduction_cost, machine, **conversion)
    if structure.is_wanted:
        load = partial(load_schedule, choice=choice, reduction_cost=reduction_cost, machine=machine, quiet=True)
        schedule = by_structure(schedule, structure, lambda trace: load(trace, **conversion))
    scales = ranks_from(sizes) or [schedule.ranks]
    note_traced(schedule.extrapolate(max(scales)) if structure.is_wanted else schedule, conversion, choice)
    note_scope(machine, max(scales))
    programs = [schedule if ranks == schedule.ranks else schedule.extrapolate(ranks) for ranks in scales]
    run_command(VARIATION, variation_cases(programs, machine, variation, runs, seed), options, _show)


def recorded_variation(folder: Path, machine: Machine) -> Variation:
    """The variation that `idlewave measure overtime` has recorded in a folder. Raises InputError naming its files."""
    from ..measure.overtime import read_overtime
    from ..recorded_pairs import recorded_pairs
    from ..variation import unvaried_notes, variation_from_recording

    found = read_overtime(folder)
    hosts = [str(host) for host in found.said.get("hosts", [])]
    notes = (*found.notes, *recorded_pairs(found.table, hosts, machine).notes, *unvaried_notes(found.table, machine))
    for note in notes:
        say_note(note)
    return variation_from_recording(found.table, machine, recorded=folder.name, hosts=hosts)


def _show(runs: pd.DataFrame) -> None:
    """Print the slowdown of each number of ranks, and the sentences of the page."""
    import pandas as pd

    table = pd.DataFrame([found.row() for found in slowdowns(runs)])
    parts = dict.fromkeys(("mean", "low", "high", "median", "least", "most"), plain_percent)
    show_table(table, f"Slowdown by the variation of L and G, its mean with a {CONFIDENCE:.0%} interval", parts)
    from ..report.variation_page import variation_page

    for topic, text in variation_page(runs).findings:
        say(f"• {topic}: {text}")
