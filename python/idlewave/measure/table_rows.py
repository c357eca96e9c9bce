"""The rows of a table for JSON."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """A table's rows, of Python's own numbers; None for infinities and NaN, which JSON does not have."""
    return [{str(k): _plain(v) for k, v in row.items()} for row in table.to_dict(orient="records")]


def _plain(value: Any) -> Any:  # noqa: ANN401 - a cell of a table may be anything
    plain = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(plain, float) and not np.isfinite(plain) else plain
