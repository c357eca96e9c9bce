"""Plots of bench/kernel.py: a line is a median, its band the range of the runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any, cast

from idlewave.plot_style import BLUE, GREEN, INK, MUTED, ORANGE, PURPLE, VERMILLION, new_figure, styled, tidy
from kernel_runs import (
    CONSERVATIVE,
    CONSERVATIVE_MPI,
    OPTIMISTIC,
    OPTIMISTIC_MPI,
    SEQUENTIAL,
    Answer,
    Answers,
    Way,
    Work,
)
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator
from matplotlib.typing import ColorType


@dataclass(frozen=True)
class Look:
    """The style and the name of a line."""

    colour: ColorType
    marker: str
    label: str
    style: str = "-"


LOOKS = {
    SEQUENTIAL: Look(GREEN, "s", SEQUENTIAL.name),
    CONSERVATIVE: Look(BLUE, "o", CONSERVATIVE.name),
    OPTIMISTIC: Look(VERMILLION, "^", OPTIMISTIC.name),
    CONSERVATIVE_MPI: Look(BLUE, "o", CONSERVATIVE_MPI.name, "--"),
    OPTIMISTIC_MPI: Look(VERMILLION, "^", OPTIMISTIC_MPI.name, "--"),
}
PRIMARY, SECONDARY = Look(PURPLE, "D", "primary: stragglers"), Look(ORANGE, "v", "secondary: anti-messages")
DOTS_PER_INCH = 200
Runs = Sequence[tuple[float, list[Answer]]]
"""A position on the axis, and the runs at it."""


@dataclass(frozen=True)
class Sweep:
    """A parameter of the work, its values, and the label of its axis."""

    name: str
    values: tuple[float, ...]
    label: str
    logarithmic: bool = True

    def works(self) -> list[Work]:
        """The swept work with each value."""
        return [replace(SWEPT, **cast(Any, {self.name: value})) for value in self.values]


SWEPT = Work(lps=8_000, events=3_000_000)
SWEEPS = (
    Sweep("remote", (0.0, 0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0), "remote share", logarithmic=False),
    Sweep("lookahead", (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.9), "lookahead [mean delays]"),
    Sweep("lps", (80, 400, 2_000, 8_000, 40_000, 200_000, 1_000_000), "LPs"),
)
SWEPT_WAYS = (SEQUENTIAL, CONSERVATIVE, OPTIMISTIC)
PENDING = tuple(Work(lps) for lps in (64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576))
DENSITY_WAYS = (CONSERVATIVE, OPTIMISTIC)
LP_DENSITIES = (16, 64, 256, 1_024, 4_096, 16_384, 65_536)
EVENT_DENSITIES = (1, 4, 16, 64)


def dense(lps_per_core: int, start_events: int) -> Work:
    """The work of a point of the plot of densities, on two cores."""
    return Work(2 * lps_per_core, events=3_000_000, start_events=start_events)


def save(figure: Figure, output: Path, name: str) -> None:
    """Save a figure as SVG and as PNG."""
    for ending in ("svg", "png"):
        figure.savefig(output / f"{name}.{ending}", dpi=DOTS_PER_INCH)


def line(axes: Axes, runs: Runs, value: Callable[[Answer], float], look: Look) -> None:
    """Draw the median against the parameter, and a band from the least to the largest value."""
    places = [place for place, _ in runs]
    values = [[value(run) for run in answers] for _, answers in runs]
    axes.plot(
        places,
        [median(some) for some in values],
        color=look.colour,
        marker=look.marker,
        markersize=3.5,
        linewidth=1.3,
        linestyle=look.style,
        label=look.label,
        clip_on=False,
    )
    least, most = [min(some) for some in values], [max(some) for some in values]
    axes.fill_between(places, least, most, color=look.colour, alpha=0.15, linewidth=0)


def speed_a_core(way: Way) -> Callable[[Answer], float]:
    """Millions of events per second and core."""
    return lambda run: run.rate / way.cores / 1e6


def time_a_core(way: Way) -> Callable[[Answer], float]:
    """Nanoseconds per event and core."""
    return lambda run: run.nanoseconds * way.cores


def counted(number: float, _: object = None) -> str:
    """A short text of a number, such as 10 k."""
    for size, ending in ((1e6, " M"), (1e3, " k")):
        if number >= size:
            return f"{number / size:g}{ending}"
    return f"{number:g}"


def logarithmic(axes: Axes) -> None:
    """Make the x axis logarithmic, with a tick for each decade."""
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(base=10, numticks=12))
    axes.xaxis.set_major_formatter(FuncFormatter(counted))
    axes.xaxis.set_minor_locator(NullLocator())


def head(figure: Figure, axes: Axes, title: str) -> None:
    """Draw a title and a legend of the lines of `axes` above the figure."""
    handles, labels = axes.get_legend_handles_labels()
    legend = figure.legend(handles, labels, loc="outside upper left", ncols=3, handlelength=2.8, alignment="left")
    legend.set_title(title, prop=FontProperties(weight="bold", size="medium"))


@styled
def draw_ways(answers: Answers) -> Figure:
    """Time per event and core against LPs a core, for all configurations; a band may leave the axes."""
    figure = new_figure(3.6)
    axes = figure.subplots()
    highest = 0.0
    for way in dict.fromkeys(way for way, _ in answers):
        runs = [(work.lps / way.cores, some) for (other, work), some in answers.items() if other == way]
        line(axes, runs, time_a_core(way), LOOKS[way])
        highest = max(highest, *(median(map(time_a_core(way), some)) for _, some in runs))
    logarithmic(axes)
    axes.set_ylim(0, 1.5 * highest)
    axes.set_xlabel("LPs a core")
    axes.set_ylabel("time of an event and core [ns]")
    tidy(axes, "both")
    head(figure, axes, "PHOLD: 16 events an LP, 10 % remote")
    return figure


@styled
def draw_pending(kernel: Runs, floor: Runs) -> Figure:
    """Time per event against pending events. A flat line means that the time does not depend on their number.

    A band may leave the axes.
    """
    figure = new_figure(3.4)
    axes = figure.subplots()
    line(axes, kernel, time_a_core(SEQUENTIAL), Look(BLUE, "o", "the kernel, sequential"))
    line(axes, floor, time_a_core(SEQUENTIAL), Look(MUTED, "s", "the floor: draw, append, read", "--"))
    highest = 0.0
    for (place, ours), (_, least) in zip(kernel, floor, strict=True):
        higher = median(run.nanoseconds for run in ours)
        highest = max(highest, higher)
        times = higher / median(run.nanoseconds for run in least)
        axes.annotate(
            f"{times:.1f} x", (place, higher), xytext=(0, 7), textcoords="offset points", ha="center", color=INK
        )
    logarithmic(axes)
    axes.set_ylim(0, 1.3 * highest)
    axes.set_xlabel("pending events")
    axes.set_ylabel("time of an event [ns]")
    tidy(axes, "both")
    head(figure, axes, "PHOLD on one core: 16 events an LP, 10 % remote")
    return figure


@styled
def draw_sweeps(answers: Answers) -> Figure:
    """Speed, efficiency and rollbacks against each parameter of the sweeps."""
    figure = new_figure(5.6, width=7.2)
    panels = figure.subplots(3, len(SWEEPS), sharex="col", sharey="row")
    for column, sweep in enumerate(SWEEPS):
        speed, efficiency, rollbacks = panels[:, column]
        for way in SWEPT_WAYS:
            runs = runs_of(answers, way, sweep)
            line(speed, runs, speed_a_core(way), LOOKS[way])
        runs = runs_of(answers, OPTIMISTIC, sweep)
        line(efficiency, runs, lambda run: run.efficiency, LOOKS[OPTIMISTIC])
        line(rollbacks, runs, lambda run: 1e3 * run.primary_rollbacks / run.committed, PRIMARY)
        line(rollbacks, runs, lambda run: 1e3 * run.secondary_rollbacks / run.committed, SECONDARY)
        if sweep.logarithmic:
            logarithmic(rollbacks)
        rollbacks.set_xlabel(sweep.label)
        for axes in panels[:, column]:
            tidy(axes, "both")
    name_rows(panels[:, 0])
    figure.align_ylabels()
    held = f"{SWEPT.lps:,} LPs with {SWEPT.start_events} events, {SWEPT.remote * 100:g} % remote"
    title = f"PHOLD: {held}, lookahead {SWEPT.lookahead:g}; one of these varied"
    head(figure, panels[0, 0], title)
    panels[2, 0].legend(loc="upper left")
    return figure


def runs_of(answers: Answers, way: Way, sweep: Sweep) -> Runs:
    """The runs of a sweep, by its values."""
    return [(value, answers[way, work]) for value, work in zip(sweep.values, sweep.works(), strict=True)]


def name_rows(rows: Sequence[Axes]) -> None:
    """Label the rows of the sweeps."""
    speed, efficiency, rollbacks = rows
    speed.set_ylabel("speed\n[M events/s a core]")
    speed.set_ylim(0)
    efficiency.set_ylabel("efficiency,\noptimistic")
    efficiency.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g} %"))
    rollbacks.set_ylabel("rollbacks of LPs\na thousand events")
    rollbacks.set_ylim(0, max(0.1, 1.4 * rollbacks.get_ylim()[1]))  # room for the legend


@styled
def draw_densities(answers: Answers) -> Figure:
    """Speed against LPs a core, with a line for each number of events an LP."""
    figure = new_figure(3.2, width=7.2)
    panels = figure.subplots(1, len(DENSITY_WAYS), sharey=True)
    for axes, way in zip(panels, DENSITY_WAYS, strict=True):
        for index, events in enumerate(EVENT_DENSITIES):
            runs = [(float(lps), answers[way, dense(lps, events)]) for lps in LP_DENSITIES]
            colour = colormaps["viridis"](index / len(EVENT_DENSITIES))
            line(axes, runs, speed_a_core(way), Look(colour, "os^D"[index], f"{events}"))
        logarithmic(axes)
        axes.set_xlabel("LPs a core")
        axes.set_title(way.name)
        tidy(axes, "both")
    panels[0].set_ylim(0)
    panels[0].yaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    panels[0].set_ylabel("speed [M events/s a core]")
    figure.legend(*panels[0].get_legend_handles_labels(), title="events an LP", loc="outside right center")
    return figure
