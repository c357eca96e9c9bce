"""Figures of the studies of noise: slowdown against ranks, loss against the expected worst loss, sources by cost."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

from idlewave.formatting import percent_tick
from idlewave.plot_limits import bulk_limits, mark_outside
from idlewave.plot_style import INK, PALETTE, new_figure, say_empty, styled, tidy
from idlewave.report.line_figures import LINES, legend_above, rank_axis
from idlewave.report.line_figures import MARKS as FEW_MARKS

MARKS = f"{FEW_MARKS}<"
_MOST_COLUMNS = 2
_MOST_TICKS = 6
_ROOM = 4.5
"""How far axes reach beyond the bulk, in its widths: what noise costs grows by several decades with the ranks."""
_NONE = 1e-12
"""Below what any axis of slowdowns shows: ends of intervals at or below 0."""


@styled
def plot_noise_slowdowns(rows: pd.DataFrame) -> Figure:
    """Mean slowdown by noise with its interval, against ranks, both logarithmic: a panel a program, a line a noise.
    What is 0 is not drawn, and said in the legend.

    `rows` have the columns title, noise, ranks, slowdown, low, high.
    """
    titles, noises = list(rows["title"].unique()), list(rows["noise"].unique())
    if not titles:
        figure = new_figure(2.0)
        say_empty(figure.subplots(), "nothing was simulated")
        return figure
    columns = min(_MOST_COLUMNS, len(titles))
    lines = -(-len(titles) // columns)
    figure = new_figure(0.9 + 2.2 * lines)
    panels = np.ravel(figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False))
    for axes, title in zip(panels, titles, strict=False):
        tidy(axes)
        axes.set_title(title)
        own = rows[rows["title"] == title]
        for number, noise in enumerate(noises):
            line = own[own["noise"] == noise].sort_values("ranks")
            if len(line):
                _line(axes, line, number, _label(rows, noise))
        rank_axis(axes, sorted(rows["ranks"].unique()), _MOST_TICKS)
        axes.set_xlabel("")
        _logarithmic(axes, own["ranks"], own["slowdown"], rows["slowdown"])
    for axes in panels[len(titles) :]:
        axes.set_visible(False)
    for axes in panels[::columns]:
        axes.set_ylabel("slowdown")
    for axes in panels[max(len(titles) - columns, 0) : len(titles)]:
        axes.set_xlabel("ranks")
        axes.tick_params(labelbottom=True)
    legend_above(figure, panels[0], 4)
    return figure


def _label(rows: pd.DataFrame, noise: str) -> str:
    none = (rows.loc[rows["noise"] == noise, "slowdown"] <= 0).any()
    return f"{noise} (0 where not drawn)" if none else noise


def _line(axes: Axes, line: pd.DataFrame, number: int, label: str) -> None:
    colour = PALETTE[number % len(PALETTE)]
    axes.plot(
        line["ranks"], _positive(line["slowdown"]), label=label, color=colour, linestyle=LINES[number % len(LINES)],
        marker=MARKS[number % len(MARKS)], markersize=4, linewidth=1.4, markerfacecolor="none",
    )  # fmt: skip
    low, high = (np.maximum(line[end].to_numpy(float), _NONE) for end in ("low", "high"))
    axes.fill_between(line["ranks"].to_numpy(float), low, high, color=colour, alpha=0.15, linewidth=0)


def _positive(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """The values, NaN where they are not above 0."""
    found = np.asarray(values, dtype=float)
    return np.where(found > 0, found, np.nan)


def _logarithmic(axes: Axes, places: npt.ArrayLike, values: npt.ArrayLike, among: npt.ArrayLike) -> None:
    """A logarithmic axis y in percent without outliers among all values above 0, which are marked at its edges."""
    drawn, known = _positive(values), _positive(among)
    limits = bulk_limits(known, log=True, room=_ROOM)
    mark_outside(axes, limits, places, drawn)
    axes.set_yscale("log")
    ends = limits.with_margin(1.5)
    axes.set_ylim(ends.low, ends.high)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: percent_tick(value)))
    axes.yaxis.set_minor_formatter(NullFormatter())


@styled
def plot_noise_losses(rows: pd.DataFrame) -> Figure:
    """What an operation loses against the expected worst loss, µs, both logarithmic.

    `rows` have the columns noise, worst_ps, lost_ps; those without a loss are left out.
    """
    figure = new_figure(3.4)
    axes = figure.subplots()
    tidy(axes)
    usable = rows[(rows["worst_ps"] > 0) & (rows["lost_ps"] > 0)]
    expected, lost = usable["worst_ps"].to_numpy(float) / 1e6, usable["lost_ps"].to_numpy(float) / 1e6
    for number, noise in enumerate(rows["noise"].unique()):
        own = (usable["noise"] == noise).to_numpy()
        axes.plot(
            expected[own], lost[own], MARKS[number % len(MARKS)], color=PALETTE[number % len(PALETTE)], label=noise,
            markersize=4.5, markerfacecolor="none",
        )  # fmt: skip
    x, y = bulk_limits(expected, log=True, room=_ROOM), bulk_limits(lost, log=True, room=_ROOM)
    mark_outside(axes, x, np.clip(lost, y.low, y.high), expected, across="x")
    mark_outside(axes, y, np.clip(expected, x.low, x.high), lost)
    ends = np.array([min(x.low, y.low), max(x.high, y.high)])
    axes.plot(ends, ends, color=INK, linewidth=0.8, label="equal")
    axes.set(xscale="log", yscale="log", xlabel="expected worst loss [µs]", ylabel="time lost [µs]")
    x, y = x.with_margin(1.5), y.with_margin(1.5)
    axes.set_xlim(x.low, x.high)
    axes.set_ylim(y.low, y.high)
    legend_above(figure, axes, 4)
    return figure


@styled
def plot_regular_noise(rows: pd.DataFrame) -> Figure:
    """Slowdown by regular noise against the length of its detours, µs, both logarithmic: a panel a program, a line a
    frequency. `rows` have the columns title, hertz, us, slowdown."""
    titles, rates = list(rows["title"].unique()), sorted(rows["hertz"].unique(), reverse=True)
    figure = new_figure(3.1)
    panels = np.ravel(figure.subplots(1, max(len(titles), 1), sharey=True, squeeze=False))
    if not titles:
        say_empty(panels[0], "no regular noise was simulated")
    for axes, title in zip(panels, titles, strict=False):
        tidy(axes)
        axes.set_title(title)
        own = rows[rows["title"] == title]
        for number, rate in enumerate(rates):
            line = own[own["hertz"] == rate].sort_values("us")
            axes.plot(
                line["us"], _positive(line["slowdown"]), label=f"{rate:g} Hz", color=PALETTE[number % len(PALETTE)],
                linestyle=LINES[number % len(LINES)], marker=MARKS[number % len(MARKS)], markersize=4, linewidth=1.4,
                markerfacecolor="none",
            )  # fmt: skip
        axes.set_xscale("log")
        lengths = sorted(own["us"].unique())
        axes.xaxis.set_major_locator(FixedLocator(lengths))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.set_xlabel("length of a detour [µs]")
        _logarithmic(axes, own["us"], own["slowdown"], rows["slowdown"])
    panels[0].set_ylabel("slowdown")
    legend_above(figure, panels[0])
    return figure
