"""After a computation the caches are cold: a machine has the extra time of messages, and schedules of
traces have it, too (docs/model.md, R21)."""

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
import pandas as pd
import pytest
from command_runs import run_command
from idlewave.cold_caches import ColdCaches
from idlewave.errors import InputError
from idlewave.machine import Machine
from trace_files import Message, write_messages, write_trace

NS, US, MS = 10**3, 10**6, 10**9
COSTS = ColdCaches(
    ((10 * US, 1 * US), (250 * US, 8 * US), (4 * MS, 20 * US)), 1 * MS, ((1, 0), (1024, 3 * US), (65536, 60 * US))
)
FILE = """
[cold_caches]
buffer_after = "1ms"

[[cold_caches.call]]
after = "10us"
time = "1us"

[[cold_caches.call]]
after = "250us"
time = "8us"

[[cold_caches.call]]
after = "4ms"
time = "20us"

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


def of_call(costs: ColdCaches, computed: int) -> Fraction:
    """The extra time of a call by R21, in ps and without rounding."""
    return _on_lines(((0, 0), *costs.calls), computed)


def of_buffer(costs: ColdCaches, computed: int, size: int) -> Fraction:
    """That of the one end of a message."""
    (before, below), (last, time) = costs.buffers[-2:]
    beyond = max(size - last, 0)
    of_both = _on_lines(costs.buffers, size) + Fraction((time - below) * beyond, last - before)
    return min(Fraction(computed, costs.buffer_after), 1) * of_both / 2


def _on_lines(points: tuple[tuple[int, int], ...], at: int) -> Fraction:
    """The value on the line between the neighbours of `at`; outside all points that of the nearest."""
    found = Fraction(points[-1][1] if at > points[0][0] else points[0][1])
    for (low, below), (high, above) in itertools.pairwise(points):
        if low <= at <= high:
            found = below + Fraction((above - below) * (at - low), high - low)
    return found


def test_an_exchange_takes_longer_by_the_rule_to_the_nanosecond() -> None:
    random = np.random.default_rng(7)
    for _ in range(300):
        computed, size = int(random.integers(0, 8000)) * US, int(random.integers(1, 300_000))
        expected = of_call(COSTS, computed) + 2 * of_buffer(COSTS, computed, size)
        assert COSTS.exchange(computed, size) == pytest.approx(float(expected), abs=NS)


def whole_ns(time: Fraction) -> int:
    return math.floor(time / NS + Fraction(1, 2))


def calcs_by_the_rule(costs: ColdCaches, messages: list[Message], rank: int) -> list[int]:
    """The calcs of a rank, in ns: what it computes, with the extra time of the call; and that of the buffer, which rank
    1 uses once its receive is posted."""
    computed, at_call, calcs = 0, 0, []
    at_use = {(message.tag, message.size.bit_length()): 0 for message in messages}
    for message in messages:
        computed += message.computed_ns
        call = whole_ns(of_call(costs, (computed - at_call) * NS))
        used = message.tag, message.size.bit_length()
        buffer = whole_ns(of_buffer(costs, (computed - at_use[used]) * NS, message.size))
        before = message.computed_ns + call
        calcs += [before + buffer] if rank == 0 else [before, buffer]
        at_call = at_use[used] = computed
    return [calc for calc in calcs if calc > 0]


def test_the_calcs_of_random_messages_are_longer_by_the_rule(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    for run in range(20):
        messages = [
            Message(int(random.choice([0, 1, 500, 10**5, 10**6, 10**7])), int(tag), int(size))
            for tag, size in zip(random.integers(0, 4, 40), random.integers(1, 200_000, 40), strict=True)
        ]
        trace = write_messages(tmp_path / str(run), messages)
        ranks = idlewave.Schedule.from_trace(trace, cold_caches=COSTS).to_goal().split("rank ")[1:]
        assert len(ranks) == 2
        for number, rank in enumerate(ranks):
            calcs = [int(length) for length in re.findall(r"calc (\d+)", rank)]
            assert calcs == pytest.approx(calcs_by_the_rule(COSTS, messages, number), abs=1)


def test_a_machine_file_keeps_the_costs() -> None:
    text = machine().to_toml()
    assert FILE in text
    assert Machine.from_toml(text).cold_caches == COSTS
    assert Machine.preset("odin").cold_caches is None
    assert "cold" not in Machine.preset("odin").to_toml()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (('buffer_after = "1ms"\n', ""), "buffer_after"),
        (('buffer_after = "1ms"', 'buffer_after = "0s"'), r"buffer_after: expected a time above 0, found 0"),
        (
            ('after = "250us"', 'after = "10us"'),
            r"call\[1\].after: expected more than before, 10000000 ps, found 10000000 ps",
        ),
        (('time = "1us"', 'time = "9us"'), r"call\[1\].time: expected no less than before, 9000000 ps"),
        (("size = 1024", "size = 1"), r"buffer\[1\].size: expected more than before, 1 B, found 1 B"),
        (('time = "3us"', 'time = "70us"'), r"buffer\[2\].time: expected no less than before"),
        (('time = "20us"', 'time = "-1us"'), "a time that is not negative"),
        (('buffer_after = "1ms"', 'buffer_after = "1ms"\ncall_after = "4ms"'), "cold_caches.call_after is not known"),
    ],
)
def test_costs_that_cannot_be_are_refused_by_their_key(change: tuple[str, str], expected: str) -> None:
    text = machine().to_toml()
    assert change[0] in text
    with pytest.raises(InputError, match=expected):
        Machine.from_toml(text.replace(*change))


@pytest.mark.parametrize(
    ("costs", "expected"),
    [
        (replace(COSTS, calls=((1, -1),)), r"cold caches: call\[0\].time: expected no less than before, 0 ps"),
        (replace(COSTS, calls=((0, 1),)), r"cold caches: call\[0\].after: expected more than before, 0 ps, found 0 ps"),
        (replace(COSTS, buffer_after=0), "cold caches: buffer_after: expected 1 ps or more"),
        (replace(COSTS, buffer_after=10**30), "buffer_after: .* below 50 days"),
        (replace(COSTS, buffers=((1, 0), (1, 0))), r"buffer\[1\].size: expected more than before, 1 B, found 1 B"),
        (replace(COSTS, buffers=((1, 9), (2, 8))), r"buffer\[1\].time: expected no less than before, 9 ps"),
    ],
)
def test_costs_made_in_python_are_checked_before_they_are_used(
    costs: ColdCaches, expected: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=expected):
        idlewave.Schedule.from_trace(write_trace(tmp_path / "trace"), cold_caches=costs)


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
    free = idlewave.Schedule.from_trace(trace, cold_caches=ColdCaches())
    assert free.to_goal() == idlewave.Schedule.from_trace(trace).to_goal()


def test_a_schedule_knows_by_which_costs_it_was_made(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "trace")
    others = (replace(COSTS, buffer_after=1), replace(COSTS, calls=COSTS.calls[:1]), replace(COSTS, buffers=()))
    schedules = [idlewave.Schedule.from_trace(trace, cold_caches=costs) for costs in (None, COSTS, *others)]
    assert len({schedule.identity() for schedule in schedules}) == 5
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
        done = run_command(["explain", "trace", "-m", f"{name}.toml", "--json"], tmp_path)
        assert json.loads(done.printed)["max_finish_ps"] == expected, done.complained
        done = run_command(["timeline", "trace", "-m", f"{name}.toml", "-o", "timeline.parquet"], tmp_path)
        assert pd.read_parquet(tmp_path / "timeline.parquet")["end_ps"].max() == expected, done.complained
        done = run_command(["study", "trace", "-m", f"{name}.toml", "--seeds", "1", "-o", "study.parquet"], tmp_path)
        assert (pd.read_parquet(tmp_path / "study.parquet")["finish_ps"] == expected).all(), done.complained
