"""``idlewave contention measure``: what traffic into memory does to victims, or to a command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from ..contention.columns import COMMAND, MEMORY_BYTES, TRAFFIC_KINDS, VICTIMS
from ..escaping import cut
from ..measurement_parameters import ContentionParameters
from ..parameters import parameters_of
from ..units import parse_size
from .contention_options import folder_option, rates_option, recorded_option
from .figure_files import Picture, save_figure
from .option_types import Names, as_json, print_json, refuse_given
from .parameter_options import Numbers, options_of
from .terminal import errors, progress_bar, say_note, show_table

if TYPE_CHECKING:
    import pandas as pd

MEASURING = ("victims", "rates", "cores", "traffic", "folder", "command", *parameters_of(ContentionParameters))
"""The parameters that have no meaning for a recorded table."""


@click.command()
@click.option(
    "--victims", type=Names(), metavar="A,B,...", help=f"Of {', '.join(VICTIMS)} (default: all; none beside a command)."
)
@rates_option
@click.option(
    "--cores",
    type=Numbers(",", parse_size, "numbers of cores"),
    default=(1,),
    show_default="1",
    help="Numbers of cores that write; 0: the victim's own core handles the traffic.",
)
@click.option(
    "--traffic",
    type=click.Choice(TRAFFIC_KINDS),
    default="writer",
    show_default=True,
    help="What writes: threads, or an MPI rank.",
)
@options_of(ContentionParameters)
@folder_option
@recorded_option
@as_json
@click.option("--plot", type=Picture(), help="Draw the slowdowns; NAME-correlations.EXT has what goes with the time.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def measure(
    context: click.Context,
    victims: list[str] | None,
    rates: tuple[int, ...],
    cores: tuple[int, ...],
    traffic: str,
    folder: Path | None,
    recorded: Path | None,
    as_json: bool,
    plot: Path | None,
    command: tuple[str, ...],
    **options: Unpack[ContentionParameters],
) -> None:
    """Measure how traffic into memory slows victims, or a COMMAND behind --, which is timed as a whole.

    Each victim runs without and with the traffic, in pairs and in random order; its results are checked.
    """
    if recorded is not None:
        from ..contention.table_folder import read_contention

        refuse_given(context, MEASURING, "--from measures nothing")
        table = read_contention(recorded)
    else:
        from ..contention.impact import contention_impact

        chosen = victims if victims is not None else [] if command else list(VICTIMS)
        with progress_bar(count=True) as progress:
            table = contention_impact(
                [*chosen, *([COMMAND] if command else [])],
                rates,
                cores,
                traffic=traffic,
                command=command,
                folder=folder,
                progress=progress,
                **options,
            )
    _report(table, folder if recorded is None else recorded, plot, as_json=as_json)
    if folder is not None:
        errors.print(f"written: {folder}; to show it again: idlewave contention measure --from {folder}")


def _report(table: pd.DataFrame, place: Path | None, plot: Path | None, *, as_json: bool) -> None:
    """Print what the table in `place` says, and draw it."""
    from ..contention.correlations import correlation_table, normalisation_notes, sampling_notes
    from ..contention.impact_statistics import impact_table, rate_notes
    from ..contention.wording import correlation_rows, impact_rows

    impact, correlations = impact_table(table), correlation_table(table)
    notes = [*sampling_notes(table), *_memory_notes(table, place), *rate_notes(table), *normalisation_notes(table)]
    if as_json:
        from ..measure.table_rows import records

        print_json({"impact": records(impact), "correlations": records(correlations), "notes": notes})
    else:
        show_table(impact_rows(impact), "Impact of traffic into memory on an iteration, with 95 % confidence intervals")
        if len(correlations):
            title = "What goes with the time of an iteration, all victims, each over its median without traffic"
            show_table(correlation_rows(correlations), title)
        for note in notes:
            say_note(note)
    if plot is not None:
        _draw(impact, correlations, plot)


def _draw(impact: pd.DataFrame, correlations: pd.DataFrame, plot: Path) -> None:
    from ..contention.plots import plot_contention_correlations, plot_contention_impact

    beside = plot.with_stem(f"{plot.stem}-correlations")
    save_figure(plot_contention_impact(impact), plot)
    save_figure(plot_contention_correlations(correlations), beside)
    errors.print(f"written: {plot}, {beside}")


def _memory_notes(table: pd.DataFrame, place: Path | None) -> list[str]:
    if table[MEMORY_BYTES].notna().any():
        return []
    from ..contention.table_folder import why_not_counted

    why = "" if place is None else why_not_counted(place, MEMORY_BYTES.removeprefix("counter."))
    return [f"Bytes of the memory controllers were not counted{': ' if why else ''}{cut(why, 400)}."]
