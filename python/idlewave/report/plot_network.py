"""The figure of the network: what was measured at each size, its spread, and what the fitted model says."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from idlewave.plotting import (
    BLUE,
    GREEN,
    MUTED,
    ORANGE,
    SMALL,
    VERMILLION,
    new_figure,
    say_empty,
    spread_labels,
    styled,
    tidy,
)
from idlewave.report.data import QUANTITIES, MachineData
from idlewave.report.network import predicted_ns
from idlewave.report.text import size_text, time_text

LABELS = {
    "half_rtt": "half round trip",
    "gap": "gap per message",
    "o_s": "send overhead",
    "o_r": "receive overhead",
}
_COLOURS = {"half_rtt": BLUE, "gap": ORANGE, "o_s": GREEN, "o_r": VERMILLION}
_MARKERS = {"half_rtt": "o", "gap": "s", "o_s": "^", "o_r": "v"}


@styled
def plot_network(quantities: pd.DataFrame, machine: MachineData | None = None) -> Figure:
    """Median and spread of each quantity against message size (log-log), with the model's lines.

    `quantities`: series, size (bytes), median_ns, low_ns, high_ns, as `network.quantities` gives it.
    Where `machine` has residuals, a second panel shows them in percent of what was measured.
    """
    residuals = machine.residuals if machine is not None else None
    if residuals is None or residuals.empty:
        figure = new_figure(3.9)
        axes = figure.subplots()
        _quantities(axes, quantities, machine)
        axes.set_xlabel("message size")
        return figure
    figure = new_figure(5.0)
    axes, below = figure.subplots(2, 1, sharex=True, height_ratios=(3.2, 1))
    _quantities(axes, quantities, machine)
    _residuals(below, residuals)
    _eager_limit(below, machine)
    below.set_xlabel("message size")
    return figure


def _quantities(axes: Axes, table: pd.DataFrame, machine: MachineData | None) -> None:
    tidy(axes, "both")
    axes.set_ylabel("time")
    table = table[(table["median_ns"] > 0) & (table["size"] > 0)]
    if table.empty:
        say_empty(axes, "no sample is above zero")
        return
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    ends: list[tuple[str, float, float]] = []
    for series in QUANTITIES:
        own = table[table["series"] == series].sort_values("size")
        if own.empty:
            continue
        _points(axes, own, series)
        ends.append((series, float(own["size"].iloc[-1]), float(own["median_ns"].iloc[-1])))
        if machine is not None:
            sizes = _line_sizes(own["size"], machine)
            line = predicted_ns(machine, series, sizes)
            line[~(line > 0) | np.isin(sizes, _steps(machine))] = np.nan  # no stroke across a step
            axes.plot(sizes, line, color=_COLOURS[series], linewidth=1.0, zorder=1.5)
    _scale_sizes(axes, table["size"])
    axes.yaxis.set_major_locator(LogLocator(numticks=12))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: time_text(value * 1e3)))
    axes.yaxis.set_minor_formatter(NullFormatter())
    _direct_labels(axes, ends)
    _eager_limit(axes, machine, label=True)


def _points(axes: Axes, own: pd.DataFrame, series: str) -> None:
    colour = _COLOURS[series]
    low = own["low_ns"].clip(lower=own["median_ns"] / 1000)  # a log axis has no place for zero
    axes.vlines(own["size"], low, own["high_ns"], color=colour, linewidth=2.2, alpha=0.35)
    axes.plot(own["size"], own["median_ns"], _MARKERS[series], color=colour, markersize=2.8, linewidth=0)


def _line_sizes(sizes: pd.Series, machine: MachineData) -> list[int]:
    """Enough sizes for a smooth line, and both sides of each step."""
    low, high = int(sizes.min()), int(sizes.max())
    dense = {round(value) for value in np.geomspace(low, high, 200)}
    near = {size for step in _steps(machine) for size in (step - 1, step, step + 1)}
    return sorted(dense | {size for size in near if low <= size <= high})


def _steps(machine: MachineData) -> list[int]:
    """The sizes from which other parameters or another protocol hold."""
    return [segment.from_bytes for segment in machine.segments] + ([] if machine.S is None else [machine.S + 1])


def _scale_sizes(axes: Axes, sizes: pd.Series) -> None:
    low, high = math.floor(math.log2(sizes.min())), math.ceil(math.log2(sizes.max()))
    stride = max(1, math.ceil((high - low) / 7))
    axes.xaxis.set_major_locator(FixedLocator([2.0**power for power in range(low, high + 1, stride)]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: size_text(value)))
    axes.set_xlim(sizes.min() / 1.4, sizes.max() * 1.4)


def _direct_labels(axes: Axes, ends: list[tuple[str, float, float]]) -> None:
    """Each series' name at its right end (size, time); names that end at one size are moved apart."""
    low, high = axes.get_ylim()
    least = math.log10(high / low) / 19  # about the height of a line of type
    for right in {size for _, size, _ in ends}:
        here = [(series, value) for series, size, value in ends if size == right]
        places = spread_labels([math.log10(value) for _, value in here], least)
        for (series, _), place in zip(here, places, strict=True):
            axes.annotate(
                LABELS[series],
                (right, 10**place),
                xytext=(9, 0),
                textcoords="offset points",
                va="center",
                color=_COLOURS[series],
                annotation_clip=False,
            )


def _eager_limit(axes: Axes, machine: MachineData | None, *, label: bool = False) -> None:
    if machine is None or machine.S is None:
        return
    low, high = axes.get_xlim()
    if not low < machine.S < high:
        return
    axes.axvline(machine.S, color=MUTED, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    if label:
        near_right = math.log(machine.S / low) > 0.6 * math.log(high / low)
        axes.annotate(
            f"eager limit S = {size_text(machine.S)}",
            (machine.S, 1),
            xycoords=("data", "axes fraction"),
            xytext=(-4 if near_right else 4, -2),
            textcoords="offset points",
            ha="right" if near_right else "left",
            va="top",
            fontsize=SMALL,
            color=MUTED,
        )


def _residuals(axes: Axes, residuals: pd.DataFrame) -> None:
    tidy(axes)
    axes.axhline(0, color=MUTED, linewidth=0.6)
    relative = 100 * (residuals["predicted_ns"] / residuals["measured_ns"] - 1)
    for series, rows in residuals.groupby("series"):
        name = str(series)
        axes.plot(
            rows["size"],
            relative.loc[rows.index],
            _MARKERS.get(name, "o"),
            color=_COLOURS.get(name, MUTED),
            markersize=2.8,
            linewidth=0,
        )
    reach = max(1.0, float(relative.abs().max()) * 1.15)
    axes.set_ylim(-reach, reach)
    axes.set_ylabel("model less\nmeasured [%]")
