"""The network: the LogGP probe between two MPI ranks, and the fit of its samples."""

from __future__ import annotations

import contextlib
import json
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pandas as pd
from rich.progress import Progress

from ... import mpi as mpis
from ...environment import describe
from ...errors import MeasurementError
from ...mpi import Mpi
from .loggp import LogGP, estimate

PATIENCE = 120.0
"""Seconds beyond the time asked for after which a probe is given up: MPI's own start and end are in it."""

FEWEST_VISITS = 10
"""Sizes with fewer samples than this are left out, if others have more."""


@dataclass(frozen=True)
class NetworkMeasurement:
    """What was measured.

    samples: one row a sample: series (docs/measuring.md), size in bytes, n, delay_ns, repetition, value_ns, start_ns,
    disturbed. fit: see loggp.py. probe: what the probe says of its run (ranks' places, MPI library, eager limit and
    its variable, sizes at which something changes). attempts: how often it was measured.
    """

    samples: pd.DataFrame
    fit: LogGP
    probe: dict[str, Any]
    environment: dict[str, Any]
    attempts: int = 1

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about how the parameters came about."""
        notes = list(self.fit.notes)
        if self.attempts > 1:
            notes.append(f"The fit failed {self.attempts - 1} times before; the measurement was repeated.")
        return tuple(notes)


def measure_network(
    mpi: Mpi | None = None,
    seconds: float = 10.0,
    max_size: int = 256 * 1024,
    progress: Progress | None = None,
    folder: Path | None = None,
    seed: int = 1,
    attempts: int = 3,
) -> NetworkMeasurement:
    """Measure L, o_s, o_r, g, G, O and S between two ranks of `mpi` (default: the one found) for so many
    seconds.

    Sizes from 1 B to `max_size`, at least 64 B. A failed fit is measured anew, up to `attempts` times in all,
    for a disturbed machine may be quiet the next time; the last failure is raised as MeasurementError, as is
    a probe that fails. `progress` gets one task; `folder` keeps the raw samples as they come, so that an
    interrupt loses nothing.
    """
    chosen = mpi or mpis.find()
    program = mpis.build(chosen, "loggp")
    environment = describe(chosen)
    with contextlib.ExitStack() as stack:
        place = folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="idlewave-")))
        place.mkdir(parents=True, exist_ok=True)
        failure = MeasurementError(f"attempts must be at least 1, found {attempts}")
        for attempt in range(1, attempts + 1):
            output = place / f"network-{attempt}"
            options = [
                "--seconds",
                str(seconds),
                "--max-size",
                str(max_size),
                "--seed",
                str(seed + attempt - 1),
            ]
            probe = _run(chosen, program, ["--output", str(output), *options], seconds, progress)
            samples = read_samples(output / "samples.csv")
            try:
                fit = estimate(same_visits(samples), probe["eager_limit"], seed)
            except MeasurementError as error:
                failure = error
                continue
            return NetworkMeasurement(samples, fit, probe, environment, attempt)
        raise failure


def read_samples(file: Path) -> pd.DataFrame:
    """The samples in a probe's file; a line that an interrupt cut off is left out."""
    text = file.read_text()
    complete = file.with_suffix(".part") if not text.endswith("\n") else file
    if complete != file:
        complete.write_text(text[: text.rfind("\n") + 1])
    types = {
        "size": "int64",
        "n": "int64",
        "delay_ns": "float64",
        "repetition": "int64",
        "value_ns": "float64",
    }
    return pd.read_csv(complete, dtype=types)


def same_visits(samples: pd.DataFrame) -> pd.DataFrame:
    """The core series with as many samples of every size, numbered anew: what the estimator takes as repetitions.

    Sizes that were settled early, or that refinement came past, have fewer samples than others.
    """
    core = samples[samples["series"].isin(["rtt", "train", "paced", "recv", "wait"]) & (samples["size"] > 0)]
    groups = core.groupby(["series", "size"])
    numbered = core.assign(repetition=groups.cumcount())
    per_size = groups.size().unstack("series").min(axis=1)
    enough = per_size[per_size >= min(per_size.max(), FEWEST_VISITS)]
    chosen: pd.DataFrame = numbered[numbered["size"].isin(enough.index) & (numbered["repetition"] < enough.min())]
    return chosen


def _run(mpi: Mpi, program: Path, options: list[str], seconds: float, progress: Progress | None) -> dict[str, Any]:
    command = [str(mpi.mpiexec), "-n", "2", str(program), *options]
    task = progress.add_task("network", total=1.0) if progress else None
    summary: dict[str, Any] | None = None
    with (
        tempfile.TemporaryFile("w+") as complaints,
        _process(mpi, command, complaints, seconds + PATIENCE) as running,
    ):
        assert running.stdout is not None
        for line in running.stdout:
            if line.startswith("progress ") and progress and task is not None:
                progress.update(task, completed=float(line.split()[1]))
            elif line.startswith("{"):
                summary = json.loads(line)
        status = running.wait()
        complaints.seek(0)
        words = complaints.read().strip()
    if status != 0 or summary is None:
        raise MeasurementError(f"the network probe failed (exit status {status}): {words[-2000:] or 'it said nothing'}")
    if progress and task is not None:
        progress.update(task, completed=1.0)
    return summary


@contextlib.contextmanager
def _process(mpi: Mpi, command: list[str], complaints: IO[str], limit: float) -> Iterator[subprocess.Popen[str]]:
    """A running mpiexec that ends with the block, whatever ends that, and after `limit` seconds at the
    latest."""
    running = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=complaints,
        text=True,
        env=mpi.environment(),
    )
    watch = threading.Timer(limit, running.kill)
    watch.start()
    try:
        yield running
    finally:
        watch.cancel()
        if running.poll() is None:
            running.terminate()
            try:
                running.wait(10)
            except subprocess.TimeoutExpired:
                running.kill()
