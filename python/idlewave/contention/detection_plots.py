"""Figures of detectors of traffic: scores beside those of the talk, importances; and of slowdowns at scale."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from ..formatting import count_text
from ..plot_limits import Limits, bulk_limits, cut_count, cut_text, mark_outside, say_above
from ..plot_style import BLUE, INK, MUTED, ORANGE, PALETTE, SOFT, new_figure, say_empty, styled, tidy
from .columns import column_text
from .features import SETS
from .pair_statistics import NO_SLOWDOWN
from .published import TALK_VICTIMS, talk_scores
from .wording import set_words

SCORES = Limits(0.0, 1.0)
_OFFSET = 0.16


@styled
def plot_detector_scores(scores: pd.DataFrame) -> Figure:
    """A panel for each feature set: out-of-bag score and score on held-out pairs of each victim's forest, with 95 %
    confidence intervals, beside the out-of-bag score of the talk. `scores`: of Evaluation."""
    victims = [*dict.fromkeys(scores["victim"])]
    figure = new_figure(1.5 + 0.42 * len(victims))
    panels = figure.subplots(1, len(SETS), sharey=True)
    talk = talk_scores().set_index("application")
    for axes, name in zip(panels, SETS, strict=True):
        own = scores[scores["set"] == name].set_index("victim").reindex(victims)
        axes.set_title(set_words(name))
        tidy(axes, "x")
        rows = np.arange(len(victims), dtype=float)
        _points(axes, own, "oob", rows - _OFFSET, BLUE, "o")
        _points(axes, own, "held_out", rows + _OFFSET, ORANGE, "s")
        axes.plot(own["majority"].clip(0, 1), rows, "|", color=MUTED, markersize=14)
        for row, victim in enumerate(victims):
            if TALK_VICTIMS.get(victim) in talk.index:
                axes.plot(
                    talk.loc[TALK_VICTIMS[victim], name], row - _OFFSET, "D", color=INK, markersize=5, fillstyle="none"
                )
        axes.set_xlim(-0.03, 1.05)
        axes.set_xlabel("share classified correctly")
    unhurt = set(scores.loc[scores["verdict"] == NO_SLOWDOWN, "victim"])
    panels[0].set_yticks(range(len(victims)), [f"{v}\n(no slowdown found)" if v in unhurt else v for v in victims])
    panels[0].set_ylim(len(victims) - 0.5, -0.5)
    looks = (
        ("o", BLUE, "out of bag"),
        ("s", ORANGE, "held-out pairs"),
        ("|", MUTED, "majority"),
        ("D", INK, "talk, out of bag"),
    )
    handles = [
        Line2D([], [], marker=marker, color=colour, linestyle="none", markersize=5, label=label,
               fillstyle="none" if marker == "D" else "full")
        for marker, colour, label in looks
    ]  # fmt: skip
    figure.legend(handles=handles, loc="outside lower center", ncols=4)
    say_above(panels[-1], cut_text(cut_count(figure)))
    return figure


def _points(axes: Axes, own: pd.DataFrame, name: str, rows: np.ndarray, colour: str, marker: str) -> None:
    values = own[name].to_numpy(dtype=float)
    spread = [np.maximum(values - own[f"{name}_low"], 0), np.maximum(own[f"{name}_high"] - values, 0)]
    axes.errorbar(values, rows, xerr=spread, fmt=marker, color=colour, markersize=4, linewidth=1)
    mark_outside(axes, SCORES, rows, values, colour, across="x")


@styled
def plot_importances(importances: pd.DataFrame) -> Figure:
    """By how much the score on held-out pairs falls if a column is permuted: a panel for each feature set, a colour for
    each victim, with 95 % confidence intervals. `importances`: of Evaluation."""
    victims = [*dict.fromkeys(importances["victim"])]
    columns = {name: [*dict.fromkeys(importances.loc[importances["set"] == name, "column"])] for name in SETS}
    heights = [max(len(found), 1) for found in columns.values()]
    figure = new_figure(1.6 + 0.14 * (len(victims) + 1) * sum(heights))
    panels = figure.subplots(len(SETS), 1, sharex=True, height_ratios=heights)
    ends = importances[["importance", "importance_low", "importance_high"]]
    limits = bulk_limits(ends, room=1.0)
    for axes, name in zip(panels, SETS, strict=True):
        axes.set_title(set_words(name))
        tidy(axes, "x")
        if not columns[name]:
            say_empty(axes, "not measured")
            continue
        own = importances[importances["set"] == name]
        for place, victim in enumerate(victims):
            of_victim = own[own["victim"] == victim]
            shift = 0.8 * ((place + 0.5) / len(victims) - 0.5)
            rows = np.array([columns[name].index(column) for column in of_victim["column"]]) + shift
            values = of_victim["importance"].to_numpy(dtype=float)
            spread = [
                np.maximum(values - of_victim["importance_low"], 0),
                np.maximum(of_victim["importance_high"] - values, 0),
            ]
            colour = PALETTE[place % len(PALETTE)]
            axes.errorbar(values, rows, xerr=spread, fmt="o", color=colour, markersize=3.5, linewidth=1)
            mark_outside(axes, limits, rows, values, colour, across="x")
        axes.axvline(0, color=SOFT, linewidth=0.8, zorder=0)
        axes.set_yticks(range(len(columns[name])), [column_text(column) for column in columns[name]])
        axes.set_ylim(len(columns[name]) - 0.5, -0.5)
    width = (limits.high - limits.low) or 1.0
    panels[0].set_xlim(limits.low - 0.05 * width, limits.high + 0.05 * width)
    panels[-1].set_xlabel("fall of the score on held-out pairs")
    handles = [
        Line2D([], [], marker="o", color=PALETTE[place % len(PALETTE)], linestyle="none", markersize=4, label=victim)
        for place, victim in enumerate(victims)
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=min(len(victims), 5))
    say_above(panels[0], cut_text(cut_count(figure)))
    return figure


@styled
def plot_contention_scale(scaled: pd.DataFrame, title: str = "") -> Figure:
    """The slowdown over the number of ranks, with 95 % of the replicates. `scaled`: of scale_contention."""
    figure = new_figure(3.2)
    axes = figure.subplots()
    tidy(axes, "both")
    axes.set_title(title)
    values = scaled["slowdown"].to_numpy(dtype=float)
    limits = bulk_limits(scaled[["slowdown", "low", "high"]], room=1.0)
    spread = [np.maximum(values - scaled["low"], 0), np.maximum(scaled["high"] - values, 0)]
    axes.errorbar(scaled["ranks"], values, yerr=spread, fmt="o-", color=BLUE, markersize=4, linewidth=1, capsize=2)
    mark_outside(axes, limits, scaled["ranks"], values, BLUE)
    axes.set_xscale("log", base=2)
    axes.set_xticks(scaled["ranks"], [count_text(ranks) for ranks in scaled["ranks"]])
    axes.xaxis.set_minor_locator(NullLocator())
    width = (limits.high - limits.low) or 1.0
    axes.set_ylim(limits.low - 0.05 * width, limits.high + 0.08 * width)
    axes.set_xlabel("ranks")
    axes.set_ylabel("time with / without traffic")
    say_above(axes, cut_text(cut_count(figure)))
    return figure
