"""Figures of one-sided against two-sided communication: times, floods by the number of links, and overlap.

A colour is a back end in all of them, with the intervals as bars.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from ...formatting import percent_tick, plural, si_text, size_text
from ...plot_limits import bulk_limits, cut_count, cut_text, mark_outside, say_above
from ...plot_style import PALETTE, new_figure, say_empty, styled, tidy
from ..network.plots.plot_helpers import scale_sizes, scale_times
from .libraries import BACK_END_NAMES, BACK_ENDS
from .samples import (
    ACKNOWLEDGED,
    ACTIVE_MESSAGE,
    CALL,
    FENCE,
    GET,
    GET_OVERLAP,
    NOTIFIED,
    OVERLAP,
    PING_PONG,
    POLLED,
    PSCW,
    PUT,
    RPUT,
)

COLOURS = dict(zip(BACK_ENDS, PALETTE, strict=False))
HALF, WHOLE = "half a round trip", "time"
STYLES = ("o-", "s--", "^:")
TIMES: dict[str, tuple[tuple[tuple[str, str], ...], str]] = {
    "message; put, then flag": (((PING_PONG, ""), (NOTIFIED, "")), HALF),
    "message; put that is polled": (((PING_PONG, ""), (POLLED, ""), (ACTIVE_MESSAGE, "active message")), HALF),
    "message and answer; complete put": (((ACKNOWLEDGED, ""), (PUT, "")), WHOLE),
    "complete get": (((GET, ""),), WHOLE),
    "other epochs": (((FENCE, "fence"), (PSCW, "post to wait"), (RPUT, "rput")), WHOLE),
    "call that starts it": (((CALL, ""),), WHOLE),
}
"""The panels of times: their operations, with what a label says of each, and the time that is drawn."""
LARGEST_EMPTY = 0.5
"""Where transfers without bytes stand on a logarithmic axis."""


@styled
def plot_one_sided_times(table: pd.DataFrame) -> Figure:
    """A panel for each way to move bytes: the times over the size. `table`: of OneSidedMeasurement."""
    figure = new_figure(9.0)
    panels = figure.subplots(3, 2, sharex=True).ravel()
    shown: set[str] = set()
    for axes, (title, (operations, drawn)) in zip(panels, TIMES.items(), strict=True):
        own = table[table["operation"].isin([name for name, _ in operations])]
        times = own[["median_ps", "low_ps", "high_ps"]] / (2 if drawn == HALF else 1) / 1e3  # ns
        axes.set_title(title)
        tidy(axes, "both")
        if own.empty:
            say_empty(axes, "not measured", ticks=True)
            continue
        lines = [
            (f"{BACK_END_NAMES[name]}{', ' if said else ''}{said}", COLOURS[name], _style(operations, said), rows)
            for operation, said in operations
            for name, rows in _by_back_end(own[own["operation"] == operation])
        ]
        _draw(axes, lines, times, shown)
        scale_times(axes)
        axes.set_ylabel(drawn)
    _sizes(panels, table)
    say_above(panels[0], cut_text(cut_count(figure), "point"))
    return figure


@styled
def plot_one_sided_floods(floods: pd.DataFrame) -> Figure:
    """Bandwidth and messages a second of floods, a column of panels for each number of links. `floods`: of
    OneSidedMeasurement."""
    links = sorted(floods["links"].unique())
    figure = new_figure(5.4)
    named: set[str] = set()
    panels = figure.subplots(2, len(links), sharex=True, sharey="row", squeeze=False)
    quantities = (("bandwidth", "bandwidth [B/s]"), ("messages_per_s", "messages [1/s]"))
    for row, (quantity, label) in zip(panels, quantities, strict=True):
        shown = floods[floods[quantity] > 0]
        for axes, count in zip(row, links, strict=True):
            own = shown[shown["links"] == count]
            columns = own[[quantity, f"{quantity}_low", f"{quantity}_high"]]
            axes.set_title(plural(count, "link"))
            tidy(axes, "both")
            _draw(
                axes,
                [(BACK_END_NAMES[name], COLOURS[name], STYLES[0], rows) for name, rows in _by_back_end(own)],
                columns,
                named,
            )
            axes.yaxis.set_major_locator(LogLocator(numticks=8))
            axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: si_text(value)))
            axes.yaxis.set_minor_formatter(NullFormatter())
        row[0].set_ylabel(label)
    _sizes(panels.ravel(), floods, columns=len(links))
    say_above(panels[0][0], cut_text(cut_count(figure), "point"))
    return figure


@styled
def plot_one_sided_overlaps(overlaps: pd.DataFrame) -> Figure:
    """The share of a computation as long as the transfer that hides in it, over the size. `overlaps`: of
    OneSidedMeasurement."""
    figure = new_figure(3.2)
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    titles = {OVERLAP: "message and answer; put", GET_OVERLAP: "get"}
    for axes, (operation, title) in zip(panels, titles.items(), strict=True):
        own = overlaps[overlaps["operation"] == operation]
        axes.set_title(title)
        tidy(axes, "both")
        for name, rows in _by_back_end(own):
            low, high = (rows["hidden"] - rows["hidden_low"]), (rows["hidden_high"] - rows["hidden"])
            axes.errorbar(
                rows["size"],
                rows["hidden"],
                (low.clip(lower=0), high.clip(lower=0)),
                fmt=STYLES[0],
                color=COLOURS[name],
                markersize=3,
                linewidth=1,
                label=BACK_END_NAMES[name],
            )
        axes.set_xscale("log", base=2)
        axes.set_ylim(-0.03, 1.03)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: percent_tick(value)))
        if own.empty:
            say_empty(axes, "not measured", ticks=True)
        elif axes is panels[0]:
            axes.legend(loc="best", frameon=True, framealpha=0.8, edgecolor="none")
    panels[0].set_ylabel("computation that is hidden")
    _sizes(panels, overlaps, columns=2)
    return figure


def _by_back_end(rows: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    present = [name for name in BACK_ENDS if (rows["back_end"] == name).any()]
    return [(name, rows[rows["back_end"] == name]) for name in present]


def _style(operations: Sequence[tuple[str, str]], said: str) -> str:
    """The style of the operation of which a label says this: those without such a word have one."""
    return STYLES[[*dict.fromkeys(word for _, word in operations)].index(said) % len(STYLES)]


def _draw(
    axes: Axes, lines: Sequence[tuple[str, str, str, pd.DataFrame]], values: pd.DataFrame, named: set[str]
) -> None:
    """Lines of rows with the median, low and high `values` of each; the axes are logarithmic. A legend has the labels
    that are not `named` elsewhere."""
    limits = bulk_limits(values, log=True)
    for label, colour, style, rows in lines:
        middle, low, high = (values.loc[rows.index, name] for name in values.columns)
        spread = ((middle - low).clip(lower=0), (high - middle).clip(lower=0))
        sizes = rows["size"].clip(lower=LARGEST_EMPTY)
        drawn = axes.errorbar(sizes, middle, spread, fmt=style, color=colour, markersize=3, linewidth=1)
        drawn.set_label("_" if label in named else label)
        named.add(label)
        mark_outside(axes, limits, sizes, middle, colour)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_ylim(limits.low / 1.3, limits.high * 1.3)
    if axes.get_legend_handles_labels()[1]:
        axes.legend(loc="best")


def _sizes(panels: Iterable[Axes], table: pd.DataFrame, columns: int = 2) -> None:
    if table.empty:
        return
    every = [*panels]
    for axes in every:
        scale_sizes(axes, table["size"].clip(lower=LARGEST_EMPTY), most=max(12 // columns, 2))
        axes.xaxis.set_major_formatter(
            FuncFormatter(lambda value, _: "empty" if value <= LARGEST_EMPTY else size_text(value))
        )
        axes.tick_params(labelbottom=True)
    for axes in every[-columns:]:
        axes.set_xlabel("size of a transfer")
