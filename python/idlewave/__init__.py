"""Idlewave: measure a machine's noise and network, trace an MPI program, simulate it at any scale.

>>> machine = idlewave.Machine.load("machine.toml")
>>> schedule = idlewave.Schedule.from_trace("trace/")
>>> timeline = idlewave.simulate(schedule, machine, seed=1)
>>> timeline.finish  # int64, one a rank, picoseconds
"""

from __future__ import annotations

from ._core import version as _version
from .compose import Job, Operation
from .errors import (
    Deadlock,
    IdlewaveError,
    InputError,
    MeasurementError,
    MpiError,
    ProgramError,
    UsageError,
)
from .machine import Level, Machine, Parameters, Segment
from .noise import (
    EmpiricalLength,
    ExponentialLength,
    FixedLength,
    LognormalLength,
    Noise,
    ParetoLength,
    PoissonNoise,
    UniformLength,
)
from .patterns import PatternOptions
from .schedule import Schedule, algorithms, convert
from .simulation import simulate
from .study import study
from .timeline import Timeline
from .trace import Trace

__version__ = _version()

__all__ = [
    "Deadlock",
    "EmpiricalLength",
    "ExponentialLength",
    "FixedLength",
    "IdlewaveError",
    "InputError",
    "Job",
    "Level",
    "LognormalLength",
    "Machine",
    "MeasurementError",
    "MpiError",
    "Noise",
    "Operation",
    "Parameters",
    "ParetoLength",
    "PatternOptions",
    "PoissonNoise",
    "ProgramError",
    "Schedule",
    "Segment",
    "Timeline",
    "Trace",
    "UniformLength",
    "UsageError",
    "algorithms",
    "convert",
    "simulate",
    "study",
]
