"""Figures of a study: slowdown by noise, and run time, against the number of ranks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from idlewave.formatting import count_text, percent_text, plural, seconds_text
from idlewave.plot_limits import Limits, bulk_limits, mark_cut
from idlewave.plot_style import BLUE, HALO, INK, ORANGE, SMALL, new_figure, say_empty, styled, tidy
from idlewave.report.study_scales import Scale, scales

FAR = 10.0  # a median further from all others than so many of their widths is cut
SPREAD = 2.0  # single seeds stretch the axis by at most so many heights of the medians
LOW = 0.15  # of the height: below a lower curve there is no room for a label


@styled
def plot_slowdown(study: pd.DataFrame) -> Figure:
    """Slowdown by noise (%) against ranks (log2): a point a seed, the median's line, the range.

    `study` is the table of `idlewave.study`.
    """
    figure = new_figure(3.3)
    axes = figure.subplots()
    tidy(axes)
    points = [scale for scale in scales(study) if scale.slowdowns]
    axes.set_ylabel("slowdown by noise [%]")
    if not points:
        say_empty(axes, "no pair of runs with and without noise")
        return figure
    _scale_ranks(axes, [scale.ranks for scale in points])
    ranks = [scale.ranks for scale in points]
    slowdowns = [np.array(scale.slowdowns) * 100 for scale in points]
    limits = limits_of(slowdowns)
    _band(axes, ranks, slowdowns, limits, ORANGE, lambda value: percent_text(value / 100))
    medians = [float(np.median(values)) for values in slowdowns]
    axes.plot(ranks, medians, color=ORANGE, linewidth=1.6, marker="o", markersize=4, zorder=3)
    axes.axhline(0, color=BLUE, linewidth=1.2)
    top, bottom = limits.high, limits.low
    axes.set_ylim(min(-0.13 * max(top, 0.01), bottom * 1.2), max(top, 0.01) * 1.2)
    below = bottom >= 0
    axes.annotate(
        "without noise", (1, 0), xycoords=("axes fraction", "data"), xytext=(0, -3 if below else 3),
        textcoords="offset points", ha="right", va="top" if below else "bottom", fontsize=SMALL, color=BLUE,
    )  # fmt: skip
    for scale, median, values in zip(points, medians, slowdowns, strict=True):
        if limits.outside(median):
            continue
        axes.annotate(
            percent_text(median / 100), (scale.ranks, min(values.max(), limits.high)), xytext=(0, 5),
            textcoords="offset points", ha="center", va="bottom", fontsize=SMALL, color=INK,
            path_effects=[HALO],
        )  # fmt: skip
    return figure


@styled
def plot_run_time(study: pd.DataFrame, measured: tuple[int, float] | None = None) -> Figure:
    """Predicted run time (s) against ranks (log2), with noise (median, points, range) and without.

    `study` is the table of `idlewave.study`; `measured`: ranks and seconds of the real run, drawn as a diamond.
    """
    figure = new_figure(2.8)
    axes = figure.subplots()
    tidy(axes)
    points = scales(study)
    axes.set_ylabel("run time [s]")
    if not points:
        say_empty(axes, "no run was simulated")
        return figure
    _scale_ranks(axes, [scale.ranks for scale in points] + ([measured[0]] if measured else []))
    limits = limits_of([np.array(_times(scale)) for scale in points])
    ends = _draw_times(axes, points, limits)
    top = max(limits.high, measured[1] if measured and measured[1] <= FAR * limits.high else 0.0) or 1.0
    axes.set_ylim(0, top * 1.18)
    if measured and measured[1] > top:
        mark_cut(axes, "top", [measured[0]], INK, [f"measured: {seconds_text(measured[1])}"])
        measured = None
    if measured:
        near = min(points, key=lambda scale: abs(scale.ranks - measured[0]))
        above = measured[1] >= max(_times(near), default=0.0) or measured[1] < LOW * top
        axes.plot(*measured, "D", color=INK, markersize=6, markerfacecolor="none", zorder=4)
        axes.annotate(
            "measured", measured, xytext=(-4, 7 if above else -7), textcoords="offset points",
            va="bottom" if above else "top", fontsize=SMALL, color=INK, path_effects=[HALO],
        )  # fmt: skip
    _end_labels(axes, ends)
    return figure


def limits_of(groups: list[npt.NDArray[np.float64]]) -> Limits:
    """The limits of an axis for several values a scale: all values, without those far beyond the medians."""
    medians = bulk_limits([float(np.median(values)) for values in groups], room=FAR)
    reach = SPREAD * (max(medians.high, 0.0) - min(medians.low, 0.0))
    values = np.concatenate(groups)
    kept = values[(values >= medians.low - reach) & (values <= medians.high + reach)]
    return Limits(float(kept.min()), float(kept.max())) if len(kept) else medians


def _times(scale: Scale) -> list[float]:
    return [*scale.noisy_s, *([] if scale.baseline_s is None else [scale.baseline_s])]


def _draw_times(axes: Axes, points: list[Scale], limits: Limits) -> list[tuple[str, float, str]]:
    """Draw both curves; returns the labels at their right ends: text, height, colour."""
    ends = []
    noisy = [scale for scale in points if scale.noisy_s]
    if noisy:
        ranks, times = [scale.ranks for scale in noisy], [np.array(scale.noisy_s) for scale in noisy]
        _band(axes, ranks, times, limits, ORANGE, seconds_text)
        medians = [float(np.median(values)) for values in times]
        axes.plot(ranks, medians, color=ORANGE, linewidth=1.6, marker="o", markersize=4, zorder=3)
        seeds = max(len(scale.noisy_s) for scale in noisy)
        ends.append((f"with noise ({plural(seeds, 'seed')})", min(medians[-1], limits.high), ORANGE))
    quiet = [(scale.ranks, scale.baseline_s) for scale in points if scale.baseline_s is not None]
    if quiet:
        for rank, value in quiet:
            if limits.above(value):
                mark_cut(axes, "top", [rank], BLUE, [seconds_text(value)])
        axes.plot(*zip(*quiet, strict=True), color=BLUE, linewidth=1.4, marker="o", markersize=3.5, zorder=2.5)
        ends.append(("without noise", min(quiet[-1][1], limits.high), BLUE))
    return ends


def _end_labels(axes: Axes, ends: list[tuple[str, float, str]]) -> None:
    """Write the name of the upper curve above its end, and that of the lower one below, if there is room."""
    top = axes.get_ylim()[1]
    for place, (text, height, colour) in enumerate(sorted(ends, key=lambda end: -end[1])):
        below = place > 0 and height > LOW * top
        axes.annotate(
            text, (1, height), xycoords=("axes fraction", "data"), xytext=(0, -10 if below else 10),
            textcoords="offset points", ha="right", va="top" if below else "bottom", fontsize=SMALL,
            color=colour,
        )  # fmt: skip


def _band(
    axes: Axes,
    ranks: list[int],
    values: list[npt.NDArray[np.float64]],
    limits: Limits,
    colour: str,
    text: Callable[[float], str],
) -> None:
    """The range as a band, and each value as a point, moved aside by its order so that all can be seen; at the edge a
    mark for the furthest value of a scale beyond `limits`, with its `text`."""
    reach = 0.018 * (np.log2(ranks[-1] / ranks[0]) or 1.0)
    lowest, highest = ([float(end(v)) for v in values] for end in (np.min, np.max))
    axes.fill_between(ranks, lowest, highest, color=colour, alpha=0.18, linewidth=0)
    for rank, seeds in zip(ranks, values, strict=True):
        aside = np.linspace(-reach, reach, len(seeds)) if len(seeds) > 1 else np.zeros(1)
        axes.plot(rank * 2.0**aside, seeds, "o", color=colour, alpha=0.5, markersize=2.6, markeredgewidth=0)
    for edge, ends, beyond in (("top", highest, limits.above), ("bottom", lowest, limits.below)):
        for rank, value in zip(ranks, ends, strict=True):
            if beyond(value):
                mark_cut(axes, edge, [rank], colour, [text(value)])


def _scale_ranks(axes: Axes, ranks: list[int]) -> None:
    ticks = sorted(set(ranks))
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: count_text(round(value))))
    axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axes.ticklabel_format(axis="y", style="plain", useOffset=False)
    axes.set_xlim(ticks[0] / 1.5, ticks[-1] * 1.5)
    axes.set_xlabel("ranks")
