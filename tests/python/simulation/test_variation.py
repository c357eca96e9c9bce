"""L and G that vary over time against closed forms (docs/model.md, R27), in the simulator and the oracle."""

from __future__ import annotations

import pickle
import random
from dataclasses import replace
from typing import Any

import idlewave
import numpy as np
import pytest
from idlewave import InputError, Level, Machine, Noise, Parameters, Schedule, UsageError, Variation
from loggops_rules import simulate
from partition_ways import WAYS, runs_of, schedules
from random_goal import random_variation

L, o_s, o_r, g, G = 100_000, 2_000, 3_000, 5_000, 10  # ps, and ps per byte
PARAMETERS = Parameters(L, o_s, o_r, g, G)
MACHINE = Machine("varying", Level(PARAMETERS))
NS = 1000  # ps


def variation(*rows: tuple[int, float, float], period: int | None = None) -> Variation:
    starts, latencies, gaps = zip(*rows, strict=True)
    return Variation(np.array(starts), np.array(latencies), np.array(gaps), period)


def goal_of(*ranks: str) -> str:
    return f"num_ranks {len(ranks)}\n" + "".join(f"rank {r} {{\n{ops}\n}}\n" for r, ops in enumerate(ranks))


def ends(machine: Machine, *ranks: str) -> dict[str, int]:
    """When each op ended, by its label, which only one rank has, in the simulator and the oracle."""
    goal = goal_of(*ranks)
    oracle = simulate(goal, machine)
    timeline = idlewave.simulate(Schedule.from_goal(goal), machine, record=True)
    assert timeline.finish.tolist() == [rank.finish for rank in oracle.ranks]
    columns = [timeline.columns[name].tolist() for name in ("rank", "op", "end_ps")]
    return {oracle.schedule[rank][op].label: end for rank, op, end in zip(*columns, strict=True)}


def sent_at(time_ns: int, name: str = "r", size: int = 1) -> tuple[str, str]:
    """The ops of a rank that sends a message at that time, and those of the one that receives it."""
    return (
        f"c{name}: calc {time_ns}\ns{name}: send {size}b to 1 tag 0\ns{name} requires c{name}",
        f"{name}: recv {size}b from 0 tag 0",
    )


def arrival(machine: Machine, time_ns: int) -> int:
    """When a message of one byte arrives whose send starts at that time."""
    return ends(machine, *sent_at(time_ns))["r"] - machine.network.parameters.o_r


