"""Figures of the study of FT: time and hidden communication by exchange and ranks, links, predicted and measured."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, PercentFormatter

from idlewave.plot_style import INK, MUTED, PALETTE, new_figure, say_empty, styled, tidy
from idlewave.report.line_figures import LINES, MARKS, bound, legend_above, rank_axis


@styled
def plot_ft_times(rows: pd.DataFrame) -> Figure:
    """Time of an iteration by the time that a rank computes, against ranks: a panel a machine, a line an exchange."""
    figure, axes = _panels(rows)
    for panel, (_, group) in zip(axes, rows.groupby("machine", sort=False), strict=True):
        scale = group[group["links"] == group["links"].max()]
        _lines(panel, scale, "ranks", scale["seconds"] / scale["computation_s"])
        bound(panel, scale["ranks"], scale["seconds"] / scale["computation_s"])
        _rank_axis(panel, sorted(scale["ranks"].unique()))
        panel.axhline(1, color=MUTED, linewidth=0.8)
    axes[0].set_ylabel("time / computation of a rank")
    legend_above(figure, axes[0])
    return figure


@styled
def plot_ft_hidden(rows: pd.DataFrame) -> Figure:
    """The share of the communication that is hidden behind computation, against ranks: panels and lines as before."""
    figure, axes = _panels(rows)
    for panel, (_, group) in zip(axes, rows.groupby("machine", sort=False), strict=True):
        scale = group[group["links"] == group["links"].max()]
        _lines(panel, scale, "ranks", scale["hidden"])
        bound(panel, scale["ranks"], scale["hidden"])
        _rank_axis(panel, sorted(scale["ranks"].unique()))
        panel.yaxis.set_major_formatter(PercentFormatter(1, decimals=None))
        panel.axhline(0, color=MUTED, linewidth=0.8)
    axes[0].set_ylabel("communication hidden")
    legend_above(figure, axes[0])
    return figure


@styled
def plot_ft_links(rows: pd.DataFrame) -> Figure:
    """The communication of an iteration that is not hidden, ms, against the number of links: a line an exchange.

    `rows` are those of one machine and one number of ranks.
    """
    figure = new_figure(2.9)
    axes = figure.subplots()
    tidy(axes)
    _lines(axes, rows, "links", rows["exposed_s"] * 1e3)
    axes.set_xlabel("links of a node")
    axes.xaxis.set_major_locator(FixedLocator(sorted(rows["links"].unique())))
    axes.set_ylabel("communication not hidden [ms]")
    axes.set_ylim(bottom=0)
    bound(axes, rows["links"], rows["exposed_s"] * 1e3)
    axes.legend(loc="upper right")
    return figure


@styled
def plot_ft_measured(compared: pd.DataFrame) -> Figure:
    """Predicted (diamonds) and measured time (points with the range of the runs) of each exchange: a panel a class."""
    groups = list(compared.groupby(["problem", "ranks"], sort=False))
    figure = new_figure(0.75 + 1.35 * len(groups))
    panels = np.atleast_1d(figure.subplots(len(groups), 1))
    for axes, ((problem, ranks), group) in zip(panels, groups, strict=True):
        tidy(axes, "x")
        heights = np.arange(len(group))[::-1]
        below, above = (
            np.nan_to_num(side.clip(0), posinf=0.0)
            for side in (group["measured_s"] - group["least_s"], group["most_s"] - group["measured_s"])
        )
        axes.errorbar(
            group["measured_s"], heights, xerr=[below, above], fmt="o", color=PALETTE[0], markersize=4, capsize=2,
            label="measured: median and range",
        )  # fmt: skip
        axes.plot(group["predicted_s"], heights, "D", color=INK, markerfacecolor="none", markersize=5,
                  label="predicted")  # fmt: skip
        axes.set_yticks(heights, group["exchange"])
        axes.set_ylim(-0.6, len(group) - 0.4)
        axes.set_xlim(left=0)
        bound(axes, np.tile(heights, 3), group[["measured_s", "predicted_s", "most_s"]].to_numpy().T, across="x")
        axes.set_title(f"class {problem}, {ranks} ranks")
    panels[-1].set_xlabel("run time [s]")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=2)
    return figure


def _panels(rows: pd.DataFrame) -> tuple[Figure, Sequence[Axes]]:
    """A figure with a panel a machine, side by side."""
    machines = list(rows["machine"].unique())
    figure = new_figure(3.2)
    if not machines:
        axes = figure.subplots()
        say_empty(axes, "nothing was simulated")
        return figure, [axes]
    panels = np.atleast_1d(figure.subplots(1, len(machines)))
    for axes, machine in zip(panels, machines, strict=True):
        tidy(axes)
        links = int(rows.loc[rows["machine"] == machine, "links"].max())
        axes.set_title(f"{machine}, {links} link{'s' if links > 1 else ''}")
    return figure, list(panels)


def _lines(axes: Axes, rows: pd.DataFrame, across: str, values: pd.Series[float]) -> None:
    """A line for each exchange, of `values` over the column `across`. Lines that lie on each other stay visible."""
    for number, exchange in enumerate(rows["exchange"].unique()):
        chosen = rows["exchange"] == exchange
        axes.plot(
            rows.loc[chosen, across], values[chosen], label=exchange, color=PALETTE[number],
            linestyle=LINES[number % len(LINES)], marker=MARKS[number % len(MARKS)],
            markersize=6.5 - number, linewidth=2.4 - 0.35 * number, markerfacecolor="none",
        )  # fmt: skip


def _rank_axis(axes: Axes, ranks: list[int]) -> None:
    rank_axis(axes, ranks)
    if len(ranks) > 3:
        axes.tick_params(axis="x", rotation=40)
