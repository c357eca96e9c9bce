"""Idlewave: measure a machine's noise and network, trace an MPI program, simulate it at any scale.

>>> machine = idlewave.Machine.load("machine.toml")
>>> schedule = idlewave.Schedule.from_trace("trace/")
>>> timeline = idlewave.simulate(schedule, machine, seed=1)
>>> timeline.finish  # int64, one a rank, picoseconds

Everything is loaded when it is first used: a plain simulation needs neither numpy nor pandas nor pyarrow, and a command
answers signals before it loads anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .algorithm_rules import AlgorithmRule
    from .cold_caches import ColdCaches
    from .errors import (
        CaseError,
        Deadlock,
        IdlewaveError,
        InputError,
        LibraryError,
        MeasurementError,
        MemoryLimit,
        MpiError,
        OutputError,
        ProgramError,
        Standstill,
        UnmatchedMessage,
        UnmatchedReceive,
        UnmatchedRendezvous,
        UnmatchedSend,
        UsageError,
    )
    from .jobs import Job, Operation
    from .machine import Level, Machine, Parameters, Segment
    from .noise_models import Noise
    from .pattern_options import PatternOptions
    from .provenance import Provenance
    from .random_noise import (
        EmpiricalLength,
        ExponentialLength,
        FixedLength,
        LognormalLength,
        MixedNoise,
        ParetoLength,
        PoissonNoise,
        UniformLength,
    )
    from .schedule import Schedule, algorithms, convert, patterns
    from .sensitivity import Sensitivities, sensitivities
    from .simulation import simulate
    from .studies.studies import study
    from .timeline import Recording, Timeline
    from .tolerance import LatencyBracket, LatencyTolerance, latency_tolerance
    from .trace import Trace
    from .variation import Variation

    __version__: str

_NAMES = {
    "algorithm_rules": ("AlgorithmRule",),
    "cold_caches": ("ColdCaches",),
    "jobs": ("Job", "Operation"),
    "errors": (
        "CaseError",
        "Deadlock",
        "IdlewaveError",
        "InputError",
        "LibraryError",
        "MeasurementError",
        "MemoryLimit",
        "MpiError",
        "OutputError",
        "ProgramError",
        "Standstill",
        "UnmatchedMessage",
        "UnmatchedReceive",
        "UnmatchedRendezvous",
        "UnmatchedSend",
        "UsageError",
    ),
    "machine": ("Level", "Machine", "Parameters", "Segment"),
    "noise_models": ("Noise",),
    "pattern_options": ("PatternOptions",),
    "provenance": ("Provenance",),
    "random_noise": (
        "EmpiricalLength",
        "ExponentialLength",
        "FixedLength",
        "LognormalLength",
        "MixedNoise",
        "ParetoLength",
        "PoissonNoise",
        "UniformLength",
    ),
    "schedule": ("Schedule", "algorithms", "convert", "patterns"),
    "sensitivity": ("Sensitivities", "sensitivities"),
    "simulation": ("simulate",),
    "studies.studies": ("study",),
    "timeline": ("Recording", "Timeline"),
    "tolerance": ("LatencyBracket", "LatencyTolerance", "latency_tolerance"),
    "trace": ("Trace",),
    "variation": ("Variation",),
}
"""What is public, by the module that has it."""

__all__ = [
    "AlgorithmRule",
    "CaseError",
    "ColdCaches",
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
    "MemoryLimit",
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
    "Standstill",
    "Timeline",
    "Trace",
    "UniformLength",
    "UnmatchedMessage",
    "UnmatchedReceive",
    "UnmatchedRendezvous",
    "UnmatchedSend",
    "UsageError",
    "Variation",
    "algorithms",
    "convert",
    "latency_tolerance",
    "patterns",
    "sensitivities",
    "simulate",
    "study",
]


if not TYPE_CHECKING:  # else every name would pass for one that the package has
    _MODULES = {name: module for module, names in _NAMES.items() for name in names}

    def __getattr__(name: str) -> object:
        from importlib import import_module
        from importlib.machinery import PathFinder  # importlib.util takes longer to load

        if name in _MODULES:
            found = getattr(import_module(f".{_MODULES[name]}", __name__), name)
        elif name == "__version__":
            found = import_module("._core", __name__).version()
        elif not name.startswith("__") and PathFinder.find_spec(f"{__name__}.{name}", __path__):
            found = import_module(f".{name}", __name__)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), "__version__", *__all__})
