"""After a computation the caches are cold: a machine says what its messages take longer, and schedules of traces have
that (docs/model.md, R21)."""

from __future__ import annotations

import itertools
import json
import math
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import idlewave
import numpy as np
import pytest
from command_runs import run_command
from idlewave.cold_caches import ColdCaches
from idlewave.errors import InputError
from idlewave.machine import Machine
from trace_files import Message, write_messages, write_trace

NS, US, MS = 10**3, 10**6, 10**9
COSTS = ColdCaches(20 * US, 4 * MS, 1 * MS, ((1, 0), (1024, 3 * US), (65536, 60 * US)))
FILE = """
[cold_caches]
call = "20us"
call_after = "4ms"
buffer_after = "1ms"

[[cold_caches.buffer]]
size = 1
time = "0ps"

[[cold_caches.buffer]]
size = 1024
time = "3us"

[[cold_caches.buffer]]
size = 65536
time = "60us"
"""


def machine() -> Machine:
    return replace(Machine.preset("odin"), noise=None, cold_caches=COSTS)


def by_the_rule(costs: ColdCaches, computed: int, size: int) -> Fraction:
    """What an exchange takes longer by R21, in ps and without rounding."""
    points = costs.buffers
    pairs = list(itertools.pairwise(points))
    (low, below), (high, above) = next((pair for pair in pairs if size <= pair[1][0]), pairs[-1])
    buffers = Fraction(below) if size <= points[0][0] else below + Fraction((above - below) * (size - low), high - low)
    of_call, of_buffers = (min(Fraction(computed, after), 1) for after in (costs.call_after, costs.buffer_after))
    return of_call * costs.call + of_buffers * buffers


def test_an_exchange_takes_longer_by_the_rule_to_the_nanosecond() -> None:
    random = np.random.default_rng(7)
    for _ in range(300):
        computed, size = int(random.integers(0, 8000)) * US, int(random.integers(1, 300_000))
        assert COSTS.exchange(computed, size) == pytest.approx(float(by_the_rule(COSTS, computed, size)), abs=NS)


def calcs_by_the_rule(costs: ColdCaches, messages: list[Message]) -> list[int]:
    """The calcs of either rank, in ns: what it computes, and what R21 adds for the call."""
    computed, at_call, at_use, calcs = 0, 0, dict.fromkeys({message.tag for message in messages}, 0), []
    for message in messages:
        computed += message.computed_ns
        of_call = by_the_rule(replace(costs, buffers=((1, 0), (2, 0))), (computed - at_call) * NS, 1)
        of_buffer = by_the_rule(replace(costs, call=0), (computed - at_use[message.tag]) * NS, message.size) / 2
        calcs.append(message.computed_ns + math.floor((of_call + of_buffer) / NS + Fraction(1, 2)))
        at_call = at_use[message.tag] = computed
    return [calc for calc in calcs if calc > 0]


def test_the_calcs_of_random_messages_are_longer_by_the_rule(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    for run in range(20):
        messages = [
            Message(int(random.choice([0, 1, 500, 10**5, 10**6, 10**7])), int(tag), int(size))
            for tag, size in zip(random.integers(0, 4, 40), random.integers(1, 200_000, 40), strict=True)
        ]
        trace = write_messages(tmp_path / str(run), messages)
        schedule = idlewave.Schedule.from_trace(trace, cold_caches=COSTS).to_goal()
        for rank in schedule.split("rank ")[1:]:
            calcs = [int(length) for length in re.findall(r"calc (\d+)", rank)]
            assert calcs == pytest.approx(calcs_by_the_rule(COSTS, messages), abs=1)


def test_a_machine_file_keeps_the_costs() -> None:
    text = machine().to_toml()
    assert FILE in text
    assert Machine.from_toml(text).cold_caches == COSTS
    assert Machine.preset("odin").cold_caches is None
    assert "cold" not in Machine.preset("odin").to_toml()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (('call_after = "4ms"\n', ""), "call_after"),
        (('call_after = "4ms"', 'call_after = "0s"'), r"call_after: expected a time above 0, found 0"),
        (("size = 1024", "size = 1"), r"buffer\[1\].size: expected more than before, 1, found 1"),
        (('time = "3us"', 'time = "70us"'), r"buffer\[2\].time: expected no less than before"),
        (('call = "20us"', 'call = "-1us"'), "a time that is not negative"),
    ],
)
def test_costs_that_cannot_be_are_refused_by_their_key(change: tuple[str, str], expected: str) -> None:
    text = machine().to_toml()
    assert change[0] in text
    with pytest.raises(InputError, match=expected):
        Machine.from_toml(text.replace(*change))


def test_a_trace_takes_longer_by_what_its_computations_do_to_the_caches(tmp_path: Path) -> None:
    """Three allreduces of 64 bytes, each after as much computation: all ranks are as late each time."""
    for gap_ns in (1000, 100_000, 3_000_000, 50_000_000):
        trace = write_trace(tmp_path / str(gap_ns), gap_ns=gap_ns)
        warm, cold = (
            idlewave.simulate(idlewave.Schedule.from_trace(trace, cold_caches=costs), machine(), noise=None).max_finish
            for costs in (None, COSTS)
        )
        assert cold - warm == 3 * COSTS.exchange(gap_ns * NS, 64)


def test_costs_of_nothing_change_no_schedule(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "trace")
    free = idlewave.Schedule.from_trace(trace, cold_caches=ColdCaches(0, 1, 1))
    assert free.to_goal() == idlewave.Schedule.from_trace(trace).to_goal()


def test_a_schedule_knows_by_which_costs_it_was_made(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "trace")
    schedules = [
        idlewave.Schedule.from_trace(trace, cold_caches=costs) for costs in (None, COSTS, replace(COSTS, call=1))
    ]
    assert len({schedule.identity() for schedule in schedules}) == 3
    assert "cold_caches" in schedules[1].provenance.options
    assert "cold_caches" not in schedules[0].provenance.options


def test_commands_use_the_costs_of_their_machine(tmp_path: Path) -> None:
    write_trace(tmp_path / "trace", gap_ns=3_000_000)
    (tmp_path / "cold.toml").write_text(machine().to_toml())
    (tmp_path / "warm.toml").write_text(replace(machine(), cold_caches=None).to_toml())
    for name, costs in (("warm", None), ("cold", COSTS)):
        done = run_command(["simulate", "trace", "-m", f"{name}.toml", "--json"], tmp_path)
        direct = idlewave.Schedule.from_trace(tmp_path / "trace", cold_caches=costs)
        expected = idlewave.simulate(direct, machine(), noise=None).max_finish
        assert json.loads(done.printed)["max_finish_ps"] == expected, done.complained
