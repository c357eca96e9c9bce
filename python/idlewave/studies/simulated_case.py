"""Cases that are one simulation each, with or without noise: what they have in common, and their row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import UsageError
from ..machine import Machine
from ..schedule import Schedule
from ..simulation import simulate
from .case_study import Row
from .machine_variants import MOST_FACTOR
from .stopping import check_stop

SEEDS = 8
"""Seeds of the noise, if no other number is asked for."""


@dataclass(frozen=True)
class SimulatedCase:
    """A simulation of a program, of so many ranks, on a machine; `seed` is that of the noise, 0 without noise."""

    program: Schedule
    machine: Machine
    ranks: int
    seed: int


def simulated_row(case: SimulatedCase) -> Row:
    """When the last rank finishes, ps, and the number of messages."""
    timeline = simulate(case.program, case.machine, seed=case.seed, progress=check_stop)
    return {"finish_ps": int(timeline.max_finish), "messages": int(timeline.messages)}


def checked_seeds(seeds: int | Sequence[int]) -> list[int]:
    """The seeds: those that are listed, or so many from 0 on. Raises UsageError."""
    found = list(range(seeds)) if isinstance(seeds, int) else list(seeds)
    if not found or len({*found}) != len(found) or min(found) < 0:
        raise UsageError(f"expected at least one seed, each once and from 0 on, found {seeds}")
    return found


def checked_factors(
    factors: Sequence[float], least: float = 0.0, most: float = MOST_FACTOR, what: str = "factor"
) -> list[float]:
    """The numbers, each once. Raises UsageError."""
    found = [float(factor) for factor in factors]
    if not found or len({*found}) != len(found) or not all(least <= factor <= most for factor in found):
        raise UsageError(f"expected each {what} once, from {least:g} to {most:g}, found {', '.join(map(str, factors))}")
    return found
