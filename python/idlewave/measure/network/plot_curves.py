"""The figure of a network's curves: what was measured at each size, its spread, and what the fitted parameters say."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...plotting import (
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
from ...wording import size_text
from .drawing import scale_sizes, scale_times
from .loggp import LogGP
from .quantities import QUANTITIES, predicted_ps, quantities_of, residuals_of
from .rules import Network

LABELS = {
    "half_rtt": "half round trip",
    "gap": "gap per message",
    "o_s": "send overhead",
    "o_r": "receive overhead",
}
COLOURS = {"half_rtt": BLUE, "gap": ORANGE, "o_s": GREEN, "o_r": VERMILLION}
MARKERS = {"half_rtt": "o", "gap": "s", "o_s": "^", "o_r": "v"}


@dataclass(frozen=True)
class Mark:
    """A size after which something changes, and what is said of it (nothing: only a line); a bend is dotted."""

    size: int
    text: str = ""
    bend: bool = False


def plot_fit(fit: LogGP) -> Figure:
    """The curves of a fit with its segments, switches and residuals."""
    marks = [Mark(r.first - 1, bend=r.cause == "bend") for r in fit.ranges if r.cause in ("jump", "bend")]
    if fit.S is not None:
        marks.append(Mark(fit.S, f"eager limit S = {size_text(fit.S)}"))
    return plot_curves(quantities_of(fit), fit.network, residuals_of(fit), marks)


@styled
def plot_curves(
    quantities: pd.DataFrame,
    network: Network | None = None,
    residuals: pd.DataFrame | None = None,
    marks: list[Mark] | None = None,
) -> Figure:
    """Median and spread of each quantity against message size (log-log), with lines by the rules of `network`.

    `quantities`: series (of QUANTITIES), size (bytes), median_ns, low_ns, high_ns. `residuals`: size, series,
    measured_ns, predicted_ns: a second panel shows them in percent of what was measured.
    """
    marks = marks or []
    if residuals is None or residuals.empty:
        figure = new_figure(3.9)
        axes = figure.subplots()
        _quantities(axes, quantities, network, marks)
        axes.set_xlabel("message size")
        return figure
    figure = new_figure(5.0)
    axes, below = figure.subplots(2, 1, sharex=True, height_ratios=(3.2, 1))
    _quantities(axes, quantities, network, marks)
    _residuals(below, residuals)
    for mark in marks:
        _mark(below, Mark(mark.size, bend=mark.bend))
    below.set_xlabel("message size")
    return figure


def _quantities(axes: Axes, table: pd.DataFrame, network: Network | None, marks: list[Mark]) -> None:
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
        if network is not None:
            _line(axes, own["size"], network, series)
    scale_sizes(axes, table["size"])
    scale_times(axes)
    _direct_labels(axes, ends)
    for mark in marks:
        _mark(axes, mark)


def _points(axes: Axes, own: pd.DataFrame, series: str) -> None:
    colour = COLOURS[series]
    low = own["low_ns"].clip(lower=own["median_ns"] / 1000)  # a log axis has no place for zero
    axes.vlines(own["size"], low, own["high_ns"], color=colour, linewidth=2.2, alpha=0.35)
    axes.plot(own["size"], own["median_ns"], MARKERS[series], color=colour, markersize=2.8, linewidth=0)


def _line(axes: Axes, measured: pd.Series, network: Network, series: str) -> None:
    sizes = _line_sizes(measured, network)
    line = np.array([predicted_ps(network, series, size) / 1000 for size in sizes])
    line[~(line > 0) | np.isin(sizes, _steps(network))] = np.nan  # no stroke across a step
    axes.plot(sizes, line, color=COLOURS[series], linewidth=1.0, zorder=1.5)


def _line_sizes(sizes: pd.Series, network: Network) -> list[int]:
    """Enough sizes for a smooth line, and both sides of each step."""
    low, high = int(sizes.min()), int(sizes.max())
    dense = {round(value) for value in np.geomspace(low, high, 200)}
    near = {size for step in _steps(network) for size in (step - 1, step, step + 1)}
    return sorted(dense | {size for size in near if low <= size <= high})


def _steps(network: Network) -> list[int]:
    """The sizes from which other parameters or another protocol hold."""
    return [first for first, _ in network.ranges[1:]] + ([] if network.S is None else [network.S + 1])


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
                color=COLOURS[series],
                annotation_clip=False,
            )


def _mark(axes: Axes, mark: Mark) -> None:
    low, high = axes.get_xlim()
    if not low < mark.size < high:
        return
    axes.axvline(mark.size, color=MUTED, linewidth=0.8, linestyle=(0, (1, 3)) if mark.bend else (0, (4, 3)), zorder=1)
    if mark.text:
        near_right = math.log(mark.size / low) > 0.6 * math.log(high / low)
        axes.annotate(
            mark.text,
            (mark.size, 1),
            xycoords=("data", "axes fraction"),
            xytext=(-4 if near_right else 4, -2),
            textcoords="offset points",
            ha="right" if near_right else "left",
            va="top",
            fontsize=SMALL,
            color=MUTED,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0},
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
            MARKERS.get(name, "o"),
            color=COLOURS.get(name, MUTED),
            markersize=2.8,
            linewidth=0,
        )
    reach = max(1.0, float(relative.abs().max()) * 1.15)
    axes.set_ylim(-reach, reach)
    axes.set_ylabel("model less\nmeasured [%]")
