"""The search for latency tolerances, on functions of the latency that are known everywhere."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Callable
from itertools import pairwise

import pytest
from idlewave.errors import TimeOverflow
from idlewave.tolerance_samples import Sample, Samples
from idlewave.tolerance_search import Search

FAR = 2**62


def searched(
    time: Callable[[int], int],
    limits: list[int],
    *,
    most: int = 100,
    precision: float = 0.01,
    noise: bool = False,
    largest: int = FAR,
) -> Search:
    samples = Samples(lambda added: Sample(added, time(added), time(added + 1) - time(added)), most, largest)
    search = Search(samples, limits, precision, noise=noise)
    search.run()
    return search


def off(search: Search, added: int, time: int) -> tuple[float, int]:
    """How far a time lies from the curve, and the error that is stated there."""
    curve = search.curve
    place = max(1, bisect_left(curve, added, key=lambda sample: sample.added))
    a, b = curve[place - 1], curve[place]
    line = a.time + (b.time - a.time) * (added - a.added) / (b.added - a.added)
    return abs(time - line), search.errors()[place - 1]


def lines(*slopes_and_offsets: tuple[int, int]) -> Callable[[int], int]:
    return lambda added: max(slope * added + offset for slope, offset in slopes_and_offsets)


def staircase(seed: int) -> Callable[[int], int]:
    """It rises in jumps of all heights, falls back now and then, and is flat, or rises, between them."""
    dice = random.Random(seed)
    places = sorted(dice.sample(range(1, 100_000), dice.randint(1, 40)))
    heights = [dice.choice((1, 10, 100)) * dice.randint(1, 100) for _ in places]
    spikes = [dice.choice((0, 0, 5000)) * dice.randint(0, 1) for _ in places]
    slope = dice.choice((0, 0, 1, 3))

    def time(added: int) -> int:
        below = bisect_left(places, added + 1)
        spike = spikes[below - 1] if below and added < places[below - 1] + 1000 else 0
        return max(added, 1_000_000 + slope * added + sum(heights[:below]) + spike)

    return time


def test_a_curve_of_straight_lines_is_found_exactly_from_few_simulations() -> None:
    time = lines((0, 1_000_000), (3, 980_000), (10, 700_000), (90, -5_000_000))
    search = searched(time, [1_010_000, 1_020_000, 1_500_000], precision=0)
    assert search.bounded
    assert set(search.errors()) == {0}
    assert search.samples.made < 50
    for added in range(0, search.end, 11):
        assert off(search, added, time(added)) == (0, 0)
    lows = [search.samples.around(limit)[0].added for limit in (1_010_000, 1_020_000, 1_500_000)]
    assert lows == [10_000, 13_333, 72_222]
    highs = [search.samples.around(limit)[1] for limit in (1_010_000, 1_020_000, 1_500_000)]
    assert [high.added for high in highs if high] == [10_001, 13_334, 72_223]


def test_a_curve_of_very_many_pieces_is_bounded_from_tens_of_simulations() -> None:
    def time(added: int) -> int:
        return 10**9 + added * (added + 1) // 2

    search = searched(time, [10**9 + 10**7, 10**9 + 5 * 10**7])
    assert search.bounded
    assert search.samples.made < 60
    assert max(search.errors()) <= 10**5
    for added in range(0, search.end, 7):
        distance, error = off(search, added, time(added))
        assert distance <= error


@pytest.mark.parametrize("most", [1, 2, 3, 4, 5, 8, 13, 40])
@pytest.mark.parametrize("seed", range(5))
def test_it_ends_within_its_budget_with_what_it_has(seed: int, most: int) -> None:
    time = staircase(seed)
    search = searched(time, [1_001_000, 1_002_000, 1_005_000], most=most, precision=0)
    assert search.samples.made <= most
    assert len(search.errors()) == len(search.curve) - 1
    for limit in (1_001_000, 1_002_000, 1_005_000):
        low, high = search.samples.around(limit)
        assert time(low.added) <= limit
        assert high is None or time(high.added) > limit
        assert all(s.time <= limit for s in search.samples.known if high is None or s.added < high.added)


@pytest.mark.parametrize("seed", range(20))
def test_brackets_of_a_curve_that_jumps_are_as_narrow_as_asked_for(seed: int) -> None:
    time = staircase(seed)
    for limit in (low := 1_000_000 + 50, 1_000_500):
        search = searched(time, sorted({low, limit}), noise=True)
        before, after = search.samples.around(limit)
        if after is not None:
            assert after.added - before.added <= max(1, 0.01 * after.added)


def test_an_estimated_error_holds_as_often_as_it_says() -> None:
    dice = random.Random(0)
    held = looked = 0
    for seed in range(150):
        time = staircase(seed)
        search = searched(time, [1_002_000, 1_004_000], noise=True)
        assert not search.bounded
        assert len(search.held_out) == 19
        for added in (dice.randint(0, search.curve[-1].added) for _ in range(4)):
            distance, error = off(search, added, time(added))
            held += distance <= error
            looked += 1
    assert held / looked > 0.93  # 19 of 20, and three standard deviations of that less


def test_what_was_held_out_is_not_part_of_the_curve_it_judges() -> None:
    search = searched(staircase(3), [1_002_000, 1_004_000], noise=True)
    assert not set(search.held_out) <= {sample.added for sample in search.curve}
    for added in search.held_out:
        known = next(sample for sample in search.samples.known if sample.added == added)
        distance, error = off(search, added, known.time)
        assert distance <= error


def test_a_dent_that_only_a_random_look_finds_makes_an_estimate_of_a_bound() -> None:
    def time(added: int) -> int:
        return 1_000_000 + added - (500 if 2_000 < added < 9_000 else 0)

    search = searched(time, [1_010_000])
    assert not search.samples.convex
    assert not search.bounded
    assert search.held_out


def test_slopes_of_neighbours_tell_a_jump() -> None:
    search = searched(lambda added: 1_000_000 + added + (3_000 if added > 7_777 else 0), [1_020_000])
    assert not search.bounded
    widths = {b.added - a.added: (a, b) for a, b in pairwise(search.curve) if b.time - a.time > 3_000}
    (piece,) = widths.values()
    assert piece[0].added <= 7_777 < piece[1].added


def test_a_time_that_never_depends_on_the_latency_takes_few_simulations() -> None:
    for noise in (False, True):
        search = searched(lambda _added: 123_456, [124_000, 130_000], noise=noise)
        assert search.unlimited
        assert search.bounded
        assert search.samples.made < 20
        assert len(search.curve) == 2


@pytest.mark.parametrize("largest", [FAR, 12_345_678])
def test_latencies_whose_times_leave_their_range_are_kept_off(largest: int) -> None:
    def time(added: int) -> int:
        if added > 54_321:
            raise TimeOverflow("too late")
        return 10**9 + 5 * added

    search = searched(time, [10**9 + 100_000, 2 * 10**9], largest=largest, precision=0)
    low, high = search.samples.around(10**9 + 100_000)
    assert (low.added, high.added if high else None) == (20_000, 20_001)
    low, high = search.samples.around(2 * 10**9)
    assert high is None
    assert low.added == 54_320
    assert search.samples.made < 100


def test_a_latency_beyond_what_can_be_added_is_not_tried() -> None:
    def time(added: int) -> int:
        assert added <= 1001
        return 10**6 + added

    low, high = searched(time, [10**6 + 10_000], largest=1000).samples.around(10**6 + 10_000)
    assert high is None
    assert low.added > 980
