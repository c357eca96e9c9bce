"""The figure of a network's curves: a panel each for half a round trip, the gap, and both overheads, with the measured
values and their spread at each size, the prediction by the fitted parameters, and the residuals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from ....formatting import SPACE, size_text
from ....plot_limits import cut_handle, mark_cut, mark_outside
from ....plot_style import (
    BLUE,
    GREEN,
    INK,
    MUTED,
    ORANGE,
    SMALL,
    SOFT,
    VERMILLION,
    new_figure,
    say_empty,
    styled,
    tidy,
)
from ..fitting.loggp import LogGP
from ..fitting.prediction import Network
from ..fitting.quantities import QUANTITIES, quantities_of, residuals_of
from .curve_table import Compared, aside_at, aside_parts, compared, cut_off, line_of, line_sizes, not_modelled
from .plot_helpers import scale_sizes, scale_times

LABELS = {
    "half_rtt": "half round trip",
    "gap": "gap per message",
    "o_s": "send overhead",
    "o_r": "receive overhead",
}
COLOURS = {"half_rtt": BLUE, "gap": ORANGE, "o_s": GREEN, "o_r": VERMILLION}
HATCH = "///////"


@dataclass(frozen=True)
class Mark:
    """A size after which something changes, and its label (empty: only a line); a bend is dotted."""

    size: int
    text: str = ""
    bend: bool = False


def plot_fit(fit: LogGP) -> Figure:
    """The curves of a fit with its segments, protocol changes and residuals."""
    marks = [Mark(r.first - 1, bend=r.cause == "bend") for r in fit.ranges if r.cause in ("jump", "bend")]
    if fit.S is not None:
        marks.append(Mark(fit.S, f"eager limit S = {size_text(fit.S)}"))
    return plot_curves(
        quantities_of(fit),
        fit.network,
        residuals_of(fit),
        marks,
        title="Messages between two ranks: as measured, and by the LogGOPS model fitted to them",
        spread=f"95{SPACE}% interval of the median",
    )


@styled
def plot_curves(
    quantities: pd.DataFrame,
    network: Network | None = None,
    residuals: pd.DataFrame | None = None,
    marks: list[Mark] | None = None,
    *,
    title: str = "",
    spread: str = "its spread",
) -> Figure:
    """Median and spread of each quantity against message size (log-log), a panel each, with the line that the rules
    of `network` give for the same measurement.

    `quantities`: series (of QUANTITIES), size (bytes), median_ns, low_ns, high_ns. `residuals`: size, series,
    measured_ns, predicted_ns, and aside_ns, the part of measured_ns that is deliberately no overhead in the model (0
    unless given). It is hatched; a strip below each panel has predicted + aside - measured, in percent of measured.
    """
    seen = compared(quantities, residuals)
    marks = marks or []
    strips = not seen.residuals.empty
    rows = 2 if strips else 1
    figure = new_figure(6.6 if strips else 4.6)
    heights = (2.5, 1) * 2 if strips else (1, 1)
    cells = figure.subplots(2 * rows, 2, sharex=not seen.shown.empty, sharey="row", height_ratios=heights)
    for series, axes in zip(QUANTITIES, cells[::rows].flat, strict=True):
        _panel(axes, seen, series, network)
        _marks(axes, marks, named=series == "half_rtt")
    if strips:
        for series, axes in zip(QUANTITIES, cells[1::2].flat, strict=True):
            _strip(axes, seen, series)
            _marks(axes, marks, named=False)
    for row in cells:
        row[0].set_ylabel("time" if row[0].get_title("left") else "model less\nmeasured [%]")
    for axes in cells[-1]:
        axes.set_xlabel("message size")
    figure.align_ylabels()
    _legend(figure, seen, network, title, spread)
    return figure


def _panel(axes: Axes, seen: Compared, series: str, network: Network | None) -> None:
    tidy(axes, "both")
    axes.set_title(LABELS[series], color=COLOURS[series])
    own = seen.shown[seen.shown["series"] == series]
    if seen.shown.empty:
        say_empty(axes, "no sample is above zero")
        return
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    scale_sizes(axes, seen.shown["size"], most=4)
    axes.set_ylim(seen.times.low, seen.times.high)
    scale_times(axes)
    if own.empty:
        say_empty(axes, "not measured", ticks=True)
        return
    if network is not None:
        _line(axes, seen, series, network)
    _points(axes, own, seen, network)


def _points(axes: Axes, own: pd.DataFrame, seen: Compared, network: Network | None) -> None:
    series = str(own["series"].iloc[0])
    colour, times = COLOURS[series], seen.times
    low = np.fmin(own["low_ns"].clip(lower=own["median_ns"] / 1e6), own["median_ns"])  # a log axis has no place for 0
    high = np.fmax(own["high_ns"], own["median_ns"])
    axes.vlines(own["size"], low, high, color=colour, linewidth=2.0, alpha=0.3)
    open_ = not_modelled(network, series, own["size"]) if network else pd.Series(False, own.index)
    for chosen, face in ((~open_, colour), (open_, "white")):
        some = own[chosen]
        axes.plot(
            some["size"], some["median_ns"], "o", color=colour, markerfacecolor=face, markersize=2.7,
            markeredgewidth=0.7 if face == "white" else 0.0, linewidth=0,
        )  # fmt: skip
    mark_cut(axes, "top", own["size"][times.above(high)], colour)
    mark_cut(axes, "bottom", own["size"][times.below(low)], colour)


def _line(axes: Axes, seen: Compared, series: str, network: Network) -> None:
    """The model's line; a part of the call that is no overhead in the model is hatched above it."""
    sizes = line_sizes(seen.shown.loc[seen.shown["series"] == series, "size"], network)
    line = line_of(network, series, sizes)
    aside = aside_at(aside_parts(seen.residuals, network, series), network, sizes)
    if np.any(aside > 0):
        with_it = np.where(aside > 0, line + aside, np.nan)
        axes.fill_between(sizes, line, with_it, facecolor="none", edgecolor=SOFT, hatch=HATCH, linewidth=0.0, zorder=1)
        axes.plot(sizes, with_it, color=INK, linewidth=0.9, linestyle=(0, (3, 2)), zorder=2.6)
    axes.plot(sizes, line, color=INK, linewidth=1.1, zorder=2.6)


