"""``idlewave overtime``: what recordings of performance over time say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..output import TABLE_ENDINGS
from .figure_files import Picture
from .lazy_groups import Commands
from .option_types import OutputFile, as_json, print_json
from .progress import doing
from .terminal import say, say_note, show_table

if TYPE_CHECKING:
    import pandas as pd

    from ..overtime.recording import Recording

RECORDING = click.argument("recording", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
plot_file = click.option("--plot", type=Picture(), help="Draw it: .png, .pdf or .svg.")


@click.group(cls=Commands)
def overtime() -> None:
    """Recordings of performance over time: changes, counters that go with them, predictions, a page of all.

    A recording is a folder that `idlewave measure overtime -o DIR` wrote, or is still writing.
    """


def _table_file(what: str):  # noqa: ANN202 - click's
    return click.option("-o", "--output", "file", type=OutputFile(TABLE_ENDINGS), help=f"Write {what}: .parquet or .csv.")


@overtime.command()
@RECORDING
@plot_file
@_table_file("the table of levels")
@as_json
def show(recording: Path, plot: Path | None, file: Path | None, as_json: bool) -> None:
    """Show how performance varied, where it changed, and how long it stayed as it was."""
    from ..measure.table_rows import records
    from ..overtime.changes import levels, stability, summary
    from ..overtime.series import series_of

    found = _read(recording)
    with doing("looking for changes"):
        series = series_of(found.table)
        changes = levels(series)
        lasting = stability(changes)
        about = summary(series, changes)
    if file is not None:
        _write(file, changes, found)
    if as_json:
        print_json(
            {
                "series": records(about),
                "levels": records(changes),
                "stability": records(lasting),
                "counters": list(found.counters),
                "notes": list(found.notes),
            }
        )
    else:
        _show(about, changes, lasting)


def _read(folder: Path) -> Recording:
    from ..overtime.recording import read_recording

    with doing(f"reading {folder}"):
        found = read_recording(folder)
    for note in found.notes:
        say_note(note)
    return found


def _write(file: Path, table: pd.DataFrame, found: Recording) -> None:
    from ..output import write_table
    from ..provenance import Provenance

    write_table(file, Provenance.made("measurement", found.name, by="idlewave.overtime").attach(table))


def _show(about: pd.DataFrame, changes: pd.DataFrame, lasting: pd.DataFrame) -> None:
    from ..overtime.wording import level_rows, series_rows, stability_rows

    show_table(series_rows(about), "Performance over time")
    show_table(level_rows(changes), "Levels: times between changes")
    show_table(stability_rows(lasting), "How long a level lasts")
    say("")
