"""Closed forms of LogGOPS, which simulations have to meet to the picosecond: docs/studies/verify.md derives them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ...jobs import Job, Operation
from ...machine import Level, Machine
from ...schedule import Schedule

MESSAGES = 8
"""Messages of a stream."""
LATE_PS = 50_000_000
"""A receive that is posted late is posted then, ps."""
_NS = 1000


@dataclass(frozen=True)
class Costs:
    """What a message of one size costs, ps: L, the overheads o_s and o_r, the CPU's time for its bytes at both ends,
    how long the NIC is busy with the message, and with its bytes alone."""

    L: int
    o_s: int
    o_r: int
    bytes_s: int
    bytes_r: int
    gap: int
    bytes_nic: int

    @classmethod
    def of(cls, level: Level, size: int) -> Costs:
        """Those of a message of `size` bytes, as the simulator rounds them."""
        import numpy as np

        found = level.costs(np.array([size], np.uint64))
        columns = (found.L, found.o_s, found.o_r, found.over_s, found.over_r, found.gap, found.bytes)
        return cls(*(int(column[0]) for column in columns))

    @property
    def send(self) -> int:
        """From one message of a stream to the next at its sender: the CPU or the NIC is busy so long."""
        return max(self.o_s + self.bytes_s, self.gap)

    @property
    def receive(self) -> int:
        """The same at the receiver."""
        return max(self.o_r + self.bytes_r, self.gap)

    @property
    def process(self) -> int:
        """From the first byte's arrival until a message is processed."""
        return self.o_r + max(self.bytes_r, self.bytes_nic)

    @property
    def hop(self) -> int:
        """From the start of a send until the message is processed."""
        return self.o_s + self.L + self.process


@dataclass(frozen=True)
class ClosedForm:
    """A schedule on `ranks` ranks with messages of `size` bytes, and its time: `text` is the formula, in WORDS.
    `rendezvous`: all messages make one."""

    text: str
    schedule: Callable[[int, int], Schedule]
    time: Callable[[Costs, Costs, int], int]
    rendezvous: bool = False


def network_of(machine: Machine, *, rendezvous: bool) -> Machine:
    """The machine's network between nodes by itself: without noise, variation, c and o_p, all messages eager, or all by
    rendezvous."""
    level = machine.network
    segments = tuple(replace(segment, parameters=replace(segment.parameters, **_BARE)) for segment in level.segments)
    bare = Level(replace(level.parameters, **_BARE), segments, 0 if rendezvous else None)
    return Machine(machine.name, bare)


_BARE = {"c": 0, "o_p": 0}


def schedule_of_ranks(*ranks: str) -> Schedule:
    """A schedule of GOAL text: the ops of each rank."""
    text = "".join(f"rank {number} {{\n{ops}\n}}\n" for number, ops in enumerate(ranks))
    return Schedule.from_goal(f"num_ranks {len(ranks)}\n{text}")


def _latency(_ranks: int, size: int) -> Schedule:
    return schedule_of_ranks(f"send {size}b to 1", f"recv {size}b from 0")


def _ping_pong(_ranks: int, size: int) -> Schedule:
    return _prtt(1, size)


def _stream(_ranks: int, size: int) -> Schedule:
    return _prtt(MESSAGES, size)


def _prtt(messages: int, size: int) -> Schedule:
    """So many messages one after another, of which the last is answered: PRTT(n, 0, s)."""
    numbers = range(messages)
    sends = [f"s{n}: send {size}b to 1 tag {n}" for n in numbers]
    answers = [f"r{n}: recv {size}b from 0 tag {n}" for n in numbers]
    client = "\n".join([*sends, f"a: recv {size}b from 1 tag 0", f"a requires s{messages - 1}"])
    server = "\n".join([*answers, f"b: send {size}b to 0 tag 0", f"b requires r{messages - 1}"])
    return schedule_of_ranks(client, server)


def _late(_ranks: int, size: int) -> Schedule:
    return schedule_of_ranks(f"send {size}b to 1", f"c: calc {LATE_PS // _NS}\nr: recv {size}b from 0\nr requires c")


