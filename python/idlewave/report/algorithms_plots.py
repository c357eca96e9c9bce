"""Figures of the study of algorithms: which is the fastest where, and what other choices cost."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from idlewave.formatting import count_text, size_text
from idlewave.plot_limits import bulk_limits, mark_outside
from idlewave.plot_style import FAINT, INK, MUTED, PALETTE, new_figure, styled, tidy
from idlewave.report.line_figures import MARKS, legend_above

_MOST_ROWS = 16
_SMALL = 5.5
_DARK = frozenset({0, 2, 5, 7})
"""The colours of the palette on which text is white."""


@styled
def plot_algorithm_regions(cells: pd.DataFrame) -> Figure:
    """A panel a chooser over ranks and sizes, coloured by what it chooses; texts are segments, or what that costs.

    `cells` has a row a call: panel, ranks, bytes, algorithm, segment, and slowdown, which is NaN where the choice is
    good.
    """
    panels = list(cells["panel"].unique())
    names = sorted(cells["algorithm"].unique())
    ranks, sizes = sorted(cells["ranks"].unique()), sorted(cells["bytes"].unique())
    lines = -(-len(panels) // 2)
    figure = new_figure(0.7 + lines * (0.55 + 0.17 * len(sizes)))
    grid = np.ravel(figure.subplots(lines, min(2, len(panels)), sharex=True, sharey=True, squeeze=False))
    for axes, panel in zip(grid, panels, strict=False):
        own = cells[cells["panel"] == panel]
        _draw_cells(axes, own, names, ranks, sizes)
        axes.set_title(panel)
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    for axes in grid[max(len(panels) - 2, 0) : len(panels)]:
        axes.set_xlabel("ranks")
        axes.tick_params(labelbottom=True)
    handles = [Patch(facecolor=PALETTE[number % len(PALETTE)], label=name) for number, name in enumerate(names)]
    figure.legend(handles=handles, loc="outside upper center", ncols=min(len(names), 4))
    return figure


def _draw_cells(axes: Axes, cells: pd.DataFrame, names: list[str], ranks: list[int], sizes: list[int]) -> None:
    tidy(axes, "")
    axes.spines[["left", "bottom"]].set_visible(False)
    colours = np.full((len(sizes), len(ranks)), np.nan)
    columns = (cells[name] for name in ("ranks", "bytes", "algorithm", "segment", "slowdown"))
    for count, size, algorithm, segment, slowdown in zip(*columns, strict=True):
        line, column = sizes.index(size), ranks.index(count)
        number = names.index(algorithm)
        colours[line, column] = number
        text = _cost(slowdown) if np.isfinite(slowdown) else _segment(segment)
        colour = "white" if number % len(PALETTE) in _DARK else INK
        axes.text(column, line, text, ha="center", va="center", fontsize=_SMALL, color=colour)
    shown = [PALETTE[number % len(PALETTE)] for number in range(len(names))]
    axes.set_facecolor(FAINT)
    axes.imshow(colours, cmap=ListedColormap(shown), vmin=-0.5, vmax=len(names) - 0.5, aspect="auto", origin="lower")
    axes.set_xticks(range(len(ranks)), [count_text(count) for count in ranks])
    axes.tick_params(length=0)
    if len(sizes) > 1:
        step = -(-len(sizes) // _MOST_ROWS)
        axes.set_yticks(range(0, len(sizes), step), [size_text(size) for size in sizes[::step]])
    else:
        axes.set_yticks([])
    axes.label_outer()


def _segment(segment: int) -> str:
    """The segment's size, short: 8192 -> "8k"."""
    if not segment:
        return ""
    for unit, scale in (("M", 2**20), ("k", 2**10)):
        if segment % scale == 0:
            return f"{segment // scale}{unit}"
    return str(segment)


def _cost(slowdown: float) -> str:
    """A slowdown, short: percent, and from twice the time on the factor."""
    if slowdown < 0:
        return "–"
    if slowdown >= 998:
        return ">999×"
    if slowdown >= 0.995:
        return f"{1 + slowdown:.{0 if slowdown >= 9 else 1}f}×"
    return f"{100 * slowdown:.0f}%"


@styled
def plot_algorithm_costs(costs: pd.DataFrame) -> Figure:
    """Times by those of the fastest algorithms: of each collective and chooser the mean over all calls, and the worst.

    `costs` has the columns collective, chooser, mean and worst, which are such ratios.
    """
    collectives = list(costs["collective"].unique())[::-1]
    choosers = list(costs["chooser"].unique())
    figure = new_figure(0.9 + 0.13 * len(collectives) * max(len(choosers), 2))
    axes = figure.subplots()
    tidy(axes, "x")
    axes.set_xscale("log")
    limits = bulk_limits([*costs["mean"], *costs["worst"], 1.0], log=True)
    for number, chooser in enumerate(choosers):
        own = costs[costs["chooser"] == chooser]
        where = [collectives.index(name) + 0.7 * (0.5 - (number + 0.5) / len(choosers)) for name in own["collective"]]
        colour = PALETTE[number % len(PALETTE)]
        mean, worst = own["mean"].to_numpy(dtype=float), own["worst"].to_numpy(dtype=float)
        known = np.isfinite(mean) & np.isfinite(worst) & (mean > 0) & (worst > 0)
        places = np.asarray(where)
        axes.hlines(places[known], mean[known], np.minimum(worst[known], limits.high), color=colour, linewidth=1.0)
        mark = MARKS[number % len(MARKS)]
        axes.plot(mean[known], places[known], mark, color=colour, markersize=4.5, label=f"{chooser}: mean")
        axes.plot(
            worst[known], places[known], mark, color=colour, markersize=4.5, markerfacecolor="white", label="worst"
        )
        for values in (mean, worst):
            mark_outside(axes, limits, places[known], values[known], across="x")
    axes.set_xlim(limits.low / 1.05, limits.high * 1.1)
    axes.axvline(1, color=INK, linewidth=0.8)
    axes.set_yticks(range(len(collectives)), collectives)
    axes.set_ylim(-0.6, len(collectives) - 0.4)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("time / time of the fastest algorithm")
    _plain_ticks(axes, limits.high)
    legend_above(figure, axes, max(len(choosers), 1))
    return figure


def _plain_ticks(axes: Axes, high: float) -> None:
    """Ticks at 1, 2, 5, 10, … that are written out."""
    decades = range(math.floor(math.log10(max(high, 1.0))) + 1)
    ticks = [step * 10.0**decade for decade in decades for step in (1, 2, 5)]
    axes.set_xticks(ticks, [f"{tick:,.0f}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.tick_params(axis="x", color=MUTED)
