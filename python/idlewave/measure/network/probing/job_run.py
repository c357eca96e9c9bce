"""Probes on all ranks of a job: starting them, and reading their folder."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rich.progress import Progress

from .... import mpi as mpis
from ....errors import InputError, MeasurementError, UsageError
from ....escaping import found, name_of
from ....host_environment import describe_recording, metadata_of_samples
from ....input.bounds import MOST_TABLE
from ....input.files import below, read_bytes
from ....input.validation import checked, load_json
from ....mpi import Mpi
from ....output import write_table
from ...probe_process import begin_folder, run_probe, shown
from ..files.file_schemas import JobSchema

PATIENCE = 180.0
"""Seconds beyond the time asked for after which a probe is given up; they include MPI's own start and end."""
RECORDED = {
    "pairs": ("pairs.json", "pairs.csv", "pairs.parquet"),
    "patterns": ("patterns.json", "patterns.i64", "patterns.parquet"),
    "collectives": ("collectives.json", "collectives.i64", "collectives.parquet"),
    "clocks": ("clocks.json", "clocks-bursts.i64", "clocks.parquet"),
    "one-sided": ("one-sided.json", "one-sided.i64", "one-sided.parquet"),
}
"""The files of a run in its folder."""
ENVIRONMENT = "environment.json"
EPOCH = "epoch-"
"""A measurement's folder has a folder of this name and a number for each start of the probe."""


@dataclass(frozen=True)
class JobProbe:
    """A probe by its name, and its job: the ranks, the MPI that starts them (None: the default), the seconds, and two
    hosts with a rank on each (none: wherever the MPI puts them). `program`: the probe, if it was built with more than
    the MPI; None: it is built."""

    name: str
    ranks: int
    mpi: Mpi | None
    seconds: float
    hosts: tuple[str, ...] = ()
    program: Path | None = None


@contextlib.contextmanager
def recorded(job: JobProbe, options: list[str], folder: Path | None, progress: Progress | None) -> Iterator[Path]:
    """Run the probe, and give the folder of its recording: `folder`, or one that the context removes at its end.

    The recording is in `folder` also after an interrupt, with environment.json beside it. Files of an earlier run are
    removed. Raises MeasurementError with the probe's message if it fails.
    """
    if job.ranks < 2:
        raise UsageError(f"{job.name} are measured between at least 2 ranks, found {job.ranks}")
    mpi = job.mpi or mpis.find()
    with contextlib.ExitStack() as stack:
        place = folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="idlewave-")))
        program = job.program or mpis.build(mpi, job.name)
        command = [*_launcher(mpi, job.ranks, job.hosts), str(program), *begin_recording(job, mpi, options, place)]
        with shown(progress, job.name) as advance:
            run_probe(command, mpi.environment(), job.name, job.seconds + PATIENCE, advance)
        yield place


def begin_recording(job: JobProbe, mpi: Mpi, options: list[str], folder: Path) -> list[str]:
    """Prepare `folder` for a recording of the probe; files of an earlier run are removed. Returns the options of the
    run, those given and the others."""
    options = ["--seconds", str(job.seconds), *options]
    made = {"ranks": job.ranks, "arguments": options}
    by = f"idlewave.measure.measure_{job.name.replace('-', '_')}"
    environment = describe_recording(job.name, mpi, by=by, options=made)
    begin_folder(folder, environment, RECORDED[job.name])
    return ["--output", str(folder), *options]


def run_epoch(epoch: JobProbe, parts: Mapping[str, Sequence[str]], progress: Progress | None, description: str) -> None:
    """Start the ranks of `epoch` once for several probes, which measure one after the other in its seconds.

    `parts`: the options of each probe by its name (loggp, collectives, patterns), in pairs of option and value. Raises
    MeasurementError with the probe's message if one fails; what was recorded before is left.
    """
    mpi = epoch.mpi or mpis.find()
    command = [*_launcher(mpi, epoch.ranks, epoch.hosts), str(mpis.build(mpi, epoch.name))]
    for name, options in parts.items():
        for option, value in zip(options[::2], options[1::2], strict=True):
            command += [f"--{name}-{option.removeprefix('--')}", value]
    with shown(progress, description) as advance:
        run_probe(command, mpi.environment(), description, epoch.seconds + PATIENCE, advance)


