"""``idlewave study``: many simulations, at several scales and under many seeds of the noise."""

from __future__ import annotations

import math
from pathlib import Path

import click
import pandas as pd

from ..carried import said_of
from ..errors import UsageError
from ..machine import Machine
from ..measure.table_rows import records
from ..output import TABLE_ENDINGS, write_table
from ..provenance import Provenance
from ..quoting import quote
from ..schedule import Schedule
from ..study_rows import attach_with_rows
from ..studying import COLUMNS, study_provenance
from ..studying import study as run
from ..units import parse_count
from ..wording import plain_percent, plain_time
from .inputs import algorithm_options, load_machine, load_schedule, machine_options, note_scope
from .options import Count, OutputFile, as_json, print_json
from .progress import doing
from .terminal import Format, errors, progress_bar, say, show_table


@click.command()
@click.argument("source", metavar="TRACE|FILE")
@machine_options
@algorithm_options
@click.option("--ranks", "sizes", help="Numbers of ranks, such as 64,1024,1e5 (default: as traced).")
@click.option("--seeds", type=Count(0), default=16, show_default=True, help="How many seeds of the noise.")
@click.option("--threads", type=Count(1), help="Simulations at a time (default: one a core).")
@click.option(
    "-o",
    "--output",
    "file",
    type=OutputFile(TABLE_ENDINGS),
    default=Path("study.parquet"),
    show_default=True,
    help="Table to write: .parquet or .csv.",
)
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
    threads: int | None,
    file: Path,
    as_json: bool,
) -> None:
    """Simulate without noise, and with the machine's noise under many seeds, at several numbers of ranks."""
    machine = load_machine(machine_name, between, node_ranks)
    schedule = load_schedule(source, chosen, reduction_cost)
    scales = ranks_from(sizes) or [schedule.ranks]
    note_scope(machine, max(scales))
    table = run_study(schedule, machine, scales, seeds, file, threads)
    if as_json:
        found = {"written": str(file), "runs": records(table), "summary": records(summary(table))}
        said = Provenance.of_table(table)
        print_json(found if said is None else found | said_of(said))
        return
    show_summary(table, "Run time and slowdown by noise")
    say(f"written: {file}")


def run_study(
    schedule: Schedule, machine: Machine, sizes: list[int], seeds: int, file: Path, threads: int | None = None
) -> pd.DataFrame:
    """A study with a progress bar, whose table is in `file` afterwards.

    What an interrupt or an error leaves of it is kept beside that file, which may hold an earlier study that is whole.
    """
    rows: list[dict[str, object]] = []
    made_of = study_provenance(schedule, machine, sizes, range(seeds))
    total = len(sizes) * (1 + (seeds if machine.noise else 0))
    finished = False
    with progress_bar(count=True) as progress, doing(f"{total} simulations"):
        task = progress.add_task("simulations", total=total)

        def keep(row: dict[str, object]) -> None:
            rows.append(row)
            progress.update(task, advance=1, description=f"simulations ({row['ranks']} ranks)")

        try:
            table = run(schedule, machine, ranks=sizes, seeds=range(seeds), threads=threads, on_row=keep)
            finished = True
        finally:
            if not finished and rows:
                kept = file.with_stem(f"{file.stem}-interrupted")
                write_table(kept, attach_with_rows(made_of, pd.DataFrame(rows, columns=COLUMNS)))
                errors.print(f"{len(rows)} of {total} simulations are kept in {kept}")
    write_table(file, table)
    return table


def ranks_from(text: str | None) -> list[int]:
    """The numbers in "64,1024"."""
    if text is None:
        return []
    try:
        return [parse_count(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"expected numbers of ranks such as 64,1024, found {quote(text)}") from None


def show_summary(table: pd.DataFrame, title: str) -> None:
    """A row a number of ranks."""
    formats: dict[str, Format] = dict.fromkeys(("slowdown", "least", "most"), _part)
    formats["quiet run"] = lambda seconds: plain_time(1e12 * seconds)
    show_table(summary(table).rename(columns={"quiet_s": "quiet run"}), title, formats)


def _part(fraction: float) -> str:
    return "–" if math.isnan(fraction) else plain_percent(fraction)


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """A row a number of ranks: run time without noise, s; median, least and greatest slowdown over so many seeds."""
    rows = []
    for ranks, group in table.groupby("ranks"):
        quiet = float(group.loc[~group["noise"], "finish_ps"].iloc[0])
        noisy = group.loc[group["noise"], "finish_ps"]
        slowdown = noisy / quiet - 1 if len(noisy) else pd.Series([math.nan])
        rows.append((ranks, quiet / 1e12, slowdown.median(), slowdown.min(), slowdown.max(), len(noisy)))
    return pd.DataFrame(rows, columns=["ranks", "quiet_s", "slowdown", "least", "most", "seeds"])
