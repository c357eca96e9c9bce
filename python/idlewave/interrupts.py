"""Which share of the computations of a traced program interrupts took, where simulated noise adds it again."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .escaping import cut
from .formatting import plain_percent

if TYPE_CHECKING:
    from .machine import Machine
    from .trace import Trace

LIKE_WAITS = 0.05
"""Of the time: shares of waits for a core that differ by less are of like loads."""


class Interrupts(NamedTuple):
    """The share of computations' time to remove, as `Schedule.from_trace(interrupts=)` takes it; and why, what is
    doubtful about it, or why nothing is removed: "" if there is nothing to say."""

    share: float
    note: str = ""


def interrupts_on(trace: Trace, machine: Machine) -> Interrupts:
    """What interrupts took of the computations of `trace` that the noise of `machine` adds again; nothing if its noise
    is not that of the hosts of the trace, or reaches no computation. The share is not known, and nothing is removed, if
    the noise does not say which of its time other tasks had, or the trace not how long its ranks waited for a core."""
    noise, origin = machine.noise, machine.noise_origin
    if noise is None or noise.overhead == 0 or "calc" not in machine.noise_reaches or origin is None or not origin.host:
        return Interrupts(0.0)
    ranks = trace.core().headers()
    if any(rank["host"] != origin.host for rank in ranks):
        return Interrupts(0.0)
    share = machine.interrupts
    if share is None or origin.core_wait_share is None:
        return Interrupts(
            0.0,
            f"the noise of {cut(machine.name)} does not say which of its time other tasks had: what interrupts took of "
            "the traced computations is in them, and noise adds it again",
        )
    if not all(rank["core_waits_known"] for rank in ranks):
        return Interrupts(
            0.0,
            "the trace does not say how long its ranks waited for a core: what such waits and interrupts took of the "
            "traced computations is in them, and noise adds it again",
        )
    if share == 0:
        return Interrupts(0.0)
    removed = (
        f"computations: without {plain_percent(share)} of their time, which interrupts took where they were traced and "
        "noise adds again"
    )
    return Interrupts(share, removed + _doubt(trace.share_without_core or 0.0, noise.overhead * origin.core_wait_share))


def _doubt(traced: float, measured: float) -> str:
    """Said if other tasks had the cores for another share of the time in the traced run than in the noise."""
    if abs(traced - measured) <= LIKE_WAITS:
        return ""
    return (
        f"; other tasks had the traced ranks' cores for {plain_percent(traced)} of the time, and for "
        f"{plain_percent(measured)} when the noise was measured: so this share is doubtful"
    )
