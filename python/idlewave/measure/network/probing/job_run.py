"""Probes on all ranks of a job: starting them, and reading their folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.progress import Progress

from .... import mpi as mpis
from ....errors import InputError, UsageError
from ....escaping import found, name_of
from ....host_environment import describe_recording
from ....input.bounds import MOST_TABLE
from ....input.files import below, read_bytes
from ....input.validation import checked, load_json
from ....mpi import Mpi
from ...probe_process import begin_folder, run_probe, shown
from ..files.file_schemas import JobSchema

PATIENCE = 180.0
"""Seconds beyond the time asked for after which a probe is given up; they include MPI's own start and end."""
RECORDED = {
    "pairs": ("pairs.json", "pairs.csv", "pairs.parquet"),
    "clocks": ("clocks.json", "clocks-bursts.i64", "clocks.parquet"),
}
"""The files of a run in its folder."""


def run_job(
    mpi: Mpi,
    name: str,
    ranks: int,
    folder: Path,
    options: list[str],
    seconds: float,
    progress: Progress | None = None,
) -> None:
    """Run the probe `name` on so many ranks. Raises MeasurementError with the probe's message if it fails.

    The recording is in `folder`, also after an interrupt, with environment.json beside it. Files of an earlier run are
    removed.
    """
    if ranks < 2:
        raise UsageError(f"{name} are measured between at least 2 ranks, found {ranks}")
    command = [str(mpi.mpiexec), "-n", str(ranks), str(mpis.build(mpi, name)), "--output", str(folder), *options]
    made = {"ranks": ranks, "arguments": options}
    environment = describe_recording(name, mpi, by=f"idlewave.measure.measure_{name}", options=made)
    begin_folder(folder, environment, RECORDED[name])
    with shown(progress, name) as advance:
        run_probe(command, mpi.environment(), name, seconds + PATIENCE, advance)


def read_summary(folder: Path, name: str, kind: type[JobSchema]) -> dict[str, Any]:
    """The summary of the probe `name` in `folder`, checked as a `kind`. Raises InputError naming the file."""
    file = folder / f"{name}.json"
    said: dict[str, Any] = load_json(file, f"a recording of {name}")
    if isinstance(said, dict) and said.get("probe") != name:
        probe = found(said["probe"]) if "probe" in said else "nothing"
        raise InputError(f"{name_of(file)}: probe: expected what the probe of {name} writes, found {probe}")
    checked(said, kind, name_of(file))
    return said


def read_columns(folder: Path, name: str, said: dict[str, Any], table: str) -> dict[str, NDArray[np.int64]]:
    """A table of int64 of the probe `name`, by column; a row that was cut off at the end is left out.

    Raises InputError naming the file.
    """
    described = said["tables"][table]
    columns: list[str] = described["columns"]
    key = f"tables.{table}.file"
    file = below(folder, described["file"], f"{name_of(folder / name)}.json: {key}")
    data = read_bytes(file, f"a table of {table}", most=MOST_TABLE)
    width = len(columns) * np.dtype("<i8").itemsize
    whole = np.frombuffer(data, "<i8", len(data) // width * len(columns)).reshape(-1, len(columns))
    return {column: whole[:, i].astype(np.int64) for i, column in enumerate(columns)}
