"""Figures of the study of benchmarks of collectives: reported by true time over ranks, and the times of one case."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from idlewave.plot_style import INK, MUTED, PALETTE, new_figure, styled, tidy
from idlewave.report.line_figures import LINES, MARKS, bound, legend_above, rank_axis

_MOST_COLUMNS = 3
_MOST_TICKS = 6


@styled
def plot_benchmark_errors(rows: pd.DataFrame, words: Mapping[str, str]) -> Figure:
    """Reported by true time, against ranks: a panel an algorithm, a line a method. `words` names the methods."""
    names = list(rows["algorithm"].unique())
    columns = min(_MOST_COLUMNS, len(names))
    lines = -(-len(names) // columns)
    figure = new_figure(0.6 + 1.9 * lines)
    panels = np.ravel(figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False))
    for axes, name in zip(panels, names, strict=False):
        own = rows[rows["algorithm"] == name]
        tidy(axes)
        axes.set_title(name)
        axes.axhline(1, color=INK, linewidth=0.8)
        for number, (method, label) in enumerate(words.items()):
            line = own[own["method"] == method].sort_values("ranks")
            if len(line):
                axes.plot(
                    line["ranks"], line["measured_ps"] / line["true_ps"], label=label, color=PALETTE[number],
                    linestyle=LINES[number], marker=MARKS[number], markersize=4, linewidth=1.4, markerfacecolor="none",
                )  # fmt: skip
        rank_axis(axes, sorted(rows["ranks"].unique()), _MOST_TICKS)
        axes.set_xlabel("")
        axes.set_ylim(bottom=0)
        bound(axes, own["ranks"], own["measured_ps"] / own["true_ps"], among=rows["measured_ps"] / rows["true_ps"])
    for axes in panels[len(names) :]:
        axes.set_visible(False)
    for axes in panels[::columns]:
        axes.set_ylabel("reported / true time")
    for axes in panels[max(len(names) - columns, 0) : len(names)]:
        axes.set_xlabel("ranks")
        axes.tick_params(labelbottom=True)
    legend_above(figure, panels[0], 3)
    return figure


@styled
def plot_benchmark_case(rows: pd.DataFrame, words: Mapping[str, str]) -> Figure:
    """Bars of the times that methods report for each algorithm, µs, and lines for the true ones."""
    names = list(rows["algorithm"].unique())
    known = [method for method in words if method in set(rows["method"])]
    figure = new_figure(3.0)
    axes = figure.subplots()
    tidy(axes)
    width = 0.8 / max(len(known), 1)
    for number, method in enumerate(known):
        own = rows[rows["method"] == method].set_index("algorithm")["measured_ps"].reindex(names)
        where = np.arange(len(names)) - 0.4 + width * (number + 0.5)
        axes.bar(where, own / 1e6, width * 0.9, color=PALETTE[[*words].index(method)], label=words[method])
        bound(axes, where, own / 1e6, among=rows["measured_ps"] / 1e6)
    true = rows.groupby("algorithm", sort=False)["true_ps"].first().reindex(names)
    axes.hlines(true / 1e6, np.arange(len(names)) - 0.45, np.arange(len(names)) + 0.45, color=INK, linewidth=1.6,
                label="one operation alone")  # fmt: skip
    axes.set_xticks(np.arange(len(names)), [name.replace("_", "_\n") for name in names])
    axes.set_ylabel("time [µs]")
    axes.tick_params(axis="x", length=0)
    axes.axhline(0, color=MUTED, linewidth=0.6)
    legend_above(figure, axes, 3)
    return figure
