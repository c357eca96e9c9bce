"""Patterns of messages between two ranks, measured, and how far a machine's simulation is off on each.

Parameters are fitted to exchanges of one kind. What a program does is another question: so the machine is simulated on
patterns that programs have, and the error is shown by pattern, window and size.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pandas as pd
from rich.progress import Progress

from ....errors import InputError, MeasurementError
from ....escaping import name_of
from ....machine import Machine
from ....measurement_parameters import PatternsParameters
from ....mpi import Mpi
from ....parameters import takes
from ....simulation import as_machine
from ...environment_file import read_environment
from ..files.file_schemas import PatternsSchema
from ..fitting.loggp import median_interval
from ..fitting.pattern_times import PATTERNS, pattern_time
from ..probing.job_run import JobProbe, keep_samples, read_columns, read_summary, recorded

COLUMNS = ("pattern", "window", "size", "repetitions", "elapsed_ns", "at_ns", "disturbed")
MOST_WINDOW = 4096
MOST_SIZE = 2**30
KEYS = ["pattern", "window", "size"]


@dataclass(frozen=True)
class PatternMeasurement:
    """A measurement of patterns.

    samples: a row a sample: pattern (its name), window (messages on the way at once), size in bytes, repetitions,
    elapsed_ns of all of them, at_ns (since the beginning), disturbed (involuntary context switches of rank 0).
    """

    samples: pd.DataFrame
    probe: dict[str, Any]
    environment: dict[str, Any] | None = None

    @property
    def table(self) -> pd.DataFrame:
        """A row a pattern, window and size: samples, median_ps of one repetition, and its 95 % interval, low_ps and
        high_ps."""
        rows = []
        each = self.samples["elapsed_ns"] / self.samples["repetitions"] * 1000
        for (pattern, window, size), values in each.groupby([self.samples[key] for key in KEYS]):
            median, low, high, count = median_interval(values.to_numpy())
            rows.append((pattern, window, size, count, median, low, high))
        table = pd.DataFrame(rows, columns=[*KEYS, "samples", "median_ps", "low_ps", "high_ps"])
        order = {pattern: i for i, pattern in enumerate(PATTERNS)}
        return table.sort_values(KEYS, key=lambda c: c.map(order) if c.name == "pattern" else c, ignore_index=True)

    def compared(self, machine: Machine | str | Path) -> pd.DataFrame:
        """`table` with simulated_ps, by the simulation of `machine`, and error: simulated over measured, less 1."""
        table, simulated_on = self.table, as_machine(machine)
        keys = zip(table["pattern"], table["window"], table["size"], strict=True)
        simulated = [pattern_time(simulated_on, str(name), int(window), int(size)) for name, window, size in keys]
        return table.assign(simulated_ps=simulated, error=np.array(simulated) / table["median_ps"] - 1)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the reliability of the results."""
        notes = []
        if self.probe.get("interrupted"):
            notes.append("The measurement was interrupted; this is what it had.")
        fewest = int(self.table["samples"].min())
        if fewest < FEWEST:
            notes.append(f"Some patterns have only {fewest} samples: more seconds make their medians reliable.")
        return tuple(notes)


FEWEST = 7
"""Samples below which a median has hardly an interval."""


@takes(PatternsParameters)
def measure_patterns(
    mpi: Mpi | None = None,
    *,
    progress: Progress | None = None,
    folder: Path | None = None,
    **given: Unpack[PatternsParameters],
) -> PatternMeasurement:
    """Measure patterns of messages between two ranks. Each pattern, window and size is measured at least once.

    `folder` gets the recording. Raises MeasurementError if the probe fails.
    """
    options = ["--max-size", str(given["max_size"]), "--seed", str(given["seed"])]
    with recorded(JobProbe("patterns", 2, mpi, given["seconds"]), options, folder, progress) as place:
        found = read_patterns(place)
        keep_samples(folder, "patterns", found.samples, found.environment)
        return found


def read_patterns(folder: str | Path) -> PatternMeasurement:
    """The patterns from a recording of idlewave-patterns. Raises InputError naming the file, MeasurementError if it has
    no sample."""
    place = Path(folder)
    said = read_summary(place, "patterns", PatternsSchema)
    samples = pd.DataFrame(read_columns(place, "patterns", said, "samples"))
    missing = [column for column in COLUMNS if column not in samples.columns]
    if missing:
        raise InputError(f"{name_of(place)}: the table of samples lacks the columns {', '.join(missing)}")
    if samples.empty:
        raise MeasurementError(f"{name_of(place)}: no pattern was measured; the time was too short")
    limits = {
        "pattern": (0, len(said["patterns"]) - 1),
        "window": (1, MOST_WINDOW),
        "size": (0, MOST_SIZE),
        "repetitions": (1, 2**31),
        "elapsed_ns": (1, 2**62),
        "disturbed": (0, 2**62),
    }
    for column, (least, most) in limits.items():
        wrong = samples.loc[(samples[column] < least) | (samples[column] > most), column]
        if len(wrong):
            raise InputError(
                f"{name_of(place)}: {column} of sample {wrong.index[0]}: expected {least} to {most}, "
                f"found {wrong.iloc[0]}"
            )
    unknown = sorted(set(said["patterns"]) - set(PATTERNS))
    if unknown:
        raise InputError(f"{name_of(place)}: expected the patterns {', '.join(PATTERNS)}, found {unknown[0]}")
    samples["pattern"] = [said["patterns"][number] for number in samples["pattern"]]
    return PatternMeasurement(samples, said, read_environment(place))