def _launcher(mpi: Mpi, ranks: int, hosts: Sequence[str]) -> list[str]:
    return [str(mpi.mpiexec), "-n", str(ranks), *mpi.host_options(hosts)]


def epochs_of(folder: Path, name: str) -> list[Path]:
    """The folders epoch-N in `folder` that have a recording of the probe `name`, by their number."""
    numbers = sorted(
        int(number)
        for part in folder.glob(f"{EPOCH}*/{name}.json")
        if (number := part.parent.name.removeprefix(EPOCH)).isdecimal()
    )
    return [folder / f"{EPOCH}{number}" for number in numbers]


def forget_recording(folder: Path, name: str) -> None:
    """Remove the recording of the probe `name` from `folder`, with the environment that belongs to it."""
    if (folder / RECORDED[name][0]).exists():
        (folder / ENVIRONMENT).unlink(missing_ok=True)
    for file in RECORDED[name]:
        (folder / file).unlink(missing_ok=True)


def forget_recordings(folder: Path, name: str) -> None:
    """The same for `folder` and its folders epoch-N, so that an earlier run's are not taken for this one's."""
    for part in (folder, *folder.glob(f"{EPOCH}*")):
        forget_recording(part, name)


def joined_epochs(
    folder: Path, name: str, read: Callable[[Path], tuple[pd.DataFrame, dict[str, Any]]], nothing: str
) -> tuple[pd.DataFrame, dict[str, Any], Path]:
    """The samples of the recordings of the probe `name`: of one in `folder`, or of one in each of its folders epoch-N,
    with the column epoch, which counts them from 1 on.

    `read` gives the samples of a recording and its summary. Returns the samples, the first summary, which says whether
    any was interrupted, and the first folder. Raises MeasurementError, which says `nothing`, if there is no sample.
    """
    parts = epochs_of(folder, name) or [folder]
    found = [read(part) for part in parts]
    samples = pd.concat([part.assign(epoch=i) for i, (part, _) in enumerate(found, 1)], ignore_index=True)
    if samples.empty:
        raise MeasurementError(f"{name_of(folder)}: {nothing}; the time was too short")
    interrupted = any(said.get("interrupted") for _, said in found)
    return samples, found[0][1] | {"interrupted": interrupted}, parts[0]


def keep_samples(folder: Path | None, name: str, samples: pd.DataFrame, environment: dict[str, Any] | None) -> None:
    """Write the samples of the probe `name` as a table beside its recording, if that has a folder of its own."""
    if folder is not None:
        write_table(folder / f"{name}.parquet", samples, metadata_of_samples(name, environment or {}))


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


def read_samples(
    folder: Path, name: str, said: dict[str, Any], columns: Sequence[str], limits: Mapping[str, tuple[int, int]]
) -> pd.DataFrame:
    """The table of samples of the probe `name`, which has `columns` with values within `limits`. Raises InputError
    naming the sample."""
    samples = pd.DataFrame(read_columns(folder, name, said, "samples"))
    missing = [column for column in columns if column not in samples.columns]
    if missing:
        raise InputError(f"{name_of(folder)}: the table of samples lacks the columns {', '.join(missing)}")
    for column, (least, most) in limits.items():
        wrong = samples.loc[(samples[column] < least) | (samples[column] > most), column]
        if len(wrong):
            raise InputError(
                f"{name_of(folder)}: {column} of sample {wrong.index[0]}: expected {least} to {most}, "
                f"found {wrong.iloc[0]}"
            )
    return samples
