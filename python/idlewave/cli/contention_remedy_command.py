"""``idlewave contention remedy``: throttling the traffic against reserving a core for it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import click

from ..contention.columns import VICTIMS
from ..contention.defaults import REMEDIED
from ..measurement_parameters import ContentionParameters
from ..parameters import parameters_of
from .contention_options import folder_option, rates_option, recorded_option
from .figure_files import Picture, save_figure
from .option_types import Count, as_json, print_json, refuse_given
from .parameter_options import options_of
from .terminal import errors, progress_bar, say, show_table

if TYPE_CHECKING:
    from ..contention.remedies import Remedies

MEASURING = ("rates", "folder", *parameters_of(ContentionParameters))
"""The parameters that have no meaning for a recorded table."""


@click.command()
@click.option("--victim", help=f"One of {', '.join(VICTIMS)} (default: {REMEDIED}; with --from the only one there).")
@rates_option
@click.option(
    "--node-cores", type=Count(2, 100_000), help="Cores over which the computation scales (default: this process's)."
)
@click.option("--spare", is_flag=True, help="Nothing computes on the core to reserve.")
@options_of(ContentionParameters)
@folder_option
@recorded_option
@as_json
@click.option("--plot", type=Picture(), help="Draw the time that each remedy takes beyond the computation's.")
@click.pass_context
def remedy(
    context: click.Context,
    victim: str | None,
    rates: tuple[int, ...],
    node_cores: int | None,
    spare: bool,
    folder: Path | None,
    recorded: Path | None,
    as_json: bool,
    plot: Path | None,
    **options: Unpack[ContentionParameters],
) -> None:
    """Compare throttling the traffic at its origin with reserving a core for it.

    A victim runs beside traffic that its own core handles, and beside traffic on another core; docs/contention.md says
    how the time of each remedy follows.
    """
    from ..contention.remedies import contention_remedies, remedies_of

    if recorded is not None:
        from ..contention.table_folder import read_contention

        refuse_given(context, MEASURING, "--from measures nothing")
        found = remedies_of(read_contention(recorded), victim, node_cores=node_cores, spare=spare)
    else:
        with progress_bar(count=True) as progress:
            found = contention_remedies(
                victim or REMEDIED,
                rates,
                node_cores=node_cores,
                spare=spare,
                folder=folder,
                progress=progress,
                **options,
            )
    if as_json:
        print_json(_remedies_as_json(found))
    else:
        _show_remedies(found)
    if plot is not None:
        from ..contention.plots import plot_contention_remedies

        save_figure(plot_contention_remedies(found.table, found.threshold), plot)
        errors.print(f"written: {plot}")


def _show_remedies(found: Remedies) -> None:
    from ..contention.wording import remedy_rows

    title = f"{found.victim}: time beyond the computation's own until it and the transfer have ended (95 % confidence)"
    show_table(remedy_rows(found), title)
    say(found.sentence)


def _remedies_as_json(found: Remedies) -> dict[str, Any]:
    from ..measure.table_rows import records

    high = found.threshold_high
    return {
        "victim": found.victim,
        "node_cores": found.node_cores,
        "spare": found.spare,
        "threshold": found.threshold,
        "threshold_low": found.threshold_low if math.isfinite(found.threshold_low) else None,
        "threshold_high": high if math.isfinite(high) else None,
        "found_share": found.found_share,
        "sentence": found.sentence,
        "remedies": records(found.table),
    }
