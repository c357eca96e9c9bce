"""The dialect `loggopsim` against the tests' own oracle of that simulator's rules, to the picosecond."""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import replace

import idlewave
import pytest
from idlewave import InputError, Level, Machine, Parameters, Schedule, Standstill, UsageError
from loggopsim_rules import is_below_0
from loggopsim_rules import simulate as oracle_of
from long_cases import most_long
from random_goal import Limits, random_goal

BLOCKS = most_long(range(20), 3)
SCHEDULES_A_BLOCK = 120
CROWDS_A_BLOCK = 15


def random_machine(dice: random.Random, *, round_times: bool) -> Machine:
    """Round times make many things happen at once, so that the order among them matters."""

    def time(most: int) -> int:
        return 1000 * dice.randint(0, 4) if round_times else dice.randint(0, most)

    o = time(5000)
    costs = (0.0, 0.0, 100.0, 250.0, 1000.0)
    G, O = dice.choice(costs), dice.choice(costs)  # noqa: E741 - the model's name
    parameters = Parameters(time(9000), o, o, time(5000), G, O, O)
    return Machine("random", Level(parameters, (), dice.choice((None, 0, 10, dice.randint(0, 30)))))


def quirky(dice: random.Random, goal: str) -> str:
    """The schedule with dependencies in any order, and some receives of another size than their message."""
    lines = []
    for rank in goal.split("rank ")[1:]:
        header, *statements = rank.rstrip().removesuffix("}").rstrip().split("\n")
        ops = [line for line in statements if "requires" not in line]
        needs = [line for line in statements if "requires" in line]
        dice.shuffle(needs)
        if dice.random() < 0.3:
            ops = [re.sub(r"recv (\d+)b", lambda m: f"recv {dice.choice((m[1], 0, 1, 9, 40))}b", op) for op in ops]
        lines += [f"rank {header}", *ops, *needs, "}"]
    return "\n".join([goal.split("\n")[0], *lines]) + "\n"


def crowd(dice: random.Random) -> str:
    """Everybody sends to one rank, which sends and computes a lot itself: long lines before few CPUs and NICs."""
    ranks, cpus, nics, count = dice.randint(2, 5), dice.choice((1, 2, 3)), dice.choice((1, 2)), dice.randint(10, 40)
    ops: list[list[str]] = [[] for _ in range(ranks)]
    wildcards = dice.random() < 0.5

    def where() -> str:
        return f" cpu {dice.randrange(cpus)} nic {dice.randrange(nics)}"

    for _ in range(count):
        for rank in range(1, ranks):
            size, back = dice.choice((1, 1, 5, 30)), dice.choice((1, 20))
            ops[rank].append(f"send {size}b to 0{where()}")
            ops[0].append(f"recv {size}b from {-1 if wildcards else rank}{where()}")
            ops[0].append(f"send {back}b to {rank}{where()}")
            ops[rank].append(f"recv {back}b from 0{where()}")
        ops[0].append(f"calc {dice.randint(0, 9)} cpu {dice.randrange(cpus)}")
    text = [f"num_ranks {ranks}"]
    for rank in range(ranks):
        dice.shuffle(ops[rank])
        text += [f"rank {rank} {{", *(f"l{i}: {op}" for i, op in enumerate(ops[rank]))]
        active = [i for i, op in enumerate(ops[rank]) if i > 0 and not op.startswith("recv")]
        text += [f"l{i} requires l{dice.randrange(i)}" for i in active if dice.random() < 0.3]
        text.append("}")
    return "\n".join(text) + "\n"


def compare(goal: str, machine: Machine) -> str:
    """One schedule. Returns how it ended."""
    oracle = oracle_of(goal, machine)
    schedule = Schedule.from_goal(goal)
    what = f"{machine}\n{goal}"
    left = oracle.stuck + oracle.unmatched
    if oracle.nonsense or (not left and is_below_0(max(oracle.finish))):
        with pytest.raises(InputError, match="0 bytes turns a clock back below 0"):
            idlewave.simulate(schedule, machine, dialect="loggopsim")
        return "nonsense"
    if left:
        with pytest.raises(Standstill) as raised:
            idlewave.simulate(schedule, machine, dialect="loggopsim")
        assert len(raised.value.waiting) == left, what
        assert not raised.value.cycle or oracle.stuck, what
        return "deadlock"
    timeline = idlewave.simulate(schedule, machine, dialect="loggopsim")
    assert timeline.finish.tolist() == oracle.finish, what
    assert timeline.messages == oracle.messages, what
    return "equal"


@pytest.mark.parametrize("block", BLOCKS)
def test_the_dialect_gives_the_oracles_times(block: int) -> None:
    ended: Counter[str] = Counter()
    for seed in range(block * SCHEDULES_A_BLOCK, (block + 1) * SCHEDULES_A_BLOCK):
        dice = random.Random(seed)
        machine = random_machine(dice, round_times=seed % 2 == 0)
        ended[compare(quirky(dice, random_goal(dice, Limits())), machine)] += 1
    assert ended["equal"] > SCHEDULES_A_BLOCK // 3


