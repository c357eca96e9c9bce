"""Figures of a traced program: communication, time by category, and the prediction of its time."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, LogNorm
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.ticker import FixedLocator, FuncFormatter, Locator, LogLocator, MaxNLocator, NullLocator

from idlewave.formatting import MINUS, SPACE, percent_text, seconds_text, si_text
from idlewave.plot_limits import Limits, bulk_limits, mark_cut
from idlewave.plot_style import (
    BLUE,
    FAINT,
    GREEN,
    INK,
    MUTED,
    ORANGE,
    PURPLE,
    SKY,
    SMALL,
    VERMILLION,
    YELLOW,
    new_figure,
    say_empty,
    styled,
    tidy,
)
from idlewave.trace import CORE_WAIT

MOST_NUMBERED = 16
MOST_BARS = 64
MOST_CELLS = 256
_CATEGORY_COLOURS = {
    "computation": "#c9d8e6",
    "point-to-point": BLUE,
    "collective": ORANGE,
    "waiting for requests": VERMILLION,
    CORE_WAIT: "#8c9196",
}
_OTHER_COLOURS = (GREEN, PURPLE, SKY, YELLOW, "#000000")


@styled
def plot_communication(communication: pd.DataFrame, ranks: int) -> Figure:
    """Bytes that each rank (row) sent to each rank (column), colour in log scale, and numbers up to 16 ranks.

    `communication`: source, destination, messages, bytes. Up to eight ranks, messages stand beside bytes;
    above 256, neighbouring ranks are added up.
    """
    if ranks <= 8:
        figure = new_figure(3.45)
        both = figure.subplots(1, 2)
        for axes, column in zip(both, ("bytes", "messages"), strict=True):
            _heat_map(figure, axes, _matrix(communication, ranks, column), column, ranks)
        both[1].set_ylabel("")
        return figure
    figure = new_figure(5.2)
    _heat_map(figure, figure.subplots(), _matrix(communication, ranks, "bytes"), "bytes", ranks)
    return figure


def _matrix(table: pd.DataFrame, ranks: int, column: str) -> npt.NDArray[np.float64]:
    block = -(-ranks // MOST_CELLS)
    side = -(-ranks // block)
    matrix = np.zeros((side, side))
    rows, columns = table["source"].to_numpy(dtype=int), table["destination"].to_numpy(dtype=int)
    values = table[column].to_numpy(dtype=float)
    np.add.at(matrix, (rows // block, columns // block), np.where(np.isfinite(values) & (values > 0), values, 0.0))
    return matrix


def _heat_map(figure: Figure, axes: Axes, matrix: npt.NDArray[np.float64], what: str, ranks: int) -> None:
    axes.set_title(f"{what} sent")
    axes.set_xlabel("to rank")
    axes.set_ylabel("from rank")
    axes.tick_params(width=0.6, color=MUTED, labelsize=SMALL)
    axes.spines[:].set_color(FAINT)
    side = len(matrix)
    block = -(-ranks // side)
    extent = (-0.5, side * block - 0.5, side * block - 0.5, -0.5)
    positive = matrix[matrix > 0]
    if not len(positive):
        axes.imshow(np.ones((side, side, 3)), extent=extent)
        say_empty(axes, "no messages")
    else:
        limits = bulk_limits(positive, log=True)
        high = limits.high
        low = min(limits.low, high / 30)  # keeps a small difference from looking like a large one
        norm = LogNorm(low, high)
        colours = ListedColormap(colormaps["YlGnBu"](np.linspace(0.04, 0.72, 256)))
        image = axes.imshow(np.ma.masked_equal(matrix, 0), norm=norm, cmap=colours, extent=extent)
        if ranks <= MOST_NUMBERED:
            _numbers(axes, matrix, norm)
        else:
            beyond = (bool(limits.below(positive).any()), bool(limits.above(positive).any()))
            _colour_bar(figure, axes, image, beyond)
        if ranks <= MOST_NUMBERED:  # a line between fields of one colour
            between = np.arange(0.5, side - 1)
            axes.vlines(between, -0.5, side - 0.5, "white", linewidth=1.0)
            axes.hlines(between, -0.5, side - 0.5, "white", linewidth=1.0)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(rank_ticks(range(ranks)))
    axes.set_xlim(-0.5, side * block - 0.5)
    axes.set_ylim(side * block - 0.5, -0.5)


def _colour_bar(figure: Figure, axes: Axes, image: AxesImage, beyond: tuple[bool, bool]) -> None:
    extend = {(True, True): "both", (True, False): "min", (False, True): "max"}.get(beyond, "neither")
    bar = figure.colorbar(image, ax=axes, shrink=0.9, aspect=30, pad=0.03, extend=extend)
    bar.outline.set_visible(False)
    bar.ax.yaxis.set_major_locator(LogLocator(numticks=8))
    bar.ax.yaxis.set_minor_locator(NullLocator())
    bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: si_text(value)))
    bar.ax.tick_params(width=0.6, color=MUTED, labelsize=SMALL)


def _numbers(axes: Axes, matrix: npt.NDArray[np.float64], norm: LogNorm) -> None:
    size = 9.0 if len(matrix) <= 6 else 8.0 if len(matrix) <= 8 else 7.0
    for (row, column), value in np.ndenumerate(matrix):
        if value:
            colour = "white" if norm(value) > 0.72 else INK
            text = si_text(value, 3 if len(matrix) <= 8 else 2)
            axes.text(column, row, text, ha="center", va="center", color=colour, fontsize=size)


def rank_ticks(ranks: Iterable[int]) -> Locator:
    """A tick at every rank if they are few, else at round numbers."""
    named = list(ranks)
    return FixedLocator(named) if len(named) <= MOST_NUMBERED else MaxNLocator(8, integer=True)


def category_colours(categories: list[str]) -> dict[str, str]:
    """A colour for each category: known categories have their own, others get the remaining colours in turn."""
    others = [name for name in categories if name not in _CATEGORY_COLOURS]
    colours = {name: _OTHER_COLOURS[place % len(_OTHER_COLOURS)] for place, name in enumerate(others)}
    return {name: _CATEGORY_COLOURS.get(name) or colours[name] for name in categories}


def _by_rank(time: pd.DataFrame) -> pd.DataFrame:
    """Rows: ranks; columns: categories, computation first, then by total; values: seconds."""
    known = np.isfinite(time["seconds"].astype(float)) & (time["seconds"] > 0)
    time = time.assign(seconds=time["seconds"].where(known, 0.0))
    table = time.pivot_table(index="rank", columns="category", values="seconds", aggfunc="sum", fill_value=0.0)
    order = sorted(table.columns, key=lambda name: (name != "computation", -table[name].sum()))
    return table[order]


@styled
def plot_time(time: pd.DataFrame) -> Figure:
    """How each rank's time (s) divides among categories: stacked bars, or for more than 64 ranks the spread.

    `time`: rank, category, seconds.
    """
    table = _by_rank(time)
    if not float(table.to_numpy().sum() if table.size else 0):
        figure = new_figure(1.6)
        axes = figure.subplots()
        axes.set_axis_off()
        say_empty(axes, "no time was recorded")
        return figure
    return _time_spread(table) if len(table) > MOST_BARS else _time_bars(table)


def _time_bars(table: pd.DataFrame) -> Figure:
    many = len(table) > 16
    figure = new_figure(max(1.9, 1.15 + len(table) * (0.11 if many else 0.27)))
    axes = figure.subplots()
    tidy(axes, "x")
    colours = category_colours(list(table.columns))
    sums = table.sum(axis=1)
    limits = bulk_limits(sums)
    left = np.zeros(len(table))
    for name in table.columns:
        widths = table[name].to_numpy()
        edge = 0.0 if many else 0.6
        axes.barh(
            table.index,
            widths,
            0.8,
            left=left,
            color=colours[name],
            label=name,
            edgecolor="white",
            linewidth=edge,
        )
        if not many:
            _bar_shares(axes, table.index, left, widths, sums, limits, name)
        left += widths
    beyond = limits.above(sums)
    mark_cut(axes, "right", table.index[beyond], INK, [seconds_text(total) for total in sums[beyond]])
    axes.set_xlim(0, limits.high)
    axes.set_ylim(table.index.max() + 0.6, table.index.min() - 0.6)
    axes.set_xlabel("time [s]")
    axes.set_ylabel("rank")
    axes.yaxis.set_major_locator(rank_ticks(table.index))
    axes.tick_params(axis="y", length=0)
    figure.legend(loc="outside upper left", ncols=min(len(table.columns), 5), handlelength=1.0, columnspacing=1.4)
    return figure


def _bar_shares(
    axes: Axes,
    ranks: pd.Index,
    left: npt.NDArray[np.float64],
    widths: npt.NDArray[np.float64],
    sums: pd.Series,
    limits: Limits,
    name: str,
) -> None:
    """Write the share of each part into it, if there is room."""
    dark = name in ("point-to-point", "waiting for requests")
    for rank, start, width, total in zip(ranks, left, widths, sums, strict=True):
        seen = min(width, limits.high - start)
        if total <= limits.high and seen > 0.045 * limits.high:
            text = f"{100 * width / total:.0f}{SPACE}%"
            colour = "white" if dark else INK
            axes.text(start + width / 2, rank, text, ha="center", va="center", fontsize=7.5, color=colour)


def _time_spread(table: pd.DataFrame) -> Figure:
    figure = new_figure(1.1 + 0.45 * len(table.columns))
    axes = figure.subplots()
    tidy(axes, "x")
    colours = category_colours(list(table.columns))
    limits = bulk_limits(table.to_numpy())
    for row, name in enumerate(table.columns):
        low, first, middle, third, high = np.quantile(table[name], (0, 0.25, 0.5, 0.75, 1))
        axes.plot((low, high), (row, row), color=MUTED, linewidth=0.9, zorder=2)
        axes.barh(row, third - first, 0.5, left=first, color=colours[name], zorder=2.5)
        axes.plot((middle, middle), (row - 0.32, row + 0.32), color=INK, linewidth=1.4, zorder=3)
        if high > limits.high:
            mark_cut(axes, "right", [row], INK, [f"{seconds_text(middle)}; the slowest {seconds_text(high)}"])
            continue
        axes.annotate(
            seconds_text(middle),
            (high, row),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=SMALL,
        )
    axes.set_xlim(0, limits.high * 1.14)
    axes.set_ylim(len(table.columns) - 0.4, -0.6)
    axes.set_yticks(range(len(table.columns)), list(table.columns))
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("time of a rank [s]")
    return figure


@styled
def plot_prediction(ranks: pd.DataFrame, measured_s: float, predicted_s: float) -> Figure:
    """Measured and predicted run time (s), and by how many percent each rank's prediction is off.

    `ranks`: rank, measured_s, predicted_s.
    """
    many = len(ranks) > 32
    height = 2.6 if many else min(2.6, max(1.9, 1.0 + 0.2 * len(ranks)))
    figure = new_figure(height)
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.15))
    _total_bars(left, measured_s, predicted_s)
    _rank_errors(right, ranks, many=many)
    return figure


def _total_bars(axes: Axes, measured_s: float, predicted_s: float) -> None:
    tidy(axes, "x")
    axes.set_title("Run time")
    axes.barh((0, 1), (measured_s, predicted_s), 0.55, color=(MUTED, BLUE))
    for row, value in enumerate((measured_s, predicted_s)):
        axes.annotate(
            seconds_text(value),
            (value, row),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=SMALL,
        )
    axes.set_yticks((0, 1), ("measured", "predicted"))
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(1.6, -0.6)
    axes.set_xlim(0, max((value for value in (measured_s, predicted_s) if 0 < value < np.inf), default=1.0) * 1.3)
    axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    axes.set_xlabel("time [s]")


def error_percents(ranks: pd.DataFrame) -> pd.Series:
    """By how many percent of the measured time each rank's prediction is off, where that is known."""
    errors = 100 * (ranks["predicted_s"] / ranks["measured_s"].where(ranks["measured_s"] > 0) - 1)
    return errors[np.isfinite(errors.astype(float))]


