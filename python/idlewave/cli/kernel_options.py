"""The statistics of a run, as commands print and write them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import UsageError
from ..formatting import join_words
from ..kernel import BEYOND_ONE_LOOP, RunConfiguration
from ..output import write_json
from ..provenance import Provenance, provenance_entry
from .option_types import OutputFile

if TYPE_CHECKING:
    from ..event_run import EventRun
    from ..studies.workers import Row

STATISTICS = click.option(
    "--statistics",
    type=OutputFile(),
    help="File for the statistics of a run in partitions of the kernel, also over time (JSON).",
)


def check_statistics(path: Path | None, configuration: RunConfiguration) -> None:
    """Raise UsageError if a file for statistics is asked for, and the run has none."""
    if path is not None and not configuration.in_partitions:
        raise UsageError(
            "--statistics are counted by the partitions of the kernel: with --scheduler "
            f"{join_words(list(BEYOND_ONE_LOOP), ' or ')}, or with --processes, --placement, --pin, --migrate or "
            "--checkpoint"
        )


def write_statistics(run: EventRun, path: Path | None, provenance: Provenance | None) -> None:
    """Write the statistics of a run and its provenance to `path`, unless that is None."""
    if path is None:
        return
    write_json(path, _as_json(run) | _said(provenance))


def write_statistics_of_study(
    runs: Iterable[tuple[Row, EventRun]], path: str | Path, provenance: Provenance | None
) -> None:
    """Write the statistics of each simulation of a study beside its ranks, noise and seed, in that order, and the
    provenance of the study."""
    from ..studies.rows_digest import KEY_COLUMNS

    simulations = [{name: row[name] for name in KEY_COLUMNS} | _as_json(run) for row, run in runs]
    simulations.sort(key=lambda simulation: [simulation[name] for name in KEY_COLUMNS])
    write_json(path, {"runs": simulations} | _said(provenance))


def _as_json(run: EventRun) -> dict[str, Any]:
    return counts_of(run) | {"series": run.series}


def _said(provenance: Provenance | None) -> dict[str, Any]:
    return {} if provenance is None else provenance_entry(provenance)


def counts_of(run: EventRun) -> dict[str, Any]:
    """The statistics of a run for JSON, without the samples over time."""
    counts = {name: value for name, value in asdict(run).items() if name != "series"}
    rates = {"rate": run.rate, "warp": run.warp, "remote": run.remote}
    return counts | {name: value if math.isfinite(value) else None for name, value in rates.items()}


def show_run(what: str, run: EventRun, events: str = "events") -> None:
    """Print the statistics of a run as a table."""
    from rich.table import Table

    from .terminal import output

    table = Table(title=what, title_justify="left", show_header=False)
    table.add_column(justify="left")
    table.add_column(justify="right")
    for name, value in (
        (f"{events} committed", f"{run.committed:,}"),
        (f"{events} rolled back", f"{run.rolled_back:,}"),
        ("efficiency (1 - rolled back / committed)", f"{run.efficiency:.2%}"),
        ("rollbacks, primary", f"{run.primary_rollbacks:,}"),
        ("rollbacks, secondary", f"{run.secondary_rollbacks:,}"),
        ("anti-messages", f"{run.cancelled:,}"),
        ("remote events", f"{run.remote_events:,} ({run.remote:.1%})"),
        ("rounds of GVT", f"{run.gvt_rounds:,}"),
        ("segments", f"{run.segments:,}"),
        ("ties", f"{run.ties:,}"),
        (f"{events} executed by one thread for all", f"{run.by_one_thread:,}"),
        ("undo logs", f"{run.log_bytes / 2**20:.1f} MiB"),
        ("memory of all processes", f"{run.peak_rss_bytes / 2**20:.0f} MiB"),
        ("initialisation", f"{run.init_seconds:.3f} s"),
        ("simulation", f"{run.seconds:.3f} s"),
        (f"{events} per second", f"{run.rate / 1e6:.2f} million"),
        ("warp (log10 of that rate, less 9)", f"{run.warp:.2f}"),
        ("digest of all states", f"{run.digest:016x}"),
    ):
        table.add_row(name, value)
    output.print(table)


def where(options: dict[str, Any]) -> str:
    """The scheduler, threads and processes of a run, as text."""
    threads = options["threads"]
    text = f"{threads} {'thread' if threads == 1 else 'threads'}"
    if options["processes"] != 1:
        text = f"{options['processes']} processes of {text}"
    return f"{options['scheduler']} on {text}"
