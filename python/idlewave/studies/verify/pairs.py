"""Two ranks and one message: where a delay of the sender is absorbed, and when nobody waits for the other."""

from __future__ import annotations

from dataclasses import dataclass

from ...machine import Machine
from ...noise_models import REACHES, Noise, as_times
from ...schedule import Schedule
from .closed_forms import Costs, network_of, schedule_of_ranks

SENDER_NS = 20_000
"""The sender computes so long before it sends."""
SLACK_NS = 30_000
"""A receive that is posted late is posted so long after the message has come; and a rank that waits for a nonblocking
receive computes as long."""
DELAYS_PS = (0, 15_000_000, 30_000_000, 60_000_000)
"""Detours of the sender at its beginning: none, within the slack, as long as it, and twice as long."""
ARRANGEMENTS = ("late receive", "early receive", "nonblocking receive")
SHIFTS_PS = (-5_000_000, 0, 5_000_000)
"""How much later than the condition says a receive is posted."""
PLACES = ("beside", "one CPU")
"""Whether the message is handled beside what the receiver computes, or by the same CPU afterwards."""
_NEVER = 1 << 61
"""ps: the period of a delay that comes once."""


@dataclass(frozen=True)
class Pair:
    """A schedule of two ranks, the machine that it is simulated on, and the time at which the second is done, ps."""

    schedule: Schedule
    machine: Machine
    time: int


def delayed_pair(arrangement: str, machine: Machine, size: int, delay: int) -> Pair:
    """The sender computes and sends; it has a detour of `delay` ps at its beginning.

    Late: the receiver computes, and posts its receive when the message has come. Early: it posts the receive first,
    waits for it, and computes then. Nonblocking: it posts the receive, computes as long, and waits then.
    """
    network = network_of(machine, rendezvous=False)
    cost = Costs.of(network.network, size)
    arrival = 1000 * SENDER_NS + delay + cost.o_s + cost.L
    computes = -(-(1000 * SENDER_NS + cost.o_s + cost.L) // 1000) + SLACK_NS
    sender = f"a: calc {SENDER_NS}\ns: send {size}b to 1\ns requires a"
    receive, compute = f"r: recv {size}b from 0", f"c: calc {computes}"
    late = max(1000 * computes, arrival) + cost.process
    receivers = {
        "late receive": (f"{compute}\n{receive}\nr requires c", late),
        "early receive": (f"{receive}\n{compute}\nc requires r", arrival + cost.process + 1000 * computes),
        "nonblocking receive": (f"{receive}\n{compute}", late),
    }
    receiver, time = receivers[arrangement]
    if delay:
        detour = Noise(as_times([0]), as_times([delay]), _NEVER, (0, delay))
        network = network.with_noise(detour).with_noise_reaches(REACHES)
    return Pair(schedule_of_ranks(sender, receiver), network, time)


def shifted_pair(place: str, machine: Machine, size: int, shift: int) -> tuple[Pair, int, int]:
    """The receive is posted `shift` ps after T_s + o_s + L + (k − 1) G + o_r; also T_r, and when the message is
    processed if the receiver's CPU is free, ps.

    A computation ends at a whole ns: T_r is rounded up. Where the receiver's one CPU computes until T_r, the message is
    handled after that.
    """
    network = network_of(machine, rendezvous=False)
    cost = Costs.of(network.network, size)
    arrival = 1000 * SENDER_NS + cost.o_s + cost.L
    processed = arrival + cost.process
    posted = -(-(processed + shift) // 1000)
    sender = f"a: calc {SENDER_NS}\ns: send {size}b to 1\ns requires a"
    cpu = " cpu 1" if place == "beside" else ""
    receiver = f"c: calc {posted}{cpu}\nr: recv {size}b from 0\nr requires c"
    time = max(1000 * posted, processed) if cpu else max(1000 * posted, arrival) + cost.process
    return Pair(schedule_of_ranks(sender, receiver), network, time), 1000 * posted, processed
