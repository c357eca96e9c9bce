"""What models found, drawn: each takes a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.ticker import PercentFormatter

from ..report.style import BLUE, GREEN, INK, MUTED, ORANGE, VERMILLION, new_figure, styled, tidy

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

CURVES = (
    ("susceptible", BLUE),
    ("exposed", ORANGE),
    ("infectious", VERMILLION),
    ("recovered", GREEN),
    ("immune", MUTED),
)


@styled
def plot_epidemic(days: pd.DataFrame) -> Figure:
    """The share of persons that are susceptible, exposed, infectious, recovered or immune, day by day.

    `days`: as of `EpidemicRun.to_pandas`.
    """
    figure = new_figure(3.4)
    axes = figure.subplots()
    persons = days[[name for name, _ in CURVES]].iloc[0].sum()
    for name, colour in CURVES:
        if name == "immune" and days[name].iloc[0] == 0:
            continue
        axes.plot(days["day"], days[name] / persons, color=colour, label=name, linewidth=1.6)
    axes.set_xlim(0, max(1, days["day"].iloc[-1]))
    axes.set_ylim(0, 1)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.set_xlabel("day")
    axes.set_ylabel(f"share of {persons:,} persons")
    axes.legend(loc="center right")
    tidy(axes)
    return figure


@styled
def plot_flood(floods: pd.DataFrame) -> Figure:
    """What bots do to legitimate packets: the share that is lost, and the mean delay of the others.

    `floods`: a row a run, with the columns bots, lost (a share) and delay (seconds), legitimate packets that were sent
    during the attack.
    """
    figure = new_figure(2.8)
    left, right = figure.subplots(1, 2)
    line = {"marker": "o", "markersize": 4, "linewidth": 1.4, "clip_on": False}
    left.plot(floods["bots"], floods["lost"], color=VERMILLION, **line)
    left.set_ylabel("legitimate packets lost")
    left.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    left.set_ylim(0, 1)
    right.plot(floods["bots"], floods["delay"] * 1e3, color=BLUE, **line)
    right.set_ylabel("mean delay of the others [ms]", color=INK)
    right.set_ylim(0)
    for axes in (left, right):
        axes.set_xlabel("bots")
        axes.set_xlim(0)
        tidy(axes)
    return figure
