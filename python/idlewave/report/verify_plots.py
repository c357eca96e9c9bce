"""Figures of the study that compares with what was published: allreduces under noise, and the POP-like program."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from idlewave.plot_style import INK, MUTED, PALETTE, new_figure, styled, tidy
from idlewave.report.line_figures import LINES, MARKS, bound, legend_above, rank_axis


@styled
def plot_verify_allreduce(rows: pd.DataFrame, published: Mapping[str, float]) -> Figure:
    """How many times as long allreduces take, by the length of the detours: a line a frequency, bars from the least to
    the most over the seeds, and a mark for each published factor.

    `rows`: hertz, detour_ps, mean, least, most.
    """
    figure = new_figure(3.0)
    axes = figure.subplots()
    tidy(axes)
    for number, (hertz, own) in enumerate(rows.groupby("hertz", sort=False)):
        ordered = own.sort_values("detour_ps")
        lengths, mean = ordered["detour_ps"].to_numpy() / 1e6, ordered["mean"].to_numpy(float)
        spread = [np.maximum(mean - ordered["least"], 0), np.maximum(ordered["most"] - mean, 0)]
        axes.errorbar(
            lengths, mean, yerr=spread, label=f"{hertz} Hz", color=PALETTE[number], linestyle=LINES[number],
            marker=MARKS[number], markersize=4, linewidth=1.4, markerfacecolor="none", capsize=2, elinewidth=0.8,
        )  # fmt: skip
    place = float(rows["detour_ps"].max()) / 1e6
    for mark, (name, factor) in zip("x+", published.items(), strict=False):
        axes.plot([place], [factor], linestyle="", marker=mark, color=INK, markersize=8, label=f"published, {name}")
    bound(axes, rows["detour_ps"] / 1e6, rows["mean"])
    axes.set_ylim(bottom=0)
    axes.set_xlabel("length of a detour [µs]")
    axes.set_ylabel("time, by that without noise")
    legend_above(figure, axes)
    return figure


@styled
def plot_verify_pop(rows: pd.DataFrame) -> Figure:
    """How many times as long the POP-like program takes under noise, by ranks. `rows`: ranks, mean, least, most."""
    figure = new_figure(2.6)
    axes = figure.subplots()
    tidy(axes)
    ordered = rows.sort_values("ranks")
    mean = ordered["mean"].to_numpy(float)
    spread = [np.maximum(mean - ordered["least"], 0), np.maximum(ordered["most"] - mean, 0)]
    axes.errorbar(ordered["ranks"], mean, yerr=spread, color=PALETTE[0], marker="o", markersize=4, linewidth=1.4,
                  markerfacecolor="none", capsize=2, elinewidth=0.8)  # fmt: skip
    axes.axhline(1, color=MUTED, linewidth=0.6)
    axes.axhline(2, color=INK, linewidth=0.8, linestyle="--")
    axes.annotate("published: more than this", (0.01, 2), xycoords=("axes fraction", "data"), va="bottom", fontsize=8)
    bound(axes, ordered["ranks"], mean)
    axes.set_ylim(bottom=0)
    rank_axis(axes, [int(count) for count in ordered["ranks"]])
    axes.set_ylabel("time, by that without noise")
    return figure
