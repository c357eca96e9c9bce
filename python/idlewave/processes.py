"""Runs that several processes share: started by mpiexec, each does its part, and the first one writes what came out.

``python -m idlewave.processes JOB ANSWER WIRE`` is such a process: JOB is a file that says which model to run and
how, and WIRE the library that was built with the site's MPI (mpi/wire.c).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from . import _core, mpi
from .errors import IdlewaveError, MpiError


def run(model: str, parameters: dict[str, Any], manner: dict[str, Any], processes: int) -> dict[str, Any]:
    """What the core answers of a model when so many processes run it together.

    Raises MpiError with what the processes said if one of them fails or dies.
    """
    site = mpi.find()
    wire = mpi.build(site, "wire")
    with TemporaryDirectory(prefix="idlewave-") as name:
        job, answer = Path(name) / "job.json", Path(name) / "answer.json"
        job.write_text(json.dumps({"model": model, "parameters": parameters} | manner), encoding="utf-8")
        command = [str(site.mpiexec), "-n", str(processes), sys.executable, "-m", "idlewave.processes"]
        done = subprocess.run(
            [*command, str(job), str(answer), str(wire)],
            env=site.environment(),
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode != 0 or not answer.exists():
            said = done.stderr.strip() or f"it ended with status {done.returncode}, and said nothing"
            raise MpiError(f"a run of {processes} processes failed:\n{said}")
        found: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
        return found


def main(job: Path, answer: Path, library: str) -> None:
    """One process of a run."""
    wire = _core.Wire(library)
    try:
        asked = json.loads(job.read_text(encoding="utf-8"))
        model = getattr(_core, asked["model"])
        found = model(
            asked["parameters"], asked["scheduler"], asked["threads"], asked["placement"], asked["lazy"], None, wire
        )
        if wire.process == 0:
            unfinished = answer.with_suffix(".part")
            unfinished.write_text(json.dumps(found), encoding="utf-8")
            unfinished.rename(answer)
        wire.close()
    except BaseException as error:
        if isinstance(error, IdlewaveError):
            sys.stderr.write(f"error, process {wire.process}: {error}\n")
            sys.stderr.flush()
        else:
            traceback.print_exc()
        wire.abort(1)
        os._exit(1)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
