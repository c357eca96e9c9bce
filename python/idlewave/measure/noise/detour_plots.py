"""Figures of detours: their times, their lengths, and the overhead by length."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from ...formatting import count_text, percent_text, seconds_text, time_text
from ...plot_limits import Limits, bulk_limits, mark_cut
from ...plot_style import FAINT, MUTED, PALETTE, SMALL, new_figure, say_empty, styled, tidy

MOST_PANELS = 8
MOST_POINTS = 20_000
MOST_LARGE = 100  # of the longest detours, drawn larger: they are few and matter most
MOST_OVERHEAD = 1.0 + 1e-6  # of the time
_NO_DETOUR = "no detour was recorded"


def drawable(detours: pd.DataFrame, names: list[int]) -> pd.DataFrame:
    """The detours of the cores `names` that have a start and a length above 0."""
    start, length = (detours[name].to_numpy(dtype=float) for name in ("start_ps", "length_ps"))
    known = np.isfinite(start) & (start >= 0) & np.isfinite(length) & (length > 0)
    chosen: pd.DataFrame = detours[known & detours["core"].isin(names).to_numpy(dtype=bool)]
    return chosen


def length_limits(detours: pd.DataFrame) -> Limits:
    """The limits of an axis of lengths (ps); a single detour does not extend it much."""
    if detours.empty:
        return Limits(1e6, 1e9)
    return bulk_limits(detours["length_ps"], log=True)


def shown_cores(cores: pd.DataFrame, most: int = MOST_PANELS) -> list[int]:
    """The cores that have a panel of their own: all, or the `most` with the highest overhead; in order."""
    return sorted(int(core) for core in cores.nlargest(most, "overhead")["core"])


@styled
def plot_detours(detours: pd.DataFrame, cores: pd.DataFrame) -> Figure:
    """Length of each detour (µs, log) against its start (s), one panel a core.

    `detours`: core, start_ps, length_ps; `cores`: core, duration_s, overhead (a share). More than 20,000 points are
    thinned (`thin_detours`); of more than eight cores those with the highest overhead are shown. A single detour far
    from all others is marked at the edge, with its length.
    """
    names = shown_cores(cores)
    columns = 1 if len(names) <= 1 else 2 if len(names) <= 4 else 3 if len(names) <= 6 else 4
    rows = max(1, math.ceil(len(names) / columns))
    figure = new_figure(2.9 if rows == 1 else 0.4 + 1.9 * rows)
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    shown = thin_detours(drawable(detours, names), MOST_POINTS)
    limits, until = length_limits(shown), bulk_limits(cores["duration_s"]).high
    overhead = cores.set_index("core")["overhead"]
    for axes, core in zip(panels.flat, names, strict=False):
        own = shown[shown["core"] == core]
        _scatter(axes, own, limits, many=len(shown) > 3000)
        _mark_late(axes, own, until)
        word = " overhead" if columns <= 2 else ""
        axes.set_title(f"core {core}: {percent_text(overhead[core])}{word}")
        if own.empty:
            say_empty(axes, _NO_DETOUR, ticks=True)
    for place in range(len(names), panels.size):
        panels.flat[place].set_visible(False)
        panels.flat[place - columns].tick_params(labelbottom=True)
    _scale_lengths(panels[0, 0], "y", limits)
    panels[0, 0].set_xlim(0, (until if until > 0 else 1.0) * 1.01)
    figure.supxlabel("time since the start of the recording [s]", fontsize=9)
    figure.supylabel("length of the detour", fontsize=9)
    return figure


def _scatter(axes: Axes, detours: pd.DataFrame, limits: Limits, *, many: bool) -> None:
    tidy(axes)
    beyond = limits.above(detours["length_ps"])
    texts = [time_text(length) for length in detours["length_ps"][beyond]]
    mark_cut(axes, "top", detours["start_ps"][beyond] * 1e-12, PALETTE[0], texts)
    detours = detours[~beyond]
    rare = detours["length_ps"].rank(ascending=False, method="first") <= MOST_LARGE
    axes.scatter(
        detours["start_ps"] * 1e-12,
        detours["length_ps"] * 1e-6,
        s=np.where(rare, 7.0, 3.0 if many else 6.0),
        color=PALETTE[0],
        alpha=0.45 if many else 0.6,
        linewidths=0,
        rasterized=many,
    )


def _mark_late(axes: Axes, detours: pd.DataFrame, until: float) -> None:
    """Mark a core that was recorded for much longer than the others: its recording continues."""
    last = float(detours["start_ps"].max()) * 1e-12 if len(detours) else 0.0
    if last > until * 1.01:
        mark_cut(axes, "right", [0.5], MUTED, [f"until {seconds_text(last)}"], fraction=True)


def _scale_lengths(axes: Axes, which: str, limits: Limits) -> None:
    """A log axis in µs whose labels have their own unit: 100 ns, 1 µs, 10 µs, …"""
    axis = axes.yaxis if which == "y" else axes.xaxis
    axes.set_yscale("log") if which == "y" else axes.set_xscale("log")
    ends = (limits.low * 1e-6 / 1.5, limits.high * 1e-6 * 1.5)
    axes.set_ylim(*ends) if which == "y" else axes.set_xlim(*ends)
    axis.set_major_locator(LogLocator(numticks=12))
    axis.set_major_formatter(FuncFormatter(lambda value, _: time_text(value * 1e6)))
    axis.set_minor_formatter(NullFormatter())


@styled
def plot_detour_lengths(detours: pd.DataFrame, cores: pd.DataFrame, magnitudes: pd.DataFrame) -> Figure:
    """Left: the number of detours by length (log-log, a line a core). Right: overhead by decade of length.

    `detours` and `cores` as above; `magnitudes`: core, decade (a label, shortest first), overhead (a share).
    """
    figure = new_figure(3.1)
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
    names = shown_cores(cores)
    _histogram(left, drawable(detours, list(cores["core"])), names)
    _overhead_bars(right, magnitudes, names)
    return figure


def _histogram(axes: Axes, detours: pd.DataFrame, names: list[int]) -> None:
    tidy(axes, "both")
    axes.set_title("How many detours")
    axes.set_xlabel("length of the detour")
    axes.set_ylabel("detours per bin")
    if detours.empty:
        say_empty(axes, _NO_DETOUR)
        return
    lengths, limits = detours["length_ps"].to_numpy(dtype=float) * 1e-6, length_limits(detours)
    first = math.floor(math.log10(limits.low * 1e-6) * 10)
    last = math.ceil(math.log10(limits.high * 1e-6) * 10 + 1e-9)
    bins = 10 ** (np.arange(first, max(last, first + 1) + 1) / 10)
    for place, core in enumerate(names):
        counts, _ = np.histogram(lengths[(detours["core"] == core).to_numpy()], bins)
        axes.stairs(counts, bins, color=PALETTE[place], linewidth=1.1, label=f"core {core}", baseline=0.5)
    axes.set_yscale("log")
    axes.set_ylim(bottom=0.7)
    _scale_lengths(axes, "x", limits)
    axes.set_xlim(bins[0] / 1.2, bins[-1] * 1.2)
    longer = lengths[lengths > bins[-1]]
    if len(longer):
        text = f"{count_text(len(longer))} up to {time_text(float(longer.max()) * 1e6)}"
        mark_cut(axes, "right", [0.04], MUTED, [text], fraction=True)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    if len(names) > 1:
        axes.legend(loc="upper right", handlelength=1.2, ncols=1 if len(names) <= 4 else 2)


def _overhead_bars(axes: Axes, magnitudes: pd.DataFrame, names: list[int]) -> None:
    tidy(axes, "x")
    axes.set_title("What they cost")
    axes.set_xlabel("overhead [% of the time]")
    if magnitudes.empty:
        say_empty(axes, _NO_DETOUR)
        return
    shares = magnitudes["overhead"].where(magnitudes["overhead"].between(0, MOST_OVERHEAD))  # others are no shares
    groups = shares.groupby(magnitudes["decade"], sort=False)
    means, highest = groups.mean().fillna(0.0) * 100, float(groups.max().max()) * 100
    rows = np.arange(len(means))
    axes.barh(rows, means, height=0.62, color="#c9d8e6")
    for place, core in enumerate(names):
        own = shares[magnitudes["core"] == core].set_axis(magnitudes.loc[magnitudes["core"] == core, "decade"])
        own = own.reindex(means.index) * 100
        axes.plot(own, rows, "o", markersize=4, color=PALETTE[place], markeredgecolor="white", markeredgewidth=0.5)
    for row, mean in enumerate(means):
        axes.text(
            1,
            row,
            percent_text(mean / 100),
            transform=axes.get_yaxis_transform(),
            va="center",
            ha="right",
            fontsize=SMALL,
        )
    if len(names) > 1:
        axes.text(1, 1.02, "mean", transform=axes.transAxes, va="bottom", ha="right", fontsize=SMALL, color=MUTED)
    axes.set_xlim(0, (highest if highest > 0 else 1.0) * 1.35)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_yticks(rows, [str(label) for label in means.index])
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.spines["left"].set_color(FAINT)


def thin_detours(detours: pd.DataFrame, limit: int = 20_000) -> pd.DataFrame:
    """At most about `limit` of `detours`: of those that lie close together, the longest.

    The cells are as fine as `limit` allows, so that a plot of the result looks like one of all detours.
    """
    if len(detours) <= limit:
        return detours
    detours = detours.reset_index(drop=True)
    start = detours["start_ps"].to_numpy(dtype=float)
    length = np.log10(np.maximum(detours["length_ps"].to_numpy(dtype=float), 1.0))
    lines = 400
    while True:
        keys = pd.DataFrame(
            {"core": detours["core"], "x": _cells(start, 2 * lines), "y": _cells(length, lines)},
            index=detours.index,
        )
        longest = detours["length_ps"].groupby([keys["core"], keys["x"], keys["y"]]).idxmax()
        if len(longest) <= limit or lines == 1:
            return detours.loc[longest.sort_values()]
        lines = max(1, int(lines * 0.8))


def _cells(values: npt.NDArray[np.float64], count: int) -> npt.NDArray[np.int64]:
    width = (values.max() - values.min()) / count or 1.0
    cells: npt.NDArray[np.int64] = ((values - values.min()) / width).astype(np.int64)
    return cells.clip(max=count - 1)
