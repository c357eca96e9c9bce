"""A study's table, as it must be wherever it is read."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from .input.tables import WHOLE, Column, checked_table, read_table
from .provenance import Provenance
from .study_rows import held_against

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
    table = rows_of_file(file)
    found = Provenance.read(file)
    return table if found is None else found.attach(table)


def rows_of_file(file: str | Path) -> pd.DataFrame:
    """The rows of a study's file alone. Raises InputError naming the file, the column and the row."""
    return read_table(file, COLUMNS, "a study", least_rows=1)


def checked_study(runs: pd.DataFrame, name: str) -> pd.DataFrame:
    """`runs`, which messages call `name` and which may have no rows, with the columns of a study. Raises InputError."""
    return checked_table(runs, COLUMNS, name)


def provenance_of_study(runs: pd.DataFrame, name: str) -> Provenance | None:
    """What `runs` carry, held against their rows. Raises InputError if they are no study."""
    checked = checked_study(runs, name)
    carried = Provenance.of_table(runs, name)
    return None if carried is None else held_against(carried, checked, name)
