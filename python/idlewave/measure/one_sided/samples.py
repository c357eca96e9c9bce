"""Samples of one-sided and two-sided communication, and the tables that they make."""

from __future__ import annotations

import contextlib
import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rich.progress import Progress

from ... import mpi as mpis
from ...errors import InputError
from ...escaping import name_of
from ...formatting import percent_text
from ...measurement_parameters import OneSidedParameters
from ...mpi import Mpi
from ...parameters import takes
from ..environment_file import read_environment
from ..network.files.file_schemas import OneSidedSchema
from ..network.fitting.epoch_scatter import half_width
from ..network.fitting.loggp import median_interval
from ..network.fitting.machine_speeds import PILOTS, REFERENCES, find_speeds
from ..network.fitting.pattern_assessment import few_samples_notes
from ..network.job.patterns import LEAST_SECONDS, LEAST_USUAL, MOST_SIZE, MOST_WINDOW, ranks_of, seed_of
from ..network.probing.job_run import (
    EPOCH,
    JobProbe,
    forget_recordings,
    joined_epochs,
    keep_samples,
    read_samples,
    read_summary,
    recorded,
)
from .libraries import BACK_ENDS, choose

NAME = "one-sided"
PING_PONG, ACKNOWLEDGED, PUT, GET = "ping-pong", "acknowledged send", "put", "get"
NOTIFIED, POLLED, RPUT, FENCE, PSCW = "put, then flag", "polled put", "rput", "fence", "post-start-complete-wait"
ACTIVE_MESSAGE, CALL, FLOOD = "active message", "call", "flood"
OVERLAP, GET_OVERLAP, COMPUTING = "overlap", "overlap of a get", "computing target"
OPERATIONS = (
    *(PING_PONG, ACKNOWLEDGED, PUT, GET, NOTIFIED, POLLED, RPUT, FENCE, PSCW),
    *(ACTIVE_MESSAGE, CALL, FLOOD, OVERLAP, GET_OVERLAP, COMPUTING),
)
"""By their numbers in the probe: probes/one_sided/operations.hpp says what each is."""
THERE_AND_BACK = (PING_PONG, NOTIFIED, POLLED, ACTIVE_MESSAGE)
"""Operations of which half the time is one way."""
OVERLAPS = (OVERLAP, GET_OVERLAP)
KEYS = ["back_end", "operation", "links", "size", "window"]
"""The columns that say what a sample is of."""
COLUMNS = (
    *KEYS,
    *("repetitions", "elapsed_ns", "alone_ns", "computed_ns", "at_ns", "disturbed"),
    *PILOTS,
    *REFERENCES,
)
INTERRUPTED = "The measurement was interrupted; this is what it had."
SHARED = "The ranks shared CPUs: the times of floods over several links have waits for a CPU in them."


