"""``idlewave measure clocks``: offset and drift of the clocks of a job's ranks."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from ..measure.network.job.clocks import ClockMeasurement, measure_clocks, read_clocks
from ..measurement_parameters import ClocksParameters
from ..parameters import parameters_of
from .figure_files import Picture, save_figure
from .interrupted_measurement import recording_folder
from .option_types import Count, OutputFolder, as_json, print_json, refuse_given
from .parameter_options import options_of
from .terminal import errors, progress_bar, say, say_note, show_table

if TYPE_CHECKING:
    import pandas as pd

FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command()
@click.option("-n", "ranks", type=Count(2), help="Ranks to start.")
@options_of(ClocksParameters)
@click.option("--from", "recorded", type=FOLDER, help="Show a recording instead: the folder of idlewave-clocks.")
@click.option("-o", "--output", "folder", type=OutputFolder(), help="Keep the recording here.")
@as_json
@click.option("--plot", type=Picture(), help="Write a picture (PNG, PDF, SVG).")
@click.pass_context
def clocks(
    context: click.Context,
    ranks: int | None,
    recorded: Path | None,
    folder: Path | None,
    as_json: bool,
    plot: Path | None,
    **options: Unpack[ClocksParameters],
) -> None:
    """Measure how far the clock of every rank is from rank 0's, and how it drifts, with what remains unknown."""
    if (ranks is None) == (recorded is None):
        raise click.UsageError("either -n RANKS or --from FOLDER is needed")
    if recorded is not None:
        refuse_given(context, ("folder", *parameters_of(ClocksParameters)), "--from measures nothing")
        found = read_clocks(recorded)
    else:
        assert ranks is not None
        shown_by = {"clocks-bursts.i64": "idlewave measure clocks --from"}
        with recording_folder(folder, shown_by) as place, progress_bar() as progress:
            found = measure_clocks(ranks, progress=progress, folder=place, **options)
    if as_json:
        print_json(_as_json(found))
    else:
        _show(found)
    if plot is not None:
        from ..measure.network.plots.clock_plots import plot_clocks

        save_figure(plot_clocks(found), plot)
        errors.print(f"written: {plot}")


def _show(found: ClockMeasurement) -> None:
    full = found.table
    table = full[["rank", "host"]].copy()
    table["offset (ns)"] = _with(full["offset_ns"], full["offset_interval_ns"], ".1f")
    table["bound"] = (full["offset_high_ns"] - full["offset_low_ns"]) / 2
    table["drift (ppm)"] = _with(full["drift_ppm"], full["drift_interval_ppm"], ".4f")
    table["bound "] = (full["drift_high_ppm"] - full["drift_low_ppm"]) / 2
    table["rms (ns)"] = full["rms_ns"]
    table["bursts"] = full["kept"].astype(str) + " of " + full["bursts"].astype(str)
    formats = {"bound": ".0f", "bound ": ".3f", "rms (ns)": ".1f"}
    show_table(table, "Clocks: rank 0's minus each rank's, half-way through", formats)
    say("offset: when the rank's clock shows its at_ns (see --json); from then on it grows by the drift")
    say("±: 95 % by scatter; bound: it is not further off even if messages take longer in one direction")
    for note in found.notes:
        say_note(note)


def _with(values: pd.Series[float], intervals: pd.Series[float], digits: str) -> list[str]:
    shown = ["unknown" if math.isnan(interval) else f"{interval:{digits}}" for interval in intervals]
    return [f"{value:{digits}} ± {interval}" for value, interval in zip(values, shown, strict=True)]


def _as_json(found: ClockMeasurement) -> dict[str, object]:
    rows = json.loads(found.table.to_json(orient="records", double_precision=15))
    return {"clocks": rows, "notes": found.notes, "probe": found.probe, "environment": found.environment}
