"""The figure of the study of thinning: what each source of noise costs."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from idlewave.plot_style import INK, MUTED, PALETTE, new_figure, say_empty, styled, tidy
from idlewave.report.line_figures import bound, legend_above

_MOST_LETTERS = 34


@styled
def plot_source_costs(costs: pd.DataFrame) -> Figure:
    """What the removal of each source saves, with its interval (bars), and the slowdown by it alone (diamonds), both of
    the time without noise. `costs` is a table of `costs_at`."""
    figure = new_figure(1.2 + 0.34 * max(len(costs), 1))
    axes = figure.subplots()
    if not len(costs):
        say_empty(axes, "there is no source")
        return figure
    tidy(axes, "x")
    heights = np.arange(len(costs))[::-1]
    below, above = (
        np.nan_to_num(side.clip(0), posinf=0.0)
        for side in (costs["saved"] - costs["low"], costs["high"] - costs["saved"])
    )
    colours = [PALETTE[0] if matters else MUTED for matters in costs["matters"]]
    axes.barh(heights, costs["saved"], 0.6, color=colours, label="saved without it")
    axes.errorbar(costs["saved"], heights, xerr=[below, above], fmt="none", ecolor=INK, elinewidth=0.9, capsize=2)
    axes.plot(costs["alone"], heights, "D", color=PALETTE[3], markerfacecolor="none", markersize=5, label="alone")
    axes.axvline(0, color=MUTED, linewidth=0.6)
    axes.set_yticks(heights, [_short(str(name)) for name in costs["source"]])
    axes.set_ylim(-0.6, len(costs) - 0.4)
    bound(axes, np.tile(heights, 4), costs[["saved", "alone", "low", "high"]].to_numpy().T, across="x")
    axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=None))
    axes.set_xlabel("of the time without noise; grey: not beyond chance")
    legend_above(figure, axes)
    return figure


def _short(name: str) -> str:
    return name if len(name) <= _MOST_LETTERS else f"{name[: _MOST_LETTERS - 1]}…"
