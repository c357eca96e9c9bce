"""Rows of a study's table as objects with an attribute a column."""

from __future__ import annotations

from typing import Any

import pandas as pd


def row_objects(rows: pd.DataFrame) -> list[Any]:
    """The rows in their order, each with its columns as attributes."""
    return list(rows.itertuples(index=False))
