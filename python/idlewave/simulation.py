"""Simulate a schedule on a machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from . import _core
from .errors import UsageError
from .machine import Machine, Noise
from .schedule import Schedule
from .timeline import Timeline

SCHEDULERS = ("sequential", "yawns")
DIALECTS = ("loggops",)


def simulate(
    schedule: Schedule,
    machine: Machine,
    *,
    noise: Noise | Literal["machine"] | None = "machine",
    seed: int = 0,
    record: bool = False,
    scheduler: str = "sequential",
    threads: int = 1,
    dialect: str = "loggops",
    progress: Callable[[int], None] | None = None,
) -> Timeline:
    """Simulate `schedule` on `machine` by the LogGOPS rules (docs/model.md), exactly, in integer picoseconds.

    `noise` replaces the machine's own; None switches it off. `seed` draws the ranks' phases in the noise. `record`
    keeps every op's times in the timeline. `scheduler` is sequential, or yawns: conservative windows on `threads`
    threads; the answer is the same. `progress` is called a few times a second with the simulated time in ps.
    Releases the GIL, so simulations run beside each other on threads.

    Raises Deadlock if the schedule cannot end, UsageError for a scheduler or dialect that does not exist.
    """
    if scheduler not in SCHEDULERS:
        raise UsageError(f"no scheduler is called '{scheduler}'; there are {', '.join(SCHEDULERS)}")
    if dialect not in DIALECTS:
        raise UsageError(f"no dialect is called '{dialect}'; there are {', '.join(DIALECTS)}")
    if not 1 <= threads <= 1024:
        raise UsageError(f"expected 1 to 1024 threads, found {threads}")
    if scheduler == "sequential" and threads != 1:
        raise UsageError(f"the sequential scheduler runs on one thread, not on {threads}; yawns runs on several")
    if not 0 <= seed < 2**64:
        raise UsageError(f"expected a seed from 0 to 2^64 - 1, found {seed}")
    if noise != "machine":
        machine = machine.with_noise(noise)
    answer = _core.simulate(schedule.core(), machine.core(), seed, record, threads, progress)
    return Timeline(answer["finish"], answer["messages"], answer["seconds"], answer["ops"])
