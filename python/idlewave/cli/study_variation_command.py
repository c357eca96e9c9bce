"""``idlewave study variation``: what it costs a program at scale that L and G vary over time."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

import click

from ..errors import UsageError
from ..escaping import cut, quote
from ..formatting import plain_percent
from ..measure.table_rows import records
from ..output import TABLE_ENDINGS, write_table
from ..studies.variation import CONFIDENCE, RUNS, SlowdownByVariation, slowdown_by_variation
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
from .option_types import Count, OutputFile, as_json, print_json
from .progress import doing
from .structure_options import by_structure, structure_of, structure_options
from .study_command import ranks_from
from .terminal import progress_bar, say, say_note, show_table

if TYPE_CHECKING:
    import pandas as pd

    from ..kernel import RunOptions
    from ..machine import Machine
    from ..schedule import Schedule
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
@click.option("--workers", type=Count(1), help="Simulations that run at a time.  [default: one a core]")
@click.option(
    "-o", "--output", "file", type=OutputFile(TABLE_ENDINGS), help="Table of the runs to write, .parquet or .csv."
)
@as_json
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
    workers: int | None,
    file: Path | None,
    as_json: bool,
    **options: Unpack[RunOptions],
) -> None:
    """Simulate a TRACE or a schedule FILE on a network whose L and G vary over time as they were recorded.

    Each run begins at a random time of the recording. The slowdown is relative to the same machine without a variation;
    its interval covers which times were drawn.
    """
    conversion, structure = conversion_of(options), structure_of(cast("dict[str, Any]", options))
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
    found = _run(schedule, machine, variation, scales, runs, seed, workers)
    if file is not None:
        write_table(file, _table(found))
    if as_json:
        print_json({"confidence": CONFIDENCE, "slowdown": [result.row() for result in found]})
        return
    _show(found)
    if file is not None:
        say(f"written: {cut(str(file))}")


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


def _run(
    schedule: Schedule,
    machine: Machine,
    variation: Variation,
    scales: list[int],
    runs: int,
    seed: int,
    workers: int | None,
) -> list[SlowdownByVariation]:
    found = []
    with progress_bar(count=True) as progress, doing("the simulations"):
        task = progress.add_task("simulations", total=len(scales) * runs)
        for ranks in scales:
            progress.update(task, description=f"simulations ({ranks} ranks)")
            program = schedule if ranks == schedule.ranks else schedule.extrapolate(ranks)
            result = slowdown_by_variation(
                program, machine, variation, runs, seed, workers=workers, on_run=lambda: progress.advance(task)
            )
            found.append(result)
    return found


def _table(found: list[SlowdownByVariation]) -> pd.DataFrame:
    import pandas as pd

    return pd.concat([result.runs.assign(ranks=result.ranks) for result in found], ignore_index=True)


def _show(found: list[SlowdownByVariation]) -> None:
    import pandas as pd

    table = pd.DataFrame([result.row() for result in found])
    parts = dict.fromkeys(("mean", "low", "high", "median", "least", "most"), plain_percent)
    show_table(table, f"Slowdown by the variation of L and G, its mean with a {CONFIDENCE:.0%} interval", parts)
    for row in records(table):
        interval = f"{plain_percent(row['low'])} to {plain_percent(row['high'])}"
        say(f"• {row['ranks']:,} ranks: {plain_percent(row['mean'])} longer in the mean ({interval})")