def _collective(name: str, algorithm: str) -> Callable[[int, int], Schedule]:
    def schedule(ranks: int, size: int) -> Schedule:
        return Schedule.compose([Job(ranks, [Operation(name, bytes=size, algorithm=algorithm)])])

    return schedule


def _dissemination(ranks: int, size: int) -> Schedule:
    return Schedule.pattern("dissemination", ranks=ranks, bytes=size)


def _stream_time(cost: Costs, messages: int) -> int:
    """Until the last of so many messages in a row is processed."""
    return cost.hop + (messages - 1) * max(cost.send, cost.receive)


def _binomial_time(cost: Costs, ranks: int) -> int:
    """In each round a message goes on from the rank that has just got it, or from one that has sent before."""
    rounds = (ranks - 1).bit_length()
    return cost.hop + (rounds - 1) * max(cost.hop, cost.send)


def _dissemination_time(cost: Costs, ranks: int) -> int:
    """In each round a rank sends and receives. The CPU is done with its own message before it handles the other."""
    rounds = (ranks - 1).bit_length()
    one = max(cost.o_s + cost.L, cost.o_s + cost.bytes_s) + cost.process
    return one + (rounds - 1) * max(one, cost.gap)


FORMS = {
    "latency": ClosedForm("h", _latency, lambda cost, _c, _p: cost.hop),
    "ping-pong": ClosedForm("2h", _ping_pong, lambda cost, _c, _p: 2 * cost.hop),
    "stream": ClosedForm(
        f"2h + {MESSAGES - 1} max(i_s, i_r)",
        _stream,
        lambda cost, _c, _p: _stream_time(cost, MESSAGES) + cost.hop,
    ),
    "scatter": ClosedForm(
        "h + (P − 2) i_s",
        _collective("scatter", "linear"),
        lambda cost, _c, ranks: cost.hop + (ranks - 2) * cost.send,
    ),
    "gather": ClosedForm(
        "h + (P − 2) i_r",
        _collective("gather", "linear"),
        lambda cost, _c, ranks: cost.hop + (ranks - 2) * cost.receive,
    ),
    "tree": ClosedForm(
        "h + (log₂P − 1) max(h, i_s)",
        _collective("bcast", "binomial"),
        lambda cost, _c, ranks: _binomial_time(cost, ranks),
    ),
    "dissemination": ClosedForm(
        "r + (⌈log₂P⌉ − 1) max(r, g + kG)", _dissemination, lambda cost, _c, ranks: _dissemination_time(cost, ranks)
    ),
    "rendezvous": ClosedForm(
        "2h₁ + h", _latency, lambda cost, control, _p: 2 * control.hop + cost.hop, rendezvous=True
    ),
    "late receiver": ClosedForm(
        "T_r + o_r + h₁ + h",
        _late,
        lambda cost, control, _p: max(LATE_PS, control.o_s + control.L) + control.process + control.hop + cost.hop,
        rendezvous=True,
    ),
}
"""By name. In each the first costs are those of a message, the second those of a control message."""
WORDS = (
    "k = s − 1 for messages of s bytes, h = o_s + L + o_r + max(kO_r, kG), i_s = max(o_s + kO_s, g + kG), "
    "i_r = max(o_r + kO_r, g + kG), r = max(o_s + L, o_s + kO_s) + o_r + max(kO_r, kG); h₁ is h of 1 byte"
)
"""What the letters of the formulas are."""
OF_MANY_RANKS = ("scatter", "gather", "tree", "dissemination")


def closed_form(name: str, machine: Machine, ranks: int, size: int) -> tuple[Schedule, Machine, int]:
    """The schedule, the network that it is simulated on, and its time by the closed form, ps."""
    form = FORMS[name]
    network = network_of(machine, rendezvous=form.rendezvous)
    costs = (Costs.of(network.network, size), Costs.of(network.network, 1))
    return form.schedule(ranks, size), network, form.time(*costs, ranks)
