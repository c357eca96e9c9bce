"""Figures of the study of machines: run times by machine, what edits give, run times under noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from idlewave.formatting import percent_tick, seconds_text
from idlewave.plot_limits import bulk_limits, mark_outside
from idlewave.plot_style import FAINT, INK, PALETTE, new_figure, styled, tidy
from idlewave.report.line_figures import MARKS, legend_above

_MOST_COLUMNS = 2
_MARGIN = 1.1
_NARROW = 6.0
"""Up to this ratio of its ends a logarithmic axis has further ticks."""
AS_IT_IS = "as it is"
"""The name of no edit in legends."""


@styled
def plot_machine_times(rows: pd.DataFrame) -> Figure:
    """Run times on logarithmic axes: a panel a program, a line a machine, a mark an edit.

    Columns: program, base, edit ("": none), seconds.
    """
    programs, bases = _known(rows, "program"), _known(rows, "base")
    figure, panels = _panels(len(programs), len(bases))
    for axes, program in zip(panels, programs, strict=False):
        own = rows[rows["program"] == program]
        limits = bulk_limits(own["seconds"], log=True)
        _one_line_each(axes, bases, program)
        axes.set_xscale("log")
        for number, edit in enumerate(_known(rows, "edit")):
            some = own[own["edit"] == edit]
            places = [bases.index(base) for base in some["base"]]
            _mark(axes, some["seconds"].to_numpy(float), places, number, edit or AS_IT_IS)
            mark_outside(axes, limits, places, some["seconds"], across="x")
        shown = limits.with_margin(_MARGIN)
        axes.set_xlim(shown.low, shown.high)
        wide = shown.high > _NARROW * shown.low
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if wide else (1, 1.5, 2, 3, 5, 7)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: seconds_text(value)))
    _under(panels, len(programs), "run time")
    legend_above(figure, panels[0], 5)
    return figure


@styled
def plot_machine_gains(rows: pd.DataFrame) -> Figure:
    """How much faster a program is with an edit: a panel a program, a line a machine, a mark an edit.

    Columns: program, base, edit, gain, the share by which the time without the edit is longer.
    """
    programs, bases = _known(rows, "program"), _known(rows, "base")
    figure, panels = _panels(len(programs), len(bases))
    for axes, program in zip(panels, programs, strict=False):
        own = rows[rows["program"] == program]
        limits = bulk_limits(own["gain"])
        _one_line_each(axes, bases, program)
        axes.axvline(0, color=INK, linewidth=0.7)
        for number, edit in enumerate(_known(rows, "edit"), start=1):
            some = own[own["edit"] == edit]
            places = [bases.index(base) for base in some["base"]]
            _mark(axes, some["gain"].to_numpy(float), places, number, edit)
            mark_outside(axes, limits, places, some["gain"], across="x")
        margin = 0.06 * max(limits.high - limits.low, 1e-3)
        axes.set_xlim(limits.low - margin, limits.high + margin)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: percent_tick(value)))
    _under(panels, len(programs), "faster by")
    legend_above(figure, panels[0], 5)
    return figure


@styled
def plot_machine_noise(rows: pd.DataFrame) -> Figure:
    """Slowdowns by noise over seeds: a panel a program, a line a machine as it is and one for each edit; bars from the
    10 % to the 90 % quantile.

    Columns: program, machine, median, low, high.
    """
    programs, machines = _known(rows, "program"), _known(rows, "machine")
    figure, panels = _panels(len(programs), len(machines))
    for axes, program in zip(panels, programs, strict=False):
        own = rows[rows["program"] == program]
        places = np.array([machines.index(machine) for machine in own["machine"]], float)
        limits = bulk_limits(own["high"])
        _one_line_each(axes, machines, program)
        axes.hlines(places, own["low"], own["high"], color=PALETTE[0], linewidth=2)
        axes.plot(own["median"], places, "o", color=PALETTE[0], markersize=4, markerfacecolor="white")
        mark_outside(axes, limits, places, own["high"], across="x")
        margin = 0.06 * max(limits.high - limits.low, 1e-3)
        axes.set_xlim(min(limits.low, 0.0) - margin, limits.high + margin)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: percent_tick(value)))
    _under(panels, len(programs), "longer by noise")
    return figure


def _panels(programs: int, lines: int) -> tuple[Figure, Sequence[Axes]]:
    columns = min(_MOST_COLUMNS, programs)
    rows = -(-programs // columns)
    figure = new_figure(0.9 + rows * (0.5 + 0.19 * lines))
    return figure, list(np.ravel(figure.subplots(rows, columns, sharey=True, squeeze=False)))


def _one_line_each(axes: Axes, names: list[str], title: str) -> None:
    tidy(axes, "x")
    axes.set_title(title)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.hlines(range(len(names)), 0, 1, color=FAINT, linewidth=0.5, transform=axes.get_yaxis_transform())


def _mark(axes: Axes, values: np.ndarray, places: Sequence[int], number: int, label: str) -> None:
    axes.plot(
        values, places, MARKS[number % len(MARKS)], color=PALETTE[number % len(PALETTE)], label=label, markersize=4.5,
        markerfacecolor="none", linestyle="none",
    )  # fmt: skip


def _under(panels: Sequence[Axes], used: int, label: str) -> None:
    for axes in panels[used:]:
        axes.set_visible(False)
    for axes in panels[:used]:
        axes.set_xlabel(label)


def _known(rows: pd.DataFrame, column: str) -> list[str]:
    return [str(value) for value in rows[column].unique()]
