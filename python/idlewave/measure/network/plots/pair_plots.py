"""The figure of a job's pairs: the tree of joins between ranks above the matrix of their latencies."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator
from scipy.cluster.hierarchy import dendrogram

from ....formatting import plural, time_text
from ....plot_limits import bulk_limits, mark_cut
from ....plot_style import BLUE, VERMILLION, new_figure, styled, tidy
from ..job.pairs import PairMeasurement

FAR = float(np.log(1000.0))
"""A join is drawn beyond the axis if it is a thousand times slower than the others: a single join between hosts may be
some hundred times slower than those within."""


@styled
def plot_pairs(found: PairMeasurement) -> Figure:
    """The tree of joins with the cuts between levels above the matrix of latencies in its order."""
    structure = found.structure
    order = list(structure.order)
    matrix = found.matrix[np.ix_(order, order)] / 1000
    incomplete = np.isnan(matrix).sum() > len(order)
    figure = new_figure(7.2)
    tree, heat = figure.subplots(2, 1, height_ratios=[1, 3.2])
    _draw_tree(found, tree)
    low, high = _range(matrix)
    norm = LogNorm(low, high)
    picture = heat.imshow(matrix, cmap="viridis", norm=norm, interpolation="nearest", aspect="equal")
    heat.set_facecolor("#dddddd")
    for level, width in zip(structure.levels[:-1], (0.8, 1.4, 2.0), strict=False):
        _draw_borders(heat, order, level.groups, width)
    heat.set_title("Half a round trip between each two ranks" + (" (grey: not measured)" if incomplete else ""))
    _label_ranks(heat, found, order)
    ends = (float(np.nanmin(matrix)) < low, float(np.nanmax(matrix)) > high)
    extend = {(True, True): "both", (True, False): "min", (False, True): "max"}.get(ends, "neither")
    bar = figure.colorbar(picture, ax=heat, label="half a round trip [µs]", shrink=0.85, extend=extend)
    bar.ax.yaxis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 100 else f"{value:.3g}")
    )
    if norm.vmax and norm.vmin and norm.vmax < 20 * norm.vmin:
        bar.ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 1.5, 2.0, 3.0, 5.0, 7.0)))
        bar.ax.yaxis.set_minor_formatter(NullFormatter())
    return figure


def _range(matrix: Any) -> tuple[float, float]:  # noqa: ANN401 - an array
    """The limits of the colours: at least a quarter apart, so that scatter alone does not fill the scale; single pairs
    far from all others do not extend it."""
    limits = bulk_limits(matrix[np.triu_indices(len(matrix), 1)], log=True)
    low, high = limits.low, limits.high
    middle = (low * high) ** 0.5
    return min(low, middle / 1.25**0.5), max(high, middle * 1.25**0.5)


def _draw_tree(found: PairMeasurement, axes: Any) -> None:  # noqa: ANN401 - matplotlib's
    structure = found.structure
    drawn = structure.tree.copy()
    limits = bulk_limits(drawn[:, 2], reach=FAR)
    # Draw from half a step below the lowest join, because log latencies have no zero.
    floor = limits.low - max(0.1 * (limits.high - limits.low), 0.05)
    higher = drawn[limits.above(drawn[:, 2]), 2]
    drawn[:, 2] = np.maximum(drawn[:, 2] - floor, 0.0)
    dendrogram(drawn, ax=axes, no_labels=True, color_threshold=0, above_threshold_color=BLUE)
    for cut in structure.cuts_ns:
        axes.axhline(np.log(cut) - floor, color=VERMILLION, linewidth=0.9, linestyle="--")
    top = (limits.high - floor) * 1.05
    if len(higher):
        text = f"{plural(len(higher), 'join')} up to {time_text(float(np.exp(higher.max())) * 1e3)}"
        mark_cut(axes, "top", [0.98], BLUE, [text], fraction=True)
    ticks = _tick_values(float(np.exp(floor)), float(np.exp(floor + top)))
    axes.set_ylim(0, top)
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_yticks([float(np.log(t) - floor) for t in ticks], [f"{t / 1000:.3g}" for t in ticks])
    axes.set_ylabel("mean of joined\npairs [µs]")
    tidy(axes)
    names = ", ".join(level.name for level in structure.levels)
    levels = plural(len(structure.levels), "level")
    cuts = "; dashed: between levels" if len(structure.cuts_ns) else ""
    axes.set_title(f"Ranks joined by how near they are (average linkage), {levels}: {names}{cuts}")


def _tick_values(low: float, high: float) -> list[float]:
    steps = (1.0, 2.0, 5.0) if high > 4 * low else (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)
    decades = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    ticks = [step * 10.0**decade for decade in decades for step in steps]
    inside = [t for t in ticks if low <= t <= high]
    return inside if len(inside) >= 2 else [low, (low * high) ** 0.5, high]


def _draw_borders(axes: Any, order: list[int], groups: Any, width: float) -> None:  # noqa: ANN401 - matplotlib's
    of_rank = {rank: i for i, group in enumerate(groups) for rank in group}
    for i in range(1, len(order)):
        if of_rank[order[i]] != of_rank[order[i - 1]]:
            axes.axhline(i - 0.5, color="white", linewidth=width)
            axes.axvline(i - 0.5, color="white", linewidth=width)


def _label_ranks(axes: Any, found: PairMeasurement, order: list[int]) -> None:  # noqa: ANN401 - matplotlib's
    step = max(1, -(-len(order) // 32))
    places = list(range(0, len(order), step))
    axes.set_xticks(places, [str(order[i]) for i in places], rotation=90 if len(order) > 16 else 0)
    several = len(set(found.hosts)) > 1
    axes.set_yticks(places, [f"{found.hosts[order[i]]}: {order[i]}" if several else str(order[i]) for i in places])
    axes.set_xlabel("rank, near ones side by side")
    axes.set_ylabel("host: rank" if several else "rank")
    axes.tick_params(length=2, labelsize=7)
