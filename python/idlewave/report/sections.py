"""Sections of a page that are made alike: sentences, figures and tables of one recording or table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from .parts import Report
    from .report_figure import ReportFigure
    from .tables import Table


@dataclass(frozen=True)
class Section:
    """A section: what it is of, its findings (topic and sentence), figures and tables, and on what its numbers rest."""

    topic: str
    title: str
    about: str
    findings: list[tuple[str, str]]
    figures: list[ReportFigure]
    tables: list[Table]
    rests: list[tuple[str, str]] = field(default_factory=list)


def sections_of(report: Report) -> Iterator[Section]:
    """The sections of what varies, as far as the report has it."""
    if report.overtime is not None:
        from .overtime_section import overtime_section

        yield overtime_section(report.overtime)
    if report.contention is not None:
        from .contention_section import contention_section

        yield contention_section(report.contention)


def table_of_rows(caption: str, rows: pd.DataFrame, text_columns: int = 1) -> Table:
    """The table of a data frame of texts."""
    from .tables import Table

    cells = [tuple(map(str, row)) for row in rows.itertuples(index=False)]
    return Table(caption, tuple(map(str, rows.columns)), cells, text_columns)
