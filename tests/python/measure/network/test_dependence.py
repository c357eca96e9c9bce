"""How many residuals of neighbouring sizes count as one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from idlewave.measure.network.fitting.dependence import alike

SIZES = 12


def rows(curves: int) -> pd.DataFrame:
    """A row a curve and size, in an order of no use."""
    table = pd.DataFrame(
        [("stream", window, 2**i) for window in range(1, curves + 1) for i in range(SIZES)],
        columns=["pattern", "window", "size"],
    )
    return table.sample(frac=1, random_state=1, ignore_index=True)


def test_residuals_that_do_not_depend_on_each_other_count_each() -> None:
    table = rows(200)
    scattered = np.random.default_rng(1).normal(size=len(table))
    assert alike(table, scattered) == pytest.approx(1, abs=0.1)


def test_curves_that_are_off_by_a_factor_count_once() -> None:
    table = rows(8)
    assert alike(table, np.where(table["window"] > 4, 0.1, -0.2)) == pytest.approx(SIZES)


def test_of_an_autoregressive_series_as_many_count_as_one_as_its_mean_shows() -> None:
    """The variance of the mean of n values is as many times as large as without the correlation."""
    table, r = rows(4000), 0.6
    random = np.random.default_rng(2)
    series = np.zeros((4000, SIZES))
    series[:, 0] = random.normal(size=4000)
    for i in range(1, SIZES):
        series[:, i] = r * series[:, i - 1] + np.sqrt(1 - r**2) * random.normal(size=4000)
    residuals = series[table["window"] - 1, np.log2(table["size"]).astype(int)]
    assert alike(table, residuals) == pytest.approx(SIZES * series.mean(axis=1).var(), rel=0.1)


@pytest.mark.parametrize("value", [0.0, 0.1])
def test_residuals_of_one_size_or_of_zero_count_each(value: float) -> None:
    table = pd.DataFrame({"pattern": ["stream"] * 3, "window": [1, 4, 16], "size": [8] * 3})
    assert alike(table, np.full(3, value)) == 1


def test_residuals_that_alternate_count_each() -> None:
    table = rows(5)
    assert alike(table, np.where(np.log2(table["size"]) % 2, 1.0, -1.0)) == 1
