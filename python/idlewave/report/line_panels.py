"""A figure of lines in panels: for each program a panel, a line for each variant, with intervals of its points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

from idlewave.formatting import count_text
from idlewave.plot_limits import bulk_limits, mark_outside
from idlewave.plot_style import INK, PALETTE, new_figure, styled, tidy
from idlewave.report.line_figures import LINES, MARKS, bound, legend_above

_COLUMNS = {0: 1, 1: 1, 2: 2, 4: 2}
"""Panels side by side, of so many; else three."""
_MOST_TICKS = 7
_MOST_LINEAR_TICKS = 5


@dataclass(frozen=True)
class LinePanels:
    """What a figure of lines shows: the columns of panels, lines, points and, if there are any, of their intervals.

    `words` names the lines. With `base` the axis of points is logarithmic; `log`: that of values is. `shared`: it is
    the same in all panels. `level` is a value at which a line is drawn.
    """

    panel: str
    line: str
    x: str
    y: str
    x_label: str
    y_label: str
    low: str | None = None
    high: str | None = None
    words: Mapping[object, str] = field(default_factory=dict)
    base: float | None = 2
    log: bool = False
    shared: bool = True
    level: float | None = None
    x_text: Callable[[float], str] = count_text
    y_text: Callable[[float], str] | None = None


@styled
def plot_line_panels(rows: pd.DataFrame, shown: LinePanels) -> Figure:
    """The values against the points: a panel a program, a line a variant, bars for intervals."""
    names = list(rows[shown.panel].unique())
    columns = _COLUMNS.get(len(names), 3)
    lines = max(-(-len(names) // columns), 1)
    figure = new_figure(0.7 + 2.1 * lines)
    panels = np.ravel(figure.subplots(lines, columns, sharex=True, sharey=shown.shared, squeeze=False))
    variants = list(rows[shown.line].unique())
    for axes, name in zip(panels, names, strict=False):
        tidy(axes)
        axes.set_title(str(name))
        if shown.level is not None:
            axes.axhline(shown.level, color=INK, linewidth=0.8)
        own = rows[rows[shown.panel] == name]
        for number, variant in enumerate(variants):
            _line(axes, own[own[shown.line] == variant].sort_values(shown.x), number, str(variant), variant, shown)
        _scales(axes, rows, own, shown)
    for axes in panels[len(names) :]:
        axes.set_visible(False)
    for axes in panels[::columns]:
        axes.set_ylabel(shown.y_label)
    for axes in panels[max(len(names) - columns, 0) : len(names)]:
        axes.set_xlabel(shown.x_label)
        axes.tick_params(labelbottom=True)
    legend_above(figure, panels[0], min(max(len(variants), 1), 3))
    return figure


def _line(axes: Axes, own: pd.DataFrame, number: int, name: str, variant: object, shown: LinePanels) -> None:
    """One line; in panels that lack it, its entry of the legend alone."""
    values = own[shown.y].to_numpy(dtype=float)
    style: Any = {"color": PALETTE[number % len(PALETTE)], "linestyle": LINES[number % len(LINES)]}
    axes.plot(
        own[shown.x], values, label=shown.words.get(variant, name), marker=MARKS[number % len(MARKS)], markersize=4,
        linewidth=1.4, markerfacecolor="none", **style,
    )  # fmt: skip
    if shown.low is not None and shown.high is not None and len(own):
        low, high = own[shown.low].to_numpy(dtype=float), own[shown.high].to_numpy(dtype=float)
        usable = np.isfinite(low) & np.isfinite(high) & np.isfinite(values)
        axes.vlines(own[shown.x][usable], low[usable], high[usable], color=style["color"], linewidth=1.0)


def _scales(axes: Axes, rows: pd.DataFrame, own: pd.DataFrame, shown: LinePanels) -> None:
    if shown.base is not None:
        axes.set_xscale("log", base=shown.base)
        points = sorted(rows[shown.x].unique())
        axes.xaxis.set_major_locator(FixedLocator(points[:: -(-len(points) // _MOST_TICKS)]))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: shown.x_text(value)))
    else:
        axes.xaxis.set_major_locator(MaxNLocator(_MOST_LINEAR_TICKS))
    among = rows[shown.y] if shown.shared else own[shown.y]
    if shown.log:
        _log_values(axes, own[shown.x], own[shown.y], among)
    else:
        bound(axes, own[shown.x], own[shown.y], among=among)
        if shown.level is None:
            low, high = axes.get_ylim()
            axes.set_ylim(min(low, 0.0), high + 0.03 * abs(high))
    if shown.y_text is not None:
        text = shown.y_text
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))


def _log_values(axes: Axes, points: npt.ArrayLike, values: npt.ArrayLike, among: npt.ArrayLike) -> None:
    """A logarithmic axis of values up to the ends of most of them; the others are marked at its edges."""
    limits = bulk_limits(among, log=True)
    axes.set_yscale("log")
    narrow = limits.high < 100 * limits.low
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if narrow else (1.0,)))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    mark_outside(axes, limits, points, values)
    axes.set_ylim(limits.with_margin().low, limits.with_margin().high)
