"""The presets of today's networks give, simulated, what their sources measured."""

from __future__ import annotations

import re
from importlib import resources

import idlewave
import pytest
from idlewave import Machine
from published_networks import PUBLISHED, Published

WINDOW = 64
CASES = [(name, size) for name, published in PUBLISHED.items() for size in published.half_us]
TRAINS = [(name, size) for name, published in PUBLISHED.items() for size in published.bandwidth]


def half_round_trip_us(machine: Machine, size: int) -> float:
    """osu_latency: a message there, and one of the same size back."""
    goal = f"""num_ranks 2
rank 0 {{
s: send {size}b to 1
r: recv {size}b from 1
r requires s
}}
rank 1 {{
r: recv {size}b from 0
s: send {size}b to 0
s requires r
}}
"""
    return idlewave.simulate(idlewave.Schedule.from_goal(goal), machine).max_finish / 2e6


def bandwidth(machine: Machine, size: int) -> float:
    """osu_bw: as many nonblocking sends as the window has, all received, and an answer of 4 bytes; 10⁶ B/s."""
    sends = "\n".join(f"s{i}: send {size}b to 1" for i in range(WINDOW))
    receives = "\n".join(f"r{i}: recv {size}b from 0\nanswer requires r{i}" for i in range(WINDOW))
    first = f"rank 0 {{\n{sends}\nlast: recv 4b from 1\n}}\n"
    second = f"rank 1 {{\nanswer: send 4b to 0\n{receives}\n}}\n"
    goal = f"num_ranks 2\n{first}{second}"
    finish = int(idlewave.simulate(idlewave.Schedule.from_goal(goal), machine).finish[0])
    return WINDOW * size / (finish / 1e6)


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_published_half_round_trip_of_eight_bytes_comes_out(name: str) -> None:
    published = PUBLISHED[name]
    for size in published.exact_half:
        assert half_round_trip_us(Machine.preset(name), size) == pytest.approx(published.half_us[size], rel=5e-4)


@pytest.mark.parametrize("name", [name for name, published in PUBLISHED.items() if published.exact_bandwidth])
def test_the_published_bandwidth_of_large_messages_comes_out(name: str) -> None:
    published = PUBLISHED[name]
    assert published.exact_bandwidth is not None
    expected = published.bandwidth[published.exact_bandwidth]
    assert bandwidth(Machine.preset(name), published.exact_bandwidth) == pytest.approx(expected, rel=5e-4)


@pytest.mark.parametrize(("name", "size"), CASES)
def test_every_published_half_round_trip_is_met_within_a_tenth(name: str, size: int) -> None:
    published = PUBLISHED[name]
    if size > published.largest_half:
        assert half_round_trip_us(Machine.preset(name), size) < published.half_us[size]
        return
    assert half_round_trip_us(Machine.preset(name), size) == pytest.approx(published.half_us[size], rel=0.101)


@pytest.mark.parametrize(("name", "size"), TRAINS)
def test_every_published_bandwidth_is_met_within_a_sixth(name: str, size: int) -> None:
    assert bandwidth(Machine.preset(name), size) == pytest.approx(PUBLISHED[name].bandwidth[size], rel=0.17)


@pytest.mark.parametrize("name", PUBLISHED)
def test_most_published_bandwidths_are_met_within_a_tenth(name: str) -> None:
    published: Published = PUBLISHED[name]
    machine = Machine.preset(name)
    far = [s for s, expected in published.bandwidth.items() if abs(bandwidth(machine, s) / expected - 1) > 0.1]
    assert len(far) <= 1


@pytest.mark.parametrize("name", Machine.presets())
def test_every_preset_says_what_it_is_where_it_was_measured_and_its_source(name: str) -> None:
    machine = Machine.preset(name)
    assert machine.name == name
    assert machine.measured == "between nodes"
    assert machine.description
    text = (resources.files("idlewave") / "presets" / f"{name}.toml").read_text(encoding="utf-8")
    assert re.match(r"# .*\n", text)
    assert re.search(r"20\d\d", text)
