"""How many residuals of neighbouring sizes count as one, and what epochs that differ make a residual cost."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from idlewave.measure.network.fitting.evidence import cost_of_epochs, residuals_per_observation
from idlewave.measure.network.fitting.piece_fit import LOSS, loss

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


def test_epochs_that_agree_leave_the_cost_of_a_residual_as_it_is() -> None:
    assert cost_of_epochs(np.full((3, 40), 7e5)) == 1
    assert cost_of_epochs(np.full((1, 40), 7e5)) == 1
    assert cost_of_epochs(np.empty((0, 0))) == 1


def test_an_item_with_one_epoch_says_nothing_of_their_scatter() -> None:
    alone = np.array([[7e5, 7e5], [9e5, np.nan]])
    assert cost_of_epochs(alone) == pytest.approx(cost_of_epochs(alone[:, :1]))
    assert cost_of_epochs(alone[:, 1:]) == 1


@pytest.mark.parametrize("epochs", [2, 3, 8])
def test_epochs_that_scatter_cost_as_a_mean_of_as_many_does(epochs: int) -> None:
    """A scatter of s makes the mean of n scatter by s over the root of n."""
    of_the_mean = 2 * LOSS
    logarithms = np.random.default_rng(4).normal(scale=of_the_mean * np.sqrt(epochs), size=(epochs, 20_000))
    residuals = np.random.default_rng(5).normal(scale=of_the_mean, size=200_000)
    expected = loss(residuals) / len(residuals) / (LOSS**2 / 2)
    assert cost_of_epochs(np.exp(logarithms)) == pytest.approx(expected, rel=0.03)
