"""Figures of the study of a network that varies: the runs by their slowdown, and by when they begin."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from idlewave.formatting import count_text
from idlewave.plot_style import INK, PALETTE, new_figure, styled, tidy
from idlewave.report.line_figures import LINES, MARKS, bound, legend_above

MOST_LINES = len(LINES)


@styled
def plot_slowdown_shares(runs: pd.DataFrame) -> Figure:
    """The share of runs that take so much longer or more: a line a number of ranks, and one for its mean."""
    figure = new_figure(2.8)
    axes = figure.subplots()
    tidy(axes)
    for number, (ranks, own) in enumerate(_chosen(runs)):
        slowdown = np.sort(own["slowdown"].to_numpy(float)) * 100
        shares = 100 * (1 - np.arange(len(slowdown)) / len(slowdown))
        color, line = PALETTE[number % len(PALETTE)], LINES[number % len(LINES)]
        axes.step(
            slowdown,
            shares,
            where="pre",
            color=color,
            linestyle=line,
            linewidth=1.4,
            label=f"{count_text(ranks)} ranks",
        )
        axes.plot([np.nanmean(slowdown)] * 2, [0, 100], color=color, linestyle=line, linewidth=0.7)
    bound(axes, np.zeros(len(runs)), 100 * runs["slowdown"], across="x")
    axes.set_ylim(0, 102)
    axes.set_xlabel("slowdown by the variation [%]")
    axes.set_ylabel("runs [%]")
    legend_above(figure, axes)
    return figure


@styled
def plot_slowdown_by_start(runs: pd.DataFrame) -> Figure:
    """The slowdown of each run against when it begins in the variation: a mark a run."""
    figure = new_figure(2.8)
    axes = figure.subplots()
    tidy(axes, "both")
    unit, name = _unit(float(np.nanmax(runs["offset_ps"], initial=0)) / 1e12)
    for number, (ranks, own) in enumerate(_chosen(runs)):
        axes.plot(
            own["offset_ps"] / 1e12 / unit, 100 * own["slowdown"], linestyle="", marker=MARKS[number % len(MARKS)],
            markersize=4, markerfacecolor="none", color=PALETTE[number % len(PALETTE)],
            label=f"{count_text(ranks)} ranks",
        )  # fmt: skip
    axes.axhline(0, color=INK, linewidth=0.8)
    bound(axes, runs["offset_ps"] / 1e12 / unit, 100 * runs["slowdown"])
    axes.set_xlabel(f"the run begins in the recording at [{name}]")
    axes.set_ylabel("slowdown [%]")
    legend_above(figure, axes)
    return figure


def _chosen(runs: pd.DataFrame) -> list[tuple[int, pd.DataFrame]]:
    """The runs of each number of ranks; of more than there are kinds of lines, the fewest and the most ranks."""
    groups = [(int(str(ranks)), own) for ranks, own in runs.groupby("ranks")]
    if len(groups) <= MOST_LINES:
        return groups
    places = np.linspace(0, len(groups) - 1, MOST_LINES).round().astype(int)
    return [groups[place] for place in places]


def _unit(seconds: float) -> tuple[float, str]:
    """A unit in which so many seconds are a handy number."""
    for unit, name in ((3600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms")):
        if seconds >= 2 * unit:
            return unit, name
    return 1e-6, "µs"
