"""How many residuals of neighbouring sizes count as one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from idlewave.measure.network.fitting.dependence import residuals_per_observation

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
    assert residuals_per_observation(table, scattered) == pytest.approx(1, abs=0.1)


def test_curves_that_are_off_by_a_factor_count_once() -> None:
    table = rows(8)
    assert residuals_per_observation(table, np.where(table["window"] > 4, 0.1, -0.2)) == pytest.approx(SIZES)


def test_of_an_autoregressive_series_as_many_count_as_one_as_its_mean_shows() -> None:
    """The variance of the mean of n values is as many times as large as without the correlation. So few sizes show a
    part of it: the mean of the curves' own correlations is below that of all."""
    table, r = rows(4000), 0.6
    random = np.random.default_rng(2)
    series = np.zeros((4000, SIZES))
    series[:, 0] = random.normal(size=4000)
    for i in range(1, SIZES):
        series[:, i] = r * series[:, i - 1] + np.sqrt(1 - r**2) * random.normal(size=4000)
    residuals = series[table["window"] - 1, np.log2(table["size"]).astype(int)]
    true = SIZES * series.mean(axis=1).var()
    assert 0.8 * true < residuals_per_observation(table, residuals) < true


def test_residuals_of_one_size_and_those_of_zero_count_each() -> None:
    table = pd.DataFrame({"pattern": ["stream"] * 3, "window": [1, 4, 16], "size": [8] * 3})
    assert residuals_per_observation(table, np.full(3, 0.1)) == 1
    assert residuals_per_observation(rows(3), np.zeros(3 * SIZES)) == 1


def test_one_curve_that_is_far_off_does_not_make_the_others_alike() -> None:
    table = rows(30)
    scattered = np.random.default_rng(1).normal(scale=0.02, size=len(table))
    off = np.where(table["window"] == 1, np.log(2), scattered)
    assert residuals_per_observation(table, off) < 1.5


def test_residuals_that_alternate_count_each() -> None:
    table = rows(5)
    assert residuals_per_observation(table, np.where(np.log2(table["size"]) % 2, 1.0, -1.0)) == 1
