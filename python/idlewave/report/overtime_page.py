"""The page of a recording over time: findings, figures and tables in one HTML file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd
from markupsafe import Markup
from matplotlib.figure import Figure

from idlewave.formatting import percent_text
from idlewave.output import write_text
from idlewave.overtime.analysis import Analysis
from idlewave.overtime.findings import overtime_findings
from idlewave.overtime.wording import correlation_rows, error_rows, level_rows, series_rows, stability_rows
from idlewave.provenance import Provenance
from idlewave.report.figures import inline_svg, svg_of
from idlewave.report.overtime_plots import (
    plot_overtime,
    plot_overtime_correlations,
    plot_overtime_hours,
    plot_overtime_predictions,
)
from idlewave.report.page_template import page_template
from idlewave.report.tables import Table

TITLE = "Performance over time"
MOST_LEVELS = 60
"""A page lists so many levels at most; `idlewave overtime show -o` writes all."""


@dataclass(frozen=True)
class OvertimeFigure:
    """A figure of the page."""

    name: str
    caption: str
    draw: Callable[[], Figure]


def build_overtime_page(found: Analysis, page: Path) -> list[tuple[str, str]]:
    """Write the page of a recording, in one file with its figures; returns its findings. Raises OutputError."""
    sentences = overtime_findings(found)
    provenance = Provenance.made("report", TITLE, by="idlewave overtime report")
    placed = []
    for number, item in enumerate(_figures(found), start=1):
        svg = svg_of(item.draw(), provenance)
        placed.append((number, item.name, item.caption, Markup(inline_svg(svg, item.name))))
    write_text(page, _render(found, sentences, placed, list(_tables(found)), provenance))
    return sentences


def _figures(found: Analysis) -> Iterator[OvertimeFigure]:
    table = found.recording.table
    caption = (
        "Figures of active phases, their levels and changes, and beneath the rates of those counters that go with them "
        "best, in active and in idle phases. Of many phases: medians of stretches, and 5 to 95 % of their values."
    )
    yield OvertimeFigure(
        "overtime-series", caption, lambda: plot_overtime(table, found.levels, found.strongest_counters)
    )
    caption = "By hour: boxes have half of the values, whiskers nine tenths, lines are medians."
    yield OvertimeFigure("overtime-hours", caption, lambda: plot_overtime_hours(table))
    if len(found.correlations):
        caption = (
            "Rank correlations of the counters' rates with performance, the strongest over all lags; so many phases "
            "before. Frames mark those that are significant at 5 % after Holm's correction for all of them."
        )
        yield OvertimeFigure("overtime-correlations", caption, lambda: plot_overtime_correlations(found.correlations))
    if len(found.predictions):
        caption = (
            "The next phase as predicted, and what came. In the shaded half it came worse than predicted by more than "
            f"{percent_text(found.tolerance)}."
        )
        drawn = partial(plot_overtime_predictions, found.predictions, found.tolerance)
        yield OvertimeFigure("overtime-predictions", caption, drawn)


def _tables(found: Analysis) -> Iterator[Table]:
    yield _table("The series", series_rows(found.summary))
    cut = "" if len(found.levels) <= MOST_LEVELS else f"; the first {MOST_LEVELS} of {len(found.levels)}"
    yield _table(f"Levels: times between changes{cut}", level_rows(found.levels.head(MOST_LEVELS)))
    yield _table("How long a level lasts", stability_rows(found.stability))
    if len(found.correlations):
        yield _table("Counters, by the strongest of their correlations", correlation_rows(found.correlations), 2)
    if len(found.errors):
        yield _table("Predictions, by how far ahead", error_rows(found.errors), 2)


def _table(caption: str, rows: pd.DataFrame, text_columns: int = 1) -> Table:
    cells = [tuple(map(str, row)) for row in rows.itertuples(index=False)]
    return Table(caption, tuple(map(str, rows.columns)), cells, text_columns)


def _render(
    found: Analysis,
    sentences: list[tuple[str, str]],
    figures: list[tuple[int, str, str, Markup]],
    tables: list[Table],
    provenance: Provenance,
) -> str:
    return page_template("overtime.html.j2").render(
        title=TITLE,
        recording=found.recording.name,
        findings=sentences,
        figures=figures,
        tables=[table for table in tables if table.rows],
        notes=found.recording.notes,
        provenance=provenance,
    )
