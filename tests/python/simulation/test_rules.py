"""The simulator against the tests' own oracle of the rules, on random small schedules, to the picosecond."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import idlewave
import pytest
from idlewave.simulation import finish_times
from loggops_rules import Simulation, simulate
from long_cases import most_long
from random_goal import Limits, random_goal, random_machine, random_poisson, random_variation
from random_one_sided import random_one_sided_goal, random_one_sided_machine

SEEDS = most_long(range(20), 1)
SCHEDULES_A_SEED = 40

OpTimes = dict[tuple[int, int], tuple[int, int]]
Make = Callable[[random.Random, Limits], tuple[idlewave.Machine, str]]

WAYS: tuple[dict[str, Any], ...] = (
    {"scheduler": "sequential"},
    {"scheduler": "check"},
    {"scheduler": "yawns", "threads": 2},
    {"scheduler": "yawns", "threads": 3},
    {"scheduler": "timewarp", "threads": 2, "placement": "cyclic"},
)


def times_of(timeline: idlewave.Timeline) -> OpTimes:
    columns = [timeline.columns[name].tolist() for name in ("rank", "op", "start_ps", "end_ps")]
    return {(rank, op): (start, end) for rank, op, start, end in zip(*columns, strict=True)}


def times_in(oracle: Simulation) -> OpTimes:
    return {
        (r, place): (rank.started[place], end)
        for r, rank in enumerate(oracle.ranks)
        for place, end in rank.ended.items()
    }


def with_messages(dice: random.Random, limits: Limits) -> tuple[idlewave.Machine, str]:
    return random_machine(dice, limits), random_goal(dice, limits)


def with_one_sided(dice: random.Random, limits: Limits) -> tuple[idlewave.Machine, str]:
    return random_one_sided_machine(dice, limits), random_one_sided_goal(dice, limits)


def varying(make: Make) -> Make:
    """The same on a machine whose L and G vary over time."""

    def made(dice: random.Random, limits: Limits) -> tuple[idlewave.Machine, str]:
        machine, goal = make(dice, limits)
        return machine.with_variation(random_variation(dice)), goal

    return made


def compare(seed: int, limits: Limits, make: Make = with_messages, ways: tuple[dict[str, Any], ...] = ()) -> bool:
    """One random schedule, whose times are also those of each way to run it. Returns whether it ended."""
    machine, goal = make(random.Random(seed), limits)
    oracle = simulate(goal, machine)
    schedule = idlewave.Schedule.from_goal(goal)
    what = f"seed {seed}, {limits}\n{machine}\n{goal}"
    if not oracle.complete:
        # What the oracle has as one thing, that it cannot be completed, has a name where all ops have ended.
        left = idlewave.Deadlock if oracle.stuck else idlewave.UnmatchedSend
        for record in (False, True):
            with pytest.raises(left):
                idlewave.simulate(schedule, machine, record=record)
        return False
    recorded = idlewave.simulate(schedule, machine, record=True)
    assert recorded.finish.tolist() == [rank.finish for rank in oracle.ranks], what
    assert times_of(recorded) == times_in(oracle), what
    plain = idlewave.simulate(schedule, machine)
    assert plain.finish.tolist() == recorded.finish.tolist() == finish_times(schedule, machine).tolist(), what
    assert plain.messages == recorded.messages == sum(rank.messages for rank in oracle.ranks), what
    for way in ways:
        assert idlewave.simulate(schedule, machine, **way).finish.tolist() == plain.finish.tolist(), (way, what)
    return True


@pytest.mark.parametrize("block", SEEDS)
def test_the_simulator_gives_the_oracles_times(block: int) -> None:
    limits = Limits()
    seeds = range(block * SCHEDULES_A_SEED, (block + 1) * SCHEDULES_A_SEED)
    assert sum(compare(seed, limits) for seed in seeds) > SCHEDULES_A_SEED // 3


@pytest.mark.parametrize("block", SEEDS)
def test_the_simulator_gives_the_oracles_times_without_a_lookahead(block: int) -> None:
    limits = Limits(lookahead=False)
    seeds = range(100_000 + block * SCHEDULES_A_SEED, 100_000 + (block + 1) * SCHEDULES_A_SEED)
    assert sum(compare(seed, limits) for seed in seeds) > SCHEDULES_A_SEED // 3


@pytest.mark.parametrize("make", [with_messages, with_one_sided])
@pytest.mark.parametrize("block", most_long(range(10), 2))
def test_the_simulator_gives_the_oracles_times_under_random_detours(block: int, make: Make) -> None:
    horizon, compared = 5_000_000, 0
    for seed in range(300_000 + block * 30, 300_000 + (block + 1) * 30):
        dice = random.Random(seed)
        noise = random_poisson(dice)
        machine, goal = make(dice, Limits(lookahead=seed % 4 > 0))
        machine = machine.with_noise(noise)
        schedule = idlewave.Schedule.from_goal(goal)
        detours = [
            [(s, s + n) for s, n in zip(*map(list, noise.detours(seed, r, horizon)), strict=True)]
            for r in range(schedule.ranks)
        ]
        oracle = simulate(goal, machine, detours)
        if not oracle.complete:
            continue
        compared += 1
        what = f"seed {seed}\n{machine}\n{goal}"
        assert max(rank.finish for rank in oracle.ranks) < horizon, what
        recorded = idlewave.simulate(schedule, machine, seed=seed, record=True)
        assert recorded.finish.tolist() == [rank.finish for rank in oracle.ranks], what
        assert times_of(recorded) == times_in(oracle), what
    assert compared > 10


@pytest.mark.parametrize("seed", most_long(range(200_000, 200_012), 2))
def test_the_simulator_gives_the_oracles_times_of_longer_schedules(seed: int) -> None:
    compare(seed, Limits(ranks=20, messages=250))


@pytest.mark.parametrize("block", SEEDS)
def test_the_simulator_gives_the_oracles_times_of_one_sided_ops_on_every_scheduler(block: int) -> None:
    limits = Limits()
    seeds = range(400_000 + block * SCHEDULES_A_SEED, 400_000 + (block + 1) * SCHEDULES_A_SEED)
    assert sum(compare(seed, limits, with_one_sided, WAYS) for seed in seeds) > SCHEDULES_A_SEED // 3


@pytest.mark.parametrize("block", SEEDS)
def test_the_simulator_gives_the_oracles_times_of_one_sided_ops_without_a_lookahead(block: int) -> None:
    limits = Limits(lookahead=False)
    seeds = range(500_000 + block * SCHEDULES_A_SEED, 500_000 + (block + 1) * SCHEDULES_A_SEED)
    assert sum(compare(seed, limits, with_one_sided) for seed in seeds) > SCHEDULES_A_SEED // 3


@pytest.mark.parametrize("seed", most_long(range(600_000, 600_012), 2))
def test_the_simulator_gives_the_oracles_times_of_longer_schedules_with_one_sided_ops(seed: int) -> None:
    compare(seed, Limits(ranks=20, messages=150), with_one_sided, WAYS)


@pytest.mark.parametrize("make", [with_messages, with_one_sided])
@pytest.mark.parametrize("block", SEEDS)
def test_the_simulator_gives_the_oracles_times_on_every_scheduler_where_L_and_G_vary(block: int, make: Make) -> None:
    limits = Limits()
    seeds = range(700_000 + block * SCHEDULES_A_SEED, 700_000 + (block + 1) * SCHEDULES_A_SEED)
    assert sum(compare(seed, limits, varying(make), WAYS) for seed in seeds) > SCHEDULES_A_SEED // 3


@pytest.mark.parametrize("make", [with_messages, with_one_sided])
@pytest.mark.parametrize("block", SEEDS)
def test_the_simulator_gives_the_oracles_times_without_a_lookahead_where_L_and_G_vary(block: int, make: Make) -> None:
    limits = Limits(lookahead=False)
    seeds = range(800_000 + block * SCHEDULES_A_SEED, 800_000 + (block + 1) * SCHEDULES_A_SEED)
    assert sum(compare(seed, limits, varying(make)) for seed in seeds) > SCHEDULES_A_SEED // 3


@pytest.mark.parametrize("make", [with_messages, with_one_sided])
@pytest.mark.parametrize("seed", most_long(range(900_000, 900_012), 2))
def test_the_simulator_gives_the_oracles_times_of_longer_schedules_where_L_and_G_vary(seed: int, make: Make) -> None:
    compare(seed, Limits(ranks=20, messages=150), varying(make), WAYS)


def test_random_phases_are_those_that_a_list_of_them_gives() -> None:
    goal = "num_ranks 3\n" + "".join(f"rank {r} {{\ncalc 1000\n}}\n" for r in range(3))
    schedule = idlewave.Schedule.from_goal(goal)
    noise = 'noise = {{ kind = "periodic", period = "777ns", length = "123ns", phase = {} }}\n'
    network = 'network = { L = "1us", o = "1us", g = "1us", G = "1ns", O = "1ns", S = "inf" }\n'
    drawn = idlewave.Machine.from_toml(noise.format('"random"') + network)
    assert drawn.noise is not None
    phases = [drawn.noise._core().phase(5, r) for r in range(3)]
    listed = idlewave.Machine.from_toml(noise.format([f"{p}ps" for p in phases]) + network)
    times = idlewave.simulate(schedule, drawn, seed=5).finish.tolist()
    assert times == idlewave.simulate(schedule, listed, seed=99).finish.tolist()
    assert len(set(phases)) == 3
