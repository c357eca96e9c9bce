"""The style of all figures: one font size, one palette, no global state."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.category import StrCategoryFormatter
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.text import Text
from matplotlib.ticker import FixedFormatter

from .escaping import printable

WIDTH = 6.4  # inches, of every figure

# Okabe and Ito, Color Universal Design (2008), in an order that keeps neighbours apart in grey, too.
BLUE, ORANGE, GREEN, VERMILLION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
SKY, PURPLE, YELLOW = "#56B4E9", "#CC79A7", "#F0E442"
INK, MUTED, SOFT, FAINT = "#1a1a1a", "#666666", "#b8b8b8", "#e4e4e4"
PALETTE = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILLION, YELLOW, "#000000")

SVG_DOTS_PER_INCH = 72  # SVG's points, whatever the figure has
SMALL = 8.0
HALO = withStroke(linewidth=2.5, foreground="white")  # keeps a label readable on lines
STYLE: Any = {
    "axes.axisbelow": True,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.labelsize": 9.0,
    "axes.linewidth": 0.6,
    "axes.titlelocation": "left",
    "axes.titlesize": 9.0,
    "axes.titleweight": "bold",
    "figure.constrained_layout.h_pad": 0.05,
    "figure.constrained_layout.w_pad": 0.05,
    "figure.dpi": 100,
    "figure.facecolor": "white",
    "font.family": "DejaVu Sans",  # part of matplotlib: the same picture everywhere
    "font.size": 9.0,
    "legend.fontsize": SMALL,
    "legend.frameon": False,
    "text.color": INK,
    "svg.fonttype": "path",  # the width of a label must not depend on the fonts of the reader
    "svg.hashsalt": "idlewave",
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
}

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def styled(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Decorator: run `function` in this style; the matplotlib settings of the caller are unchanged."""

    @wraps(function)
    def inner(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        with rc_context(STYLE):
            return function(*args, **kwargs)

    return inner


def new_figure(height: float, width: float = WIDTH) -> Figure:
    """An empty figure of `width` × `height` inches, without pyplot."""
    return Figure(figsize=(width, height), layout="constrained")


def finished(figure: Figure) -> Figure:
    """Make the texts of a figure literal and lay it out, once: then saving it in one more format only draws it.

    Matplotlib would draw a figure that has a layout engine twice for each format, and lay it out for each.
    """
    engine = figure.get_layout_engine()
    if engine is None:
        return figure
    plain_text(figure)
    FigureCanvasSVG(figure)  # texts have their exact sizes there, and none that were rounded to pixels
    dots_per_inch, figure.dpi = figure.dpi, SVG_DOTS_PER_INCH
    engine.execute(figure)
    figure.dpi = dots_per_inch
    figure.set_layout_engine(None)
    return figure


def plain_text(figure: Figure) -> None:
    """Make all texts of a figure printable and literal, because they may come from data: no formulas, no control
    characters."""
    for text in figure.findobj(Text):
        if isinstance(text, Text) and (label := text.get_text()):
            text.set_text(printable(label))
            text.set_parse_math(False)
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if isinstance(axis.get_major_formatter(), FixedFormatter | StrCategoryFormatter):
                for tick in axis.get_ticklabels():
                    tick.set_parse_math(False)


def tidy(axes: Axes, grid: str = "y") -> None:
    """Remove the box around the data, draw light grid lines along `grid` ("x", "y", "both" or "") and pale ticks."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(which="both", color=MUTED, labelcolor=INK, width=0.6, labelsize=SMALL)
    axes.tick_params(which="minor", length=1.8, labelsize=SMALL)
    if grid:
        axes.grid(axis=grid, color=FAINT, linewidth=0.6)  # type: ignore[arg-type]


def say_empty(axes: Axes, text: str, *, ticks: bool = False) -> None:
    """Write into empty axes why they are empty; without `ticks` remove the ticks, too."""
    if not ticks:
        axes.set_xticks([])
        axes.set_yticks([])
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=MUTED)


def spread_labels(positions: list[float], least: float) -> list[float]:
    """Move `positions` apart until neighbours are `least` apart; their order and centre are kept."""
    order = sorted(range(len(positions)), key=lambda index: positions[index])
    placed = [positions[index] for index in order]
    for _ in range(100):
        for left in range(len(placed) - 1):
            lack = least - (placed[left + 1] - placed[left])
            if lack > 1e-9:
                placed[left] -= lack / 2
                placed[left + 1] += lack / 2
    result = [0.0] * len(positions)
    for place, index in enumerate(order):
        result[index] = placed[place]
    return result
