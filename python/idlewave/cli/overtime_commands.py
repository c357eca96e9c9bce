"""``idlewave overtime``: what recordings of performance over time say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..formatting import plain
from ..output import TABLE_ENDINGS
from ..overtime.defaults import LAGS, TOLERANCE
from .figure_files import Picture, save_figure
from .lazy_groups import Commands
from .option_types import Count, FiniteRange, OutputFile, as_json, print_json
from .progress import doing
from .terminal import say, say_note, show_table

if TYPE_CHECKING:
    import pandas as pd

    from ..measure.overtime.recording import OvertimeRecording
    from ..overtime.analysis import Analysis

Command = TypeVar("Command", bound=Callable[..., Any])
RECORDING = click.argument("recording", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
SEED = click.option("--seed", type=Count(), default=1, show_default=True, help="Seed of the permutations.")


def _table_file(what: str) -> Callable[[Command], Command]:
    return click.option(
        "-o", "--output", "file", type=OutputFile(TABLE_ENDINGS), help=f"Write {what}: .parquet or .csv."
    )


@click.group(cls=Commands)
def overtime() -> None:
    """Recordings of performance over time: changes, counters that go with them, predictions, and a page of all.

    A recording is the folder that `idlewave measure overtime` wrote, or is still writing.
    """


@overtime.command()
@RECORDING
@click.option("--hours", is_flag=True, help="Draw the distribution by hour instead of the series.")
@click.option("--plot", type=Picture(), help="Draw the series with levels, changes and counters: .png, .pdf or .svg.")
@_table_file("the table of levels")
@as_json
def show(recording: Path, hours: bool, plot: Path | None, file: Path | None, as_json: bool) -> None:
    """Show how performance varied, where it changed, and how long it stayed as it was."""
    if hours and plot is None:
        raise click.UsageError("--hours draws nothing without --plot")
    from ..measure.table_rows import records
    from ..overtime.wording import level_rows, series_rows, stability_rows

    found = _analysed(recording)
    with doing("looking for changes"):
        about, lasting = found.summary, found.stability
    _write(file, found.levels, found)
    if as_json:
        tables = {"series": about, "levels": found.levels, "stability": lasting}
        _print(found, {name: records(table) for name, table in tables.items()})
    else:
        show_table(series_rows(about), "Performance over time")
        show_table(level_rows(found.levels), "Levels: times between changes")
        show_table(stability_rows(lasting), "How long a level lasts")
    if plot is not None:
        from ..report.overtime_plots import plot_overtime, plot_overtime_hours

        table = found.recording.table
        shown = found.strongest_counters if found.recording.counters and not hours else []
        save_figure(plot_overtime_hours(table) if hours else plot_overtime(table, found.levels, shown), plot)


@overtime.command()
@RECORDING
@click.option("--lags", type=Count(0, 1000), default=LAGS, show_default=True, help="The largest lag, in phases.")
@SEED
@click.option("--plot", type=Picture(), help="Draw the matrix of correlations: .png, .pdf or .svg.")
@_table_file("the correlations at all lags")
@as_json
def correlate(recording: Path, lags: int, seed: int, plot: Path | None, file: Path | None, as_json: bool) -> None:
    """Show which counters go with performance, in the phase itself and in those before.

    Rank correlations; p-values by permuting blocks, corrected by Holm's method for all counters and series.
    """
    from ..measure.table_rows import records
    from ..overtime.findings import counters_finding
    from ..overtime.wording import correlation_rows

    found = _analysed(recording, lags=lags, seed=seed)
    with doing("correlating counters"):
        table = found.correlations
    _write(file, table, found)
    if as_json:
        _print(found, {"correlations": records(table)})
    else:
        show_table(correlation_rows(table), "Counters, by the strongest of their correlations")
        say(counters_finding(found))
    if plot is not None:
        from ..report.overtime_plots import plot_overtime_correlations

        save_figure(plot_overtime_correlations(table), plot)


@overtime.command()
@RECORDING
@click.option(
    "--tolerance",
    type=FiniteRange(0.0, 10.0, min_open=True),
    default=TOLERANCE,
    show_default=True,
    help="What was worse than predicted by more than this share is an optimistic error.",
)
@click.option("--plot", type=Picture(), help="Draw predictions against what was observed: .png, .pdf or .svg.")
@_table_file("all predictions")
@as_json
def predict(recording: Path, tolerance: float, plot: Path | None, file: Path | None, as_json: bool) -> None:
    """Show how well the last active phase, and the counters of the last idle phase, predict what comes.

    Both are compared with the median of all that came before.
    """
    from ..measure.table_rows import records
    from ..overtime.wording import error_rows

    found = _analysed(recording, tolerance=tolerance)
    with doing("predicting each phase from those before"):
        table, off = found.predictions, found.errors
    _write(file, table, found)
    if as_json:
        idle = found.idle_counters
        unused = {"absent": idle.absent, "missing": list(idle.missing), "unchanged": list(idle.unchanged)}
        _print(found, {"errors": records(off), "tolerance": tolerance, "idle_counters": unused})
    elif len(off):
        show_table(error_rows(off), f"Predictions; optimistic: worse by more than {100 * tolerance:g} %")
        for sentence in found.idle_counters.sentences:
            say_note(plain(sentence))
    else:
        say("There are too few phases to judge predictions.")
    if plot is not None:
        from ..report.overtime_plots import plot_overtime_predictions

        save_figure(plot_overtime_predictions(table, tolerance), plot)


@overtime.command()
@RECORDING
@SEED
@click.option(
    "-o",
    "--output",
    "page",
    type=OutputFile((".html",)),
    default=Path("overtime.html"),
    show_default=True,
    help="The page to write.",
)
@as_json
def report(recording: Path, seed: int, page: Path, as_json: bool) -> None:
    """Write one page with all of these: findings, figures and tables."""
    found = _analysed(recording, seed=seed)
    with doing("analysing, and drawing figures"):
        from ..report.overtime_page import build_overtime_page

        sentences = build_overtime_page(found, page)
    if as_json:
        _print(found, {"written": str(page), "findings": [list(item) for item in sentences]})
        return
    for topic, text in sentences:
        say(f"• {topic}: {text}")
    say(f"written: {page}")


def _analysed(folder: Path, **options: Any) -> Analysis:  # noqa: ANN401 - of Analysis
    from ..measure.overtime.recording import read_overtime
    from ..overtime.analysis import Analysis

    with doing(f"reading {folder}"):
        found: OvertimeRecording = read_overtime(folder)
    for note in found.notes:
        say_note(note)
    return Analysis(found, **options)


def _write(file: Path | None, table: pd.DataFrame, found: Analysis) -> None:
    if file is None:
        return
    from ..output import write_table
    from ..provenance import Provenance

    made = Provenance.made("measurement", found.recording.name, by="idlewave.overtime")
    write_table(file, made.attach(table.copy()))


def _print(found: Analysis, result: dict[str, object]) -> None:
    print_json({**result, "counters": list(found.recording.counters), "notes": list(found.recording.notes)})
