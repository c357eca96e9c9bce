"""The figure of a traced program's computations: their distribution by call site."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from idlewave.computation_sites import size_range_text
from idlewave.formatting import SPACE, count_text, percent_text, time_text
from idlewave.plot_limits import Limits, bulk_limits, mark_cut
from idlewave.plot_style import BLUE, INK, MUTED, SKY, SMALL, new_figure, say_empty, styled, tidy

MOST_SITES = 12
LEAST_SHARE = 0.001
"""A figure shows the sites that have this share of all computation or more."""
_SHORTEST = 1.0  # ns, on the axis of times


def shown_sites(sites: pd.DataFrame) -> pd.DataFrame:
    """The sites that a figure shows, the largest first."""
    known = np.isfinite(sites["total_s"].astype(float)) & (sites["total_s"] > 0)
    large = sites[known & (sites["share"] >= LEAST_SHARE)]
    return large.nlargest(MOST_SITES, "total_s").reset_index(drop=True)


@styled
def plot_computation_sites(sites: pd.DataFrame) -> Figure:
    """How long the computations before the calls of a site take (log), and how much time they take together (s).

    `sites`: the rows of `Trace.computation_sites`. The sites with the most time are shown, up to 12 with a thousandth
    of all or more: a line from the shortest to the longest computation, a pale bar for all but a twentieth at each end,
    a dark one for the middle half, and a mark at the median.
    """
    shown = shown_sites(sites)
    if shown.empty:
        figure = new_figure(1.6)
        axes = figure.subplots()
        axes.set_axis_off()
        say_empty(axes, "no computation was recorded")
        return figure
    figure = new_figure(1.5 + 0.42 * len(shown))
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(2.3, 1))
    _spreads(left, shown)
    _totals(right, shown)
    left.set_ylim(len(shown) - 0.4, -0.6)
    left.set_yticks(range(len(shown)), [_label(row) for _, row in shown.iterrows()], fontsize=7.5)
    left.tick_params(axis="y", length=0)
    right.tick_params(axis="y", length=0, labelleft=False)
    some = f" ({len(shown)} of {count_text(len(sites))})" if len(shown) < len(sites) else ""
    left.set_title(f"Computations by call site{some}")
    figure.legend(handles=_legend(), loc="outside upper left", ncols=4, handlelength=1.2, columnspacing=1.4)
    return figure


def _legend() -> list[Line2D | Patch]:
    return [
        Line2D([], [], color=MUTED, linewidth=0.9, label="all"),
        Patch(color=SKY, alpha=0.55, label=f"90{SPACE}% of them"),
        Patch(color=BLUE, label="middle half"),
        Line2D([], [], color=INK, marker="|", markersize=8, markeredgewidth=1.4, linestyle="none", label="median"),
    ]


def _label(row: pd.Series) -> str:
    """The call with its size, the position in its cycle, the call before it, and the name of the site."""
    size = size_range_text(row["least_bytes"], row["most_bytes"])
    level = "" if pd.isna(row["level"]) else f"level {row['level']}"
    call = ", ".join(filter(None, (f"{row['call']} {size}".strip(), level)))
    before = f"after {row['after']}" if row["after"] else "at the start"
    length = row["cycle_length"]
    position = f", position {row['position']} of {length}" if length > 1 else ""
    return f"{call}{position}\n{before}, {row['site']}"


def _limits(shown: pd.DataFrame) -> Limits:
    """The axis of times spans almost all computations, and reaches to the extremes as far as they are near."""
    inner = shown[["q05_ns", "median_ns", "q95_ns"]].to_numpy(dtype=float)
    limits = bulk_limits(np.maximum(inner, _SHORTEST), log=True, room=10)
    ends = np.maximum(shown[["min_ns", "max_ns"]].to_numpy(dtype=float), _SHORTEST)
    return limits.reaching(ends, 10.0).with_margin()


def _spreads(axes: Axes, shown: pd.DataFrame) -> None:
    tidy(axes, "x")
    axes.set_xscale("log")
    limits = _limits(shown)
    columns = ["min_ns", "q05_ns", "q25_ns", "median_ns", "q75_ns", "q95_ns", "max_ns"]
    values = np.clip(shown[columns].to_numpy(dtype=float), limits.low, limits.high)
    for row, (least, low, first, middle, third, high, most) in enumerate(values):
        axes.plot((least, most), (row, row), color=MUTED, linewidth=0.9, zorder=2)
        axes.barh(row, high - low, 0.46, left=low, color=SKY, alpha=0.55, zorder=2.5)
        axes.barh(row, third - first, 0.46, left=first, color=BLUE, zorder=2.6)
        axes.plot((middle, middle), (row - 0.32, row + 0.32), color=INK, linewidth=1.4, zorder=3)
    beyond, below = limits.above(shown["max_ns"]), limits.below(shown["min_ns"])
    mark_cut(axes, "right", np.flatnonzero(beyond), INK, [time_text(1e3 * ns) for ns in shown["max_ns"][beyond]])
    mark_cut(axes, "left", np.flatnonzero(below), MUTED)
    axes.set_xlim(limits.low, limits.high)
    narrow = limits.high < 100 * limits.low  # less than two decades have too few powers of ten for ticks
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if narrow else (1,), numticks=7))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda ns, _: time_text(1e3 * ns)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("time of one computation (log)")


def _totals(axes: Axes, shown: pd.DataFrame) -> None:
    tidy(axes, "x")
    axes.set_title("Together")
    totals = shown["total_s"].to_numpy(dtype=float)  # shares of one whole: a cut bar would show a wrong one
    axes.barh(range(len(shown)), totals, 0.46, color=MUTED)
    for row, (total, share, count) in enumerate(zip(totals, shown["share"], shown["count"], strict=True)):
        axes.annotate(
            f"{percent_text(share)}, {count_text(count)}×",
            (total, row),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=SMALL - 0.5,
        )
    axes.set_xlim(0, totals.max() * 2.2)
    axes.xaxis.set_major_locator(MaxNLocator(3, steps=[1, 2, 5, 10]))
    axes.set_xlabel("time of all ranks [s]")
