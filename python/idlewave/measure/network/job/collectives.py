"""Collective operations of all ranks of a job, measured by size."""

from __future__ import annotations

import contextlib
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import pandas as pd
from rich.progress import Progress

from ....errors import InputError, MeasurementError
from ....escaping import name_of
from ....measurement_parameters import CollectivesParameters
from ....mpi import Mpi
from ....parameters import takes
from ...environment_file import read_environment
from ..files.file_schemas import CollectivesSchema
from ..fitting.collective_times import ROOTED
from ..fitting.loggp import median_interval
from ..fitting.machine_speeds import PILOTS, REFERENCES, Speed, Speeds, find_speeds
from ..fitting.pattern_assessment import few_samples_notes
from ..probing.job_run import (
    JobProbe,
    epochs_of,
    forget_recordings,
    keep_samples,
    read_samples,
    read_summary,
    recorded,
)

COLUMNS = (
    "collective",
    "size",
    "repetitions",
    "elapsed_ns",
    "at_ns",
    "disturbed",
    *PILOTS,
)
BARRIERS = ("barrier_before_ns", "barrier_after_ns")
"""Columns that earlier versions did not record, as REFERENCES."""
NEAR = 1.25
"""A sample has the speed of a machine if its pilots are within this factor of the machine's."""
MOST_SIZE = 2**30
AUTOMATIC = ("", "0", "auto", "ignore", "false", "none")
"""Values of control variables that leave the choice to the library."""
DYNAMIC_RULES = "coll_tuned_use_dynamic_rules"


