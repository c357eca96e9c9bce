"""Figures of the study of idle waves: ranks late over time, when the wave arrives, how it decays under noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from idlewave.plot_style import FAINT, INK, PALETTE, new_figure, styled, tidy
from idlewave.report.line_figures import LINES, MARKS, bound, legend_above

_MOST_COLUMNS = 3
_COLOURS = "Blues"
Picture = tuple[npt.NDArray[np.float64], float]


@styled
def plot_idle_waves(pictures: Mapping[str, Picture], ranks: int) -> Figure:
    """By how much ranks are late, as shades, over time: a panel each, by title.

    A picture is an array of rows of ranks and columns of times, in longest delays, and the last time in ps.
    """
    columns = min(_MOST_COLUMNS, len(pictures))
    lines = -(-len(pictures) // columns)
    figure = new_figure(0.7 + 1.75 * lines)
    panels = np.ravel(figure.subplots(lines, columns, sharey=True, squeeze=False))
    for axes, (title, (late, until_ps)) in zip(panels, pictures.items(), strict=False):
        tidy(axes, "")
        axes.set_title(title)
        shades = axes.imshow(
            np.nan_to_num(late, posinf=1, neginf=0), cmap=_COLOURS, vmin=0, vmax=1, aspect="auto", origin="lower",
            extent=(0, max(until_ps / 1e9, 1e-9), -0.5, ranks - 0.5), interpolation="nearest",
        )  # fmt: skip
        axes.xaxis.set_major_locator(MaxNLocator(4))
    for axes in panels[len(pictures) :]:
        axes.set_visible(False)
    for axes in panels[::columns]:
        axes.set_ylabel("rank")
    for axes in panels[max(len(pictures) - columns, 0) : len(pictures)]:
        axes.set_xlabel("time [ms]")
    bar = figure.colorbar(shades, ax=list(panels), shrink=0.6, aspect=30, pad=0.01, extend="max")
    bar.set_ticks([0, 0.25, 0.5, 0.75, 1], labels=["0", "0.25", "0.5", "0.75", "≥ 1"])
    bar.set_label("late [delays]")
    bar.outline.set_visible(False)
    return figure


@styled
def plot_wave_fronts(fronts: Mapping[str, Mapping[str, pd.DataFrame]]) -> Figure:
    """When the wave arrives, over the distance from the delayed rank: a panel each, by title, and in it a line each.

    The tables have the columns distance and arrival_ms, since the first arrival.
    """
    figure = new_figure(3.6)
    panels = np.ravel(figure.subplots(1, len(fronts), sharex=True, sharey=True, squeeze=False))
    every = pd.concat([front for lines in fronts.values() for front in lines.values()])
    names = list(dict.fromkeys(name for lines in fronts.values() for name in lines))
    for axes, (title, lines) in zip(panels, fronts.items(), strict=True):
        tidy(axes, "both")
        axes.set_title(title)
        for name, front in lines.items():
            looks = _looks(names.index(name))
            axes.plot(front["distance"], front["arrival_ms"], label=name, markersize=3, linewidth=1.1, **looks)
            bound(axes, front["distance"], front["arrival_ms"], among=every["arrival_ms"])
        axes.set_xlabel("distance [ranks or messages]")
    panels[0].set_xlim(left=0)
    panels[0].xaxis.set_major_locator(MaxNLocator(5, integer=True))
    panels[0].set_ylabel("arrival after the first [ms]")
    legend_above(figure, panels[0], 4)
    return figure


@styled
def plot_wave_decay(decays: Sequence[tuple[str, pd.DataFrame]], band: str) -> Figure:
    """By how much ranks are late at most over their distance: a line each with its band, by title.

    The tables have the columns distance, median, low and high, in delays; `band` says what lies from low to high.
    """
    figure = new_figure(3.2)
    axes = figure.subplots()
    tidy(axes, "both")
    axes.axhline(0, color=FAINT)
    every = np.concatenate([table[["low", "high"]].to_numpy(float).ravel() for _, table in decays])
    for number, (title, table) in enumerate(decays):
        looks = _looks(number)
        axes.plot(table["distance"], table["median"], label=title, linewidth=1.3, markersize=3, **looks)
        axes.fill_between(table["distance"], table["low"], table["high"], color=looks["color"], alpha=0.15, linewidth=0)
        bound(axes, table["distance"], table["median"], among=every)
    axes.fill_between([], [], [], color=INK, alpha=0.15, linewidth=0, label=band)
    axes.axhline(1, color=INK, linewidth=0.7)
    axes.set_xlim(left=0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("distance from the delayed rank [ranks or messages]")
    axes.set_ylabel("late at most [delays]")
    legend_above(figure, axes, 4)
    return figure


def _looks(number: int) -> dict[str, Any]:
    return {
        "color": PALETTE[number % len(PALETTE)],
        "linestyle": LINES[number % len(LINES)],
        "marker": MARKS[number % len(MARKS)],
        "markerfacecolor": "none",
    }
