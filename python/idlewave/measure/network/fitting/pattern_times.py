"""The time of a pattern of messages by the simulator: two ranks, no noise, in a loop as the probe has it.

The patterns are those of probes/network/patterns.cpp. Nonblocking calls take the CPU in the order of the program; what
waits for all of them requires the end of each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ....errors import UsageError
from ....machine import Machine
from ....schedule import Schedule
from ....simulation import simulate

FEW, MANY = 2, 6
"""Repetitions of two runs: the difference leaves out what only the first repetition has."""

PATTERNS = ("ping-pong", "stream", "both ways")
"""What a pattern's number in a recording stands for."""


@dataclass
class _Rank:
    """The ops of a rank, as lines of GOAL."""

    lines: list[str] = field(default_factory=list)
    ops: int = 0
    waited: str = ""
    """The label of the last wait; empty before the first."""

    def do_all(self, ops: list[str]) -> None:
        """Add ops that begin together, and a wait for the end of all: a calculation that takes no time."""
        labels = [self._add(op, [self.waited] if self.waited else []) for op in ops]
        self.waited = labels[0] if len(labels) == 1 else self._add("calc 0", labels)

    def _add(self, op: str, required: list[str]) -> str:
        label = f"o{self.ops}"
        self.ops += 1
        self.lines += [f"{label}: {op}", *(f"{label} requires {before}" for before in required)]
        return label

    def goal(self, number: int) -> str:
        """The rank as GOAL text."""
        return "\n".join([f"rank {number} {{", *self.lines, "}"])


def pattern_time(machine: Machine, pattern: str, window: int, size: int) -> float:
    """The time of one repetition of a pattern on a machine without noise, in ps.

    Raises UsageError for a pattern that is not in PATTERNS.
    """
    if pattern not in _REPETITIONS:
        raise UsageError(f"expected one of the patterns {', '.join(PATTERNS)}, found {pattern}")
    few, many = (_finish(machine.with_noise(None), pattern, window, size, times) for times in (FEW, MANY))
    return (many - few) / (MANY - FEW)


def pattern_schedule(pattern: str, window: int, size: int, repetitions: int) -> Schedule:
    """A pattern in a loop, as a schedule of two ranks."""
    client, server = _Rank(), _Rank()
    for _ in range(repetitions):
        _REPETITIONS[pattern](client, server, window, size)
    text = "\n".join(["num_ranks 2", client.goal(0), server.goal(1)])
    return Schedule.from_goal(text, name=f"{pattern} of {window} times {size} bytes")


def _finish(machine: Machine, pattern: str, window: int, size: int, repetitions: int) -> float:
    return float(simulate(pattern_schedule(pattern, window, size, repetitions), machine).finish[0])


def _ping_pong(client: _Rank, server: _Rank, _window: int, size: int) -> None:
    client.do_all([f"send {size}b to 1"])
    server.do_all([f"recv {size}b from 0"])
    server.do_all([f"send {size}b to 0"])
    client.do_all([f"recv {size}b from 1"])


def _stream(client: _Rank, server: _Rank, window: int, size: int) -> None:
    client.do_all([f"send {size}b to 1"] * window)
    server.do_all([f"recv {size}b from 0"] * window)
    server.do_all(["send 1b to 0 tag 1"])
    client.do_all(["recv 1b from 1 tag 1"])


def _both_ways(client: _Rank, server: _Rank, window: int, size: int) -> None:
    for rank, peer in ((client, 1), (server, 0)):
        receives = [f"recv {size}b from {peer}"] * window
        sends = [f"send {size}b to {peer}"] * window
        rank.do_all([*receives, *sends])


_REPETITIONS: dict[str, Callable[[_Rank, _Rank, int, int], None]] = {
    "ping-pong": _ping_pong,
    "stream": _stream,
    "both ways": _both_ways,
}
