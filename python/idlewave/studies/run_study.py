"""A study of cases from its beginning to its page: what `idlewave study NAME` and `idlewave.study.NAME(...)` do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..errors import InputError
from ..escaping import name_of
from ..output import write_text
from .case_runner import (
    TABLE,
    Running,
    Share,
    check_table,
    collected_rows,
    digests_of,
    finished_table,
    run_cases,
    run_share,
)
from .case_study import CaseStudy, Row, sources_of
from .job_array import check_cases, read_array

if TYPE_CHECKING:
    import pandas as pd

C = TypeVar("C")
MOST_LISTED = 20
"""Tasks that a message lists."""


@dataclass(frozen=True)
class StudyTable(Generic[C]):
    """A table of a study: what its rows are, its cases, and its folder in that of the study ("": that itself)."""

    study: CaseStudy[C]
    cases: Sequence[C]
    folder: str = ""


def run_study(
    study: CaseStudy[C], cases: Sequence[C], folder: str | Path | None = None, running: Running | None = None
) -> pd.DataFrame:
    """The table of a study, which is also written into `folder`, with its page. Raises as `run_cases`.

    Cases that follow from rows (`CaseStudy.more`) are run once these are there.
    """
    return _followed(study, cases, run_cases(study, cases, folder, running), folder, running)


def _followed(
    study: CaseStudy[C],
    cases: Sequence[C],
    table: pd.DataFrame,
    folder: str | Path | None,
    running: Running | None = None,
) -> pd.DataFrame:
    """The table of the cases and of those that follow from it; both it and the page are written."""
    everything = list(cases)
    while study.more is not None and (more := study.more(table)):
        everything += more
        if folder is not None:  # the rows so far are there
            table = run_cases(study, everything, folder, running)
            continue
        parts = [table, run_cases(study, more, None, running)]
        rows: list[Row] = [dict(row) for part in parts for row in part.to_dict("records")]  # type: ignore[arg-type]
        table = finished_table(study, everything, rows, None)
    if folder is not None:
        _write_page(study, everything, table, Path(folder))
    return table


def digests_of_tables(tables: Sequence[StudyTable[Any]]) -> list[str]:
    """The digests of the cases of all tables. Raises UsageError as `digests_of`."""
    return [digest for table in tables for digest in digests_of(table.study, table.cases)]


def run_share_of(tables: Sequence[StudyTable[Any]], folder: Path, share: Share, running: Running | None = None) -> int:
    """Compute one share of the cases of each table; returns how many these are. Raises as `run_cases`."""
    found = 0
    for table in tables:
        own = len(table.cases[share.task :: share.tasks])
        if own:
            run_share(table.study, table.cases, folder / table.folder, share, running)
        found += own
    return found


def collect_study(study: CaseStudy[C], cases: Sequence[C], folder: Path) -> pd.DataFrame:
    """The table of a study whose rows the tasks of an array have computed; it is written with its page. Cases that
    follow from these rows are run here.

    Raises InputError that says which tasks lack rows.
    """
    (table,) = collect_tables([StudyTable(study, cases)], folder)
    return _followed(study, cases, table, folder)


def collect_tables(tables: Sequence[StudyTable[Any]], folder: Path) -> list[pd.DataFrame]:
    """The tables of a study whose rows the tasks of an array have computed, which are written.

    Raises InputError that says which tasks lack rows.
    """
    array = read_array(folder)
    for table in tables:
        check_table(table.study, folder / table.folder / TABLE)
    check_cases(array, digests_of_tables(tables), folder)
    found: list[list[Row]] = []
    missing: Counter[int] = Counter()
    for table in tables:
        rows = collected_rows(table.study, digests_of(table.study, table.cases), folder / table.folder)
        missing.update(number % array.tasks for number, row in enumerate(rows) if row is None)
        found.append([row for row in rows if row is not None])
    if missing:
        listed = [f"{task} ({count:,})" for task, count in sorted(missing.items())]
        tasks = ", ".join([*listed[:MOST_LISTED], *(["…"] if len(listed) > MOST_LISTED else [])])
        total = sum(len(table.cases) for table in tables)
        lacking = f"{missing.total():,} of {total:,} rows are not there, of these tasks: {tasks}"
        raise InputError(f"{name_of(folder)}: {lacking}; submitted again, they go on where they were")
    return [
        finished_table(table.study, table.cases, rows, folder / table.folder)
        for table, rows in zip(tables, found, strict=True)
    ]


def _write_page(study: CaseStudy[C], cases: Sequence[C], table: pd.DataFrame, folder: Path) -> None:
    for name, text in (study.files(table) if study.files else {}).items():
        write_text(folder / name, text)
    if study.page is None:
        return
    from ..report.study_page import write_study_page

    write_study_page(study.page(table), folder, study.name, sources_of(cases))
