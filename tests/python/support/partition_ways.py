"""Ways to run a simulation on the kernel's partitions, and what is run."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from _pytest.mark import ParameterSet
from idlewave import Machine, Schedule
from idlewave.random_noise import ExponentialLength, PoissonNoise
from random_goal import Limits
from random_one_sided import random_one_sided_goal

WAYS: tuple[dict[str, Any], ...] = (
    {"scheduler": "check"},
    {"scheduler": "yawns", "threads": 2},
    {"scheduler": "yawns", "threads": 4, "placement": "cyclic"},
    {"scheduler": "timewarp"},
    {"scheduler": "timewarp", "threads": 2, "placement": "cyclic", "migrate": True},
    {"scheduler": "timewarp", "threads": 4, "lazy": True},
    {"scheduler": "yawns", "processes": 2},
    {"scheduler": "yawns", "processes": 2, "placement": "graph"},
    {"scheduler": "timewarp", "threads": 2, "processes": 2},
)


def runs_of(ways: Sequence[dict[str, Any]], schedules: int = 4) -> list[ParameterSet]:
    """Each way with the number of each schedule; all but one of a way are long."""
    return [
        pytest.param(way, schedule, marks=pytest.mark.long if schedule != number % schedules else ())
        for number, way in enumerate(ways)
        for schedule in range(schedules)
    ]


def noisy_machine() -> Machine:
    """A machine with detours."""
    return Machine.preset("bigred").with_noise(PoissonNoise(5e8, ExponentialLength(2e7)))


def one_sided_schedule() -> Schedule:
    """A random schedule of puts, gets, locks and messages, 646 in all, of 29 ranks."""
    return Schedule.from_goal(random_one_sided_goal(random.Random(11), Limits(ranks=60, messages=1500)))


def schedules() -> tuple[Schedule, ...]:
    """Patterns without and with rendezvous, and one-sided operations."""
    return (
        Schedule.pattern("dissemination", ranks=100),
        Schedule.pattern("alltoall", ranks=16, bytes=100_000),
        Schedule.pattern("halo2d", ranks=36, bytes=1000, compute_ns=5000),
        one_sided_schedule(),
    )
