"""Figures of contention in memory: impact by victim, rate and cores, correlations, and remedies over the demand."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from ..formatting import MINUS, percent_tick, si_text
from ..plot_limits import Limits, bulk_limits, cut_count, cut_text, mark_outside, say_above
from ..plot_style import FAINT, INK, MUTED, PALETTE, SMALL, new_figure, say_empty, styled, tidy
from .columns import NO_TRAFFIC, column_text
from .published import TALK, TALK_COLUMNS
from .remedies import REMEDIES

COLUMNS = 3
DASHES = dict(zip(REMEDIES, ("-", "--", "-", ":"), strict=True))
"""The styles of lines: throttling may be the best at the highest rate, and lies on another line then."""


@styled
def plot_contention_impact(impact: pd.DataFrame) -> Figure:
    """A panel a victim: the slowdown over the rate that was reached, a line for each kind of traffic and number of
    cores. `impact`: of impact_table."""
    victims = [*dict.fromkeys(impact["victim"])]
    rows = max(-(-len(victims) // COLUMNS), 1)
    figure = new_figure(0.9 + 2.1 * rows)
    panels = figure.subplots(rows, COLUMNS, sharex=True, sharey=True, squeeze=False).ravel()
    limits = bulk_limits(impact[["slowdown", "low", "high"]])
    rates = bulk_limits(impact["achieved_rate_Bps"], log=True)
    names = ["traffic", "cores", "pattern", "stores"]
    lines = [*impact[names].drop_duplicates().itertuples(index=False, name=None)]
    for axes, victim in zip(panels, victims, strict=False):
        own = impact[impact["victim"] == victim]
        axes.set_title(victim)
        tidy(axes, "both")
        axes.axhline(1, color=MUTED, linewidth=0.6)
        for place, line in enumerate(lines):
            chosen = own[(own[names] == list(line)).all(axis=1)]
            _draw_slowdowns(axes, chosen, PALETTE[place % len(PALETTE)], _line_label(line), limits, rates)
        axes.set_xscale("log")
    for axes in panels[len(victims) :]:
        axes.set_visible(False)
    _scale_rates(panels[: len(victims)], rates)
    panels[0].set_ylim(min(limits.low, 1) - 0.05, max(limits.high, 1) * 1.05 + 0.05)
    for row in panels[::COLUMNS]:
        row.set_ylabel("time with / without")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    say_above(panels[0], cut_text(cut_count(figure)))
    return figure


@styled
def plot_contention_correlations(correlations: pd.DataFrame) -> Figure:
    """The coefficients with their intervals as a table of colours, and beside it the talk's table IV. `correlations`:
    of correlation_table."""
    figure = new_figure(4.6, 8.2)
    ours, talk = figure.subplots(1, 2, width_ratios=(3, 2))
    columns = [*dict.fromkeys(correlations["column"])]
    rows = [*correlations[["traffic", "metric"]].drop_duplicates().itertuples(index=False, name=None)]
    keys = correlations[["traffic", "metric", "column"]].itertuples(index=False, name=None)
    cells = dict(zip(keys, correlations[["correlation", "low", "high"]].to_numpy(dtype=float), strict=True))
    values = np.full((len(columns), len(rows)), np.nan)
    for y, column in enumerate(columns):
        for x, (traffic, metric) in enumerate(rows):
            found = cells.get((traffic, metric, column))
            if found is None or not np.isfinite(found[0]):
                continue
            value, low, high = found
            values[y, x] = np.clip(value, -1, 1)
            ends = f"\n{low:.2f} … {high:.2f}" if np.isfinite([low, high]).all() else ""
            _write_cell(ours, x, y, f"{value + 0.0:.2f}{ends}".replace("-0.00", "0.00").replace("-", MINUS), value)
    heads = ["without" if traffic == NO_TRAFFIC else f"with {traffic}" for traffic, _ in rows]
    _table_axes(ours, values, [f"{column_text(m)}\n{head}" for (_, m), head in zip(rows, heads, strict=True)], columns)
    ours.set_title("here")
    known = np.array([*TALK.values()]).T
    for y, x in zip(*np.nonzero(np.isfinite(known)), strict=True):
        _write_cell(talk, x, y, f"{known[y, x]:.3f}".replace("-", MINUS), known[y, x])
    _table_axes(talk, known, [f"{metric}\n{kind}" for kind, metric in TALK], list(TALK_COLUMNS))
    talk.set_title("talk, table IV")
    return figure


@styled
def plot_contention_remedies(table: pd.DataFrame, threshold: float | None = None) -> Figure:
    """The time beyond the computation's own over the demand, a line a remedy with its interval. `table`: of Remedies;
    `threshold`: from where on reserving is better than throttling."""
    figure = new_figure(3.4)
    axes = figure.subplots()
    tidy(axes, "both")
    limits = bulk_limits(table[["overhead", "low", "high"]])
    demands = bulk_limits(table["demand_Bps"], log=True)
    for colour, remedy in zip(PALETTE, REMEDIES, strict=False):
        own = table[table["remedy"] == remedy]
        low, high = (own[name].clip(limits.low, limits.high) for name in ("low", "high"))
        axes.fill_between(own["demand_Bps"], low, high, color=colour, alpha=0.15, linewidth=0)
        axes.plot(own["demand_Bps"], own["overhead"], DASHES[remedy], color=colour, linewidth=1.4, label=remedy)
        mark_outside(axes, limits, own["demand_Bps"], own["overhead"], colour)
        mark_outside(axes, demands, own["overhead"], own["demand_Bps"], colour, across="x")
    if threshold is not None:
        axes.axvline(threshold, color=MUTED, linewidth=0.8, linestyle="--", label="threshold")
    axes.set_xscale("log")
    _scale_rates([axes], demands)
    axes.set_xlabel("demand: bytes to transfer per second of the computation [B/s]")
    axes.set_ylim(min(limits.low, 0) - 0.02, limits.high * 1.05 + 0.02)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: percent_tick(value)))
    axes.set_ylabel("time beyond the computation's")
    axes.legend(loc="best")
    say_above(axes, cut_text(cut_count(figure)))
    return figure


def _draw_slowdowns(axes: Axes, own: pd.DataFrame, colour: str, label: str, limits: Limits, rates: Limits) -> None:
    usable = own[own["achieved_rate_Bps"] > 0].sort_values("achieved_rate_Bps")
    spread = [
        (usable["slowdown"] - usable["low"]).clip(lower=0).fillna(0),
        (usable["high"] - usable["slowdown"]).clip(lower=0).fillna(0),
    ]
    lengths = np.nan_to_num(np.array(spread, dtype=float), posinf=0)
    places = usable["achieved_rate_Bps"]
    axes.errorbar(places, usable["slowdown"], lengths, fmt="o-", color=colour, markersize=3, linewidth=1, label=label)
    mark_outside(axes, limits, places, usable["slowdown"], colour)
    mark_outside(axes, rates, usable["slowdown"], places, colour, across="x")


def _line_label(line: tuple[object, ...]) -> str:
    traffic, cores, pattern, stores = line
    where = "victim's core" if cores == 0 else f"{cores} core{'s' if cores != 1 else ''}"
    more = (
        "" if (pattern, stores) in (("sequential", "cached"), ("sequential", "library")) else f", {pattern}, {stores}"
    )
    return f"{traffic}, {where}{more}"


def _scale_rates(panels: Iterable[Axes], rates: Limits) -> None:
    """A logarithmic axis of rates, in B/s."""
    limits = rates.with_margin()
    for axes in panels:
        axes.set_xlim(limits.low, limits.high)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: si_text(value)))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_xlabel("rate reached [B/s]")
        axes.tick_params(labelbottom=True)


def _table_axes(axes: Axes, values: np.ndarray, heads: list[str], names: list[str]) -> None:
    if not values.size:
        say_empty(axes, "no counter and no probe")
        return
    axes.imshow((1 + values) / 2, cmap="RdBu_r", vmin=0, vmax=1, aspect="auto")
    axes.set_facecolor(FAINT)
    axes.set_xticks(range(len(heads)), heads)
    axes.set_yticks(range(len(names)), [column_text(name) for name in names])
    axes.tick_params(length=0, labelsize=SMALL - 1)
    axes.spines[:].set_visible(False)


def _write_cell(axes: Axes, x: int, y: int, text: str, value: float) -> None:
    colour = "white" if abs(value) > 0.6 else INK
    axes.text(x, y, text, ha="center", va="center", fontsize=SMALL - 2, color=colour)
