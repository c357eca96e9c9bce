"""A distributed denial-of-service attack on an internet-like network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypedDict, Unpack

from .. import _core
from ..event_run import EventRun
from ..kernel import RunOptions
from ..parameters import Parameter, takes, ticks
from .running import MOST_LPS, SEED, ModelRun, Progress, run_model

TICK = 1e-12
"""A tick of the kernel, in seconds."""
LONGEST = 2**55 * TICK
UNLIMITED = 0xFFFFFFFF
MOST_RATIO = 1e6


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
    """The packets of both classes, and the statistics of the run."""

    legitimate: Packets
    attack: Packets
    run: EventRun


def _time(default: float | None, text: str, default_text: str = "") -> Parameter:
    return Parameter(default, text, "s", least=0, most=LONGEST, default_text=default_text, to_core=ticks(TICK))


def _service(exponential: bool) -> _core.Service:
    return _core.Service.exponential if exponential else _core.Service.fixed


class FloodParameters(TypedDict, total=False):
    """The parameters of a flood; the core's struct is in core/models/flood.hpp."""

    routers: Annotated[int, Parameter(64, "Number of routers", least=0, most=MOST_LPS)]
    hosts: Annotated[int, Parameter(1024, "Number of hosts", least=0, most=MOST_LPS)]
    bots: Annotated[int, Parameter(128, "Number of bots among the hosts", least=0, most=MOST_LPS)]
    link_delay: Annotated[float, _time(1e-3, "Delay of a link, which is the lookahead")]
    legitimate_gap: Annotated[float, _time(10e-3, "Mean time between two legitimate packets of a host")]
    attack_gap: Annotated[float, _time(250e-6, "Mean time between two attack packets of a bot")]
    attack_from: Annotated[float, _time(0.5, "Time when the attack begins")]
    attack_until: Annotated[float | None, _time(None, "Time when the attack ends", "never")]
    attack_size: Annotated[
        float, Parameter(1.0, "Size of an attack packet", "legitimate packets", above=0, most=MOST_RATIO)
    ]
    access_utilization: Annotated[
        float,
        Parameter(0.5, "Share of the victim's access link that legitimate packets take", above=0, most=MOST_RATIO),
    ]
    utilization: Annotated[
        float, Parameter(0.2, "Share of every other link that legitimate packets take", above=0, most=MOST_RATIO)
    ]
    exponential: Annotated[
        bool, Parameter(False, "Draw the times on a link from an exponential law", field="service", to_core=_service)
    ]
    buffer: Annotated[
        int,
        Parameter(
            64,
            "Packets that a router holds; 0: any number",
            least=0,
            most=UNLIMITED,
            to_core=lambda packets: packets or UNLIMITED,
        ),
    ]
    measured_from: Annotated[float, _time(0.0, "Time from which packets are counted")]
    end: Annotated[float, _time(1.0, "Length of the run")]
    seed: Annotated[int, SEED]


class FloodOptions(FloodParameters, RunOptions, total=False):
    """The parameters of a flood and the run configuration."""


@takes(FloodOptions)
def flood(*, progress: Progress = None, **given: Unpack[FloodOptions]) -> FloodRun:
    """Hosts behind routers send packets to one victim, and bots among them flood it.

    A packet that finds a router full is lost. Raises UsageError for values out of range, InputError for values that do
    not fit together, MpiError if processes cannot be started or one of them dies.
    """
    return run_model("flood", _run, FloodParameters, given, ticks(TICK)(given["end"]), progress)


def _run(run: ModelRun, progress: object | None, transport: _core.Transport | None) -> FloodRun:
    found = _core.flood(*run.core(_core.FloodParameters()), progress, transport)
    return FloodRun(_packets(found.legitimate), _packets(found.attack), EventRun.of(found.run))


def _packets(totals: _core.FloodTotals) -> Packets:
    return Packets(totals.sent, totals.delivered, totals.lost, totals.waited * TICK, totals.delay * TICK)
