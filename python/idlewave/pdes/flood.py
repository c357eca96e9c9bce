"""A distributed denial-of-service attack on an internet-like network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

from ..kernel import EventRun, RunOptions, checked_seed
from .running import MOST_LPS, run_model, whole

TICK = 1e-12
"""Seconds: a tick of the kernel."""
NEVER = 2**63 - 1
LONGEST = 2**55 * TICK
UNLIMITED = 0xFFFFFFFF


@dataclass(frozen=True)
class Packets:
    """Packets of one class, all together; times in seconds.

    `waited` in queues, of those that were not lost there; `delay` from host to victim, of those that were delivered.
    """

    sent: int
    delivered: int
    lost: int
    waited: float
    delay: float

    @property
    def share_lost(self) -> float:
        """Of those sent."""
        return self.lost / self.sent if self.sent > 0 else 0.0

    @property
    def mean_delay(self) -> float:
        """Of those delivered, s."""
        return self.delay / self.delivered if self.delivered > 0 else 0.0


@dataclass(frozen=True)
class FloodRun:
    """What became of the packets of both classes; and what the run counted."""

    legitimate: Packets
    attack: Packets
    run: EventRun


def flood(
    *,
    routers: int = 64,
    hosts: int = 1024,
    bots: int = 128,
    link_delay: float = 1e-3,
    legitimate_gap: float = 10e-3,
    attack_gap: float = 250e-6,
    attack_from: float = 0.5,
    attack_until: float | None = None,
    attack_size: float = 1.0,
    access_utilization: float = 0.5,
    utilization: float = 0.2,
    exponential: bool = False,
    buffer: int = 64,
    measured_from: float = 0.0,
    end: float = 1.0,
    seed: int = 1,
    **options: Unpack[RunOptions],
) -> FloodRun:
    """`hosts` behind `routers` send packets to one victim; `bots` among them flood it from `attack_from` on.

    Times are in seconds. Links take `link_delay`: the lookahead. A host sends a legitimate packet every
    `legitimate_gap` on average, a bot an attack packet every `attack_gap`, `attack_size` times as large. Legitimate
    packets alone take the share `access_utilization` of the victim's access link, and `utilization` of every other;
    time on a link is fixed, or `exponential`. A router holds `buffer` packets (0: any number), and what finds it full
    is lost. Packets that are sent from `measured_from` on are counted.
    `options`: the run configuration, as `kernel.RunConfiguration` says.

    Raises UsageError or InputError for what makes no sense, MpiError if processes cannot be started or one dies.
    """

    def ticks(what: str, value: float | None) -> int:
        return NEVER if value is None else whole(what, value, LONGEST, TICK)

    last = ticks("an end", end)
    parameters = {
        "routers": whole("routers", routers, MOST_LPS),
        "hosts": whole("hosts", hosts, MOST_LPS),
        "bots": whole("bots", bots, MOST_LPS),
        "link_delay": ticks("a link's delay", link_delay),
        "legitimate_gap": ticks("the gap between legitimate packets", legitimate_gap),
        "attack_gap": ticks("the gap between attack packets", attack_gap),
        "attack_from": ticks("the attack's begin", attack_from),
        "attack_until": ticks("the attack's end", attack_until),
        "attack_size": attack_size,
        "access_utilization": access_utilization,
        "utilization": utilization,
        "exponential": exponential,
        "buffer": whole("a buffer", buffer, UNLIMITED) or UNLIMITED,
        "measured_from": ticks("the first time that counts", measured_from),
        "end": last,
        "seed": checked_seed(seed),
    }
    answer = run_model("flood", parameters, options, last)
    legitimate, attack = (packets_of(answer["packets"], of) for of in (0, 1))
    return FloodRun(legitimate, attack, EventRun(**answer["run"]))


def packets_of(packets: dict[str, list[int]], of: int) -> Packets:
    """Those of one class."""
    return Packets(
        sent=packets["sent"][of],
        delivered=packets["delivered"][of],
        lost=packets["lost"][of],
        waited=packets["waited"][of] * TICK,
        delay=packets["delay"][of] * TICK,
    )