def _rank_errors(axes: Axes, ranks: pd.DataFrame, *, many: bool) -> None:
    tidy(axes, "x")
    axes.set_title("Error by rank")
    axes.set_xlabel("predicted less measured [%]")
    axes.set_ylabel("rank")
    errors = error_percents(ranks)
    if errors.empty:
        say_empty(axes, "no rank was measured")
        return
    usable = ranks.loc[errors.index]
    limits = bulk_limits(errors)
    for edge, beyond in (("right", limits.above(errors)), ("left", limits.below(errors))):
        texts = [percent_text(value / 100, signed=True) for value in errors[beyond]]
        mark_cut(axes, edge, usable["rank"][beyond], BLUE, texts)
    axes.axvline(0, color=MUTED, linewidth=0.8)
    if not many:
        axes.hlines(usable["rank"], 0, errors, color=BLUE, linewidth=1.2)
    axes.plot(errors, usable["rank"], "o", color=BLUE, markersize=2 if many else 4.5)
    reach = max(1.0, abs(limits.low), abs(limits.high)) * 1.25
    axes.set_xlim(-reach, reach)
    axes.set_ylim(usable["rank"].max() + 0.6, usable["rank"].min() - 0.6)
    axes.yaxis.set_major_locator(rank_ticks(usable["rank"]))
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:+g}".replace("-", MINUS) if value else "0"))
