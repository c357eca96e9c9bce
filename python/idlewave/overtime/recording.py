"""Reads the folder that `idlewave measure overtime` writes: whole parts of the table, and the rows that came after."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..escaping import cut, name_of
from ..input.bounds import MOST_TABLE, MOST_TEXT
from ..input.files import opened, read_bytes
from ..input.tables import Column, checked_table
from ..input.validation import load_json

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

WHAT = "a recording of idlewave measure overtime"
COUNTER = "counter."
"""The beginning of the names of columns that counters have."""
IDLE = "idle"
"""The test of idle phases, in which the ranks sleep."""
_KEY = ["phase", "test", "rank", "peer", "size"]
_MOST_NS = 2**62
_TIME = Column("number", nullable=True)
SCHEMA = {
    "run": Column("whole", 0, 2**31 - 1),
    "phase": Column("whole", 0),
    "start_ns": Column("whole", 0, _MOST_NS),
    "length_ns": Column("whole", 0, _MOST_NS),
    "test": Column("text"),
    "rank": Column("whole", -1, 2**31 - 1),
    "peer": Column("whole", -1, 2**31 - 1),
    "size": Column("whole", 0),
    "samples": Column("whole", 0, 2**31 - 1),
    "least_s": _TIME,
    "median_s": _TIME,
    "mean_s": _TIME,
    "most_s": _TIME,
    "sd_s": _TIME,
    "value": _TIME,
}


@dataclass(frozen=True, eq=False)
class Recording:
    """A recording: a row a phase (docs/overtime.md), what was measured where, and the names of the counters.

    `notes` says what of the folder could not be used.
    """

    name: str
    table: pd.DataFrame
    said: dict[str, Any] = field(default_factory=dict)
    counters: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def read_recording(folder: str | Path) -> Recording:
    """Read a recording, also one that is being written or was interrupted. Raises InputError."""
    import pandas as pd

    place = Path(folder)
    said = load_json(place / "overtime.json", WHAT)
    if not isinstance(said, dict):
        raise InputError(f"{name_of(place / 'overtime.json')}: expected an object of JSON, found {cut(str(said))}")
    parts = [_part(file) for file in sorted((place / "overtime.parquet").glob("part-*.parquet"))]
    rows, notes = _tail(place / "tail.jsonl")
    tables = [part for part in (*parts, rows) if len(part)]
    if not tables:
        raise InputError(f"{name_of(place)}: expected at least one phase, found none")
    # A part may have been written while its rows were still in the tail.
    table = pd.concat(tables, ignore_index=True).drop_duplicates(_KEY)
    table = table.sort_values("phase", kind="stable", ignore_index=True)
    counters = tuple(str(name) for name in table.columns if str(name).startswith(COUNTER))
    return Recording(name_of(place), table, said, counters, tuple(notes))


def _part(file: Path) -> pd.DataFrame:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with opened(file, WHAT) as stream:
            read: pa.Table = parquet.read_table(stream, use_threads=False)
    except (pa.ArrowException, ValueError) as error:
        raise InputError(f"{name_of(file)}: cannot be read as {WHAT}: {cut(str(error))}") from error
    if read.nbytes > MOST_TABLE:
        raise InputError(f"{name_of(file)}: expected at most {MOST_TABLE} bytes, found {read.nbytes}")
    return _checked(read.to_pandas(), name_of(file))


def _tail(file: Path) -> tuple[pd.DataFrame, list[str]]:
    """The rows that fill no part yet. The last line may be torn: it is left out, which a note says."""
    import pandas as pd

    if not file.exists():
        return pd.DataFrame(), []
    lines = read_bytes(file, WHAT, most=MOST_TEXT).split(b"\n")
    rows, notes = [], []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if isinstance(row, dict):
            rows.append(row)
        elif number == len(lines):
            notes.append(f"{name_of(file)}: the last line is torn, and left out")
        else:
            raise InputError(f"{name_of(file)}: line {number}: expected an object of JSON, found {cut(repr(line))}")
    return (_checked(pd.DataFrame(rows), name_of(file)) if rows else pd.DataFrame()), notes


def _checked(table: pd.DataFrame, name: str) -> pd.DataFrame:
    counters = {str(column): _TIME for column in table.columns if str(column).startswith(COUNTER)}
    numbers = [column for column, of in {**SCHEMA, **counters}.items() if of.nullable and column in table]
    return checked_table(table.astype(dict.fromkeys(numbers, "float64"), errors="ignore"), {**SCHEMA, **counters}, name)
