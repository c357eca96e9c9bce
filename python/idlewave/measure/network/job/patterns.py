"""Patterns of messages, measured, and how far a machine's simulation is off on each.

What a program does is another question than what parameters were fitted to: so the machine is simulated on patterns
that programs have, and the error is shown by pattern, window and size.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rich.progress import Progress

from ....errors import InputError, UsageError
from ....escaping import name_of
from ....formatting import percent_text
from ....machine import Machine
from ....measurement_parameters import PatternsParameters
from ....mpi import Mpi
from ....parameters import takes
from ....simulation import as_machine
from ...environment_file import read_environment
from ..files.file_schemas import PatternsSchema
from ..fitting.machine_speeds import PILOTS, REFERENCES, find_speeds
from ..fitting.pattern_assessment import few_samples_notes, pattern_table, with_errors
from ..fitting.pattern_times import MOST_PEERS, PATTERNS, PEERS
from ..probing.job_run import (
    EPOCH,
    JobProbe,
    forget_recordings,
    joined_epochs,
    keep_samples,
    read_samples,
    read_summary,
    recorded,
)

COLUMNS = (
    "pattern",
    "window",
    "size",
    "repetitions",
    "delay_ns",
    "elapsed_ns",
    "at_ns",
    "disturbed",
    *PILOTS,
)
LEAST_USUAL = 0.9
"""Share of the samples at the usual speed below which it is said."""
MOST_WINDOW = 4096
MOST_SEED = 10**15
LEAST_SECONDS = 0.01
"""Of an epoch; each has at least one round."""
MOST_SIZE = 2**30


@dataclass(frozen=True)
class Lateness:
    """The time for which late receivers compute, ns, and what each byte on the way adds."""

    ns: float
    ns_per_byte: float


INTERRUPTED = "The measurement of patterns was interrupted; this is what it had."
SHARED = (
    "The ranks shared CPUs: the times of several peers have waits for a CPU in them, which no simulation has, and say "
    "nothing of the machine's error."
)


@dataclass(frozen=True)
class PatternMeasurement:
    """A measurement of patterns.

    samples: a row a sample: epoch (the number of the probe's start, from 1 on), pattern (its name), window (messages on
    the way at once; the number of several peers), size in bytes, repetitions, delay_ns (for which a late receiver
    computes, or both ranks before an exchange), elapsed_ns of all repetitions (of an exchange after a computation: from
    the moment at which the later rank called), at_ns (since the beginning of the epoch), disturbed (involuntary context
    switches of rank 0; in such an exchange of both ranks), pilot_before_ns and pilot_after_ns (a ping-pong of one byte
    just before and after), reference_before_ns and reference_after_ns (a reference computation, of the slower of the
    two ranks; earlier versions did not record it).
    """

    samples: pd.DataFrame
    probe: dict[str, Any]
    environment: dict[str, Any] | None = None

    @property
    def table(self) -> pd.DataFrame:
        """A row a pattern, window, size and delay_ns, of the samples at the machine's usual speed: see
        `pattern_table`."""
        own = self.samples[self._at_usual_speed & (self.samples["disturbed"] == 0).to_numpy()]
        return pattern_table(own if len(own) else self.samples)

    @property
    def _at_usual_speed(self) -> NDArray[np.bool_]:
        speeds = find_speeds(self.samples)
        return np.asarray(speeds.of_sample == speeds.usual)

    def compared(self, machine: Machine | str | Path) -> pd.DataFrame:
        """`table` with simulated_ps, by the simulation of `machine`, and error: simulated over measured, less 1."""
        return with_errors(self.table, as_machine(machine))

    @property
    def shares_cpus(self) -> bool:
        """Whether several peers were measured on ranks that had to take turns on a CPU."""
        return bool(self.probe.get("shared_cpus")) and bool((self.samples["pattern"] == PEERS).any())

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the reliability of the results."""
        notes = []
        if self.probe.get("interrupted"):
            notes.append(INTERRUPTED)
        if self.shares_cpus:
            notes.append(SHARED)
        if (share := float(self._at_usual_speed.mean())) < LEAST_USUAL:
            notes.append(f"The times are of the {percent_text(share)} of the samples at the machine's usual speed.")
        return (*notes, *few_samples_notes("patterns", self.table))


