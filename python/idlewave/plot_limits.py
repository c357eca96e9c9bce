"""Limits of axes by the bulk of the values, so that no single value stretches them; values beyond get a mark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from .formatting import plural
from .plot_style import HALO, MUTED, SMALL

FEW = 5
"""At most so many values at each end may be outliers; of four values one may be, of fewer none."""
ROOM = 3.0
"""How far beyond the bulk an axis reaches for outliers, in widths of the bulk; those further away are cut."""
LOG_ROOM = 0.5
MARGIN = 1.3
MOST_TEXTS = 3
"""If an edge has at most so many marks, their values stand beside them."""

CUT = "_cut"
"""The label of the marks; legends leave out labels that begin with an underscore."""

_MARKERS = {"top": "^", "bottom": "v", "left": "<", "right": ">"}


@dataclass(frozen=True)
class Limits:
    """The ends of an axis' data, without margins."""

    low: float
    high: float

    def above(self, values: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Which values lie beyond the upper end; NaN does not."""
        return np.asarray(np.asarray(values, dtype=np.float64) > self.high * (1 + 1e-12 * np.sign(self.high)))

    def below(self, values: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Which values lie beyond the lower end."""
        return np.asarray(np.asarray(values, dtype=np.float64) < self.low * (1 - 1e-12 * np.sign(self.low)))

    def outside(self, values: npt.ArrayLike) -> int:
        """How many values lie beyond either end."""
        return int((self.above(values) | self.below(values)).sum())

    def reaching(self, values: npt.ArrayLike, factor: float) -> Limits:
        """The limits of a logarithmic axis that reaches `values`, but at most `factor` beyond either end."""
        found = _usable(values, log=True)
        if not len(found):
            return self
        low = max(self.low / factor, min(self.low, float(found.min())))
        return Limits(low, min(self.high * factor, max(self.high, float(found.max()))))

    def with_margin(self, factor: float = MARGIN) -> Limits:
        """The limits of a logarithmic axis with a margin, so that marks at its ends are not clipped."""
        return Limits(self.low / factor, self.high * factor)


def bulk_limits(
    values: npt.ArrayLike, *, log: bool = False, room: float | None = None, reach: float | None = None
) -> Limits:
    """The limits of an axis for `values`, without outliers.

    An outlier lies further from the bulk than `room` widths of the bulk (decades if `log`), or than `reach`. On a
    logarithmic axis only positive values count. Without any value the limits are 0 to 1, or 1 to 10.

    The bulk is all values but a fiftieth at each end: at most `FEW` values, and none of fewer than four. On a linear
    axis it includes 0.
    """
    found = np.sort(_usable(values, log=log))
    if not len(found):
        return Limits(1.0, 10.0) if log else Limits(0.0, 1.0)
    scaled = np.log10(found) if log else found
    few = 0 if len(found) < 4 else min(max(len(found) // 50, 1), FEW)
    first, last = scaled[few], scaled[len(found) - 1 - few]
    if not log:
        first, last = min(first, 0.0), max(last, 0.0)
    width = max(last - first, 1.0) if log else last - first
    if reach is None:
        reach = width * ((LOG_ROOM if log else ROOM) if room is None else room)
    kept = found[(scaled >= first - reach) & (scaled <= last + reach)]
    return Limits(float(kept[0]), float(kept[-1]))


def _usable(values: npt.ArrayLike, *, log: bool) -> npt.NDArray[np.float64]:
    found = np.asarray(values, dtype=np.float64).ravel()
    usable = np.isfinite(found) & (np.abs(found) < 1e290)  # beyond, a margin would be infinite
    return found[usable & (found > 1e-300)] if log else found[usable]


def mark_cut(
    axes: Axes,
    edge: str,
    places: npt.ArrayLike,
    colour: str = MUTED,
    texts: Sequence[str] = (),
    *,
    fraction: bool = False,
) -> None:
    """Draw a triangle at an edge (top, bottom, left, right) of `axes` for each value beyond it.

    `places` are coordinates along the edge, or with `fraction` fractions of it. `texts` stand beside a few triangles.
    """
    along = np.atleast_1d(np.asarray(places, dtype=np.float64))
    if not len(along):
        return
    upright = edge in ("top", "bottom")
    across = np.full(len(along), float(edge in ("top", "right")))
    x, y = (along, across) if upright else (across, along)
    transform = axes.get_xaxis_transform() if upright else axes.get_yaxis_transform()
    transform = axes.transAxes if fraction else transform
    looks: Any = {
        "markersize": 4.5,
        "markeredgewidth": 0.0,
        "linestyle": "none",
        "clip_on": False,
        "zorder": 6,
        "label": CUT,
    }
    axes.plot(x, y, _MARKERS[edge], color=colour, transform=transform, scalex=False, scaley=False, **looks)
    for place_x, place_y, text in zip(x, y, texts if len(along) <= MOST_TEXTS else (), strict=False):
        offset, ha, va = _TEXT[edge]
        axes.annotate(
            text, (place_x, place_y), xycoords=transform, xytext=offset, textcoords="offset points", ha=ha, va=va,
            fontsize=SMALL, color=colour, annotation_clip=False, zorder=6, path_effects=[HALO],
        )  # fmt: skip


_TEXT = {
    "top": ((-5, -1), "right", "top"),
    "bottom": ((-5, 1), "right", "bottom"),
    "left": ((5, 1), "left", "bottom"),
    "right": ((-5, 1), "right", "bottom"),
}


def mark_outside(
    axes: Axes, limits: Limits, places: npt.ArrayLike, values: npt.ArrayLike, colour: str = MUTED, *, across: str = "y"
) -> int:
    """Mark the `values` along the axis `across` that lie beyond `limits`, at both edges; returns their number."""
    along = np.asarray(places, dtype=np.float64)
    above, below = limits.above(values), limits.below(values)
    high, low = ("top", "bottom") if across == "y" else ("right", "left")
    mark_cut(axes, high, along[above], colour)
    mark_cut(axes, low, along[below], colour)
    return int(above.sum() + below.sum())


def cut_count(figure: Figure) -> int:
    """The number of values that are marked at the edges of a figure's axes."""
    lines = [line for axes in figure.axes for line in axes.lines if line.get_label() == CUT]
    return sum(len(np.asarray(line.get_xdata())) for line in lines)


def cut_handle(label: str = "beyond the axis") -> Line2D:
    """The entry of these marks in a legend."""
    return Line2D([], [], color=MUTED, marker="^", markersize=4.5, markeredgewidth=0.0, linestyle="none", label=label)


def say_above(axes: Axes, text: str) -> None:
    """Write a small line of text above the right end of `axes`."""
    axes.annotate(
        text, (1, 1), xycoords="axes fraction", xytext=(0, 6), textcoords="offset points",
        ha="right", va="bottom", fontsize=SMALL, color=MUTED, annotation_clip=False,
    )  # fmt: skip


def cut_text(count: int, noun: str = "value") -> str:
    """ "▲ 1 value beyond the axis"; "" for 0."""
    return f"▲ {plural(count, noun)} beyond the axis" if count else ""