@dataclass(frozen=True)
class CollectiveMeasurement:
    """A measurement of collectives.

    samples: a row a sample: collective, size in bytes (of the vector, or of one rank's block), repetitions, elapsed_ns
    of all repetitions, at_ns since the beginning, disturbed (involuntary context switches of rank 0), pilot_before_ns
    and pilot_after_ns (a ping-pong of one byte just before and after), barrier_before_ns and barrier_after_ns (the same
    of a barrier), reference_before_ns and reference_after_ns (the same of a reference computation, of the slowest
    rank). Rank 0 is the root of collectives that have one, and a barrier follows each of their calls.
    """

    samples: pd.DataFrame
    probe: dict[str, Any]
    environment: dict[str, Any] | None = None

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return len(self.probe["ranks"])

    @property
    def one_node(self) -> bool:
        """Whether all ranks were on one node."""
        return len({rank.get("host") for rank in self.probe["ranks"]}) == 1

    @property
    def shares_cores(self) -> bool:
        """Whether ranks shared processors, so that times are those of taking turns."""
        places = [(rank.get("host"), rank.get("cpu", -1)) for rank in self.probe["ranks"]]
        return any(cpu < 0 for _, cpu in places) or len(set(places)) < len(places)

    def table(self, speed: Speed | None = None) -> pd.DataFrame:
        """A row a collective and size: samples, median_ps of one call, and its 95 % interval, low_ps and high_ps.

        Samples of another speed and interrupted ones do not count, but for a row that has no other; of the others those
        do not whose barriers had another speed than most, but for a row that has no other. `speed`: the one that
        counts; None: the usual one.
        """
        own = self._own(speed)
        rows_of = [self.samples["collective"], self.samples["size"]]
        counted = own | ~own.groupby(rows_of).transform("any")
        barriers = self.barrier_speeds(speed)
        if barriers is not None:
            usual = counted.copy()
            usual[own] = barriers.is_usual
            counted &= usual | ~usual.groupby(rows_of).transform("any")
        samples = self.samples[counted]
        each = samples["elapsed_ns"] / samples["repetitions"] * 1000.0
        rows = []
        for keys, values in each.groupby([samples["collective"], samples["size"]]):
            median, low, high, count = median_interval(values.to_numpy())
            rows.append((*keys, count, median, low, high))
        table = pd.DataFrame(rows, columns=["collective", "size", "samples", "median_ps", "low_ps", "high_ps"])
        order = {name: i for i, name in enumerate(self.probe["collectives"])}
        return table.sort_values(
            ["collective", "size"], key=lambda c: c.map(order) if c.name == "collective" else c, ignore_index=True
        )

    def rows_at(self, speed: Speed) -> float:
        """The share of the collectives and sizes with a sample at that speed that was not interrupted."""
        return float(self._own(speed).groupby([self.samples["collective"], self.samples["size"]]).any().mean())

    def barrier_speeds(self, speed: Speed | None = None) -> Speeds | None:
        """The speeds of the barriers beside the samples at the speed of the machine that were not interrupted.

        A library may have ways for collectives that are fast or slow at one time of a ping-pong. None where barriers
        were not recorded, and for ranks that take turns on a processor, whose barriers take any time.
        """
        recorded = set(BARRIERS) <= set(self.samples.columns) and self.samples[[*BARRIERS]].notna().all(axis=None)
        if self.shares_cores or not recorded:
            return None
        own = self._own(speed)
        return find_speeds(self.samples.loc[own, [*BARRIERS]], BARRIERS) if own.any() else None

    def best_at(self, pilot_ns: float) -> Speed:
        """The speed at which a byte takes `pilot_ns` there and back that most rows have here, on unshared cores or not:
        nothing is known of the machine's."""
        speeds = [replace(speed, pilot_ns=pilot_ns) for speed in find_speeds(self.samples).each]
        return max(speeds, key=self.rows_at)

    def _own(self, speed: Speed | None) -> pd.Series:
        """Whether a sample is at the speed of the machine, and was not interrupted."""
        quiet = self.samples["disturbed"] == 0
        if speed is not None:
            return speed.has(self.samples, NEAR) & quiet
        speeds = find_speeds(self.samples)
        return pd.Series(speeds.of_sample == speeds.usual, index=self.samples.index) & quiet

    @property
    def library(self) -> str:
        """What the library says of its version; empty if the recording does not have that."""
        return str(self.probe.get("library", ""))

    @property
    def forced(self) -> dict[str, str]:
        """The control variables that do not leave the choice of algorithms to the library, with their values."""
        listed = self.probe.get("control_variables", [])
        # Without this one Open MPI reads no choice. MPICH shows numbers, and only the environment sets its variables.
        dynamic = any(row["name"] == DYNAMIC_RULES and row["value"] == "true" for row in listed)
        return {
            row["name"]: str(row["value"])
            for row in listed
            if row["name"].lower().endswith("_algorithm")
            and str(row["value"]).lower() not in AUTOMATIC
            and (dynamic if row["name"].startswith("coll_tuned") else row.get("in_environment"))
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the reliability of the results."""
        notes = []
        if self.probe.get("interrupted"):
            notes.append("The measurement of collectives was interrupted; this is what it had.")
        if left_out := without_barrier(self.probe):
            notes.append(
                f"An earlier version measured {', '.join(left_out)} without a barrier behind each call: left out."
            )
        if self.shares_cores:
            notes.append("Ranks shared processors: the times are those of ranks that take turns.")
        notes += few_samples_notes("collectives", self.table())
        if self.forced:
            said = ", ".join(f"{name} = {value}" for name, value in self.forced.items())
            notes.append(f"Settings of the MPI library choose algorithms here: {said}.")
        return tuple(notes)


@takes(CollectivesParameters)
def measure_collectives(
    ranks: int,
    mpi: Mpi | None = None,
    *,
    progress: Progress | None = None,
    folder: Path | None = None,
    **given: Unpack[CollectivesParameters],
) -> CollectiveMeasurement:
    """Measure the collectives of `ranks` ranks. Each collective and size is measured at least once.

    `folder` gets the recording. Raises MeasurementError if the probe fails.
    """
    with contextlib.ExitStack() as stack:
        place = folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="idlewave-")))
        forget_collectives(place)
        job = JobProbe("collectives", ranks, mpi, given["seconds"])
        with recorded(job, collective_options(given["max_size"], given["seed"]), place, progress):
            found = read_collectives(place)
        keep_samples(folder, "collectives", found.samples, found.environment)
        return found


def collective_options(max_size: int, seed: int) -> list[str]:
    """The options of the probe beside its output and its time."""
    return ["--max-size", str(max_size), "--seed", str(seed)]


def forget_collectives(folder: Path) -> None:
    """Remove the recordings of an earlier run from `folder`, so that they are not taken for this one's."""
    forget_recordings(folder, "collectives")


def read_collectives(folder: str | Path) -> CollectiveMeasurement:
    """The collectives from recordings of idlewave-collectives: one in `folder`, or one in each of its folders epoch-N.

    Raises InputError naming the file, MeasurementError if there is no sample.
    """
    place = Path(folder)
    parts = epochs_of(place, "collectives") or [place]
    found = [_read_epoch(part) for part in parts]
    ranks = [[rank.get("host") for rank in said["ranks"]] for _, said in found]
    for part, hosts in zip(parts, ranks, strict=True):
        if hosts != ranks[0]:
            raise InputError(f"{name_of(part)}: expected the ranks of {name_of(parts[0])}, found those of another run")
    samples = pd.concat([samples for samples, _ in found], ignore_index=True)
    if samples.empty:
        raise MeasurementError(f"{name_of(place)}: no collective was measured; the time was too short")
    interrupted = any(said.get("interrupted") for _, said in found)
    return CollectiveMeasurement(samples, found[0][1] | {"interrupted": interrupted}, read_environment(parts[0]))


def _read_epoch(place: Path) -> tuple[pd.DataFrame, dict[str, Any]]:
    said = read_summary(place, "collectives", CollectivesSchema)
    limits = {
        "collective": (0, len(said["collectives"]) - 1),
        "size": (0, MOST_SIZE),
        "repetitions": (1, 2**31),
        "elapsed_ns": (1, 2**62),
        "disturbed": (0, 2**62),
    }
    later = [name for name in (*BARRIERS, *REFERENCES) if name in said["tables"]["samples"]["columns"]]
    limits |= dict.fromkeys((*PILOTS, *later), (0, 2**50))
    samples = read_samples(place, "collectives", said, COLUMNS, limits)
    samples["collective"] = [said["collectives"][number] for number in samples["collective"]]
    return samples[~samples["collective"].isin(without_barrier(said))].reset_index(drop=True), said


def without_barrier(said: dict[str, Any]) -> list[str]:
    """The collectives with a root that no barrier followed, as in recordings of earlier versions: what they measured
    cannot be simulated."""
    return [name for name in ROOTED if name in said["collectives"] and name not in said.get("before_barrier", ())]
