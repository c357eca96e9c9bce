"""The intervals of means over few seeds hold the mean as often as is said, of skewed losses, too."""

from __future__ import annotations

import math

import numpy as np
import pytest
from idlewave.studies.seed_statistics import mean_interval, share_taken_away


@pytest.mark.parametrize("seeds", [2, 3, 5, 10])
def test_intervals_of_few_exponential_losses_hold_the_mean_in_nine_of_ten_tables(seeds: int) -> None:
    drawn = np.random.default_rng(1).exponential(1.0, (2000, seeds))
    found = [mean_interval(losses) for losses in drawn]
    assert np.mean([one.low <= 1 <= one.high for one in found]) >= 0.9


@pytest.mark.parametrize("seeds", [3, 10])
def test_so_do_those_of_what_is_taken_away(seeds: int) -> None:
    rng = np.random.default_rng(2)
    before, after = rng.exponential(1.0, (2000, seeds)), rng.exponential(0.3, (2000, seeds))
    found = [share_taken_away(one, other) for one, other in zip(before, after, strict=True)]
    assert np.mean([one.low <= 0.7 <= one.high for one in found]) >= 0.9


def test_one_value_has_no_interval_and_equal_ones_have_none_of_a_width() -> None:
    assert math.isnan(mean_interval(np.array([1.0])).low)
    equal = mean_interval(np.array([1.0, 1.0, 1.0]))
    assert (equal.low, equal.mean, equal.high) == (1, 1, 1)
    assert mean_interval(np.array([0.0, 0.0, 1.0])).low == 0, "no loss is negative, and no mean of them"
