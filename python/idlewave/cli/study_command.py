"""``idlewave study``: simulations at several numbers of ranks, with many seeds of the noise."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Any, Unpack, cast

import click
import pandas as pd

from ..errors import UsageError
from ..escaping import quote
from ..event_run import EventRun
from ..formatting import plain_percent, plain_time
from ..kernel import RunConfiguration, RunOptions
from ..machine import Machine
from ..measure.table_rows import records
from ..output import TABLE_ENDINGS, write_table
from ..provenance import Provenance, provenance_entry
from ..schedule import Schedule
from ..studies.rows_digest import attach_with_rows
from ..studies.study import SEEDS, study_provenance
from ..studies.study import study as run
from ..studies.workers import COLUMNS, Row
from ..units import parse_count
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
from .kernel_options import STATISTICS, check_statistics, write_statistics_of_study
from .named_studies import StudyCommand
from .option_types import Count, OutputFile, as_json, print_json
from .parameter_options import options_of
from .progress import doing
from .structure_options import by_structure, structure_of, structure_options
from .terminal import Format, errors, progress_bar, say, show_table


@click.command(cls=StudyCommand)
@click.argument("source", metavar="TRACE|FILE|NAME")
@machine_options
@algorithm_options
@conversion_options
@structure_options
@click.option(
    "--ranks", "sizes", metavar="COUNT,COUNT,...", help="Numbers of ranks, such as 64,1024,1e5.  [default: as traced]"
)
@click.option("--seeds", type=Count(0), default=SEEDS, show_default=True, help="Number of seeds of the noise.")
@click.option("--workers", type=Count(1), help="Simulations that run at a time.  [default: one a core]")
@click.option(
    "-o",
    "--output",
    "file",
    type=OutputFile(TABLE_ENDINGS),
    default=Path("study.parquet"),
    show_default=True,
    help="Table to write, .parquet or .csv.",
)
@options_of(RunOptions)
@STATISTICS
@as_json
def study(
    source: str,
    machine_name: str,
    between: str | None,
    node_ranks: int | None,
    chosen: tuple[str, ...],
    reduction_cost: float,
    sizes: str | None,
    seeds: int,
    workers: int | None,
    file: Path,
    statistics: Path | None,
    as_json: bool,
    **options: Unpack[RunOptions],
) -> None:
    """Simulate a TRACE or a schedule FILE at several numbers of ranks: without noise, and with many seeds of the
    noise.

    `idlewave study NAME` is a study of its own, with options of its own. A file of such a name is ./ft.
    """
    conversion, structure = conversion_of(options), structure_of(cast("dict[str, Any]", options))
    check_statistics(statistics, RunConfiguration.of(options))
    machine = load_machine(machine_name, between, node_ranks)
    choice = choice_from(chosen, machine)
    schedule = load_schedule(source, choice, reduction_cost, machine, **conversion)
    if structure.is_wanted:
        load = partial(load_schedule, choice=choice, reduction_cost=reduction_cost, machine=machine, quiet=True)
        schedule = by_structure(schedule, structure, lambda trace: load(trace, **conversion))
    scales = ranks_from(sizes) or [schedule.ranks]
    largest = max(scales)
    largest_run = schedule.extrapolate(largest) if structure.is_wanted else schedule
    note_traced(largest_run, conversion, choice)
    note_scope(machine, max(scales))
    table = run_study(schedule, machine, scales, seeds, file, workers, statistics, **options)
    if as_json:
        found = {"written": str(file), "runs": records(table), "summary": records(summary(table))}
        said = Provenance.of_table(table)
        print_json(found if said is None else found | provenance_entry(said))
        return
    show_summary(table, "Run time and slowdown by noise")
    say(f"written: {file}")


def run_study(
    schedule: Schedule,
    machine: Machine,
    sizes: list[int],
    seeds: int,
    file: Path,
    workers: int | None = None,
    statistics: Path | None = None,
    **options: Unpack[RunOptions],
) -> pd.DataFrame:
    """Run a study with a progress bar, and write its table to `file`, and what the simulations counted to `statistics`.

    If an interrupt or an error ends it early, both go to other files beside these, which may hold those of a whole
    study.
    """
    rows: list[Row] = []
    runs: list[tuple[Row, EventRun]] = []
    made_of = study_provenance(schedule, machine, sizes, range(seeds))
    total = len(sizes) * (1 + (seeds if machine.noise else 0))
    finished = False
    with progress_bar(count=True) as progress, doing(f"{total} simulations"):
        task = progress.add_task("simulations", total=total)

        def keep(row: Row) -> None:
            rows.append(row)
            progress.update(task, advance=1, description=f"simulations ({row['ranks']} ranks)")

        def count(row: Row, counted: EventRun) -> None:
            runs.append((row, counted))

        on_run = None if statistics is None else count
        try:
            table = run(
                schedule, machine, ranks=sizes, seeds=seeds, workers=workers, on_row=keep, on_run=on_run, **options
            )
            finished = True
        finally:
            if not finished and rows:
                kept = _of_part(file)
                table = attach_with_rows(made_of, pd.DataFrame(rows, columns=COLUMNS))
                _write(kept, table, None if statistics is None else _of_part(statistics), runs)
                errors.print(f"{len(rows)} of {total} simulations are kept in {kept}")
    _write(file, table, statistics, runs)
    return table


def _of_part(file: Path) -> Path:
    """The file for what there is of an interrupted study; a pipe or a device gets it itself."""
    return file.with_stem(f"{file.stem}-interrupted") if file.is_file() or not file.exists() else file


def _write(file: Path, table: pd.DataFrame, statistics: Path | None, runs: list[tuple[Row, EventRun]]) -> None:
    write_table(file, table)
    if statistics is not None:
        write_statistics_of_study(runs, statistics, Provenance.of_table(table))


def ranks_from(text: str | None) -> list[int]:
    """The numbers of ranks in a text such as "64,1024"."""
    if text is None:
        return []
    try:
        return [parse_count(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"expected numbers of ranks such as 64,1024, found {quote(text)}") from None


def show_summary(table: pd.DataFrame, title: str) -> None:
    """Print the table of `summary`."""
    formats: dict[str, Format] = dict.fromkeys(("slowdown", "least", "most"), _part)
    formats["quiet run"] = lambda seconds: plain_time(1e12 * seconds)
    show_table(summary(table).rename(columns={"quiet_s": "quiet run"}), title, formats)


def _part(fraction: float) -> str:
    return "–" if math.isnan(fraction) else plain_percent(fraction)


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """One row a number of ranks: run time without noise, s; median, least and greatest slowdown; number of seeds."""
    rows = []
    for ranks, group in table.groupby("ranks"):
        quiet = float(group.loc[~group["noise"], "finish_ps"].iloc[0])
        noisy = group.loc[group["noise"], "finish_ps"]
        slowdown = noisy / quiet - 1 if len(noisy) else pd.Series([math.nan])
        rows.append((ranks, quiet / 1e12, slowdown.median(), slowdown.min(), slowdown.max(), len(noisy)))
    return pd.DataFrame(rows, columns=["ranks", "quiet_s", "slowdown", "least", "most", "seeds"])
