"""Figures of a network beside that of its curves: the methods' differences, and the distributions."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from ....formatting import SPACE, percent_tick, plural, size_text, time_text
from ....plot_limits import Limits, bulk_limits, cut_count, cut_handle, mark_cut, mark_outside
from ....plot_style import (
    BLUE,
    GREEN,
    MUTED,
    ORANGE,
    PALETTE,
    SMALL,
    SOFT,
    VERMILLION,
    new_figure,
    say_empty,
    styled,
    tidy,
)
from ..fitting.earlier_methods import BELL, CULLER, KIELMANN, METHODS, PRTT, at_smallest_size
from ..fitting.latency_distribution import latencies, over_time, overheads
from .plot_helpers import scale_sizes, scale_times

_COLOURS = {PRTT: BLUE, CULLER: ORANGE, KIELMANN: GREEN, BELL: VERMILLION}
_MARKERS = {PRTT: "o", CULLER: "s", KIELMANN: "^", BELL: "v"}
_TITLES = {
    "o_s": "send overhead, o_s",
    "o_r": "receive overhead, o_r",
    "g": "gap per message, g",
    "L": "latency of the smallest message, L",
}
SIZES_SHOWN = 5
FURTHER = 3.0
"""Intervals extend an axis by at most this factor beyond the medians."""


@styled
def plot_methods(table: pd.DataFrame) -> Figure:
    """o_s, o_r and the gap by size, and L, by each method, with 95 % intervals.

    `table` as `methods.compare_methods` gives it.
    """
    figure = new_figure(5.2)
    panels = figure.subplots(2, 2)
    for axes, name in zip(panels.flat, ("o_s", "o_r", "g"), strict=False):
        _by_size(axes, table[(table["parameter"] == name) & (table["size"] > 0)], name)
    _latency(panels[1][1], table)
    named: dict[str, Artist] = {}
    for axes in panels.flat:
        named |= {str(handle.get_label()): handle for handle in axes.get_legend_handles_labels()[0]}
    shown = [method for method in METHODS if method in named]
    if shown:
        handles = [named[method] for method in shown]
        if cut_count(figure):
            handles.append(cut_handle())
        figure.legend(
            handles=handles,
            loc="outside upper left",
            ncols=5,
            columnspacing=1.2,
            handletextpad=0.4,
            title=f"Parameters of the network as four methods find them; bars: 95{SPACE}% intervals",
            alignment="left",
        )
    return figure


def _by_size(axes: Axes, table: pd.DataFrame, name: str) -> None:
    tidy(axes, "both")
    axes.set_title(_TITLES[name])
    table = table[table["value_ps"] > 0]
    if table.empty:
        say_empty(axes, "no series of it was recorded")
        return
    limits = bulk_limits(table["value_ps"] / 1e3, log=True)
    limits = limits.reaching(table[["low_ps", "high_ps"]] / 1e3, FURTHER).with_margin()
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    others = table[table["method"] != PRTT]["size"]
    for method in METHODS:
        own = table[table["method"] == method].sort_values("size")
        if method == PRTT and not others.empty:
            own = own[own["size"].isin(others)]
        if own.empty:
            continue
        middle = own["value_ps"] / 1e3
        low, high = (own["low_ps"] / 1e3).clip(lower=middle / 1000), own["high_ps"] / 1e3
        colour = _COLOURS[method]
        axes.vlines(own["size"], low, high, color=colour, linewidth=2.2, alpha=0.3)
        axes.plot(
            own["size"], middle, marker=_MARKERS[method], color=colour, markersize=3.2, linewidth=0.8, label=method
        )
        mark_cut(axes, "top", own["size"][limits.above(np.fmax(high, middle))], colour)
        mark_cut(axes, "bottom", own["size"][limits.below(middle)], colour)  # an interval may reach to 0
    scale_sizes(axes, table["size"], most=4)
    axes.set_ylim(limits.low, limits.high)
    scale_times(axes)
    axes.set_xlabel("message size")


def _latency(axes: Axes, table: pd.DataFrame) -> None:
    """L by each method, a row each; for Bell's method the round trip, which it has instead."""
    tidy(axes, "x")
    axes.set_title(_TITLES["L"])
    found = at_smallest_size(table)
    rows = [(method, found[method]["L"]) for method in METHODS if "L" in found[method]]
    if not rows:
        say_empty(axes, "no series of it was recorded")
        return
    for place, (method, (value, low, high)) in enumerate(rows):
        axes.hlines(place, low / 1e3, high / 1e3, color=_COLOURS[method], linewidth=2.2, alpha=0.3)
        axes.plot(value / 1e3, place, _MARKERS[method], color=_COLOURS[method], markersize=4)
        axes.annotate(
            time_text(value),
            (value / 1e3, place),
            xytext=(0, 6),
            textcoords="offset points",
            ha="center",
            fontsize=SMALL,
        )
    if "EEL" in found[BELL]:
        axes.annotate(
            f"Bell: L is not measured; round trip {time_text(found[BELL]['EEL'][0])}",
            (0.0, 0.0),
            xycoords="axes fraction",
            xytext=(2, 3),
            textcoords="offset points",
            fontsize=SMALL,
            color=MUTED,
        )
    axes.set_yticks(range(len(rows)), [method.split(" ")[0] for method, _ in rows])
    axes.set_ylim(len(rows) - 0.2, -0.7)
    values, ends = (np.array([row[part] for _, row in rows]) / 1e3 for part in (slice(0, 1), slice(1, 3)))
    bulk = bulk_limits(values)
    low, high = min(0.0, bulk.low), max(bulk.high, 0.0)
    reach = FURTHER * (high - low)
    shown = Limits(max(min(low, np.nanmin(ends)), low - reach), min(max(high, np.nanmax(ends)), high + reach))
    margin = 0.15 * (shown.high - shown.low) + 1e-3
    axes.set_xlim(shown.low - (margin if shown.low < 0 else 0.0), shown.high + margin)
    mark_outside(axes, shown, np.arange(len(rows)), ends[:, 1], across="x")
    mark_outside(axes, shown, np.arange(len(rows)), ends[:, 0], across="x")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: time_text(value * 1e3)))
    axes.locator_params(axis="x", nbins=5)


