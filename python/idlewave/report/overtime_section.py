"""The section on a recording over time: on the page of the recording alone, and in the report."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from idlewave.formatting import percent_text
from idlewave.overtime.analysis import Analysis
from idlewave.overtime.findings import overtime_findings
from idlewave.overtime.wording import correlation_rows, error_rows, level_rows, series_rows, stability_rows
from idlewave.report.consistency import OVERTIME
from idlewave.report.overtime_plots import (
    plot_overtime,
    plot_overtime_correlations,
    plot_overtime_hours,
    plot_overtime_predictions,
)
from idlewave.report.report_figure import ReportFigure
from idlewave.report.sections import Section, table_of_rows
from idlewave.report.tables import Table

TITLE = "Performance over time"
MOST_LEVELS = 60
"""A page lists so many levels at most; `idlewave overtime show -o` writes all."""
_RESTS = (
    (
        "levels",
        "Changes are found by ranks, with a penalty at which one of a hundred series of independent values has a "
        "change found where there is none, at most. What lasts less than five phases of a series is no level.",
    ),
    (
        "correlations",
        "Spearman's, by lag; p-values are of permutations in blocks, corrected by Holm's method for all counters and "
        "series. Counters that go with performance need not be its cause.",
    ),
    (
        "predictions",
        "Each predictor learns only from what came before. By counters when idle: a regression on their rates in the "
        "last idle phase; which counters are missing too often, or never grow, is seen in the whole recording.",
    ),
)


def overtime_section(found: Analysis) -> Section:
    """Findings, figures and tables of a recording."""
    about = (
        f"{found.recording.name}: latency, bandwidth and allreduce in turn, each followed by an idle phase, and what "
        "the counters grew by in each phase."
    )
    tables = [table for table in _tables(found) if table.rows]
    rests = [*_RESTS, *(("note", note) for note in found.recording.notes)]
    return Section(OVERTIME, TITLE, about, overtime_findings(found), list(_figures(found)), tables, rests)


def _figures(found: Analysis) -> Iterator[ReportFigure]:
    table = found.recording.table
    caption = (
        "Values of active phases, their levels and changes, and beneath the rates of those counters that go with them "
        "best, in active and in idle phases. Of many phases: medians of stretches, and 5 to 95\u202f% of their values."
    )
    drawn = lambda: plot_overtime(table, found.levels, found.strongest_counters)  # noqa: E731
    yield ReportFigure("overtime-series", caption, drawn, OVERTIME)
    caption = "By hour: boxes have half of the values, whiskers nine tenths, lines are medians."
    yield ReportFigure("overtime-hours", caption, lambda: plot_overtime_hours(table), OVERTIME)
    if len(found.correlations):
        caption = (
            "Rank correlations of the counters' rates with performance, the strongest over all lags; so many phases "
            "before. Frames mark those that are significant at 5\u202f% after Holm's correction for all of them."
        )
        drawn = lambda: plot_overtime_correlations(found.correlations)  # noqa: E731
        yield ReportFigure("overtime-correlations", caption, drawn, OVERTIME)
    if len(found.predictions):
        caption = (
            "The next phase as predicted, and as observed. In the shaded half it was worse than predicted by more than "
            f"{percent_text(found.tolerance)}."
        )
        drawn = partial(plot_overtime_predictions, found.predictions, found.tolerance)
        yield ReportFigure("overtime-predictions", caption, drawn, OVERTIME)


def _tables(found: Analysis) -> Iterator[Table]:
    yield table_of_rows("The series", series_rows(found.summary))
    cut = "" if len(found.levels) <= MOST_LEVELS else f"; the first {MOST_LEVELS} of {len(found.levels)}"
    yield table_of_rows(f"Levels: times between changes{cut}", level_rows(found.levels.head(MOST_LEVELS)))
    yield table_of_rows("How long a level lasts", stability_rows(found.stability))
    if len(found.correlations):
        yield table_of_rows("Counters, by the strongest of their correlations", correlation_rows(found.correlations), 2)
    if len(found.errors):
        yield table_of_rows("Predictions, by how far ahead", error_rows(found.errors), 2)
