"""A study of cases from its beginning to its page: what `idlewave study NAME` and `idlewave.study.NAME(...)` do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ..errors import InputError
from ..escaping import name_of
from .case_runner import TABLE, Running, check_table, collected_rows, digests_of, finished_table, run_cases
from .case_study import CaseStudy, Row, sources_of
from .job_array import check_cases, read_array

if TYPE_CHECKING:
    import pandas as pd

C = TypeVar("C")
MOST_LISTED = 20
"""Tasks that a message lists."""


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


def collect_study(study: CaseStudy[C], cases: Sequence[C], folder: Path) -> pd.DataFrame:
    """The table of a study whose rows the tasks of an array have computed; it is written with its page. Cases that
    follow from these rows are run here.

    Raises InputError that says which tasks lack rows.
    """
    array = read_array(folder)
    check_table(study, folder / TABLE)
    digests = digests_of(study, cases)
    check_cases(array, digests, folder)
    found: list[Row] = []
    missing: dict[int, int] = {}
    for number, row in enumerate(collected_rows(study, digests, folder)):
        if row is None:
            missing[number % array.tasks] = missing.get(number % array.tasks, 0) + 1
        else:
            found.append(row)
    if missing:
        listed = [f"{task} ({count:,})" for task, count in sorted(missing.items())]
        tasks = ", ".join([*listed[:MOST_LISTED], *(["…"] if len(listed) > MOST_LISTED else [])])
        raise InputError(
            f"{name_of(folder)}: {sum(missing.values()):,} of {len(cases):,} rows are not there, of these tasks: "
            f"{tasks}; submitted again, they go on where they were"
        )
    return _followed(study, cases, finished_table(study, cases, found, folder), folder)


def _write_page(study: CaseStudy[C], cases: Sequence[C], table: pd.DataFrame, folder: Path) -> None:
    if study.page is None:
        return
    from ..report.study_page import write_study_page

    write_study_page(study.page(table), folder, study.name, sources_of(cases))