@styled
def plot_distribution(samples: pd.DataFrame) -> Figure:
    """Half round trips as cumulative shares, some sizes; over the time of the measurement; and the calls by size."""
    figure = new_figure(5.4)
    panels = figure.subplot_mosaic([["cdf", "calls"], ["time", "time"]], height_ratios=(1.6, 1))
    _cumulative(panels["cdf"], latencies(samples))
    _calls(panels["calls"], overheads(samples))
    _drift(panels["time"], samples)
    return figure


def _cumulative(axes: Axes, table: pd.DataFrame) -> None:
    tidy(axes, "both")
    axes.set_title("Latency: half a round trip, by size")
    if table.empty:
        say_empty(axes, "no round trip was recorded")
        return
    axes.set_xscale("log")
    table = table[table["half_ns"] > 0]
    sizes = _some_sizes(table["size"])
    limits = bulk_limits(table.loc[table["size"].isin(sizes), "half_ns"], log=True)
    for colour, size in zip(PALETTE, sizes, strict=False):
        values = np.sort(table.loc[table["size"] == size, "half_ns"].to_numpy())
        shares = np.arange(1, len(values) + 1) / len(values)
        axes.step(values, shares, where="post", color=colour, linewidth=1.1, label=size_text(size))
        axes.plot(np.median(values), 0.5, "o", color=colour, markersize=3)
    axes.set_xlim(limits.low / 1.2, limits.high * 1.2)
    slow = table.loc[table["size"].isin(sizes) & limits.above(table["half_ns"]), "half_ns"]
    if len(slow):
        text = f"{plural(len(slow), 'sample')} up to {time_text(float(slow.max()) * 1e3)}"
        mark_cut(axes, "right", [0.9], MUTED, [text], fraction=True)
    axes.set_ylim(0, 1.02)
    axes.set_ylabel("share of samples that are no slower")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: percent_tick(value)))
    axes.xaxis.set_major_locator(LogLocator(numticks=7))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: time_text(value * 1e3)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    # Below the axes, because a curve may be anywhere within them.
    axes.legend(
        loc="upper center", bbox_to_anchor=(0.5, -0.09), ncols=SIZES_SHOWN,
        handlelength=0.8, handletextpad=0.3, columnspacing=0.9,
    )  # fmt: skip


