"""Figures of the study of algorithms: which is the fastest where, and what other choices cost."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from idlewave.formatting import count_text, size_text
from idlewave.plot_limits import bulk_limits, mark_outside
from idlewave.plot_style import FAINT, INK, PALETTE, new_figure, styled, tidy
from idlewave.report.line_figures import LINES, MARKS, legend_above

_MOST_ROWS = 16
_SMALL = 5.5
_DARK = frozenset({0, 2, 5, 7})
"""The colours of the palette on which text is white."""


@styled
def plot_algorithm_times(rows: pd.DataFrame) -> Figure:
    """Times of a collective without noise, and with it from a low to a high quantile: a line an algorithm.

    `rows` has the columns algorithm, at, time_ps, low_ps, median_ps and high_ps; `axis` says what `at` is, bytes or
    ranks, and `ranks` on how many ranks. Without noise there is one panel.
    """
    columns = ["time_ps", "median_ps"] if rows["median_ps"].notna().any() else ["time_ps"]
    figure = new_figure(3.0)
    panels = np.ravel(figure.subplots(1, len(columns), sharey=True, squeeze=False))
    limits = bulk_limits(rows[["time_ps", *(["low_ps", "median_ps", "high_ps"] if columns[1:] else [])]], log=True)
    limits = limits.with_margin()
    for axes, column in zip(panels, columns, strict=True):
        tidy(axes)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        for number, name in enumerate(sorted(rows["algorithm"].unique())):
            own = rows[rows["algorithm"] == name]
            looks: Any = {"color": PALETTE[number % len(PALETTE)], "linewidth": 1.4}
            if column == "median_ps":
                axes.fill_between(own["at"], own["low_ps"] / 1e6, own["high_ps"] / 1e6, alpha=0.15, **looks)
            axes.plot(
                own["at"], own[column] / 1e6, linestyle=LINES[number % len(LINES)], marker=MARKS[number % len(MARKS)],
                markersize=4, markerfacecolor="none", label=name, **looks,
            )  # fmt: skip
        mark_outside(axes, limits, rows["at"], rows[column])
        axes.set_ylim(limits.low / 1e6, limits.high / 1e6)
        axes.set_yticks(ticks := _plain_ticks(limits.low / 1e6, limits.high / 1e6), [f"{tick:,g}" for tick in ticks])
        axes.set_yticks([], minor=True)
        axes.set_title("without noise" if column == "time_ps" else "with noise")
        _place_axis(axes, rows)
    panels[0].set_ylabel("time [µs]")
    legend_above(figure, panels[0], 4)
    return figure


def _place_axis(axes: Axes, rows: pd.DataFrame) -> None:
    by_size = bool((rows["axis"] == "bytes").any())
    places = sorted(rows["at"].unique())
    shown = places[:: -(-len(places) // 5)]
    text = _segment if by_size else count_text
    axes.set_xticks(shown, [text(int(place)) for place in shown])
    axes.set_xticks([], minor=True)
    axes.set_xlabel(f"bytes, on {count_text(rows['ranks'].max())} ranks" if by_size else "ranks")


@styled
def plot_algorithm_regions(cells: pd.DataFrame, names: list[str]) -> Figure:
    """A panel a chooser over ranks and sizes, coloured by what it chooses; texts are segments, or what that costs.

    `cells` has a row a call: panel, ranks, bytes, algorithm, segment, and slowdown, which is NaN where the choice is
    good. Each of the algorithms `names` has a colour.
    """
    panels = list(cells["panel"].unique())
    used = set(cells["algorithm"])
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
    handles = [
        Patch(facecolor=PALETTE[number % len(PALETTE)], label=name) for number, name in enumerate(names) if name in used
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=min(len(handles), 4))
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
    """A size, short, and nothing for 0: 8192 -> "8k"."""
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
    axes.set_xticks(ticks := _plain_ticks(1.0, limits.high), [f"{tick:,g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    legend_above(figure, axes, max(len(choosers), 1))
    return figure


def _plain_ticks(low: float, high: float) -> list[float]:
    """Ticks of a logarithmic axis: 1, 2, 5, 10, …, and whole decades if there are many."""
    first, last = math.floor(math.log10(low)), math.floor(math.log10(high))
    steps = (1, 2, 5) if last - first < 3 else (1,)
    ticks = [step * 10.0**decade for decade in range(first, last + 1) for step in steps]
    return [tick for tick in ticks if low <= tick <= high * 1.1]
