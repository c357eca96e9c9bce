"""A study's table, as it must be wherever it is read."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from .input.tables import WHOLE, Column, checked_table, read_table
from .provenance import Provenance

COLUMNS = {
    "ranks": Column("whole", 1, 2**32 - 2),
    "noise": Column("flag"),
    "seed": Column("whole", 0, 2**64 - 1),
    "finish_ps": WHOLE,
    "messages": WHOLE,
    "seconds": Column("number", 0),
}


def read_study(file: str | Path) -> pd.DataFrame:
    """A study's table, .csv or Parquet, with the provenance that it carries: at least one row. Raises InputError naming
    the file, the column and the row."""
    table = read_table(file, COLUMNS, "a study", least_rows=1)
    found = Provenance.read(file)
    return table if found is None else found.attach(table)


def checked_study(runs: pd.DataFrame, name: str) -> pd.DataFrame:
    """`runs`, which messages call `name` and which may have no rows, with the columns of a study. Raises InputError."""
    return checked_table(runs, COLUMNS, name)
