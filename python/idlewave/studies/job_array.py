"""A study as an array of jobs: a script for Slurm or Flux whose tasks compute a share of the cases each.

FOLDER/array.sh is the script, and FOLDER/array.json says what `idlewave study collect FOLDER` needs: the study, the
words of its command, and the digest of its cases, which each task compares, so that no file has changed in between.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..digests import digest_of
from ..errors import InputError
from ..escaping import name_of
from ..input.validation import read_json
from ..input.value_types import Closed
from ..output import OutputFiles, make_folder

ARRAY = "array.json"
SCRIPT = "array.sh"
LOGS = "logs"
Scheduler = Literal["slurm", "flux"]
SUBMIT = {"slurm": "sbatch", "flux": "sh"}
"""The command that submits the script."""


class _ArraySchema(Closed):
    study: str
    words: list[str]
    directory: str
    tasks: int
    cases: str


@dataclass(frozen=True)
class JobArray:
    """A study that the tasks of an array compute: its name, the words of its command, the directory where these name
    files, the number of tasks, the digest of all cases, and how many cases a task computes at a time."""

    study: str
    words: Sequence[str]
    directory: Path
    tasks: int
    cases: str
    workers: int = 1


def digest_of_cases(digests: Sequence[str]) -> str:
    """The digest of all cases, in their order."""
    return digest_of(list(digests))


def write_array(array: JobArray, folder: Path, scheduler: Scheduler) -> Path:
    """Write the script and what `collect` needs into `folder`; returns the script. Raises OutputError."""
    folder = folder.absolute()
    make_folder(folder / LOGS)
    said = {
        "study": array.study,
        "words": list(array.words),
        "directory": str(array.directory),
        "tasks": array.tasks,
        "cases": array.cases,
    }
    script = folder / SCRIPT
    with OutputFiles() as files:
        files.json(folder / ARRAY, said)
        files.text(script, _slurm(array, folder) if scheduler == "slurm" else _flux(array, folder))
    return script


def read_array(folder: Path) -> JobArray:
    """What `write_array` wrote. Raises InputError."""
    if not (folder / ARRAY).is_file():
        raise InputError(f"{name_of(folder)}: expected the folder that `--array` writes, found no {ARRAY} in it")
    found = read_json(folder / ARRAY, _ArraySchema, "the array of a study")
    return JobArray(found.study, found.words, Path(found.directory), found.tasks, found.cases)


def check_cases(array: JobArray, digests: Sequence[str], folder: Path) -> None:
    """Raise InputError if these are not the cases of the array."""
    if array.cases != digest_of_cases(digests):
        raise InputError(
            f"{name_of(folder / ARRAY)}: the cases of the study are others now: a machine or a schedule has changed "
            "since the array was written, or it is another version of Idlewave; write it anew with --array"
        )


def _command(array: JobArray, folder: Path, share: str) -> str:
    words = [sys.executable, "-m", "idlewave", "study", array.study, *array.words, "--output", str(folder)]
    return f'{shlex.join(words)} --workers {array.workers} --share "{share}/{array.tasks}"'


def _slurm(array: JobArray, folder: Path) -> str:
    return f"""#!/bin/sh
#SBATCH --job-name={shlex.quote(f"idlewave-{array.study}")}
#SBATCH --array=0-{array.tasks - 1}
#SBATCH --ntasks=1
#SBATCH --cpus-per-task={array.workers}
#SBATCH --output={shlex.quote(f"{folder}/{LOGS}/task-%a.log")}
# Each task continues where it was, so that the script may be submitted again.
# Afterwards: idlewave study collect
cd {shlex.quote(str(array.directory))} || exit 1
exec {_command(array, folder, "$SLURM_ARRAY_TASK_ID")}
"""


def _flux(array: JobArray, folder: Path) -> str:
    command = _command(array, folder, "$FLUX_JOB_CC")
    words = f"cd {shlex.quote(str(array.directory))} && exec {command}"
    return f"""#!/bin/sh
# Submits a job for each task. Each continues where it was, so that the script may be run again.
# Afterwards: idlewave study collect
exec flux submit --cc=0-{array.tasks - 1} --cores-per-task={array.workers} \\
  --job-name={shlex.quote(f"idlewave-{array.study}")} \\
  --output={shlex.quote(f"{folder}/{LOGS}/task-{{{{cc}}}}.log")} \\
  sh -c {shlex.quote(words)}
"""
