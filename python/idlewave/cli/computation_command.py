"""``idlewave computation``: the distribution of a traced program's computations by call site."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..computation_sites import size_range_text
from ..formatting import count_text, plain, plain_percent, plain_time, plural, seconds_text
from ..pattern_options import ConversionParameters, Gaps
from ..trace import Trace
from .figure_files import Picture, save_figure
from .option_types import Count, as_json, print_json
from .parameter_options import option_of
from .progress import doing
from .terminal import say, show_rows

if TYPE_CHECKING:
    import pandas as pd

_TIMES = {"min": "min_ns", "5 %": "q05_ns", "median": "median_ns", "95 %": "q95_ns", "max": "max_ns"}


@click.command()
@click.argument("trace", type=click.Path(exists=True, file_okay=False, path_type=Path))
@option_of(ConversionParameters, "gaps")
@click.option("--by-rank", is_flag=True, help="A row for each rank of a site.")
@click.option("--rows", default=20, show_default=True, type=Count(1), help="Most rows of the table.")
@click.option("--plot", type=Picture(), help="Draw the distributions: .png, .pdf or .svg.")
@as_json
def computation(trace: Path, gaps: Gaps, by_rank: bool, rows: int, plot: Path | None, as_json: bool) -> None:
    """Show how long the computations of a TRACE take, by call site.

    A call site is the call that ends the computation with its communicator and the power of two of its size, the five
    calls before it, and the level of the last MPI_Pcontrol: a trace has no addresses of code. Its name is the same in
    every trace that has it, and `--scale-computation` of other commands takes it. Where the times of its computations
    repeat themselves in a cycle of 2 to 12, each position in the cycle has a row.
    """
    with doing(f"reading the trace {trace}"):
        found = Trace.load(trace)
        table = found.computation_sites(gaps, by_rank=by_rank)
    if plot is not None:
        from ..report.computation_plot import plot_computation_sites

        save_figure(plot_computation_sites(found.computation_sites(gaps) if by_rank else table), plot)
    if as_json:
        print_json({"sites": [_as_json(row) for row in table.to_dict("records")]})
        return
    _show(table, rows, by_rank=by_rank)
    if plot is not None:
        say(f"written: {plot}")


def _as_json(row: dict[Any, Any]) -> dict[str, object]:
    import pandas as pd

    return {str(name): None if pd.isna(value) else value for name, value in row.items()}


def _show(table: pd.DataFrame, rows: int, *, by_rank: bool) -> None:
    import pandas as pd

    total = float(table["total_s"].sum())
    shown = table.head(rows)
    sites = table["site"].nunique()
    say(
        f"{plural(int(table['count'].sum()), 'computation')} of {plural(sites, 'call site')}: "
        f"{seconds_text(total)} of all ranks' time"
    )
    columns = ["site", "position", "rank" if by_rank else "ranks", "level", "call", "size", "after", "before that"]
    columns += ["count", "total", "share", *_TIMES]
    cells = [
        (
            row["site"],
            f"{row['position']} of {row['cycle_length']}" if row["cycle_length"] > 1 else "",
            row["rank" if by_rank else "ranks"],
            "" if pd.isna(row["level"]) else row["level"],
            row["call"],
            plain(size_range_text(row["least_bytes"], row["most_bytes"])),
            row["after"],
            row["before_that"],
            count_text(row["count"]),
            plain(seconds_text(row["total_s"])),
            plain_percent(row["share"]),
            *(plain_time(1e3 * row[name], 3) for name in _TIMES.values()),
        )
        for row in shown.to_dict("records")
    ]
    numeric = set(columns) - {"site", "call", "after", "before that"}
    show_rows("Computation by call site", columns, cells, numeric)
    if len(shown) < len(table):
        rest = plain_percent(float(table["share"][len(shown) :].sum()))
        say(f"and {plural(len(table) - len(shown), 'row')} more with {rest} of the time (--rows)")