@dataclass(frozen=True)
class OneSidedMeasurement:
    """A measurement of one-sided against two-sided communication.

    samples: a row a sample: epoch (the number of the probe's start, from 1 on), back_end (of BACK_ENDS), operation (of
    OPERATIONS), links (the target ranks of a flood), window (transfers of a flood on each link), size in bytes,
    repetitions, elapsed_ns of all repetitions; of an overlap also alone_ns (of the transfers without computations) and
    computed_ns; at_ns (since the beginning of the epoch), disturbed (involuntary context switches), pilot_before_ns and
    pilot_after_ns (a ping-pong of one byte just before and after), reference_before_ns and reference_after_ns (a
    reference computation, of the slower rank).
    """

    samples: pd.DataFrame
    probe: dict[str, Any]
    environment: dict[str, Any] | None = None
    chosen_notes: tuple[str, ...] = ()
    """Sentences about back ends that are not there."""

    @property
    def back_ends(self) -> tuple[str, ...]:
        """The back ends that were measured, in one order."""
        found = set(self.samples["back_end"])
        return tuple(name for name in BACK_ENDS if name in found)

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row a back end, operation, links, window and size: see `one_sided_table`."""
        return one_sided_table(self._usual)

    @cached_property
    def epoch_tables(self) -> list[pd.DataFrame]:
        """`table` of each epoch alone."""
        return [one_sided_table(part) for _, part in self._usual.groupby("epoch")]

    @property
    def floods(self) -> pd.DataFrame:
        """Floods: back_end, links, size, bandwidth in bytes a second and messages_per_s, both of all links together,
        each with its interval (…_low, …_high)."""
        own = self.table[self.table["operation"] == FLOOD]
        own = own.reset_index(drop=True)
        found = own[["back_end", "links", "size"]].copy()
        transfers = own["window"] * own["links"]
        for end, column in (("", "median_ps"), ("_low", "high_ps"), ("_high", "low_ps")):
            rate = transfers / (own[column] * 1e-12)
            found[f"bandwidth{end}"] = rate * own["size"]
            found[f"messages_per_s{end}"] = rate
        return found

    @property
    def overlaps(self) -> pd.DataFrame:
        """How much of a computation as long as the transfer hides in it: back_end, operation, size, hidden (a share)
        with its interval, hidden_low and hidden_high."""
        columns = ["back_end", "operation", "size", "hidden", "hidden_low", "hidden_high"]
        return self.table.loc[self.table["operation"].isin(OVERLAPS), columns].reset_index(drop=True)

    @cached_property
    def _usual(self) -> pd.DataFrame:
        """The undisturbed samples at the machine's usual speed; of what has none of these, all."""
        speeds = find_speeds(self.samples)
        usual = (speeds.of_sample == speeds.usual) & (self.samples["disturbed"] == 0).to_numpy()
        own = self.samples[usual]
        known = pd.MultiIndex.from_frame(own[KEYS])
        missing = ~pd.MultiIndex.from_frame(self.samples[KEYS]).isin(known)
        chosen: pd.DataFrame = self.samples[usual | missing]
        return chosen

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the reliability of the results."""
        notes = [*self.chosen_notes]
        if self.probe.get("interrupted"):
            notes.append(INTERRUPTED)
        if self.probe.get("shared_cpus") and (self.samples["links"] > 1).any():
            notes.append(SHARED)
        if (share := len(self._usual) / len(self.samples)) < LEAST_USUAL:
            notes.append(f"The times are of the {percent_text(share)} of the samples at the machine's usual speed.")
        return (*notes, *few_samples_notes("operations", self.table))

    def waits(self, back_end: str) -> bool:
        """Whether a put waits until a target that computes calls its library."""
        own = self.table[(self.table["back_end"] == back_end) & (self.table["operation"] == COMPUTING)]
        half = float(self.probe["computing_ns"]) * 1000 / 2
        return len(own) > 0 and bool((own["median_ps"] > half).mean() > 0.5)


def one_sided_table(samples: pd.DataFrame) -> pd.DataFrame:
    """A row a back end, operation, links, window and size: samples, median_ps of one repetition with the 95 % interval
    of another run's (low_ps, high_ps), and of an overlap the share of the computation that is hidden, hidden, with
    hidden_low and hidden_high (NaN for other operations)."""
    times = samples["elapsed_ns"] / samples["repetitions"] * 1000.0
    computing = samples["alone_ns"].to_numpy() > 0
    alone = samples["alone_ns"].where(computing, 1)
    hidden = (1 - (samples["elapsed_ns"] - samples["computed_ns"]) / alone).where(computing)
    rows = []
    for keys, own in samples.groupby(KEYS, sort=False):
        epochs = own["epoch"].to_numpy()
        values = _interval(times[own.index].to_numpy(), epochs)
        shares = (math.nan,) * 3
        if own["operation"].iloc[0] in OVERLAPS:
            shares = tuple(np.clip(_interval(hidden[own.index].to_numpy(), epochs), 0, 1))
        rows.append((*keys, len(own), values[0], max(values[1], 0.0), values[2], *shares))
    names = [*KEYS, "samples", "median_ps", "low_ps", "high_ps", "hidden", "hidden_low", "hidden_high"]
    table = pd.DataFrame(rows, columns=names)
    return table.sort_values(KEYS, key=_order, ignore_index=True)


def _order(column: pd.Series[Any]) -> pd.Series[Any]:
    """A column of a table, as it is sorted: names as they are listed here."""
    orders = {"back_end": BACK_ENDS, "operation": OPERATIONS}
    names = orders.get(str(column.name))
    return column if names is None else column.map({name: i for i, name in enumerate(names)})


def _interval(values: NDArray[np.float64], epochs: NDArray[np.int64]) -> tuple[float, float, float]:
    """The median, and the 95 % interval of that of another run of as many epochs: the wider of the median's own by
    order statistics, and Student's t of the epochs' medians, for the difference of two means."""
    median, low, high, _ = median_interval(values)
    half = float(half_width([float(np.median(values[epochs == epoch])) for epoch in np.unique(epochs)]))
    return median, min(low, median - half), max(high, median + half)


@takes(OneSidedParameters)
def measure_one_sided(
    mpi: Mpi | None = None,
    *,
    back_ends: Sequence[str] | None = None,
    gasnet: str | Path | None = None,
    hosts: Sequence[str] = (),
    progress: Progress | None = None,
    folder: Path | None = None,
    **given: Unpack[OneSidedParameters],
) -> OneSidedMeasurement:
    """Measure one-sided against two-sided communication between two ranks, and floods to more.

    `back_ends`: those of BACK_ENDS to compare; None: MPI's messages and windows, and the other libraries that are
    there and run. `gasnet`: the folder in which GASNet-EX is installed; None: that of $IDLEWAVE_GASNET. `hosts`:
    two hosts with a rank on each. `folder` gets the recording. Each operation and size is measured at least once an
    epoch. Raises MeasurementError if the probe fails, UsageError for a back end that is not there.
    """
    mpi = mpi or mpis.find()
    ranks = ranks_of(given["ranks"], hosts)
    chosen = choose(mpi, back_ends, gasnet)
    epochs = given["epochs"]
    with contextlib.ExitStack() as stack:
        place = folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="idlewave-")))
        forget_one_sided(place)
        for epoch in range(1, epochs + 1):
            options = ["--back-ends", ",".join(chosen.names), "--max-size", str(given["max_size"])]
            options += ["--seed", str(seed_of(given["seed"], epoch))]
            seconds = max(given["seconds"] / epochs, LEAST_SECONDS)
            job = JobProbe(NAME, ranks, mpi, seconds, tuple(hosts), chosen.program)
            with recorded(job, options, place / f"{EPOCH}{epoch}", progress):
                pass
        found = read_one_sided(place)
        keep_samples(folder, NAME, found.samples, found.environment)
        return OneSidedMeasurement(found.samples, found.probe, found.environment, chosen.notes)


def read_one_sided(folder: str | Path) -> OneSidedMeasurement:
    """The measurement from recordings of idlewave-one-sided: one in `folder`, or one in each of its folders epoch-N.

    Raises InputError naming the file, MeasurementError if there is no sample.
    """
    samples, said, first = joined_epochs(Path(folder), NAME, _read_epoch, "nothing was measured")
    return OneSidedMeasurement(samples, said, read_environment(first))


def forget_one_sided(folder: Path) -> None:
    """Remove the recordings of an earlier run from `folder`, so that they are not taken for this one's."""
    forget_recordings(folder, NAME)


def _read_epoch(place: Path) -> tuple[pd.DataFrame, dict[str, Any]]:
    said = read_summary(place, NAME, OneSidedSchema)
    limits = {
        "back_end": (0, len(said["back_ends"]) - 1),
        "operation": (0, len(said["operations"]) - 1),
        "links": (1, MOST_WINDOW),
        "window": (1, MOST_WINDOW),
        "size": (0, MOST_SIZE),
        "repetitions": (1, 2**31),
        "elapsed_ns": (1, 2**62),
        **dict.fromkeys(("alone_ns", "computed_ns", "disturbed"), (0, 2**62)),
        **dict.fromkeys((*PILOTS, *REFERENCES), (0, 2**50)),
    }
    samples = read_samples(place, NAME, said, COLUMNS, limits)
    for key, known in (("back_ends", BACK_ENDS), ("operations", OPERATIONS)):
        unknown = sorted(set(said[key]) - set(known))
        if unknown:
            raise InputError(f"{name_of(place)}: expected the {key} {', '.join(known)}, found {unknown[0]}")
    samples["back_end"] = [said["back_ends"][number] for number in samples["back_end"]]
    samples["operation"] = [said["operations"][number] for number in samples["operation"]]
    return samples, said
