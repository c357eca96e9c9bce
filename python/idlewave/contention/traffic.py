"""Traffic into memory: what is asked for, the cores that make it, and traffic alone."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import MeasurementError, UsageError
from ..formatting import join_words, unknown_name, volume_text
from ..measure.probe_process import run_probe, shown
from ..native_files import package_data
from .columns import NO_TRAFFIC, TRAFFIC_KINDS
from .defaults import SEED

if TYPE_CHECKING:
    from rich.progress import Progress

NAME = "contention"
TOLERANCE = 0.01
"""A rate is reached if at most this share of it is missing."""
LEAST_RATE, MOST_RATE = 1e3, 1e13
PATIENCE_S = 60.0


@dataclass(frozen=True)
class Traffic:
    """Traffic: its kind (of TRAFFIC_KINDS), rate in bytes per second of all writers together, pattern, stores, the
    number of cores that write (0: it is handled on the victim's core), and the bytes that each writes again and
    again."""

    kind: str = "writer"
    rate: float = 1e9
    pattern: str = "sequential"
    stores: str = "cached"
    cores: int = 1
    buffer_bytes: int = 64 * 2**20

    def __post_init__(self) -> None:
        if self.kind not in TRAFFIC_KINDS:
            raise UsageError(unknown_name("kind of traffic", self.kind, TRAFFIC_KINDS))
        if not LEAST_RATE <= self.rate <= MOST_RATE:
            raise UsageError(
                f"expected a rate from {LEAST_RATE:g} to {MOST_RATE:g} bytes per second, found {self.rate:g}"
            )
        if self.cores < 0:
            raise UsageError(f"expected a number of cores from 0 on, found {self.cores}")
        if self.kind == "mpi-put" and self.cores != 1:
            raise UsageError(f"puts are made by one rank on one core, found {self.cores} cores")
        if self.kind == "mpi-put" and self.stores != "library":
            raise UsageError("puts are stored as the MPI library does: expected the stores 'library'")

    def options(self, cpus: Sequence[int], seed: int) -> list[str]:
        """The probe's options for it, written by these CPUs."""
        stores = [] if self.stores == "library" else ["--stores", self.stores]
        return [
            *("--rate", repr(float(self.rate)), "--writer-cpus", ",".join(map(str, cpus))),
            *("--pattern", self.pattern, *stores, "--buffer", str(self.buffer_bytes), "--seed", str(seed)),
        ]


def places(cores: int) -> tuple[int, list[int]]:
    """The victim's CPU and those that write, of the CPUs that this process may use. Raises UsageError if there are too
    few."""
    allowed = sorted(os.sched_getaffinity(0))
    if cores == 0:
        return allowed[0], [allowed[0]]
    if cores >= len(allowed):
        raise UsageError(
            f"{cores} cores that write need one more for the victim; this process may use {len(allowed)}: "
            f"{join_words(list(map(str, allowed)))}"
        )
    return allowed[0], allowed[-cores:]


def reached(asked: float, achieved: float) -> bool:
    """Whether a rate was reached."""
    return achieved >= (1 - TOLERANCE) * asked


def rate_note(asked: float, achieved: float) -> str:
    """A sentence about a rate that was not reached."""
    return f"{volume_text(asked)}/s were asked, and {volume_text(achieved)}/s were reached."


def summary_of(printed: str) -> dict[str, Any]:
    """The JSON object that the probe prints at its end. Raises MeasurementError if there is none."""
    lines = printed.strip().splitlines()
    try:
        found = json.loads(lines[-1] if lines else "")
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise MeasurementError(f"the probe of {NAME} ended without its summary")
    return found


def make_traffic(
    traffic: Traffic,
    seconds: float,
    cpus: Sequence[int] | None = None,
    progress: Progress | None = None,
    seed: int = SEED,
) -> dict[str, Any]:
    """Write into memory for `seconds`, from `cpus` (default: the last ones that this process may use).

    Returns what the probe says: asked_rate, achieved_rate, reached (within 1 %), written (bytes), traffic_seconds,
    writer_cpus, interrupted. Raises MeasurementError if the probe fails, UsageError for CPUs that there are not.
    """
    if traffic.kind != "writer" or traffic.cores < 1:
        raise UsageError(f"expected traffic of a writer on cores of its own, found {traffic.kind} on {traffic.cores}")
    allowed = sorted(os.sched_getaffinity(0))
    chosen = list(cpus) if cpus else allowed[-traffic.cores :]
    if len(chosen) < traffic.cores or not set(chosen) <= set(allowed):
        raise UsageError(f"expected {traffic.cores} of the CPUs {allowed} that this process may use, found {chosen}")
    command = [str(package_data() / "bin" / "idlewave-contention"), "--seconds", repr(float(seconds))]
    command += traffic.options(chosen, seed)
    with shown(progress, "traffic") as advance:
        return summary_of(run_probe(command, None, NAME, seconds + PATIENCE_S, advance))


def label(traffic: Traffic | None) -> str:
    """The value of the column `traffic`."""
    return NO_TRAFFIC if traffic is None else traffic.kind
