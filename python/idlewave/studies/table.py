"""The table of a study: its columns, read from a file or taken from a data frame, and checked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from ..errors import InputError
from ..escaping import name_of
from ..input.tables import WHOLE, Column, checked_table, read_table
from ..provenance import Provenance
from .plausibility import check_plausible
from .rows_digest import KEY_COLUMNS, compared_with_rows, is_of_rows

COLUMNS = {
    "ranks": Column("whole", 1, 2**32 - 2),
    "noise": Column("flag"),
    "seed": Column("whole", 0, 2**64 - 1),
    "finish_ps": Column("whole", 0, 2**63 - 2),
    "messages": WHOLE,
    "seconds": Column("number", 0),
}


def read_study(file: str | Path) -> pd.DataFrame:
    """The table of a study, .csv or Parquet, with its provenance. It has at least one row.

    Raises InputError naming the file, the column and the row.
    """
    table = rows_of_file(file)
    found = Provenance.read(file)
    if not is_of_rows(found):
        check_plausible(table, name_of(file))
    return table if found is None else found.attach(table)


def rows_of_file(file: str | Path) -> pd.DataFrame:
    """The rows of the file of a study, without provenance. Raises InputError naming the file, the column and the
    row."""
    return _each_once(read_table(file, COLUMNS, "a study", least_rows=1), name_of(file))


def checked_study(runs: pd.DataFrame, name: str) -> pd.DataFrame:
    """Check that `runs` has the columns of a study; it may have no rows. Messages call it `name`. Raises InputError."""
    return _each_once(checked_table(runs, COLUMNS, name), name)


def provenance_of_study(runs: pd.DataFrame, name: str) -> Provenance | None:
    """The provenance of `runs`, compared with the rows. Raises InputError if they are no study, or an implausible
    one."""
    checked = checked_study(runs, name)
    carried = Provenance.of_table(runs, name)
    found = None if carried is None else compared_with_rows(carried, checked, name)
    if not is_of_rows(found):
        check_plausible(checked, name)
    return found


def _each_once(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """Check that no run is there twice, and return `table`. Raises InputError with the row."""
    keys = list(KEY_COLUMNS)
    for row in np.flatnonzero(table.duplicated(keys))[:1]:
        run = table[keys].iloc[row]
        first = int(np.flatnonzero((table[keys] == run).all(axis="columns"))[0])
        said = f"ranks {run['ranks']}, noise {str(run['noise']).lower()}, seed {run['seed']}"
        raise InputError(f"{name}: row {row + 1}: expected each run once, found {said} as in row {first + 1}")
    return table
