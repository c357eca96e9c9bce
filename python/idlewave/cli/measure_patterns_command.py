"""``idlewave measure patterns``: patterns of messages, and the error of a machine's simulation."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

import click
import pandas as pd

from ..formatting import plain, plain_time, size_text
from ..machine import Machine
from ..measure.network.fitting.pattern_assessment import error_summary, variants_of
from ..measure.network.job.patterns import PatternMeasurement, measure_patterns, read_patterns
from ..measure.table_rows import records
from ..measurement_parameters import PatternsParameters
from ..parameters import parameters_of
from .figure_files import Picture, save_figure
from .interrupted_measurement import recording_folder
from .option_types import OutputFolder, as_json, print_json, refuse_given
from .parameter_options import options_of
from .terminal import errors, progress_bar, say, say_note, show_table

FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command()
@click.option("-m", "--machine", "machine", help="Simulate them on this machine, too: a preset or a machine.toml.")
@options_of(PatternsParameters)
@click.option("--from", "recorded", type=FOLDER, help="Show a recording instead: the folder of idlewave-patterns.")
@click.option("-o", "--output", "folder", type=OutputFolder(), help="Keep the recording here.")
@as_json
@click.option("--plot", type=Picture(), help="Draw it (.png, .svg, .pdf).")
@click.pass_context
def patterns(
    context: click.Context,
    machine: str | None,
    recorded: Path | None,
    folder: Path | None,
    as_json: bool,
    plot: Path | None,
    **options: Unpack[PatternsParameters],
) -> None:
    """Measure a ping-pong, streams, both directions, several peers at once; with a machine, say how far it is off."""
    held = None if machine is None else Machine.named(machine)
    if recorded is not None:
        refuse_given(context, ("folder", *parameters_of(PatternsParameters)), "--from measures nothing")
        found = read_patterns(recorded)
    else:
        shown_by = {"epoch-*/patterns.i64": "idlewave measure patterns --from"}
        with recording_folder(folder, shown_by, whole=True) as place, progress_bar() as progress:
            found = measure_patterns(progress=progress, folder=place, **options)
    table = found.table if held is None else found.compared(held)
    if as_json:
        said = {"patterns": records(table), "notes": found.notes, "probe": found.probe}
        print_json(said | {"environment": found.environment})
    else:
        _show(found, table, held)
    if plot is not None:
        from ..measure.network.plots.pattern_plot import plot_patterns

        save_figure(plot_patterns(table), plot)
        errors.print(f"written: {plot}")


def _show(found: PatternMeasurement, table: pd.DataFrame, machine: Machine | None) -> None:
    shown = table[["pattern"]].assign(variant=variants_of(table))
    shown["size"] = table["size"].map(size_text)
    shown["samples"] = table["samples"]
    shown["median"] = table["median_ps"].map(lambda x: plain_time(x, 3))
    ends = zip(table["low_ps"], table["high_ps"], strict=True)
    shown["95 %"] = [f"{plain_time(low, 3)} to {plain_time(high, 3)}" for low, high in ends]
    if machine is not None:
        shown["simulated"] = table["simulated_ps"].map(lambda x: plain_time(x, 3))
        shown["error"] = table["error"].map("{:+.0%}".format)
    show_table(shown, "Patterns of messages: the time of one repetition")
    if machine is not None:
        say(f"{machine.name}: {plain(error_summary(table))}")
    for note in found.notes:
        say_note(note)
