"""What models found, drawn from tables: each says how much it scatters with the seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.ticker import FuncFormatter, PercentFormatter

from ..plotting import BLUE, GREEN, MUTED, ORANGE, SMALL, VERMILLION, new_figure, styled, tidy

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

MANY = {"susceptible": BLUE, "recovered": GREEN, "immune": MUTED}
FEW = {"exposed": ORANGE, "infectious": VERMILLION}


@styled
def plot_epidemic(runs: Sequence[pd.DataFrame]) -> Figure:
    """The share of persons that are susceptible, exposed, infectious, recovered or immune, day by day.

    `runs`: of the same persons and days with other seeds, as of `EpidemicRun.to_pandas`. The first one is drawn
    in thick lines.
    """
    figure = new_figure(4.2)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    persons = runs[0][[*MANY, *FEW]].iloc[0].sum()
    for axes, curves in ((above, MANY), (below, FEW)):
        for name, colour in curves.items():
            if name == "immune" and runs[0][name].iloc[0] == 0:
                continue
            for other in runs[1:]:
                axes.plot(other["day"], other[name] / persons, color=colour, alpha=0.45, linewidth=0.7)
            axes.plot(runs[0]["day"], runs[0][name] / persons, color=colour, label=name, linewidth=1.8)
        axes.set_ylim(0)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:.3g}%"))
        tidy(axes)
    above.set_ylim(0, 1)
    below.set_xlim(0, max(1, runs[0]["day"].iloc[-1]))
    below.set_xlabel("time [days]")
    figure.supylabel(f"share of {persons:,} persons", fontsize=9.0)
    figure.legend(loc="outside upper center", ncols=5)
    if len(runs) > 1:
        above.set_title(
            f"thick: a run; thin: {len(runs) - 1} more, of other seeds", fontsize=SMALL, fontweight="normal"
        )
    return figure


@styled
def plot_flood(floods: pd.DataFrame) -> Figure:
    """What bots do to legitimate packets: the share that is lost, and the mean delay of the others.

    `floods`: a row a run, with the columns bots, lost (a share) and delay (seconds), of legitimate packets that were
    sent during the attack. Runs with as many bots differ by their seeds: means are drawn, and bars for their range.
    """
    figure = new_figure(3.0)
    left, right = figure.subplots(1, 2)
    runs = int(floods["bots"].value_counts().max())
    by_bots = floods.groupby("bots")
    for axes, values, colour in ((left, by_bots["lost"], VERMILLION), (right, by_bots["delay"], BLUE)):
        unit = 1.0 if axes is left else 1e3
        mean, lowest, highest = (values.agg(name) * unit for name in ("mean", "min", "max"))
        axes.errorbar(
            mean.index,
            mean,
            yerr=[mean - lowest, highest - mean],
            color=colour,
            marker="o",
            markersize=4,
            linewidth=1.4,
            elinewidth=1.0,
            capsize=2.5,
            clip_on=False,
        )
        axes.set_xlabel("bots")
        axes.set_xlim(0, max(1, mean.index[-1]))
        tidy(axes)
    left.set_ylabel("legitimate packets lost")
    left.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    left.set_ylim(0, 1)
    right.set_ylabel("mean delay of the others [ms]")
    right.set_ylim(0)
    figure.suptitle(f"packets sent during the attack; points: mean, bars: range of {runs} runs", fontsize=SMALL)
    return figure


@styled
def plot_run(series: pd.DataFrame, tick: float, unit: str) -> Figure:
    """How a run went on: simulated time, the rate of committed events, and events rolled back, by time that passed.

    `series`: as of `EventRun.series_to_pandas`; a tick of its `gvt` is so many `unit`.
    """
    figure = new_figure(4.6)
    far, fast, back = figure.subplots(3, 1, sharex=True)
    seconds = series["seconds"]
    far.plot(seconds, series["gvt"] * tick, color=BLUE, linewidth=1.4)
    far.set_ylabel(f"GVT\n[{unit}]")
    # Events are committed by whole chunks of the log: rates are those of a twentieth of the run.
    width = max(1, len(series) // 20)
    spans = seconds.diff(width)
    committed, undone = (series[name].diff(width) for name in ("committed", "rolled_back"))
    fast.plot(seconds, committed / spans / 1e6, color=GREEN, linewidth=1.4)
    fast.set_ylabel("committed\n[million events/s]")
    share = undone / committed.where(committed > 0)
    back.plot(seconds, share, color=VERMILLION, linewidth=1.4)
    back.set_ylabel("rolled back\nfor one committed")
    back.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.3g}%"))
    back.set_xlabel("time that passed [s]")
    for axes in (far, fast, back):
        axes.set_ylim(0)
        tidy(axes)
    back.set_xlim(0, max(seconds.iloc[-1], 1e-9) if len(series) else 1)
    figure.align_ylabels()
    return figure
