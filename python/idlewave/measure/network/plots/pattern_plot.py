"""The figure of patterns of messages: their measured times, or the error of a machine's simulation."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter

from ....formatting import size_text
from ....plot_limits import Limits, bulk_limits, cut_count, cut_text, mark_outside, say_above
from ....plot_style import MUTED, PALETTE, new_figure, styled, tidy
from ..fitting.pattern_assessment import variants_of
from ..fitting.pattern_times import AFTER, PATTERNS, ROUND_TRIPS

TICKS = [64.0**i for i in range(6)]
"""Message sizes that have a tick."""
FAIR = 0.1
"""Errors within a tenth are shaded."""


@styled
def plot_patterns(table: pd.DataFrame) -> Figure:
    """Over the size, a panel for each pattern and a line for each window, or length of the computation before it.

    `table`: of `PatternMeasurement.compared`, whose errors it draws, or `PatternMeasurement.table`, whose times per
    message it draws with their intervals.
    """
    present = [pattern for pattern in PATTERNS if (table["pattern"] == pattern).any()]
    rows = -(-len(present) // 2)
    figure = new_figure(1.0 + 2.2 * rows)
    panels = figure.subplots(rows, 2, sharex=True, squeeze=False).ravel()
    for spare in panels[len(present) :]:
        spare.set_axis_off()
    draw = _draw_errors if "error" in table.columns else _draw_times
    for axes, pattern in zip(panels, present, strict=False):
        own = table[table["pattern"] == pattern]
        draw(axes, own)
        axes.set_xscale("log", base=2)
        axes.set_xlim(0.7 * max(table["size"].min(), 1), 1.5 * max(table["size"].max(), 1))
        axes.xaxis.set_major_locator(FixedLocator(TICKS))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: size_text(value)))
        axes.set_title(pattern)
        if len(_lines(own)) > 1:
            axes.legend(loc="best", ncols=2)
        tidy(axes, "both")
    for axes in panels[len(present) - 2 : len(present)]:
        axes.set_xlabel("message size")
        axes.tick_params(labelbottom=True)
    say_above(panels[0], cut_text(cut_count(figure), "point"))
    return figure


def _lines(own: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """The rows of a pattern by line, each with its label."""
    label = "after {}" if (own["pattern"] == AFTER).any() else "{} at once"
    variants = own.sort_values(["window", "delay_ns"]).groupby(variants_of(own), sort=False)
    return [(label.format(variant), rows) for variant, rows in variants]


def error_limits(*columns: pd.Series) -> Limits:
    """The limits of an axis that shows the bulk of each column, and errors that are fair.

    Each has a bulk of its own: what is usual for the ranges of runs may be far off for errors.
    """
    bulks = [bulk_limits(column) for column in columns if np.isfinite(column.astype(float)).any()]
    return Limits(min([-FAIR, *(bulk.low for bulk in bulks)]), max([FAIR, *(bulk.high for bulk in bulks)]))


def with_room(limits: Limits) -> tuple[float, float]:
    """The ends of such an axis."""
    room = 0.08 * (limits.high - limits.low)
    return limits.low - room, limits.high + room


def _draw_errors(axes: Axes, own: pd.DataFrame) -> None:
    limits = error_limits(own["error"])
    for (label, rows), colour in zip(_lines(own), PALETTE, strict=False):
        axes.plot(rows["size"], rows["error"], "o-", color=colour, markersize=3, linewidth=1, label=label)
        mark_outside(axes, limits, rows["size"], rows["error"], colour)
    axes.axhspan(-FAIR, FAIR, color=MUTED, alpha=0.15, linewidth=0)
    axes.axhline(0, color=MUTED, linewidth=0.8)
    axes.set_ylim(*with_room(limits))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:+.0%}"))
    axes.set_ylabel("error of the simulation")


def _draw_times(axes: Axes, own: pd.DataFrame) -> None:
    messages = own["window"].where(~own["pattern"].isin(ROUND_TRIPS), 2)  # there and back
    times = own[["median_ps", "low_ps", "high_ps"]].div(messages, axis=0) / 1e6
    limits = bulk_limits(times, log=True)
    for (label, rows), colour in zip(_lines(own), PALETTE, strict=False):
        middle, low, high = (times.loc[rows.index, name] for name in ("median_ps", "low_ps", "high_ps"))
        spread = ((middle - low).clip(lower=0), (high - middle).clip(lower=0))
        axes.errorbar(rows["size"], middle, spread, fmt="o-", color=colour, markersize=3, linewidth=1, label=label)
        mark_outside(axes, limits, rows["size"], middle, colour)
    axes.set_yscale("log")
    axes.set_ylim(limits.low / 1.3, limits.high * 1.3)
    axes.set_ylabel("time per message [µs]")