@pytest.mark.parametrize(("time", "factor"), [(0, 1), (999, 1), (1000, 1.5), (1999, 1.5), (2000, 0.75), (9999, 0.75)])
def test_a_message_has_the_L_that_holds_when_its_first_byte_departs(time: int, factor: float) -> None:
    machine = MACHINE.with_variation(variation((1000 * NS + o_s, 1.5, 1), (2000 * NS + o_s, 0.75, 1)))
    still_late = max(0, 2000 * NS + L * 3 // 2 - (time * NS + L * 3 // 4)) if time >= 2000 and time < 2075 else 0
    assert arrival(machine, time) == time * NS + o_s + int(factor * L) + still_late


def test_a_ping_pong_across_a_step_has_each_sides_own_L() -> None:
    there, back = o_s + L + o_r, o_s + 3 * L + o_r
    machine = MACHINE.with_variation(variation((there, 3, 1)))
    found = ends(
        machine,
        "a: send 1b to 1 tag 0\nb: recv 1b from 1 tag 1",
        "c: recv 1b from 0 tag 0\nd: send 1b to 0 tag 1\nd requires c",
    )
    assert (found["c"], found["b"]) == (there, there + back)


def test_a_message_that_departs_after_L_has_fallen_arrives_with_those_that_departed_just_before() -> None:
    step = 1000 * NS + o_s
    machine = MACHINE.with_variation(variation((0, 4, 1), (step, 1, 1)))
    assert arrival(machine, 999) == 999 * NS + o_s + 4 * L
    for time in (1000, 1100, 1299):
        assert arrival(machine, time) == step + 4 * L
    assert arrival(machine, 1300) == 1300 * NS + o_s + L
    assert arrival(machine, 1301) == 1301 * NS + o_s + L


def test_several_falling_steps_are_as_the_greatest_of_them() -> None:
    step = 1000 * NS + o_s
    machine = MACHINE.with_variation(variation((0, 4, 1), (step, 2, 1), (step + 50 * NS, 5, 1), (step + 51 * NS, 1, 1)))
    assert arrival(machine, 1020) == step + 4 * L
    assert arrival(machine, 1050) == step + 50 * NS + 5 * L
    assert arrival(machine, 1060) == step + 51 * NS + 5 * L
    assert arrival(machine, 1451) == 1451 * NS + o_s + L


def test_the_first_row_at_0_is_no_step() -> None:
    machine = MACHINE.with_variation(variation((0, 0.5, 1)))
    assert arrival(machine, 0) == o_s + L // 2


def test_each_period_is_as_the_first_one() -> None:
    machine = MACHINE.with_variation(variation((500 * NS, 2, 3), (900 * NS, 1, 1), period=2000 * NS))
    for time in (0, 400, 600, 850, 950):
        assert arrival(machine, 2000 * 7 + time) - 2000 * 7 * NS == arrival(machine, time)


def test_at_the_end_of_a_period_L_falls_to_that_of_its_beginning() -> None:
    machine = MACHINE.with_variation(variation((0, 1, 1), (500 * NS, 4, 1), period=2000 * NS))
    before_end = 2000 * NS - o_s
    assert arrival(machine, 2000) == before_end + o_s + 4 * L


def test_messages_do_not_overtake_each_other_whatever_the_steps() -> None:
    dice = random.Random(5)
    for _ in range(30):
        varying = random_variation(dice).core()
        departures = sorted(dice.randrange(200_000) for _ in range(200))
        arrivals = [varying.arrival(time, 7_000) for time in departures]
        assert arrivals == sorted(arrivals)


def test_messages_in_detours_do_not_overtake_each_other_either() -> None:
    noise = Noise(np.array([990 * NS]), np.array([20 * NS]), 10**9, (0,))
    machine = MACHINE.with_variation(variation((0, 4, 1), (1000 * NS, 1, 1))).with_noise(noise)
    assert arrival(machine, 995) == 1000 * NS + 4 * L
    assert arrival(machine, 900) == 900 * NS + o_s + 4 * L


def test_the_gap_and_the_reception_have_the_G_of_their_own_times() -> None:
    size, k = 1001, 1000
    machine = MACHINE.with_variation(variation((1, 1, 3), (o_s + 1, 1, 2.55)))
    found = ends(
        machine,
        f"a: send {size}b to 1 tag 0\nb: send 1b to 1 tag 1",
        f"c: recv {size}b from 0 tag 0\nd: recv 1b from 0 tag 1",
    )
    reception = o_s + L
    assert found["c"] == reception + o_r + int(k * G * 2.55)
    assert found["b"] == g + k * G + o_s
    assert found["d"] == max(g + k * G + o_s + L, reception + g + int(k * G * 2.55)) + o_r


def test_kG_is_rounded_once_halves_up() -> None:
    machine = Machine("odd", Level(replace(PARAMETERS, G=0.5))).with_variation(variation((0, 1, 1.5)))
    assert ends(machine, *sent_at(0, size=3))["r"] == o_s + L + o_r + 2  # 2 · 0.75 = 1.5
    assert arrival(Machine("odd", Level(replace(PARAMETERS, L=3))).with_variation(variation((0, 0.5, 1))), 0) == o_s + 2


def test_messages_within_a_node_and_through_its_buffer_do_not_vary() -> None:
    varying = variation((0, 2, 2))
    machine = Machine("nodes", Level(PARAMETERS), Level(PARAMETERS), 2, shared_buffer=Level(PARAMETERS))
    plain = o_s + L + o_r + 100 * G
    for tag in (0, 2**31):
        message = "a: send 101b to {} tag {}", "b: recv 101b from 0 tag {}"
        near = message[0].format(1, tag), message[1].format(tag), "c: calc 0"
        far = message[0].format(2, tag), "c: calc 0", message[1].format(tag)
        assert ends(machine.with_variation(varying), *near)["b"] == plain
        assert ends(machine, *far)["b"] == plain
        assert ends(machine.with_variation(varying), *far)["b"] == plain + L + 100 * G


@pytest.mark.parametrize("own", [False, True])
def test_an_acknowledgement_has_the_L_of_the_time_at_which_it_leaves(own: bool) -> None:
    machine = replace(MACHINE, one_sided=Level(replace(PARAMETERS, o_r=0)) if own else None)
    there = o_s + L
    found = ends(machine.with_variation(variation((there, 5, 1))), "p: put 1b to 1", "c: calc 0")
    assert found["p"] == there + 5 * L


def test_puts_within_a_node_vary_where_one_sided_operations_have_parameters_of_their_own() -> None:
    nodes = Machine("nodes", Level(PARAMETERS), Level(PARAMETERS), 2, variation=variation((0, 2, 1)))
    own = replace(nodes, one_sided=Level(replace(PARAMETERS, o_r=0)))
    puts = [ends(machine, "p: put 1b to 1", "c: calc 0")["p"] for machine in (nodes, own)]
    assert puts == [o_s + 2 * L, o_s + 4 * L]


def test_factors_of_1_change_nothing() -> None:
    schedule = Schedule.pattern("halo2d", ranks=36, bytes=1000, compute_ns=5000)
    machine = Machine.preset("bigred")
    ones = variation((0, 1, 1), (7_000_000, 1, 1), period=12_345_678)
    for noisy in (machine, machine.with_noise(Noise(np.array([0]), np.array([10_000]), 1_000_000))):
        plain = idlewave.simulate(schedule, noisy, seed=3).finish.tolist()
        assert idlewave.simulate(schedule, noisy.with_variation(ones), seed=3).finish.tolist() == plain


def test_a_factor_for_all_times_is_another_L_and_another_G() -> None:
    schedule = Schedule.pattern("alltoall", ranks=16, bytes=100_000)
    machine = Machine("plain", Level(Parameters(1_000_000, 400_000, 300_000, 600_000, 200.0), eager_limit=4096))
    slower = replace(machine.network, parameters=replace(machine.network.parameters, L=1_500_000, G=250.0))
    varied = machine.with_variation(variation((0, 1.5, 1.25)))
    assert (
        idlewave.simulate(schedule, varied).max_finish
        == idlewave.simulate(schedule, replace(machine, network=slower)).max_finish
    )


@pytest.mark.parametrize(("way", "number"), runs_of(WAYS))
def test_every_partition_gives_the_same_times(way: dict[str, Any], number: int) -> None:
    schedule = schedules()[number]
    rng = np.random.default_rng(number)
    steps = np.cumsum(rng.integers(1, 3_000_000, 400))
    varying = Variation(steps, rng.uniform(0.3, 4, 400), rng.uniform(0.3, 4, 400), int(steps[-1]) + 5)
    machine = Machine.preset("bigred").with_variation(varying)
    expected = idlewave.simulate(schedule, machine)
    found = idlewave.simulate(schedule, machine, **way)
    assert found.finish.tolist() == expected.finish.tolist()
    assert found.max_finish != idlewave.simulate(schedule, machine.with_variation(None)).max_finish


@pytest.mark.parametrize("number", range(4))
def test_the_critical_path_has_L_and_kG_with_their_factors_and_no_noise(number: int) -> None:
    schedule = schedules()[number]
    rng = np.random.default_rng(number)
    steps = np.cumsum(rng.integers(1, 3_000_000, 400))
    varying = Variation(steps, rng.uniform(0.3, 4, 400), rng.uniform(0.3, 4, 400), int(steps[-1]) + 5)
    timeline = idlewave.simulate(schedule, Machine.preset("bigred").with_variation(varying), record=True)
    division = timeline.path_division()
    assert division["noise"] == 0
    assert sum(division.values()) == timeline.max_finish
    assert timeline.columns["noise_ps"].sum() == 0


def test_latency_and_noise_are_told_apart() -> None:
    noise = Noise(np.array([500 * NS + 1]), np.array([300 * NS]), 10**9, (0,))
    machine = MACHINE.with_variation(variation((200 * NS, 4, 1), (600 * NS, 3, 1))).with_noise(noise)
    timeline = idlewave.simulate(Schedule.from_goal(goal_of(*sent_at(500))), machine, record=True)
    division = timeline.path_division()
    assert (division["latency"], division["noise"]) == (3 * L, 300 * NS)


def test_the_lookahead_has_the_least_L() -> None:
    machine = MACHINE.with_variation(variation((10, 0.25, 1), (20, 3, 1)))
    assert machine.core().lookahead == o_s + L // 4
    assert MACHINE.with_variation(variation((0, 2, 1))).core().lookahead == o_s + L


def test_derivatives_and_the_loggopsim_dialect_are_refused() -> None:
    schedule = Schedule.from_goal(goal_of(*sent_at(5)))
    machine = Machine("plain", Level(replace(PARAMETERS, o_s=o_r))).with_variation(variation((10, 2, 1)))
    for way in ({}, {"scheduler": "yawns"}):
        with pytest.raises(InputError, match="without a variation of L and G"):
            idlewave.sensitivities(schedule, machine, **way)
    with pytest.raises(InputError, match="without a variation of L and G"):
        idlewave.latency_tolerance(schedule, machine)
    with pytest.raises(InputError, match=r"leave out network\.variation"):
        idlewave.simulate(schedule, machine, dialect="loggopsim")


@pytest.mark.parametrize(
    ("rows", "period", "said"),
    [
        ([(-1, 1, 1)], None, "row 1 begins at -1 ps: expected 0 or more"),
        ([(5, 1, 1), (5, 1, 1)], None, "row 2 begins at 5 ps: expected more than 5 ps"),
        ([(5, 1, 1), (9, 1, 1)], 9, "row 2 begins at 9 ps: expected less than the period of 9 ps"),
        ([(5, 0, 1)], None, "row 1: expected a factor of L above 0"),
        ([(5, 1, float("nan"))], None, "row 1: expected a factor of G above 0"),
        ([(5, 1, 2e6)], None, "row 1: expected a factor of G above 0 and up to 1000000, found 2000000"),
        ([(0, 1, 1)], 0, "expected a period above 0, found 0 ps"),
    ],
)
def test_an_impossible_variation_is_refused(
    rows: list[tuple[int, float, float]], period: int | None, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        MACHINE.with_variation(variation(*rows, period=period)).core()


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(InputError, match="as many factors"):
        MACHINE.with_variation(Variation(np.array([0, 1]), np.array([1.0]), np.array([1.0, 2.0]))).core()


def test_a_variation_changes_the_identity_of_its_machine_and_is_pickled_with_it() -> None:
    varying = MACHINE.with_variation(variation((10, 2, 1), period=50))
    again = pickle.loads(pickle.dumps(varying))
    assert again == varying
    assert again.identity() == varying.identity() != MACHINE.identity()
    named = replace(varying.variation, recorded="node17") if varying.variation else None
    assert MACHINE.with_variation(named).identity() == varying.identity()
    assert MACHINE.with_variation(variation((10, 2, 1), period=51)).identity() != varying.identity()
    assert MACHINE.with_variation(variation((10, 1, 2), period=50)).identity() != varying.identity()


@pytest.mark.parametrize("block", range(5))
def test_a_shifted_variation_goes_on_where_the_offset_is(block: int) -> None:
    dice = random.Random(block)
    for _ in range(20):
        whole = random_variation(dice)
        offset = dice.choice((0, *whole.starts.tolist(), dice.randrange(100_000)))
        moved, original = whole.shifted(offset).core(), whole.core()
        # Far enough from the offset, where no message that left before it can matter.
        for time in (dice.randrange(60_000, 400_000) for _ in range(50)):
            assert moved.arrival(time, 3_000) == original.arrival(time + offset, 3_000) - offset
    with pytest.raises(UsageError, match="offset from 0 on"):
        whole.shifted(-1)


def test_between_takes_the_variation_of_the_other_machine() -> None:
    nodes = replace(MACHINE, measured="within a node", node_ranks=2, variation=variation((10, 2, 1)))
    other = replace(MACHINE, variation=variation((10, 3, 1)))
    assert nodes.between(other).variation == other.variation
    assert nodes.between(MACHINE).variation is None
