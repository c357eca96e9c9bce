"""What counters grew by: around the end of their range, and never a guess."""

from __future__ import annotations

import math

import pytest
from idlewave.measure.counters import Counter, growth, growths

UNKNOWN = Counter()
OF_64 = Counter(bits=64)
OF_32 = Counter(bits=32)
SATURATING = Counter(bits=16, saturates=True)


@pytest.mark.parametrize("counter", [UNKNOWN, OF_32, OF_64, SATURATING])
def test_a_counter_grows_by_the_difference(counter: Counter) -> None:
    assert growth(5, 5, counter) == 0
    assert growth(5, 1005, counter) == 1000


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("known", [True, False])
def test_a_counter_that_wraps_around_grew_by_what_it_passed(bits: int, known: bool) -> None:
    counter = Counter(bits=bits if known else None)
    assert growth(2**bits - 10, 5, counter) == 15
    assert growth(2**bits - 1, 0, counter) == 1
    assert growth(2**bits - 1000, 2**bits // 16, counter) == float(2**bits // 16 + 1000)


@pytest.mark.parametrize("counter", [UNKNOWN, OF_64])
@pytest.mark.parametrize("before", [1, 1000, 2**31, 3 * 10**9, 2**33, 2**62])
def test_a_counter_that_began_anew_has_no_growth_that_is_known(before: int, counter: Counter) -> None:
    assert math.isnan(growth(before, 0, counter))
    assert math.isnan(growth(before, before - 1, counter))


def test_a_counter_of_32_bits_that_began_anew_half_way_has_none_either() -> None:
    assert math.isnan(growth(2**31 - 1, 0, OF_32))


def test_a_value_beyond_its_width_is_not_taken_for_one_that_wrapped() -> None:
    assert math.isnan(growth(2**40, 5, OF_32))


def test_a_counter_that_stays_at_its_end_says_nothing_there() -> None:
    assert growth(65_530, 65_534, SATURATING) == 4
    assert math.isnan(growth(65_530, 65_535, SATURATING))
    assert math.isnan(growth(65_535, 65_535, SATURATING))
    assert math.isnan(growth(65_535, 3, SATURATING))  # it was set to 0 meanwhile


def test_a_counter_that_is_in_one_reading_alone_has_no_growth() -> None:
    found = growths({"a": 1, "gone": 5}, {"a": 3, "came": 7}, {})
    assert found["a"] == 2
    assert math.isnan(found["gone"])
    assert math.isnan(found["came"])
