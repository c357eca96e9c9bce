"""Probes that all ranks of a job run: starting them, and reading the folder that they leave."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.progress import Progress

from ... import mpi as mpis
from ...environment import describe_recording
from ...errors import InputError, UsageError
from ...mpi import Mpi
from ..running import begin_folder, run_probe, shown
from .json_part import JsonPart, read_object

PATIENCE = 180.0
"""Seconds beyond the time asked for after which a probe is given up: MPI's own start and end are in it."""
RECORDED = {
    "pairs": ("pairs.json", "pairs.csv", "pairs.parquet"),
    "clocks": ("clocks.json", "clocks-bursts.i64", "clocks.parquet"),
}
"""What a run leaves in its folder."""


def run_job(
    mpi: Mpi,
    name: str,
    ranks: int,
    folder: Path,
    options: list[str],
    seconds: float,
    progress: Progress | None = None,
) -> None:
    """Run the probe `name` on so many ranks. Raises MeasurementError with its words if it fails.

    What it recorded is in `folder`, also when this is interrupted; beside it environment.json. What an earlier run left
    there is removed.
    """
    if ranks < 2:
        raise UsageError(f"{name} are measured between at least 2 ranks, found {ranks}")
    command = [str(mpi.mpiexec), "-n", str(ranks), str(mpis.build(mpi, name)), "--output", str(folder), *options]
    made = {"ranks": ranks, "arguments": options}
    environment = describe_recording(name, mpi, by=f"idlewave.measure.measure_{name}", options=made)
    begin_folder(folder, environment, RECORDED[name])
    with shown(progress, name) as advance:
        run_probe(command, mpi.environment(), name, seconds + PATIENCE, advance)


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
    for rank in JsonPart(file, said).at("ranks").parts():
        rank.at("host").text()
    return said


def read_environment(folder: Path) -> dict[str, Any] | None:
    """Where a recording was made, by its environment.json; None if there is none. Raises InputError naming it."""
    part = read_object(folder / "environment.json")
    return None if part is None else part.object()


def read_columns(folder: Path, said: dict[str, Any], table: str) -> dict[str, NDArray[np.int64]]:
    """A table of int64 of a probe, by column; a row that was cut off at the end is left out.

    Raises InputError naming the file.
    """
    try:
        described = said["tables"][table]
        columns, file = list(JsonPart(folder, described["columns"], "columns").texts()), folder / str(described["file"])
    except (KeyError, TypeError) as error:
        raise InputError(f"{folder}: the recording does not say where its table of {table} is") from error
    if not columns:
        raise InputError(f"{folder}: the recording says no columns of its table of {table}")
    try:
        numbers = np.fromfile(file, "<i8")
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error}") from error
    rows = len(numbers) // len(columns)
    whole = numbers[: rows * len(columns)].reshape(rows, len(columns))
    return {column: whole[:, i] for i, column in enumerate(columns)}