@pytest.mark.parametrize("block", BLOCKS)
def test_long_lines_before_a_CPU_or_NIC_go_in_the_order_of_putting_everybody_back(block: int) -> None:
    ended: Counter[str] = Counter()
    for seed in range(block * CROWDS_A_BLOCK, (block + 1) * CROWDS_A_BLOCK):
        dice = random.Random(seed)
        ended[compare(crowd(dice), random_machine(dice, round_times=seed % 3 > 0))] += 1
    assert ended["equal"] > CROWDS_A_BLOCK // 3


def test_many_ops_that_become_free_at_once_keep_their_order() -> None:
    sends = "".join(f"send 1b to {r} tag 1\n" for r in range(1, 41))
    ranks = "".join(f"rank {r} {{\nrecv 1b from 0 tag 1\n}}\n" for r in range(1, 41))
    finish = idlewave.simulate(
        Schedule.from_goal(f"num_ranks 41\nrank 0 {{\n{sends}}}\n{ranks}"), loggopsim_defaults(), dialect="loggopsim"
    ).finish.tolist()
    assert finish[1:] == [5_500_000 + i * 1_500_000 for i in range(40)]


def loggopsim_defaults() -> Machine:
    return Machine("defaults", Level(Parameters(2_500_000, 1_500_000, 1_500_000, 1_000_000, 6_000), (), 65535))


@pytest.mark.parametrize("name", ["dissemination", "bcast", "gather", "alltoall", "allreduce"])
def test_a_pattern_is_the_schedule_that_it_is_written_out_as(name: str) -> None:
    pattern = Schedule.pattern(name, ranks=13, bytes=1000)
    finish = idlewave.simulate(pattern, loggopsim_defaults(), dialect="loggopsim").finish.tolist()
    assert finish == oracle_of(pattern.to_goal(), loggopsim_defaults()).finish


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"o_r": 1_400_000}, "o_s and o_r to be equal, found 1500000 ps and 1400000 ps"),
        ({"G": 0.5}, "whole picoseconds per byte; expected such a G, found 0.5"),
        ({"O_s": 1.25, "O_r": 1.25}, "whole picoseconds per byte; expected such a O, found 1.25"),
        ({"O_s": 1.0, "O_r": 2.0}, "expected O_s and O_r to be equal, found 1.0"),
        ({"c": 5}, "no completion time c; expected 0, found 5 ps"),
        ({"o_p": 5}, "no time to post a receive, o_p; expected 0, found 5 ps"),
    ],
)
def test_a_parameter_that_LogGOPSim_cannot_express_is_named(change: dict[str, float], expected: str) -> None:
    machine = loggopsim_defaults()
    network = replace(machine.network, parameters=replace(machine.network.parameters, **change))
    with pytest.raises(InputError, match=re.escape(expected)):
        idlewave.simulate(ping(), replace(machine, network=network), dialect="loggopsim")


def ping() -> Schedule:
    return Schedule.from_goal("num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n")


def test_a_machine_with_segments_levels_or_noise_is_refused_by_their_names() -> None:
    text = loggopsim_defaults().to_toml()
    segment = '[[network.segment]]\nfrom = 9\nL = "1us"\n'
    node = "[network.node]\nranks = 2\n"
    noise = '[noise]\nkind = "periodic"\nperiod = "1ms"\nlength = "1us"\n'
    shared = '[network.shared_buffer]\nL = "1us"\n'
    for more, name in (
        (segment, "network.segment"),
        (node, "network.node"),
        (shared, "network.shared_buffer"),
        (noise, "noise"),
    ):
        machine = Machine.from_toml(text + more)
        with pytest.raises(InputError, match=name):
            idlewave.simulate(ping(), machine, dialect="loggopsim")
    finish = idlewave.simulate(ping(), Machine.from_toml(text + noise), noise=None, dialect="loggopsim").finish
    assert finish.tolist() == [1_500_000, 5_542_000]


def test_what_the_dialect_cannot_do_is_said() -> None:
    with pytest.raises(UsageError, match="one thread"):
        idlewave.simulate(ping(), loggopsim_defaults(), dialect="loggopsim", threads=2)
    with pytest.raises(UsageError, match="ops are not recorded"):
        idlewave.simulate(ping(), loggopsim_defaults(), dialect="loggopsim", record=True)


def test_a_time_beyond_its_range_is_said() -> None:
    long = "num_ranks 1\nrank 0 {\na: calc 9000000000000000\nb: calc 9000000000000000\n}\n"
    with pytest.raises(InputError, match="106 days"):
        idlewave.simulate(Schedule.from_goal(long), loggopsim_defaults(), dialect="loggopsim")
