"""Idlewave: measure a machine's noise and network, trace an MPI program, simulate it at any scale.

>>> machine = idlewave.Machine.load("machine.toml")
>>> schedule = idlewave.Schedule.from_trace("trace/")
>>> timeline = idlewave.simulate(schedule, machine, seed=1)
>>> timeline.finish  # int64, one a rank, picoseconds

What a plain simulation does without is loaded when it is first used, so that it needs neither numpy nor pandas nor
pyarrow, and begins at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._core import version as _version
from .errors import (
    Deadlock,
    IdlewaveError,
    InputError,
    LibraryError,
    MeasurementError,
    MpiError,
    OutputError,
    ProgramError,
    UsageError,
)
from .machine import Level, Machine, Parameters, Segment
from .noise import (
    EmpiricalLength,
    ExponentialLength,
    FixedLength,
    LognormalLength,
    MixedNoise,
    Noise,
    ParetoLength,
    PoissonNoise,
    UniformLength,
)
from .pattern_options import PatternOptions
from .provenance import Provenance
from .schedule import Schedule, algorithms, convert, patterns
from .simulation import simulate
from .study import study
from .timeline import Recording, Timeline

if TYPE_CHECKING:
    from .compose import Job, Operation
    from .sensitivity import Sensitivities, sensitivities
    from .tolerance import LatencyBracket, LatencyTolerance, latency_tolerance
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
    "LatencyBracket",
    "LatencyTolerance",
    "Level",
    "LibraryError",
    "LognormalLength",
    "Machine",
    "MeasurementError",
    "MixedNoise",
    "MpiError",
    "Noise",
    "Operation",
    "OutputError",
    "Parameters",
    "ParetoLength",
    "PatternOptions",
    "PoissonNoise",
    "ProgramError",
    "Provenance",
    "Recording",
    "Schedule",
    "Segment",
    "Sensitivities",
    "Timeline",
    "Trace",
    "UniformLength",
    "UsageError",
    "algorithms",
    "convert",
    "latency_tolerance",
    "patterns",
    "sensitivities",
    "simulate",
    "study",
]


if not TYPE_CHECKING:  # else every name would pass for one that the package has
    _LATER = {
        "Job": "compose",
        "LatencyBracket": "tolerance",
        "LatencyTolerance": "tolerance",
        "Operation": "compose",
        "Sensitivities": "sensitivity",
        "Trace": "trace",
        "latency_tolerance": "tolerance",
        "sensitivities": "sensitivity",
    }

    def __getattr__(name: str) -> object:
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f".{_LATER[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
