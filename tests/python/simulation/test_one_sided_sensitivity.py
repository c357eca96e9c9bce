"""Derivatives and critical paths of random schedules with one-sided ops, against what simulations give."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Literal

import idlewave
import numpy as np
import pytest
from idlewave import Level, Machine, Noise, Parameters, Schedule
from idlewave.errors import Standstill
from idlewave.sensitivity import PARAMETERS
from random_goal import Limits
from random_one_sided import random_one_sided_goal, random_one_sided_machine

LEVELS = ("network", "node", "one_sided")
LevelName = Literal["network", "node", "one_sided"]

# Parameters of many digits, so that one ps more changes no order in which things happen.
MESSAGES = Parameters(
    L=5_000_037, o_s=700_013, o_r=900_007, g=1_200_017, G=10_003.0, O_s=5_113.0, O_r=3_079.0, c=40_009, o_p=100_003
)
NEAR = Parameters(
    L=1_300_021, o_s=310_019, o_r=170_029, g=450_067, G=2_011.0, O_s=1_033.0, O_r=4_099.0, c=30_011, o_p=70_001
)
BY_NETWORK = Parameters(L=2_100_013, o_s=230_003, o_r=0, g=610_031, G=7_013.0, O_s=811.0)
BY_CPU = replace(BY_NETWORK, o_r=350_003, O_r=1_709.0)

PLAIN = Machine("plain", Level(MESSAGES))
NODES = replace(PLAIN, name="nodes", node=Level(NEAR), node_ranks=2)
MACHINES = (
    PLAIN,
    NODES,
    replace(PLAIN, name="by network", one_sided=Level(BY_NETWORK)),
    replace(PLAIN, name="by cpu", one_sided=Level(BY_CPU), progress="cpu"),
    replace(NODES, name="nodes by cpu", one_sided=Level(BY_CPU), progress="cpu"),
)
DETOURS = Noise(
    np.array([1_000_003, 9_000_011]), np.array([900_001, 2_000_003]), 17_000_023, (0, 5_000_077, 11_000_003)
)


def ending_schedules(machine: Machine, first: int, count: int) -> list[Schedule]:
    """The first so many random schedules that end on a machine."""
    found: list[Schedule] = []
    seed = first
    while len(found) < count:
        schedule = Schedule.from_goal(random_one_sided_goal(random.Random(seed), Limits()))
        seed += 1
        try:
            idlewave.simulate(schedule, machine)
        except Standstill:
            continue
        found.append(schedule)
    return found


def nudged(machine: Machine, level: LevelName, parameter: str) -> Machine:
    """The machine with 1 ps more of a parameter, if it is above 0."""
    own = getattr(machine, level)
    names = (f"{parameter}_s", f"{parameter}_r") if parameter in ("o", "O") else (parameter,)
    parameters = own.parameters
    more = {name: getattr(parameters, name) + 1 for name in names if getattr(parameters, name) > 0}
    changed = replace(own, parameters=replace(parameters, **more))
    if level == "network":
        return replace(machine, network=changed)
    return replace(machine, node=changed) if level == "node" else replace(machine, one_sided=changed)


@pytest.mark.parametrize("noise", [None, DETOURS], ids=["quiet", "noisy"])
@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)
def test_a_derivative_is_what_a_little_more_of_the_parameter_costs(machine: Machine, noise: Noise | None) -> None:
    machine = replace(machine, noise=noise)
    counted: set[str] = set()
    for schedule in ending_schedules(machine, 100, 12):
        found = idlewave.sensitivities(schedule, machine)
        assert (found.finish == idlewave.simulate(schedule, machine).finish).all()
        for level in LEVELS:
            if getattr(machine, level) is None:
                continue
            for parameter in PARAMETERS:
                slower = idlewave.simulate(schedule, nudged(machine, level, parameter))
                slopes = found.slopes[f"{level}.{parameter}"]
                assert (slower.finish - found.finish == slopes).all(), (level, parameter)
                counted |= {f"{level}.{parameter}"} if slopes.any() else set()
    used = "one_sided" if machine.one_sided else "network"
    assert {f"{used}.{name}" for name in ("L", "o_s", "g", "G", "O_s")} <= counted
    assert (f"{used}.o_r" in counted) == (machine.one_sided is None or machine.progress == "cpu")
    assert not counted & {"one_sided.c", "one_sided.o_p"}


@pytest.mark.parametrize("progress", ["network", "cpu"])
def test_the_derivatives_of_a_put_and_a_get_are_those_of_their_closed_forms(
    progress: Literal["network", "cpu"],
) -> None:
    level = Level(BY_NETWORK if progress == "network" else BY_CPU)
    machine = replace(PLAIN, one_sided=level, progress=progress)
    goal = "num_ranks 2\nrank 0 {\np: put 11b to 1\ng: get 21b from 1\ng requires p\n}\nrank 1 {\nc: calc 0\n}\n"
    found = idlewave.sensitivities(Schedule.from_goal(goal), machine).one_sided
    assert found is not None
    used = {name: count for name, count in found.items() if count}
    if progress == "network":
        assert used == {"L": 4, "o": 2, "o_s": 2, "G": 30}
    else:  # the reply is sent by a CPU, too
        assert used == {"L": 4, "o": 6, "o_s": 3, "o_r": 3, "G": 30}


def test_the_critical_path_of_any_schedule_runs_from_the_beginning_to_the_finish() -> None:
    activities: set[str] = set()
    for seed in range(150):
        dice = random.Random(seed)
        machine = random_one_sided_machine(dice, Limits())
        schedule = Schedule.from_goal(random_one_sided_goal(dice, Limits()))
        try:
            timeline = idlewave.simulate(schedule, machine, record=True)
        except Standstill:
            continue
        division = timeline.path_division()
        assert sum(division.values()) == timeline.max_finish, seed
        assert division["noise"] == 0 or machine.noise is not None, seed
        path = timeline.critical_path()
        if not len(path):
            continue
        assert path["from_ps"].iloc[0] == 0
        assert path["to_ps"].iloc[-1] == timeline.max_finish
        assert (path["from_ps"].iloc[1:].to_numpy() == path["to_ps"].iloc[:-1].to_numpy()).all(), seed
        spans = path[[f"{name}_ps" for name in division]]
        assert (spans.sum(axis=1) == path["to_ps"] - path["from_ps"]).all(), seed
        assert (spans >= 0).all(axis=None), seed
        words = (path[name] for name in ("activity", "message", "until"))
        activities |= {f"{a} of {m} until {u}" for a, m, u in zip(*words, strict=True)}
    for step in (
        "landing of put until acknowledgement",
        "landing of unlock until acknowledgement",
        "transmission by NIC of reply to get until arrival",
        "initiation of put until handed to NIC",
        "initiation of reply to get until handed to NIC",
        "transmission by NIC of put until sender's NIC",
        "transmission by NIC of shared_lock until arrival",
        "reception of get until receiver's CPU",
        "landing of reply to get until last byte",
    ):
        assert step in activities
