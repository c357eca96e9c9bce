"""Each function that plots a recording over time or contention, with a table of which a column can be spoilt."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
from contention_tables import contention_table
from idlewave.contention.correlations import correlation_table
from idlewave.contention.detection_plots import plot_contention_scale, plot_detector_scores, plot_importances
from idlewave.contention.impact_statistics import impact_table
from idlewave.contention.plots import plot_contention_correlations, plot_contention_impact, plot_contention_remedies
from idlewave.contention.remedies import remedies_of
from idlewave.overtime.changes import levels
from idlewave.overtime.correlation import correlations
from idlewave.overtime.prediction import predictions
from idlewave.overtime.series import series_of
from idlewave.report.overtime_plots import (
    plot_overtime,
    plot_overtime_correlations,
    plot_overtime_hours,
    plot_overtime_predictions,
)
from matplotlib.figure import Figure
from overtime_recordings import COUNTER, recording_table
from spoiling import Spoil


def detector_scores_plot(spoil: Spoil) -> Figure:
    victims, sets = ("stream", "stream-cache", "cg", "stencil", "lj"), ("l1", "l2", "l3")
    rows = [
        (victim, name, *(0.6 + 0.02 * place + shift for shift in (0, -0.05, 0.05) * 2), 0.5, "suffers")
        for place, victim in enumerate(victims)
        for name in sets
    ]
    quantities = [f"{name}{end}" for name in ("oob", "held_out") for end in ("", "_low", "_high")]
    table = pd.DataFrame(rows, columns=["victim", "set", *quantities, "majority", "verdict"])
    return plot_detector_scores(spoil(table, "oob"))


def importances_plot(spoil: Spoil) -> Figure:
    rows = [
        (victim, name, f"probe.latency_{level}_s", 0.01 * place, 0.01 * place - 0.02, 0.01 * place + 0.02)
        for place, victim in enumerate(("stream", "cg", "stencil", "lj"))
        for name, level in (("l1", "l1"), ("l2", "l2"), ("l3", "l3"), ("l3", "dram"))
    ]
    names = ["victim", "set", "column", "importance", "importance_low", "importance_high"]
    return plot_importances(spoil(pd.DataFrame(rows, columns=names), "importance"))


def contention_scale_plot(column: str) -> Callable[[Spoil], Figure]:
    rows = [(2**i, 0.1 + 0.02 * i, 0.08 + 0.02 * i, 0.12 + 0.02 * i) for i in range(10)]
    table = pd.DataFrame(rows, columns=["ranks", "slowdown", "low", "high"])
    return lambda spoil: plot_contention_scale(spoil(table, column), "halo3d")


def overtime_table(spoil: Spoil, column: str) -> pd.DataFrame:
    """A recording in which one phase of latency, or one of a counter, is spoilt."""
    table = recording_table(40)
    own = table["test"] == "latency"
    values = table[column].to_numpy(dtype=float, copy=True)
    values[own] = spoil(table[own], column)[column].to_numpy()
    return table.assign(**{column: values})


def overtime_plot(column: str) -> Callable[[Spoil], Figure]:
    def draw(spoil: Spoil) -> Figure:
        table = overtime_table(spoil, column)
        return plot_overtime(table, levels(series_of(table)), [COUNTER])

    return draw


def correlations_plot(spoil: Spoil) -> Figure:
    table = recording_table(40, counters=6)
    names = [name for name in table if name.startswith("counter.")]
    found = correlations(table, series_of(table), names, permutations=50)
    return plot_overtime_correlations(spoil(found, "correlation"))


def predictions_plot(column: str) -> Callable[[Spoil], Figure]:
    table = recording_table(80)
    found = predictions(table, series_of(table), [COUNTER], ahead_s=[0])
    return lambda spoil: plot_overtime_predictions(spoil(found, column))


def contention_impact_plot(column: str) -> Callable[[Spoil], Figure]:
    table = contention_table(
        lambda _v, rate, cores: 1 + cores * rate / 4e9, rates=(1e9, 2e9, 3e9), cores=(1, 2), pairs=2
    )
    impact = impact_table(table, draws=50)
    return lambda spoil: plot_contention_impact(spoil(impact, column))


def contention_correlations_plot(spoil: Spoil) -> Figure:
    table = contention_table(lambda *_: 1.5, pairs=2, iterations=5)
    return plot_contention_correlations(spoil(correlation_table(table, draws=20), "correlation"))


def contention_remedies_plot(column: str) -> Callable[[Spoil], Figure]:
    table = contention_table(lambda _v, rate, cores: 1.0 if cores else 1 + rate / 4e9, cores=(0, 1), pairs=2)
    remedies = remedies_of(table, node_cores=4, draws=50)
    return lambda spoil: plot_contention_remedies(spoil(remedies.table, column), remedies.threshold)


VARIABILITY_PLOTS: dict[tuple[str, str], Callable[[Spoil], Figure]] = {
    ("plot_contention_impact", "a slowdown"): contention_impact_plot("slowdown"),
    ("plot_contention_impact", "a rate"): contention_impact_plot("achieved_rate_Bps"),
    ("plot_contention_correlations", "a coefficient"): contention_correlations_plot,
    ("plot_contention_remedies", "an overhead"): contention_remedies_plot("overhead"),
    ("plot_detector_scores", "a score"): detector_scores_plot,
    ("plot_importances", "an importance"): importances_plot,
    ("plot_contention_scale", "a slowdown"): contention_scale_plot("slowdown"),
    ("plot_overtime", "a phase"): overtime_plot("value"),
    ("plot_overtime", "a counter"): overtime_plot(COUNTER),
    ("plot_overtime_hours", "a phase"): lambda spoil: plot_overtime_hours(overtime_table(spoil, "value")),
    ("plot_overtime_correlations", "a correlation"): correlations_plot,
    ("plot_overtime_predictions", "a prediction"): predictions_plot("predicted"),
    ("plot_overtime_predictions", "what was observed"): predictions_plot("observed"),
}
"""By function and what is spoilt."""
