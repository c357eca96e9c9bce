"""The folder of a recording over time, as it is read.

overtime.json           what was measured where, how often it was interrupted, and the load of the probe itself
overtime.parquet/       part-000001.parquet …, of up to 4,096 rows each, written whole
tail.jsonl              the rows after the last part, a line each; the last line may be torn
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

from ...errors import InputError
from ...escaping import cut, name_of, printable
from ...escaping import found as found_text
from ...input.bounds import MOST_LINE
from ...input.decoding import decode_json
from ...input.files import decoded, opened
from ...input.validation import checked, load_json
from ...input.value_types import Amount, Number, Open, Whole
from .settings import IDLE, TESTS

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

SAID, PARTS, TAIL = "overtime.json", "overtime.parquet", "tail.jsonl"
SCHEMA = 1
_LARGEST = 1e300
"""The largest number of a counter."""
WHAT = "a recording over time"
COUNTER = "counter."
"""The beginning of the names of columns that counters have."""
WHOLE = {
    "run": "int32",
    "phase": "int64",
    "start_ns": "int64",
    "length_ns": "int64",
    "rank": "int32",
    "peer": "int32",
    "size": "int64",
    "samples": "int32",
}
TIMES = ("least_s", "median_s", "mean_s", "most_s", "sd_s", "value")
COLUMNS = ("run", "phase", "start_ns", "length_ns", "test", "rank", "peer", "size", "samples", *TIMES)
"""The columns before those of counters."""
INTERRUPTED = "The recording was interrupted {times}, and continued {continued}."
LATE = "Counters were read too late {times}; what they grew by in such a phase and the next is not known."
SHARED = "Several ranks shared a CPU: their times are also those of waiting for it."
OPEN_END = "The recording does not say how it ended: it still runs, or was killed."
TORN = "The last row of the recording was torn, and is left out."

Row = dict[str, Any]


class SaidCounter(Open):
    """What a counter is."""

    source: str
    unit: str = "events"
    what: str = ""


class SaidLoad(Open):
    """Which share of a CPU the probe took itself."""

    active: Amount | None = None
    idle: Amount | None = None
    active_most: Amount | None = None
    idle_most: Amount | None = None
    recorder: Amount | None = None


class Said(Open):
    """overtime.json, as far as it is used here."""

    schema: Annotated[int, Meta(ge=SCHEMA, le=SCHEMA, description=f"the version {SCHEMA}")]
    settings: dict[str, Any] = msgspec.field(default_factory=dict)
    hosts: list[str] = msgspec.field(default_factory=list)
    counters: dict[str, SaidCounter] = msgspec.field(default_factory=dict)
    load: SaidLoad = msgspec.field(default_factory=SaidLoad)
    runs: list[dict[str, Any]] = msgspec.field(default_factory=list)
    notes: list[str] = msgspec.field(default_factory=list)
    interrupted: Whole = 0
    continued: Whole = 0


@dataclass(frozen=True, eq=False)
class OvertimeRecording:
    """A recording over time, from the folder of one, or made of a table.

    table: a row a phase: run, phase, start_ns (Unix time), length_ns, test (latency, bandwidth, allreduce or idle),
    rank and peer (−1: all ranks), size in bytes, samples, and of these the times in s: least_s, median_s, mean_s,
    most_s, sd_s; value (latency: median_s, bandwidth: bytes per second, allreduce: mean_s); and a column
    `counter.….…` for each counter: what it grew by in the phase, NaN where that is not known. said: overtime.json.
    counters: the columns of counters. notes: sentences about what the recording lacks. folder: None if it is made.
    """

    name: str
    table: pd.DataFrame
    said: dict[str, Any] = field(default_factory=dict)
    counters: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    folder: Path | None = None

    def arrow(self) -> pa.Table:
        """The table as one of Arrow."""
        import pyarrow as pa

        table = pa.Table.from_pandas(self.table, preserve_index=False).replace_schema_metadata(None)
        return table.cast(_schema(list(self.counters))) if table.num_columns else table

    def check_phases(self) -> None:
        """Raise InputError if there is no phase."""
        if not len(self.table):
            raise InputError(f"{self.name}: expected at least one phase, found none")


def _notes(said: dict[str, Any], *, torn: bool) -> Iterator[str]:
    """Sentences about what a recording lacks."""
    yield from (str(note) for note in said.get("notes", []))
    if times := said.get("interrupted", 0):
        yield INTERRUPTED.format(times=_times(times), continued=_times(said.get("continued", 0)))
    if late := sum(int(run.get("late_readings", 0)) for run in said.get("runs", [])):
        yield LATE.format(times=_times(late))
    if said.get("shared_cpus") is True:
        yield SHARED
    if [run.get("ended") for run in said.get("runs", [])][-1:] == ["running"]:
        yield OPEN_END
    if torn:
        yield TORN


def _times(number: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(number, f"{number} times")


def read_overtime(folder: str | Path) -> OvertimeRecording:
    """The recording in a folder, also one that is being written or was interrupted. A torn last row is left out. Raises
    InputError naming the file that is missing or broken."""
    place = Path(folder)
    said = read_said(place)
    tables = [read_part(file) for file in parts_in(place)]
    last = max((int(table["phase"][-1].as_py()) for table in tables if table.num_rows), default=-1)
    tail = TailFile.read(place)
    tables.append(table_of([row for row in tail.rows if row["phase"] > last]))
    joined = _joined(tables)
    counters = tuple(name for name in joined.column_names if name.startswith(COUNTER))
    notes = tuple(_notes(said, torn=tail.torn))
    return OvertimeRecording(name_of(place), joined.to_pandas(), said, counters, notes, place)


def read_said(folder: Path) -> dict[str, Any]:
    """The content of overtime.json, checked. Raises InputError."""
    file = folder / SAID
    said: dict[str, Any] = load_json(file, WHAT)
    checked(said, Said, name_of(file))
    return said


def parts_in(folder: Path) -> list[Path]:
    """The parts of a recording, in their order. Raises InputError if one is missing between others."""
    found = sorted((folder / PARTS).glob("part-*.parquet"))
    for number, file in enumerate(found, 1):
        if file != (wanted := part_file(folder, number)):
            raise InputError(f"{name_of(wanted)}: is missing; found {file.name}")
    return found


def part_file(folder: Path, number: int) -> Path:
    """The file of a part; the first is 1."""
    return folder / PARTS / f"part-{number:06d}.parquet"


def read_part(file: Path) -> pa.Table:
    """The rows of a part. Raises InputError."""
    import pyarrow as pa

    from ...input.tables import Column, parquet_columns, read_table

    names = parquet_columns(file, WHAT)
    number = Column("number", nullable=True)
    schema = {
        name: Column("whole", -1 if name in ("rank", "peer") else 0, 2 ** (31 if kind == "int32" else 63) - 1)
        for name, kind in WHOLE.items()
    }
    schema |= {"test": Column("text"), **dict.fromkeys(TIMES, number)}
    schema |= {name: number for name in names if name.startswith(COUNTER)}
    frame = read_table(file, schema, WHAT)
    _check_tests(set(frame["test"]), file)
    counters = [name for name in names if name.startswith(COUNTER)]
    table = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
    shown = [printable(name, keep="") for name in counters]
    return table.select([*COLUMNS, *counters]).rename_columns([*COLUMNS, *shown]).cast(_schema(shown))


def table_of(rows: list[Row]) -> pa.Table:
    """Rows as a table of Arrow, with the counters that any of them has."""
    import pyarrow as pa

    counters = list({name: None for row in rows for name in row if name.startswith(COUNTER)})
    schema = _schema(counters)
    columns = {}
    for column in schema:
        missing = math.nan if pa.types.is_floating(column.type) else None
        values = (row.get(column.name) for row in rows)
        columns[column.name] = pa.array([missing if value is None else value for value in values], column.type)
    return pa.table(columns, schema=schema)


def _schema(counters: list[str]) -> pa.Schema:
    import pyarrow as pa

    types = {name: getattr(pa, kind)() for name, kind in WHOLE.items()}
    types |= {"test": pa.string(), **dict.fromkeys(TIMES, pa.float64())}
    return pa.schema([(name, types.get(name, pa.float64())) for name in (*COLUMNS, *counters)])


def _joined(tables: list[pa.Table]) -> pa.Table:
    """One table of all rows; NaN for a counter that a table does not have."""
    import pyarrow as pa

    counters = list({name: None for table in tables for name in table.column_names if name.startswith(COUNTER)})
    filled = []
    for table in tables:
        there = set(table.column_names)
        for name in counters:
            if name not in there:
                table = table.append_column(name, pa.array([math.nan] * table.num_rows, pa.float64()))
        filled.append(table.select([*COLUMNS, *counters]))
    return pa.concat_tables(filled)


def _check_tests(found: set[str], file: Path) -> None:
    unknown = sorted(found - {*TESTS, IDLE})
    if unknown:
        raise InputError(f"{name_of(file)}: test: expected one of {', '.join((*TESTS, IDLE))}, found {unknown[0]}")


class TailRow(Open):
    """A row of tail.jsonl, without the counters."""

    run: Annotated[int, Meta(ge=0, lt=2**31)]
    phase: Whole
    start_ns: Whole
    length_ns: Whole
    test: str
    rank: Annotated[int, Meta(ge=-1, lt=2**31)]
    peer: Annotated[int, Meta(ge=-1, lt=2**31)]
    size: Whole
    samples: Annotated[int, Meta(ge=0, lt=2**31)]
    least_s: Number | None = None
    median_s: Number | None = None
    mean_s: Number | None = None
    most_s: Number | None = None
    sd_s: Number | None = None
    value: Number | None = None


@dataclass(frozen=True)
class TailFile:
    """The rows of tail.jsonl. `whole`: the bytes up to the end of the last whole row; `torn`: there are more."""

    rows: list[Row]
    whole: int = 0
    torn: bool = False

    @classmethod
    def read(cls, folder: Path) -> TailFile:
        """Those of a folder. A last line without an end is torn; any other line has to be a row. Raises InputError."""
        file = folder / TAIL
        if not file.exists():
            return cls([])
        rows: list[Row] = []
        whole = 0
        with opened(file, WHAT) as stream:
            for number, line in enumerate(iter(lambda: stream.readline(MOST_LINE), b""), 1):
                if not line.endswith(b"\n"):
                    return cls(rows, whole, torn=True)
                rows.append(_row_of(line, f"{name_of(file)}:{number}"))
                whole += len(line)
        return cls(rows, whole)


def _row_of(line: bytes, where: str) -> Row:
    row: Row = decode_json(decoded(line, where), where)
    found = checked(row, TailRow, where)
    if found.test not in (*TESTS, IDLE):
        raise InputError(f"{where}: test: expected one of {', '.join((*TESTS, IDLE))}, found {found.test}")
    read: Row = msgspec.structs.asdict(found)
    for name, value in row.items():
        if name.startswith(COUNTER):
            number = isinstance(value, (int, float)) and -_LARGEST <= value <= _LARGEST
            if value is not None and not number:
                raise InputError(
                    f"{where}: {cut(printable(name, keep=''))}: expected a number, found {found_text(value)}"
                )
            read[printable(name, keep="")] = None if value is None else float(value)
    return read
