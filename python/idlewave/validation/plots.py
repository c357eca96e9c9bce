"""The figures of a validation: how far simulations are from the runs of programs, and of loops."""

from __future__ import annotations

import math

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter

from ..formatting import plain_time, size_text
from ..measure.network.plots.pattern_plot import FAIR, TICKS, error_limits, with_room
from ..plot_limits import Limits, cut_count, cut_text, mark_outside, say_above
from ..plot_style import MUTED, PALETTE, SOFT, new_figure, styled, tidy
from .rows import beside_copies_in, copies_in, loops_in, other_networks_in, replays_in

ROW = 0.3
"""Inches of a program."""


@styled
def plot_validation(table: pd.DataFrame) -> Figure:
    """The errors of the programs' simulations, a row a program, beside the range of its runs against their median.

    `table`: of `validate`. Loops are not drawn, nor rows with a doubt.
    """
    own = table[~loops_in(table) & (table["doubt"] == "")]
    names = list(dict.fromkeys(own["program"]))
    networks = list(dict.fromkeys(own["simulated_on"]))
    figure = new_figure(1.6 + ROW * max(len(names), 1))
    axes = figure.subplots()
    runs = own[replays_in(own)]
    least = runs["measured_least_s"] / runs["measured_s"] - 1
    most = runs["measured_most_s"] / runs["measured_s"] - 1
    limits = error_limits(own["error"], least, most)
    kinds = {
        "replayed": ("o", own[replays_in(own)]),
        "predicted for another network": ("D", own[other_networks_in(own)]),
        "predicted by copies": ("^", own[copies_in(own)]),
        "predicted for one rank beside copies": ("v", own[beside_copies_in(own)]),
    }
    heights = {name: -float(number) for number, name in enumerate(names)}
    bases = runs["program"].map(heights) + runs["simulated_on"].map(lambda network: _offset(networks, network))
    axes.hlines(bases, least, most, color=SOFT, linewidth=3.5, zorder=1)
    for ends in (least, most):
        mark_outside(axes, limits, bases, ends, across="x")
    for marker, rows in kinds.values():
        for network, of_network in rows.groupby("simulated_on", sort=False):
            places = of_network["program"].map(heights) + _offset(networks, network)
            colour = PALETTE[networks.index(str(network)) % len(PALETTE)]
            axes.plot(of_network["error"], places, marker, color=colour, markersize=4, zorder=2)
            mark_outside(axes, limits, places, of_network["error"], colour, across="x")
    _error_axis(axes, limits)
    axes.set_yticks([heights[name] for name in names], names)
    axes.set_ylim(-len(names) + 0.4, 0.6)
    tidy(axes, "x")
    shapes = [
        Line2D([], [], marker=marker, linestyle="none", color=MUTED, markersize=4, label=kind)
        for kind, (marker, rows) in kinds.items()
        if len(rows)
    ]
    colours = [Patch(color=PALETTE[i % len(PALETTE)], label=name) for i, name in enumerate(networks)]
    spread = [Line2D([], [], color=SOFT, linewidth=3.5, label="range of the runs")]
    figure.legend(handles=[*shapes, *spread, *colours], loc="outside lower center", ncols=3)
    say_above(axes, cut_text(cut_count(figure)))
    return figure


def _offset(networks: list[str], network: object) -> float:
    """Of the rows of a network from the middle of a program's."""
    return 0.0 if len(networks) < 2 else 0.5 * (0.5 - networks.index(str(network)) / (len(networks) - 1))


def _error_axis(axes: Axes, limits: Limits) -> None:
    """The error along x, with the room that it needs."""
    axes.axvspan(-FAIR, FAIR, color=MUTED, alpha=0.12, linewidth=0, zorder=0)
    axes.axvline(0, color=MUTED, linewidth=0.8, zorder=0)
    axes.set_xlim(*with_room(limits))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:+.0%}"))
    axes.set_xlabel("error of the simulated time against the median run")


@styled
def plot_loops(table: pd.DataFrame) -> Figure:
    """The errors of loops over the size of their messages: a panel for each network and speed, a line a loop.

    `table`: of `validate`. Loops without a size, such as a barrier, are not drawn.
    """
    own = table[loops_in(table) & (table["size"] > 0)]
    panels = list(own.groupby(["simulated_on", "machine_round_trip_ns"], sort=False, dropna=False))
    figure = new_figure(0.8 + 2.1 * max(len(panels), 1))
    every = figure.subplots(max(len(panels), 1), 1, sharex=True, squeeze=False)[:, 0]
    limits = error_limits(own["error"])
    loops = list(dict.fromkeys(own["program"]))
    for axes, ((network, _), rows) in zip(every, panels, strict=False):
        for name, of_loop in rows.groupby("program", sort=False):
            colour = PALETTE[loops.index(str(name)) % len(PALETTE)]
            axes.plot(of_loop["size"], of_loop["error"], "o-", color=colour, markersize=3, linewidth=1, label=str(name))
            mark_outside(axes, limits, of_loop["size"], of_loop["error"], colour)
        machine_round_trip_ns = float(rows["machine_round_trip_ns"].iloc[0])
        at = (
            ""
            if math.isnan(machine_round_trip_ns)
            else f", a byte there and back {plain_time(1000 * machine_round_trip_ns)}"
        )
        axes.set_title(f"{network}{at}")
    for axes in every:
        axes.axhspan(-FAIR, FAIR, color=MUTED, alpha=0.12, linewidth=0)
        axes.axhline(0, color=MUTED, linewidth=0.8)
        axes.set_ylim(*with_room(limits))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:+.0%}"))
        axes.set_ylabel("error")
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_locator(FixedLocator(TICKS))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: size_text(value)))
        tidy(axes, "both")
    every[-1].set_xlabel("message size")
    if len(own):
        handles, labels = every[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4)
    say_above(every[0], cut_text(cut_count(figure), "point"))
    return figure
