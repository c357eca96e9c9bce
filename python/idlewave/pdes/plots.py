"""What models found, drawn from tables: each says how much it scatters with the seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import FuncFormatter

from ..formatting import count_text, percent_tick, plural
from ..plot_limits import bulk_limits, cut_count, cut_text, mark_cut
from ..plot_style import BLUE, GREEN, MUTED, ORANGE, SMALL, VERMILLION, new_figure, styled, tidy

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
    persons = max(1, runs[0][[*MANY, *FEW]].iloc[0].sum())
    for axes, curves in ((above, MANY), (below, FEW)):
        for name, colour in curves.items():
            if name == "immune" and runs[0][name].iloc[0] == 0:
                continue
            for other in runs[1:]:
                axes.plot(other["day"], other[name] / persons, color=colour, alpha=0.45, linewidth=0.7)
            axes.plot(runs[0]["day"], runs[0][name] / persons, color=colour, label=name, linewidth=1.8)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: percent_tick(share)))
        tidy(axes)
    above.set_ylim(0, 1)
    highest = [float(run[name].max()) / persons for run in runs for name in FEW]  # a share; and one run may lie far off
    below.set_ylim(0, min(1.0, 1.05 * bulk_limits(highest).high) or 1.0)
    below.set_xlim(0, max(1, runs[0]["day"].iloc[-1]))
    below.set_xlabel("time [days]")
    figure.supylabel(f"share of {count_text(persons)} persons", fontsize=9.0)
    figure.legend(loc="outside upper center", ncols=5)
    if len(runs) > 1:
        above.set_title(
            f"thick: one run; thin: {plural(len(runs) - 1, 'run')} with other seeds",
            fontsize=SMALL,
            fontweight="normal",
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
        top = 1.0 if axes is left else _top(mean, highest)
        cut = highest > top
        mark_cut(axes, "top", mean.index[cut], colour, [f"{value:,.3g}" for value in highest[cut]])
        axes.set_ylim(0, top if axes is left else 1.08 * top)
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
            clip_on=bool(cut.any()),
        )
        axes.set_xlabel("bots")
        axes.set_xlim(0, max(1, mean.index[-1]))
        tidy(axes)
    left.set_ylabel("legitimate packets lost")
    left.yaxis.set_major_formatter(FuncFormatter(lambda share, _: percent_tick(share)))
    right.set_ylabel("mean delay of the others [ms]")
    text = f"packets sent during the attack; points: mean, bars: range of {plural(runs, 'run')}"
    figure.suptitle("; ".join(filter(None, (text, cut_text(cut_count(figure), "range")))), fontsize=SMALL)
    return figure


def _top(mean: pd.Series, highest: pd.Series) -> float:
    """The end of the axis: of what is in the bulk, and of ranges up to three times as much."""
    bulk = bulk_limits(mean).high
    found = highest[np.isfinite(highest)]
    return min(3 * bulk, max(bulk, float(found.max()))) if bulk > 0 and len(found) else 1.0


@styled
def plot_run(series: pd.DataFrame, tick: float, unit: str) -> Figure:
    """How a run went on: simulated time, the rate of committed events, and events rolled back, by time that passed.

    `series`: as of `EventRun.series_to_pandas`; a tick of its `gvt` is so many `unit`.
    """
    figure = new_figure(5.0)
    far, fast, back = figure.subplots(3, 1, sharex=True)
    seconds = series["seconds"]
    far.plot(seconds, series["gvt"] * tick, color=BLUE, linewidth=1.4)
    far.set_ylabel(f"simulated time,\nGVT [{unit}]")
    # Events are committed by whole chunks of the log: rates are those of a twentieth of the run.
    width = max(1, len(series) // 20)
    spans = seconds.diff(width)
    committed, undone = (series[name].diff(width) for name in ("committed", "rolled_back"))
    rate, share = committed / spans.where(spans > 0) / 1e6, undone / committed.where(committed > 0)
    fast.plot(seconds, rate, color=GREEN, linewidth=1.4)
    fast.set_ylabel("committed\n[million events/s]")
    back.plot(seconds, share, color=VERMILLION, linewidth=1.4)
    back.set_ylabel("rolled back\nper committed")
    back.yaxis.set_major_formatter(FuncFormatter(lambda value, _: percent_tick(value)))
    back.set_xlabel("time that passed [s]")
    for axes, values, colour in ((far, series["gvt"] * tick, BLUE), (fast, rate, GREEN), (back, share, VERMILLION)):
        limits = bulk_limits(values)
        mark_cut(axes, "top", seconds[limits.above(values)], colour)
        axes.set_ylim(0, 1.08 * limits.high if limits.high > 0 else 1)
        tidy(axes)
    if cut := cut_text(cut_count(figure), "point"):
        far.set_title(cut, fontsize=SMALL, fontweight="normal")
    back.set_xlim(0, max(bulk_limits(seconds).high, 1e-9) if len(series) else 1)
    figure.align_ylabels()
    return figure
