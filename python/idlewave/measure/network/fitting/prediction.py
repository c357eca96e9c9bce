"""PRTT(n,d,s) by the simulator: two ranks that are idle otherwise, no noise, in picoseconds.

PRTT(n,d,s): the client sends n messages of s bytes, d apart; the server answers the last with one of s bytes. The
exchanges are a schedule, two ranks each, which `simulate` runs: so a fit is compared with the simulator's own rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .... import machine as machines
from ....schedule import Schedule
from ....simulation import simulate

FINER = 1000
"""The simulator counts whole picoseconds. Fitted parameters have fractions of them, so here its unit is a
thousandth."""


@dataclass(frozen=True)
class FittedParameters:
    """LogGOP parameters of one range of sizes, as a fit finds them: times in ps, G and O in ps per byte."""

    L: float
    o_s: float
    o_r: float
    g: float
    G: float
    O: float  # noqa: E741  (the field's own letter)

    def finer(self) -> machines.Parameters:
        """The same for the simulator, in the unit of the predictions."""
        whole = {name: round(getattr(self, name) * FINER) for name in ("L", "o_s", "o_r", "g")}
        return machines.Parameters(**whole, G=self.G * FINER, O_s=self.O * FINER, O_r=self.O * FINER)


@dataclass(frozen=True)
class Network:
    """Parameters by message size: `ranges` ascend by their first size, the first is 1; S is None for always
    eager."""

    ranges: tuple[tuple[int, FittedParameters], ...]
    S: int | None

    def of(self, size: int) -> FittedParameters:
        """The parameters that hold for a message of `size` bytes."""
        return [parameters for first, parameters in self.ranges if max(size, 1) >= first][-1]

    def finer(self) -> machines.Machine:
        """A machine with this network, in the unit of the predictions."""
        first, *others = [(start, parameters.finer()) for start, parameters in self.ranges]
        segments = tuple(machines.Segment(start, parameters) for start, parameters in others)
        return machines.Machine("fitted", machines.Level(first[1], segments, self.S))


class Exchange(NamedTuple):
    """The arguments of a PRTT: messages, the delay between two of them (whole ps), their size in bytes."""

    messages: int
    delay: float
    size: int


def prtts(network: Network, exchanges: Sequence[Exchange]) -> NDArray[np.float64]:
    """The PRTT of each exchange, ps, by the simulator's rules."""
    if not exchanges:
        return np.empty(0)
    goal = [f"num_ranks {2 * len(exchanges)}", *(_ranks(2 * i, one) for i, one in enumerate(exchanges))]
    finish = simulate(Schedule.from_goal("\n".join(goal), name="PRTT"), network.finer()).finish
    return finish[::2] / FINER


def prtt(network: Network, messages: int, delay: float, size: int) -> float:
    """PRTT(messages, delay, size) in ps by the simulator's rules; `delay` in ps."""
    return float(prtts(network, [Exchange(messages, delay, size)])[0])


def _ranks(client: int, exchange: Exchange) -> str:
    """The client and the server after it, as GOAL text. A calc there is in ns, a thousand of the simulator's units."""
    n, size, server = exchange.messages, exchange.size, client + 1
    delay = round(exchange.delay * FINER / 1000)
    sends = [f"s{i}: send {size}b to {server}" for i in range(n)]
    if delay > 0:
        sends += [f"c{i}: calc {delay}\nc{i} requires s{i}\ns{i + 1} requires c{i}" for i in range(n - 1)]
    else:
        sends += [f"s{i + 1} requires s{i}" for i in range(n - 1)]
    receives = [f"r{i}: recv {size}b from {client}" for i in range(n)]
    receives += [f"r{i + 1} requires r{i}" for i in range(n - 1)]
    answer = f"a: recv {size}b from {server}\na requires s{n - 1}"
    sent = f"a: send {size}b to {client}\na requires r{n - 1}"
    return "\n".join([f"rank {client} {{", *sends, answer, "}", f"rank {server} {{", *receives, sent, "}"])
