"""The figure of collectives: their measured times and those of the simulation, over the size."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ....formatting import time_text
from ....plot_limits import bulk_limits, cut_count, cut_text, mark_outside, say_above
from ....plot_style import PALETTE, new_figure, styled, tidy
from .plot_helpers import scale_sizes

COLUMNS = 2


@styled
def plot_collectives(table: pd.DataFrame) -> Figure:
    """A panel for each collective of `table` (of `CollectiveFit`): medians with their intervals, and the simulation
    with a line for each algorithm where its rule holds."""
    sized = table[table["size"] > 0]
    present = list(sized["collective"].unique())
    rows = max(-(-len(present) // COLUMNS), 1)
    figure = new_figure(1.0 + 2.2 * rows)
    panels = figure.subplots(rows, COLUMNS, squeeze=False).ravel()
    for spare in panels[len(present) :]:
        spare.set_axis_off()
    for axes, name in zip(panels, present, strict=False):
        _draw(axes, sized[sized["collective"] == name])
        axes.set_title(str(name).replace("_", "-"))
    for axes in panels[max(len(present) - COLUMNS, 0) : len(present)]:
        axes.set_xlabel("size of the vector, or of a rank's block")
    if present:
        say_above(panels[0], cut_text(cut_count(figure), "point"))
    return figure


def _draw(axes: Axes, own: pd.DataFrame) -> None:
    middle, low, high = (own[name] / 1e3 for name in ("median_ps", "low_ps", "high_ps"))
    limits = bulk_limits(pd.concat([middle, low, high, own["simulated_ps"] / 1e3]), log=True)
    spread = ((middle - low).clip(lower=0), (high - middle).clip(lower=0))
    axes.errorbar(own["size"], middle, spread, fmt="o", color=PALETTE[0], markersize=3, linewidth=1, label="measured")
    mark_outside(axes, limits, own["size"], middle, PALETTE[0])
    parts = (own["algorithm"] != own["algorithm"].shift()).cumsum()
    colours = dict(zip(own["algorithm"].unique(), [*PALETTE[1:], *PALETTE[1:]], strict=False))
    shown: set[str] = set()
    for _, part in own.groupby(parts):
        algorithm = str(part["algorithm"].iloc[0])
        label = None if algorithm in shown else algorithm.replace("_", " ")
        shown.add(algorithm)
        simulated = part["simulated_ps"] / 1e3
        axes.plot(part["size"], simulated, ".-", color=colours[algorithm], linewidth=1, label=label)
        mark_outside(axes, limits, part["size"], simulated, colours[algorithm])
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_ylim(limits.low / 1.3, limits.high * 1.3)
    scale_sizes(axes, own["size"], most=5)
    axes.yaxis.set_major_formatter(lambda value, _: time_text(value * 1e3))
    axes.set_ylabel("time of a call")
    axes.legend(loc="best")
    tidy(axes, "both")
