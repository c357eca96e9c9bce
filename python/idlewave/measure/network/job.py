"""Probes that all ranks of a job run: starting them, and reading the folder that they leave."""

from __future__ import annotations

import contextlib
import json
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from rich.progress import Progress, TaskID

from ... import mpi as mpis
from ...errors import InputError, MeasurementError, UsageError
from ...mpi import Mpi

PATIENCE = 180.0
"""Seconds beyond the time asked for after which a probe is given up: MPI's own start and end are in it."""
ENDING = 10.0
"""Seconds that the ranks have to keep what they recorded when they are told to end."""


def run_job(
    mpi: Mpi, name: str, ranks: int, options: list[str], seconds: float, progress: Progress | None = None
) -> None:
    """Run the probe `name` on so many ranks. Raises MeasurementError with its words if it fails.

    What it recorded is in the folder that `options` name, also when this is interrupted.
    """
    if ranks < 2:
        raise UsageError(f"{name} are measured between at least 2 ranks, found {ranks}")
    command = [str(mpi.mpiexec), "-n", str(ranks), str(mpis.build(mpi, name)), *options]
    task = progress.add_task(name, total=1.0) if progress else None
    with tempfile.TemporaryFile("w+") as complaints:
        with _process(mpi, command, complaints, seconds + PATIENCE) as running:
            assert running.stdout is not None
            for line in running.stdout:
                _advance(progress, task, line)
            status = running.wait()
        if status == 0:
            return
        complaints.seek(0)
        words = complaints.read().strip()
    raise MeasurementError(f"the probe of {name} failed (exit status {status}): {words[-2000:] or 'it said nothing'}")


def _advance(progress: Progress | None, task: TaskID | None, line: str) -> None:
    word, _, fraction = line.partition(" ")
    if word == "progress" and progress is not None and task is not None:
        progress.update(task, completed=float(fraction))


@contextlib.contextmanager
def _process(mpi: Mpi, command: list[str], complaints: IO[str], limit: float) -> Iterator[subprocess.Popen[str]]:
    """A running mpiexec that ends with the block, whatever ends that, and after `limit` seconds at the latest."""
    running = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=complaints,
        text=True,
        env=mpi.environment(),
    )
    watch = threading.Timer(limit, running.kill)
    watch.daemon = True
    watch.start()
    try:
        yield running
    finally:
        watch.cancel()
        if running.poll() is None:
            running.terminate()
            try:
                running.wait(ENDING)
            except subprocess.TimeoutExpired:
                running.kill()
                running.wait()


def read_summary(folder: Path, name: str) -> dict[str, Any]:
    """What the probe `name` says of its run in `folder`. Raises InputError naming the file."""
    file = folder / f"{name}.json"
    try:
        said = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: cannot be read as a recording of {name}: {error}") from error
    except ValueError as error:
        raise InputError(f"{file}: expected JSON: {error}") from error
    if not isinstance(said, dict) or said.get("probe") != name or not isinstance(said.get("ranks"), list):
        raise InputError(f"{file}: expected what the probe of {name} writes")
    return said


def read_columns(folder: Path, said: dict[str, Any], table: str) -> dict[str, NDArray[np.int64]]:
    """A table of int64 of a probe, by column; a row that was cut off at the end is left out.

    Raises InputError naming the file.
    """
    try:
        described = said["tables"][table]
        columns, file = [str(c) for c in described["columns"]], folder / str(described["file"])
    except (KeyError, TypeError) as error:
        raise InputError(f"{folder}: the recording does not say where its table of {table} is") from error
    try:
        numbers = np.fromfile(file, "<i8")
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error}") from error
    rows = len(numbers) // len(columns)
    whole = numbers[: rows * len(columns)].reshape(rows, len(columns))
    return {column: whole[:, i] for i, column in enumerate(columns)}
