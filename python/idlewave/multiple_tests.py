"""p-values of many tests at a time, by Holm's step-down method (Scandinavian Journal of Statistics 1979)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd


def holm(p: pd.Series) -> npt.NDArray[np.float64]:
    """p-values corrected by Holm's step-down method; NaN are no tests, and stay."""
    import numpy as np

    values = p.to_numpy(dtype=np.float64)
    corrected = np.full(len(values), np.nan)
    order = np.argsort(values)[: int(np.isfinite(values).sum())]
    factors = np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(factors * values[order])) if len(order) else []
    return corrected
