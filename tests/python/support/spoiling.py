"""Tables of which a column can be spoilt: left as it is, with one value far off, or with values that make no sense."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pandas as pd

FAR = 1e6
NONSENSE = (0.0, -1.0, np.nan, np.inf, -np.inf)
Spoil = Callable[[pd.DataFrame, str], pd.DataFrame]


def as_it_is(table: pd.DataFrame, _column: str) -> pd.DataFrame:
    return table


def one_far_off(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """One of the rows is a million times as large."""
    values = table[column].to_numpy(dtype=float, copy=True)
    high = np.flatnonzero(values >= np.median(values))
    values[high[len(high) // 2]] *= FAR
    return table.assign(**{column: values})


def with_nonsense(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Some rows are zero, negative, infinite, or no numbers."""
    values = table[column].to_numpy(dtype=float, copy=True)
    values[: len(NONSENSE)] = NONSENSE[: len(values)]
    return table.assign(**{column: values})


def spoilt(values: npt.ArrayLike, spoil: Spoil) -> npt.NDArray[np.float64]:
    return spoil(pd.DataFrame({"x": np.asarray(values, dtype=float)}), "x")["x"].to_numpy()
