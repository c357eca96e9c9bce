"""NAS FT as a pattern: what is sent, what it costs, and what does not fit."""

from __future__ import annotations

import re
from math import log2
from typing import Any

import idlewave
import pytest
from idlewave import Level, Machine, Parameters, Schedule
from idlewave.errors import UsageError
from idlewave.ft_pattern import CHECKSUM_BYTES, FT_DOMAINS, FtCosts, ft_job, ft_shape
from places import EXAMPLES

EXCHANGES = ("alltoall", "two-sided", "put", "packed-put", "ialltoall")
FREE = Machine("free", Level(Parameters(L=1, o_s=0, o_r=0, g=0)))
SLOW = Machine("slow", Level(Parameters(L=1_000_000, o_s=200_000, o_r=300_000, g=100_000, G=400.0), eager_limit=4096))


def ft(exchange: str, ranks: int = 8, **options: Any) -> Schedule:
    return Schedule.pattern("ft", ranks=ranks, problem="S", exchange=exchange, iterations=1, **options)


def moved(exchange: str) -> int:
    """The bytes between ranks, without those of barriers and checksums."""
    ops = idlewave.simulate(ft(exchange), FREE, record=True).ops_to_pandas()
    data = ops[ops["kind"].isin(["send", "put"]) & (ops["size"] > CHECKSUM_BYTES)]
    return int(data["size"].sum())


def test_the_classes_are_those_of_the_program() -> None:
    text = (EXAMPLES / "ft" / "problem.cpp").read_text()
    published = {name: int(count) for count, name in re.findall(r"std::array<Complex, (\d+)> (\w+)\{", text)}
    rows = re.findall(r"\{'(\w)', (\d+), (\d+), (\d+), (\w+)\}", text)
    assert len(rows) == len(published) > 0
    classes = {name: (int(nx), int(ny), int(nz), published[sums]) for name, nx, ny, nz, sums in rows}
    assert classes == FT_DOMAINS


def test_all_exchanges_move_the_same_bytes() -> None:
    shape = ft_shape("S", 8)
    assert (shape.ty, shape.tz) == (2, 4)
    points = 64**3
    # Of a domain that is transposed in a team of n ranks all but 1/n of each rank's points move; twice, there and back.
    expected = 2 * 16 * points * (1 / 2 + 3 / 4)
    assert {moved(exchange) for exchange in EXCHANGES} == {expected}


@pytest.mark.parametrize("exchange", EXCHANGES)
def test_on_a_free_network_only_computation_is_left(exchange: str) -> None:
    nx, ny, nz, _ = FT_DOMAINS["S"]
    own = nx * ny * nz / 8
    transforms = 2 * own * (2.0 * log2(nx) + 3.0 * log2(ny) + 5.0 * log2(nz))
    evolution = 7.0 * (own + 1024 / 8)
    job = ft_job(ft_shape("S", 8), exchange, 1, FtCosts(2.0, 3.0, 5.0, 7.0))
    finish = idlewave.simulate(Schedule.compose([job]), FREE).max_finish
    assert finish / 1000 == pytest.approx(transforms + evolution, rel=1e-4)


@pytest.mark.parametrize("exchange", EXCHANGES)
def test_the_pattern_is_the_schedule_that_its_text_has(exchange: str) -> None:
    schedule = ft(exchange)
    again = Schedule.from_goal(schedule.to_goal())
    expected = idlewave.simulate(again, SLOW).finish.tolist()
    for way in (
        {},
        {"scheduler": "yawns", "threads": 2},
        {"scheduler": "check"},
        {"scheduler": "timewarp", "threads": 2},
    ):
        assert idlewave.simulate(schedule, SLOW, **way).finish.tolist() == expected, way


def test_slabs_that_are_sent_beside_computation_hide_what_the_computation_covers() -> None:
    """Puts by slab leave the transfers of the last slabs; packed puts leave all."""
    times = {exchange: idlewave.simulate(ft(exchange, transform_ns=20.0), SLOW).max_finish for exchange in EXCHANGES}
    assert times["put"] < times["packed-put"]
    assert times["two-sided"] < times["alltoall"]


def test_a_further_iteration_takes_as_long_as_the_one_before() -> None:
    times = [
        idlewave.simulate(Schedule.pattern("ft", ranks=8, problem="S", exchange="put", iterations=n), SLOW).max_finish
        for n in (1, 2, 3)
    ]
    assert times[2] - times[1] == times[1] - times[0] > 0


@pytest.mark.parametrize(
    ("ranks", "dims", "words"),
    [
        (6, (), "class S of FT cannot be shared by 6 ranks"),
        (8, (3, 2), "expected a grid TY, TZ of 8 ranks, found 3, 2"),
        (128, (128, 1), "expected a divisor of NX = 64, found 128"),
        (3, (1, 3), "expected a divisor of NZ = 64, found 3"),
    ],
)
def test_a_grid_that_does_not_divide_the_domain_is_refused(ranks: int, dims: tuple[int, ...], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        ft("put", ranks, dims=dims)
