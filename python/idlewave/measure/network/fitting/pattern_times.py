"""The times of patterns of messages by the simulator: without noise, in a loop as the probe has it.

The patterns are those of probes/network/pattern_exchange.hpp and peer_exchange.hpp. Nonblocking calls take the CPU in
the order of the program; what waits for all of them requires the end of each. Many patterns are one schedule, in which
each has ranks of its own: so one simulation gives the times of all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from ....errors import UsageError
from ....machine import Machine
from ....schedule import Schedule
from ....simulation import finish_times
from ....units import PICOSECONDS

LEAD = 4
"""The window of a repetition before the one that counts, at most: it leaves the ranks as the loop does."""


@dataclass(frozen=True)
class PatternItem:
    """A pattern with its window (messages on the way at once), size in bytes, and the time for which a late receiver,
    or each rank before an exchange, computes, ns."""

    pattern: str
    window: int
    size: int
    delay_ns: int = 0


KEYS = ["pattern", "window", "size", "delay_ns"]
"""The columns that identify an item."""


def items_of(table: pd.DataFrame) -> list[PatternItem]:
    """The items of the rows of a table with the columns KEYS."""
    return [
        PatternItem(str(pattern), int(window), int(size), int(delay))
        for pattern, window, size, delay in table[KEYS].itertuples(index=False)
    ]


@dataclass
class _Rank:
    """The ops of a rank, as lines of GOAL, and the rank that it talks to."""

    number: int
    peer: int
    lines: list[str] = field(default_factory=list)
    ops: int = 0
    waited: str = ""
    """The label of the last wait; empty before the first."""

    def do(self, op: str) -> None:
        """Add an op after the last wait, and wait for its end."""
        self.waited = self.start(op)

    def start(self, op: str) -> str:
        """Add an op after the last wait. Returns its label."""
        return self._add(op, [self.waited] if self.waited else [])

    def send(self, size: int, tag: int = 0, to: int | None = None) -> str:
        """A send to the peer, or another rank, as GOAL has it."""
        return f"send {size}b to {self.peer if to is None else to} tag {tag}"

    def receive(self, size: int, tag: int = 0, source: int | None = None) -> str:
        """A receive from the peer, or another rank, as GOAL has it."""
        return f"recv {size}b from {self.peer if source is None else source} tag {tag}"

    def wait(self, labels: list[str]) -> None:
        """Wait for the end of ops: of several, by a calculation that takes no time."""
        self.waited = labels[0] if len(labels) == 1 else self._add("calc 0", labels)

    def do_all(self, ops: list[str]) -> None:
        """Add ops that begin together, and wait for the end of all."""
        self.wait([self.start(op) for op in ops])

    def _add(self, op: str, ended: list[str]) -> str:
        label = f"o{self.ops}"
        self.ops += 1
        self.lines.append(f"{label}: {op}")
        self.lines += [f"{label} requires {before}" for before in ended]
        return label

    def goal(self) -> str:
        """The rank as GOAL text."""
        return "\n".join([f"rank {self.number} {{", *self.lines, "}"])


class PatternPrograms:
    """Patterns in loops, each on ranks of its own, for the simulation of all of them on one machine after another.

    The time of a repetition is that of two less that of the first alone, in which a window is at most LEAD: what only
    the first repetition has is left out. The two runs are beside each other in one schedule, and items whose first
    repetitions are alike share that run. Raises UsageError for a pattern that is not in PATTERNS.
    """

    def __init__(self, items: Sequence[PatternItem]) -> None:
        self.items = tuple(items)
        leads = [min(item.window, LEAD) for item in self.items]
        firsts = [replace(item, window=lead) for item, lead in zip(self.items, leads, strict=True)]
        alone = list(dict.fromkeys(firsts))
        loops = [
            *([item.window] for item in alone),
            *([lead, item.window] for item, lead in zip(self.items, leads, strict=True)),
        ]
        self._schedule, ranks = _schedule([*alone, *self.items], loops)
        numbers = {item: number for number, item in enumerate(alone)}
        self._first_alone = np.array([ranks[numbers[item]] for item in firsts], dtype=np.int64)
        self._both = np.array(ranks[len(alone) :], dtype=np.int64)

    def times(self, machine: Machine) -> npt.NDArray[np.float64]:
        """The time of one repetition of each pattern on a machine without noise, in ps: within a node, if nodes have a
        network of their own. After a computation, what its cold caches cost is in it."""
        if machine.node is not None or machine.noise is not None or machine.node_ranks > 1:
            machine = replace(machine, network=machine.node or machine.network, node=None, node_ranks=1, noise=None)
        ends = finish_times(self._schedule, machine)
        return np.asarray(ends[self._both] - ends[self._first_alone], dtype=np.float64) + self._in_cold_caches(machine)

    def _in_cold_caches(self, machine: Machine) -> npt.NDArray[np.float64]:
        costs = machine.cold_caches
        if costs is None:
            return np.zeros(len(self.items))
        ns = PICOSECONDS["ns"]
        return np.array(
            [costs.exchange(item.delay_ns * ns, item.size) if item.pattern == AFTER else 0 for item in self.items],
            dtype=np.float64,
        )


def pattern_time(machine: Machine, item: PatternItem) -> float:
    """The same of one pattern, ps."""
    return float(PatternPrograms([item]).times(machine)[0])


def _schedule(items: Sequence[PatternItem], loops: Sequence[Sequence[int]]) -> tuple[Schedule, list[int]]:
    """Each item on ranks of its own, with a repetition for each window of its loop; and the first rank of each."""
    ranks: list[_Rank] = []
    firsts = []
    for item, windows in zip(items, loops, strict=True):
        if item.pattern not in _LOOPS:
            raise UsageError(f"expected one of the patterns {', '.join(PATTERNS)}, found {item.pattern}")
        first = len(ranks)
        firsts.append(first)
        if item.pattern == PEERS:  # the time does not depend on the number of ranks, as long as all peers are others
            ranks += [_Rank(first + i, first) for i in range(item.window + 1)]
        else:
            ranks += [_Rank(first, first + 1), _Rank(first + 1, first)]
        _LOOPS[item.pattern](item, windows, *ranks[first:])
    text = "\n".join([f"num_ranks {len(ranks)}", *(rank.goal() for rank in ranks)])
    return Schedule.from_goal(text, name="patterns of messages"), firsts


_Loop = Callable[..., None]
"""Adds a repetition for each of the windows; its arguments are the item, the windows and the ranks."""


def _ping_pong(item: PatternItem, windows: Sequence[int], client: _Rank, server: _Rank) -> None:
    for _ in windows:
        client.do(client.send(item.size))
        server.do(server.receive(item.size))
        server.do(server.send(item.size))
        client.do(client.receive(item.size))


def _posted_in_advance(item: PatternItem, windows: Sequence[int], client: _Rank, server: _Rank) -> None:
    """Each rank posts the receive of the next message before it sends its own."""
    coming = {rank.number: rank.start(rank.receive(item.size)) for rank in (client, server)}
    for i in range(len(windows)):
        client.do(client.send(item.size))
        for rank in (server, client):
            rank.wait([coming[rank.number], *([rank.waited] if rank.waited else [])])
            if i + 1 < len(windows):
                coming[rank.number] = rank.start(rank.receive(item.size))
            if rank is server:
                rank.do(rank.send(item.size))


def _stream(item: PatternItem, windows: Sequence[int], client: _Rank, server: _Rank) -> None:
    for window in windows:
        client.do_all([client.send(item.size)] * window)
        if item.delay_ns:
            server.do(f"calc {item.delay_ns}")
        server.do_all([server.receive(item.size)] * window)
        _answer(client, server)


def _blocking_stream(item: PatternItem, windows: Sequence[int], client: _Rank, server: _Rank) -> None:
    for window in windows:
        for _ in range(window):
            client.do(client.send(item.size))
            server.do(server.receive(item.size))
        _answer(client, server)


def _answer(client: _Rank, server: _Rank) -> None:
    server.do(server.send(1, tag=1))
    client.do(client.receive(1, tag=1))


def _both_ways(item: PatternItem, windows: Sequence[int], client: _Rank, server: _Rank) -> None:
    for window in windows:
        for rank in (client, server):
            rank.do_all([rank.receive(item.size)] * window + [rank.send(item.size)] * window)


def _several_peers(item: PatternItem, windows: Sequence[int], *ranks: _Rank) -> None:
    """Each rank of a ring receives from those before it, sends to those after it, and waits for all."""
    numbers = [rank.number for rank in ranks]
    steps = range(1, item.window + 1)
    for _ in windows:
        for i, rank in enumerate(ranks):
            receives = [rank.receive(item.size, source=numbers[i - step]) for step in steps]
            sends = [rank.send(item.size, to=numbers[(i + step) % len(ranks)]) for step in steps]
            rank.do_all(receives + sends)


PING_PONG = "ping-pong"
BOTH_WAYS = "both ways"
"""The pattern whose loop of window 1 is an exchange in warm caches."""
PEERS, MOST_PEERS = "several peers", 4
"""The pattern of more than two ranks, whose window is the number of peers, and the most of them."""
COLD = "cold buffers"
"""The pattern whose buffers have left the caches. A schedule does not know its buffers, so no parameter is for it."""

AFTER = "after computation"
"""The pattern of an exchange after a computation that empties the caches: the costs of cold caches are what it
takes beyond a loop (cold_cache_fit.py). Its time is that of the exchange alone."""

NOT_FITTED = (COLD, PEERS, AFTER)
"""Patterns to which no parameter of the network is fitted. Several peers show how far the parameters of a pair hold for
them."""

_LOOPS: dict[str, _Loop] = {
    PING_PONG: _ping_pong,
    "stream": _stream,
    "blocking stream": _blocking_stream,
    BOTH_WAYS: _both_ways,
    "posted in advance": _posted_in_advance,
    "late receivers": _stream,
    COLD: _ping_pong,
    PEERS: _several_peers,
    AFTER: _both_ways,
}
ROUND_TRIPS = (PING_PONG, "posted in advance", COLD)
"""Patterns in which a message goes there and another one back."""
PATTERNS = tuple(_LOOPS)
"""What a pattern's number in a recording stands for."""
