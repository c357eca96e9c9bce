"""What a study of cases is made of: its cases, a function that computes the row of one, and its page.

A case is a frozen dataclass of plain values, machines, schedules and paths. All else is the same for every study:
running the cases on any executor (`case_runner`), the parts of the table (`row_parts`), arrays of jobs (`job_array`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .. import memory_needs
from .._core import version
from ..digests import digest_of, digest_of_file
from ..escaping import quote
from ..machine import Machine
from ..provenance import Provenance
from ..schedule import Schedule

if TYPE_CHECKING:
    import pandas as pd

    from ..report.study_page import StudyPage

C = TypeVar("C")
Value = bool | int | float | str | None
"""A value of a row."""
Row = dict[str, Value]
CASE = "case"
"""The column of the digest of a row's case."""
SIMULATION = "simulation_s"
"""The column of the time that the row took to compute: the only one that differs from run to run."""


def memory_of_ranks(case: object) -> int:
    """A lower bound of the memory of a case that simulates as many ranks as its field `ranks` says, bytes."""
    return memory_needs.simulation(int(getattr(case, "ranks", 0)))


@dataclass(frozen=True)
class CaseStudy(Generic[C]):
    """A study: its `name`, and the functions that make the row of a case and the page of the table (None: it has none).

    `files` makes texts of the table that are written beside the page, by the names of their files.

    `row` is a function of a module, so that other processes find it; it gives a value for each of the same names,
    whatever the case. `version` counts up when the rows of equal cases change: rows of another version are computed
    anew. `memory` is a lower bound of what a case needs while it is computed, bytes: only cases that fit together run
    at a time. `more`, if there is one, has the cases that follow from the rows so far, until it has none.
    """

    name: str
    version: int
    row: Callable[[C], Row]
    page: Callable[[pd.DataFrame], StudyPage] | None = None
    memory: Callable[[C], int] = memory_of_ranks
    files: Callable[[pd.DataFrame], Mapping[str, str]] | None = None
    more: Callable[[pd.DataFrame], Sequence[C]] | None = None

    def digest(self, case: C) -> str:
        """The digest of a case: of its values, of the content of its machines, schedules and files, of the study's name
        and version, and of Idlewave's version."""
        contents = {field.name: _content(getattr(case, field.name)) for field in _fields(case)}
        return digest_of({"study": self.name, "version": self.version, "idlewave": version(), "case": contents})


def values_of(case: object) -> Row:
    """The columns of a case: its values, the names of machines and schedules and, as NAME_id, their digests."""
    found: Row = {}
    for field in _fields(case):
        value = getattr(case, field.name)
        if isinstance(value, Machine | Schedule):
            found |= {field.name: value.name, f"{field.name}_id": value.identity()}
        else:
            found[field.name] = str(value) if isinstance(value, Path) else value
    return found


def text_of(case: object) -> str:
    """A case for messages: its values with their names."""
    shown = {field.name: getattr(case, field.name) for field in _fields(case)}
    return ", ".join(f"{name} {_shown(value)}" for name, value in shown.items())


def sources_of(cases: Iterable[object]) -> tuple[Provenance, ...]:
    """The provenance of the machines and schedules of the cases, each once, in their order."""
    found: dict[int, Provenance] = {}
    for case in cases:
        values = (getattr(case, field.name) for field in _fields(case))
        found |= {id(value): value.provenance for value in values if isinstance(value, Machine | Schedule)}
    return tuple({source.to_json(): source for source in found.values()}.values())


def _fields(case: Any) -> tuple[Field[Any], ...]:  # noqa: ANN401 - a dataclass
    return fields(case)


def _content(value: object) -> object:
    """What a digest covers of a value."""
    if isinstance(value, Machine | Schedule):
        return value.identity()
    if isinstance(value, Path):
        return digest_of_file(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"expected a plain value, a machine, a schedule or a path in a case, found {value!r}")


def _shown(value: object) -> str:
    return quote(value.name) if isinstance(value, Machine | Schedule) else str(value)
