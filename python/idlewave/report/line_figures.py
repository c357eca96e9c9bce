"""What figures of studies have in common: marks of lines, axes of ranks, ends of axes without outliers, legends."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from idlewave.formatting import count_text
from idlewave.plot_limits import bulk_limits, mark_outside

MARKS = "osD^vPX"
"""As many as have no common divisor with the number of `LINES`, so that no two of many lines look the same."""
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))


def bound(
    axes: Axes, places: npt.ArrayLike, values: npt.ArrayLike, *, across: str = "y", among: npt.ArrayLike | None = None
) -> None:
    """Let no single value stretch an axis: those far beyond the others are marked at its edge. `among`: all values of
    an axis that panels share."""
    along, found = np.ravel(places), np.ravel(values)
    limits = bulk_limits(found if among is None else np.ravel(among))
    if mark_outside(axes, limits, along, found, across=across):
        margin = 0.06 * (max(limits.high - limits.low, abs(limits.high) / 100) or 1)
        (axes.set_ylim if across == "y" else axes.set_xlim)(limits.low - margin, limits.high + margin)


def rank_axis(axes: Axes, ranks: list[int], most_ticks: int | None = None) -> None:
    """A logarithmic axis of ranks with ticks at these; `most_ticks`: at every second or third of more than that."""
    axes.set_xscale("log", base=2)
    axes.set_xlabel("ranks")
    step = 1 if most_ticks is None else -(-len(ranks) // most_ticks)
    axes.xaxis.set_major_locator(FixedLocator(ranks[::step]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: count_text(round(value))))


def legend_above(figure: Figure, axes: Axes, columns: int | None = None) -> None:
    """The legend of `axes` above all panels of a figure, in one line or in so many columns."""
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside upper center", ncols=columns or len(labels))