def _some_sizes(sizes: pd.Series) -> list[int]:
    """Spread evenly over the powers of two that were measured, or over all sizes."""
    known = np.unique(sizes)
    powers = known[(known & (known - 1)) == 0]
    chosen = powers if len(powers) else known
    return sorted({int(chosen[i]) for i in np.linspace(0, len(chosen) - 1, SIZES_SHOWN).round().astype(int)})


def _calls(axes: Axes, table: pd.DataFrame) -> None:
    tidy(axes, "both")
    axes.set_title("Time of single calls")
    table = table[table["median_ps"] > 0]
    if table.empty:
        say_empty(axes, "no call was recorded by itself")
        return
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    looks = {"send": (GREEN, "^"), "receive": (VERMILLION, "v"), "whole receive": (MUTED, ".")}
    names = {"send": "send", "receive": "end of a receive", "whole receive": "whole receive"}
    limits = bulk_limits(table["median_ps"] / 1e3, log=True)
    limits = limits.reaching(table[["low_ps", "high_ps"]] / 1e3, FURTHER).with_margin()
    for call, own in table.groupby("call"):
        colour, marker = looks[str(call)]
        own = own.sort_values("size")
        low = (own["low_ps"] / 1e3).clip(lower=own["median_ps"] / 1e6)
        axes.vlines(own["size"], low, own["high_ps"] / 1e3, color=colour, linewidth=2.2, alpha=0.3)
        axes.plot(
            own["size"], own["median_ps"] / 1e3, marker, color=colour, markersize=3, linewidth=0, label=names[str(call)]
        )
        mark_cut(axes, "top", own["size"][limits.above(np.fmax(own["high_ps"], own["median_ps"]) / 1e3)], colour)
        mark_cut(axes, "bottom", own["size"][limits.below(own["median_ps"] / 1e3)], colour)
    scale_sizes(axes, table["size"], most=4)
    axes.set_ylim(limits.low, limits.high)
    scale_times(axes)
    axes.set_xlabel("message size")
    axes.legend(loc="upper left", handletextpad=0.2)


def _drift(axes: Axes, samples: pd.DataFrame) -> None:
    tidy(axes)
    axes.set_title("Latency over the time of the measurement", pad=17)
    windows = over_time(samples)
    if windows.empty:
        say_empty(axes, "these samples do not say when they were taken")
        return
    middle = (windows["start_s"] + windows["end_s"]) / 2
    table = latencies(samples)
    relative = table["half_ns"] / table.groupby("size")["half_ns"].transform("median")
    seconds = (table["start_ns"] - table["start_ns"].min()) / 1e9
    reach = max(float(relative.quantile(0.98)), 1.2)
    axes.plot(seconds, relative.clip(upper=reach), ".", color=SOFT, markersize=2, zorder=1, rasterized=True)
    axes.fill_between(middle, windows["low"], windows["high"], color=BLUE, alpha=0.25, linewidth=0)
    axes.plot(middle, windows["middle"], color=BLUE, linewidth=1.2)
    axes.axhline(1, color=MUTED, linewidth=0.6)
    axes.set_ylim(min(0.8, float(relative.quantile(0.01))), reach)
    axes.set_xlim(0, float(windows["end_s"].iloc[-1]))
    axes.set_xlabel("time since the first sample [s]")
    axes.annotate(
        "of each twentieth of the time: median (line) and middle half (band); grey: samples, cut at the top",
        (0, 1), xycoords="axes fraction", xytext=(0, 5), textcoords="offset points", va="bottom", fontsize=SMALL,
        color=MUTED,
    )  # fmt: skip
    axes.set_ylabel("over the median\nof its size")