def _strip(axes: Axes, seen: Compared, series: str) -> None:
    tidy(axes)
    axes.axhline(0, color=INK, linewidth=0.7)
    limits, own = seen.percents, seen.residuals[seen.residuals["series"] == series]
    axes.set_ylim(limits.low, limits.high)
    axes.locator_params(axis="y", nbins=3, symmetric=True)
    inside = ~(limits.above(own["percent"]) | limits.below(own["percent"]))
    axes.plot(own["size"][inside], own["percent"][inside], "o", color=COLOURS[series], markersize=2.3, linewidth=0)
    mark_outside(axes, limits, own["size"], own["percent"], COLOURS[series])
    if own.empty:
        say_empty(axes, "nothing to compare", ticks=True)


def _marks(axes: Axes, marks: list[Mark], *, named: bool) -> None:
    for mark in marks:
        _mark(axes, mark if named else Mark(mark.size, bend=mark.bend))


def _mark(axes: Axes, mark: Mark) -> None:
    low, high = axes.get_xlim()
    if not low < mark.size < high or axes.get_xscale() != "log":
        return
    axes.axvline(mark.size, color=MUTED, linewidth=0.8, linestyle=(0, (1, 3)) if mark.bend else (0, (4, 3)), zorder=1)
    if mark.text:
        near_right = math.log(mark.size / low) > 0.5 * math.log(high / low)
        axes.annotate(
            mark.text,
            (mark.size, 1),
            xycoords=("data", "axes fraction"),
            xytext=(-4 if near_right else 4, -6),
            textcoords="offset points",
            ha="right" if near_right else "left",
            va="top",
            fontsize=SMALL,
            color=MUTED,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0},
        )


def _legend(figure: Figure, seen: Compared, network: Network | None, title: str, spread: str) -> None:
    if seen.shown.empty:
        return
    looks: Any = {"color": MUTED, "marker": "o", "linestyle": "none"}
    entries: list[Line2D | Patch] = [
        Line2D([], [], markersize=3.5, markeredgewidth=0.0, label="measured median", **looks),
        Line2D([], [], color=MUTED, alpha=0.4, linewidth=2.5, label=spread),
    ]
    if network is not None:
        entries.append(Line2D([], [], color=INK, linewidth=1.1, label="the model"))
        if (seen.residuals["aside_ns"] > 0).any():
            text = "in the call, not in the model’s overhead"
            entries.append(Patch(facecolor="none", edgecolor=SOFT, hatch=HATCH, linewidth=0.0, label=text))
        receives = seen.shown.loc[seen.shown["series"] == "o_r", "size"]
        if not_modelled(network, "o_r", receives).any():
            open_: Any = {"markersize": 3.5, "markeredgewidth": 0.8, "markerfacecolor": "white"}
            entries.append(Line2D([], [], label="not in the model", **open_, **looks))
    cut = cut_off(seen)
    if cut.medians or cut.intervals or cut.residuals:
        entries.append(cut_handle())
    placed: Any = {
        "ncols": 3,
        "handlelength": 1.6,
        "columnspacing": 1.4,
        "title_fontproperties": {"weight": "bold", "size": 9.0},
    }
    figure.legend(handles=entries, loc="outside upper left", title=title or None, alignment="left", **placed)
