"""Tables in files, Parquet or CSV: columns have types and ranges; errors name the column and the row."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from ..errors import InputError
from ..escaping import cut, found, name_of, printable, quote
from .bounds import MOST_LINE, MOST_TABLE, size_words
from .files import opened, read_bytes

if TYPE_CHECKING:
    import numpy.typing as npt

_MOST_ROWS = MOST_TABLE // 8
_MOST_METADATA = 16 << 20
_BROKEN = (pa.ArrowException, OSError, ValueError)
"""The exceptions of pyarrow for damaged files: ValueError for names that are not UTF-8, OSError for a bad page."""
_CELL = re.compile(r"In CSV column #(\d+): Row #(\d+): CSV conversion error to \w+: invalid value '(.*)'", re.DOTALL)


@dataclass(frozen=True)
class Column:
    """The schema of a column: its `kind`, and the range from `least` to `most`; None is no bound.

    `optional`: the column may be missing. `nullable`: a number may be missing, and is NaN then.
    """

    kind: Literal["whole", "number", "flag", "text"]
    least: int | float | None = None
    most: int | float | None = None
    optional: bool = False
    nullable: bool = False

    @property
    def words(self) -> str:
        """The text for what is expected in the column."""
        name = {"whole": "a whole number", "number": "a number", "flag": "true or false", "text": "a text"}[self.kind]
        if self.least is not None:
            name += f" from {self.least} " + ("on" if self.most is None else f"to {self.most}")
        return name

    @property
    def arrow(self) -> pa.DataType:
        """The type of Arrow for reading the column from text."""
        if self.kind == "whole":
            return pa.int64() if self.most is None or self.most < 2**63 else pa.uint64()
        return {"number": pa.float64(), "flag": pa.bool_(), "text": pa.string()}[self.kind]


Schema = Mapping[str, Column]

WHOLE = Column("whole", 0)
"""A whole number from 0 on that 64 bits hold."""
NUMBER = Column("number")
"""A finite number."""
TEXT = Column("text")


def read_table(path: str | Path, schema: Schema, what: str, *, least_rows: int = 0) -> pd.DataFrame:
    """The columns of `schema` in a file of at least `least_rows` rows: CSV if its name says so, else Parquet.

    `what` describes the expected file in errors. Raises InputError naming the file, the column and the row.
    """
    if Path(path).suffix == ".csv":
        return csv_table(read_bytes(path, what, most=MOST_TABLE), schema, name_of(path), what, least_rows=least_rows)
    with opened(path, what) as file:
        name = name_of(path)
        if os.fstat(file.fileno()).st_size > MOST_TABLE:
            raise InputError(f"{name}: cannot be read as {what}: expected at most {size_words(MOST_TABLE)}")
        return _frame(_parquet(file, schema, name, what), schema, name, least_rows)


def parquet_columns(path: str | Path, what: str) -> list[str]:
    """The names of the columns of a Parquet file. Raises InputError as `read_table`."""
    with opened(path, what) as file:
        try:
            source = parquet.ParquetFile(
                file, thrift_string_size_limit=_MOST_METADATA, thrift_container_size_limit=_MOST_METADATA
            )
            return list(source.schema_arrow.names)
        except _BROKEN as error:
            raise InputError(f"{name_of(path)}: cannot be read as {what}: {cut(str(error))}") from error


def csv_table(data: bytes, schema: Schema, name: str, what: str, *, least_rows: int = 0) -> pd.DataFrame:
    """The same from the bytes of a CSV file with a header. Messages call the file `name`."""
    chosen = _chosen(_header(data, name, what), schema, name)
    convert = arrow_csv.ConvertOptions(
        column_types={column: schema[column].arrow for column in chosen},
        include_columns=chosen,
        null_values=[""],
        strings_can_be_null=False,
    )
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(data), read_options=arrow_csv.ReadOptions(use_threads=False), convert_options=convert
        )
    except _BROKEN as error:
        cell = _CELL.fullmatch(str(error))
        if cell is None:
            raise InputError(f"{name}: cannot be read as {what}: {cut(str(error))}") from error
        column = chosen[int(cell[1])]
        raise _wrong(name, column, int(cell[2]) - 1, schema[column], quote(cell[3])) from error
    return _frame(table, schema, name, least_rows)


def checked_table(table: pd.DataFrame, schema: Schema, name: str, *, least_rows: int = 0) -> pd.DataFrame:
    """The same from a data frame. Messages call it `name`."""
    chosen = _chosen(list(map(str, table.columns)), schema, name)
    columns = {}
    for column in chosen:
        try:
            columns[column] = pa.chunked_array([pa.array(table[column], from_pandas=True)])
        except _BROKEN as error:
            expected = f"{schema[column].words} in each row"
            raise InputError(f"{name}: {column}: expected {expected}, found {cut(str(error))}") from error
        _check_type(columns[column].type, schema[column], f"{name}: {column}")
    return _frame(pa.table(columns), schema, name, least_rows)


def _header(data: bytes, name: str, what: str) -> list[str]:
    line = data[:MOST_LINE].split(b"\n", 1)[0].decode("utf-8", "replace")
    try:
        return [word.strip() for word in next(csv.reader([line]), [])]
    except csv.Error as error:
        raise InputError(f"{name}: cannot be read as {what}: {cut(str(error))}") from error


def _parquet(file: Any, schema: Schema, name: str, what: str) -> pa.Table:  # noqa: ANN401 - an open file
    try:
        source = parquet.ParquetFile(
            file, thrift_string_size_limit=_MOST_METADATA, thrift_container_size_limit=_MOST_METADATA
        )
        if source.metadata.num_rows > _MOST_ROWS:
            raise InputError(f"{name}: expected at most {_MOST_ROWS} rows, found {source.metadata.num_rows}")
        types = source.schema_arrow  # made anew at each access
        chosen = _chosen(types.names, schema, name)
        for column in chosen:
            _check_type(types.field(column).type, schema[column], f"{name}: {column}")
        table = source.read(columns=chosen, use_threads=False)
        table.validate(full=True)
    except _BROKEN as error:
        raise InputError(f"{name}: cannot be read as {what}: {cut(str(error))}") from error
    return table.replace_schema_metadata(None)


def _chosen(names: list[str], schema: Schema, name: str) -> list[str]:
    """The columns of the schema that are there, each once."""
    missing = [column for column, of in schema.items() if column not in names and not of.optional]
    if missing:
        raise InputError(f"{name}: lacks the columns {', '.join(missing)}; found {cut(', '.join(names)) or 'none'}")
    twice = [column for column in schema if names.count(column) > 1]
    if twice:
        raise InputError(f"{name}: {twice[0]}: expected one column of this name, found {names.count(twice[0])}")
    return [column for column in schema if column in names]


_IS: dict[str, tuple[Callable[[pa.DataType], bool], ...]] = {
    "whole": (pa.types.is_integer,),
    "number": (pa.types.is_floating, pa.types.is_integer),
    "flag": (pa.types.is_boolean,),
    "text": (pa.types.is_string, pa.types.is_large_string),
}


def _check_type(found_type: pa.DataType, column: Column, where: str) -> None:
    if pa.types.is_dictionary(found_type):
        found_type = found_type.value_type
    if not any(test(found_type) for test in _IS[column.kind]):
        raise InputError(f"{where}: expected {column.words} in each row, found a column of {cut(str(found_type))}")


def _frame(table: pa.Table, schema: Schema, name: str, least_rows: int) -> pd.DataFrame:
    if table.num_rows < least_rows:
        rows = "row" if least_rows == 1 else "rows"
        raise InputError(f"{name}: expected at least {least_rows} {rows}, found {table.num_rows or 'none'}")
    columns = {column: _values(table[column], schema[column], name, column) for column in table.column_names}
    return pd.DataFrame(columns)


def _values(values: pa.ChunkedArray, column: Column, name: str, label: str) -> Any:  # noqa: ANN401 - of any type
    """A column for pandas, if every row is as expected."""
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if values.null_count and not (column.nullable and column.kind == "number"):
        row = values.is_null().to_pylist().index(True) + 1
        raise _wrong(name, label, row, column, "nothing")
    if column.kind == "text":
        texts = values.to_pandas()
        shown = {text: printable(text, keep="") for text in texts.unique()}
        return texts if all(text == as_shown for text, as_shown in shown.items()) else texts.map(shown)
    numbers = values.to_numpy()
    if column.kind == "flag":
        return numbers.astype(bool)
    wrong = _outside(numbers, column)
    if len(wrong):
        raise _wrong(name, label, int(wrong[0]) + 1, column, found(numbers[wrong[0]].item()))
    if column.kind == "number":
        return numbers.astype(np.float64)
    return numbers.astype(np.int64) if len(numbers) == 0 or numbers.max() < 2**63 else numbers


def _outside(numbers: npt.NDArray[Any], column: Column) -> npt.NDArray[np.int64]:
    """The rows whose numbers are outside the range of the column, or not finite."""
    wrong = np.zeros(len(numbers), dtype=bool)
    if column.kind == "number":
        wrong |= np.isinf(numbers) if column.nullable else ~np.isfinite(numbers)
    elif numbers.dtype == np.uint64 and column.most is None:
        wrong |= numbers > np.uint64(2**63 - 1)
    if column.least is not None:
        wrong |= numbers < column.least
    if column.most is not None:
        wrong |= numbers > column.most
    return np.flatnonzero(wrong)


def _wrong(name: str, column: str, row: int, of: Column, said: str) -> InputError:
    return InputError(f"{name}: {column}: row {row}: expected {of.words}, found {said}")