@takes(PatternsParameters)
def measure_patterns(
    mpi: Mpi | None = None,
    *,
    changes: Sequence[int] = (),
    lateness: Lateness | None = None,
    hosts: Sequence[str] = (),
    progress: Progress | None = None,
    folder: Path | None = None,
    **given: Unpack[PatternsParameters],
) -> PatternMeasurement:
    """Measure patterns of messages. Each pattern, window and size is measured at least once an epoch.

    They are between two ranks; of more `ranks` (None: as many as this process has CPUs, up to one more than the most
    peers), each also exchanges messages with several others at once.

    `changes`: the first size of each protocol that is known: both sides of it are measured. `lateness`: how long late
    receivers compute; None: as the probe has it. `hosts`: two hosts with a rank on each. `folder` gets the recording.
    Raises MeasurementError if the probe fails.
    """
    epochs = given["epochs"]
    ranks = ranks_of(given["ranks"], hosts)
    with contextlib.ExitStack() as stack:
        place = folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="idlewave-")))
        forget_patterns(place)
        for epoch in range(1, epochs + 1):
            options = pattern_options(given["max_size"], seed_of(given["seed"], epoch), changes, lateness)
            job = JobProbe("patterns", ranks, mpi, max(given["seconds"] / epochs, LEAST_SECONDS), tuple(hosts))
            with recorded(job, options, place / f"{EPOCH}{epoch}", progress):
                pass
        found = read_patterns(place)
        keep_samples(folder, "patterns", found.samples, found.environment)
        return found


def ranks_of(ranks: int | None, hosts: Sequence[str]) -> int:
    """The ranks that measure patterns; None: as many as are useful here. Raises UsageError if two hosts have more."""
    found = ranks or min(max(len(os.sched_getaffinity(0)), 2), MOST_PEERS + 1)
    if hosts and found != 2:
        raise UsageError(f"two hosts have a rank each: expected 2 ranks, found {found}")
    return found


def seed_of(seed: int, epoch: int) -> int:
    """Each epoch has an order of its own."""
    return (seed + epoch - 1) % MOST_SEED


def pattern_options(max_size: int, seed: int, changes: Sequence[int], lateness: Lateness | None) -> list[str]:
    """The options of the probe beside its output and its time."""
    options = ["--max-size", str(max_size), "--seed", str(seed)]
    if changes:
        options += ["--changes", ",".join(str(size) for size in changes)]
    if lateness is not None:
        options += ["--late", repr(lateness.ns), "--late-per-byte", repr(lateness.ns_per_byte)]
    return options


def findings(folder: Path) -> tuple[tuple[int, ...], Lateness]:
    """The sizes at which the protocol was known to change, and the time of late receivers, with which `folder` was
    recorded: those that PRTT found in the same start of the ranks. Raises InputError naming the file."""
    said = read_summary(folder, "patterns", PatternsSchema)
    return tuple(said.get("changes", ())), Lateness(said.get("late_ns", 0.0), said.get("late_ns_per_byte", 0.0))


def read_patterns(folder: str | Path) -> PatternMeasurement:
    """The patterns from recordings of idlewave-patterns: one in `folder`, or one in each of its folders epoch-N.

    Raises InputError naming the file, MeasurementError if there is no sample.
    """
    samples, said, first = joined_epochs(Path(folder), "patterns", _read_epoch, "no pattern was measured")
    return PatternMeasurement(samples, said, read_environment(first))


def forget_patterns(folder: Path) -> None:
    """Remove the recordings of patterns of an earlier run from `folder`, so that they are not taken for this one's."""
    forget_recordings(folder, "patterns")


def _read_epoch(place: Path) -> tuple[pd.DataFrame, dict[str, Any]]:
    said = read_summary(place, "patterns", PatternsSchema)
    limits = {
        "pattern": (0, len(said["patterns"]) - 1),
        "window": (1, MOST_WINDOW),
        "size": (0, MOST_SIZE),
        "repetitions": (1, 2**31),
        "delay_ns": (0, 2**50),
        "elapsed_ns": (1, 2**62),
        "disturbed": (0, 2**62),
    }
    references = REFERENCES if set(REFERENCES) <= set(said["tables"]["samples"]["columns"]) else ()
    limits |= dict.fromkeys((*PILOTS, *references), (0, 2**50))
    samples = read_samples(place, "patterns", said, COLUMNS, limits)
    unknown = sorted(set(said["patterns"]) - set(PATTERNS))
    if unknown:
        raise InputError(f"{name_of(place)}: expected the patterns {', '.join(PATTERNS)}, found {unknown[0]}")
    samples["pattern"] = [said["patterns"][number] for number in samples["pattern"]]
    return samples, said
