"""What the noise probes' tests share: running one, and reading what it recorded."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from idlewave.mpi import package_data

PROBES = package_data() / "bin"


@dataclass(frozen=True)
class Recorded:
    """A probe's summary, and each core's table."""

    folder: Path
    summary: dict[str, Any]

    @property
    def cores(self) -> list[dict[str, Any]]:
        return list(self.summary["cores"])

    def table(self, core: int = 0) -> np.ndarray:
        """The table of a core (by its place in the list): a column of int64 a column."""
        entry = self.cores[core]
        return np.fromfile(self.folder / entry["file"], "<i8").reshape(-1, len(entry["columns"]))


def command(probe: str, folder: Path | None, *options: object) -> list[str]:
    output = [] if folder is None else ["--output", str(folder)]
    return [str(PROBES / f"idlewave-{probe}"), *map(str, options), *output]


def environment(**variables: object) -> dict[str, str]:
    """The tests' own, without what a launcher may have set."""
    prefixes = ("SLURM_", "OMPI_", "PMI_", "PMIX_", "MPI_LOCAL")
    own = {name: value for name, value in os.environ.items() if not name.startswith(prefixes)}
    return own | {name: str(value) for name, value in variables.items()}


def run(probe: str, folder: Path, *options: object, **variables: object) -> Recorded:
    """Runs a probe, which must succeed."""
    done = subprocess.run(
        command(probe, folder, *options), env=environment(**variables), capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return recorded(folder, done.stdout)


def recorded(folder: Path, output: str) -> Recorded:
    summary = json.loads(output.splitlines()[-1])
    if summary["ranks"] > 1:
        folder = folder / f"{summary['host']}-{summary['rank']}"
    return Recorded(folder, summary)


def refusal(*words: str, **variables: object) -> tuple[int, str]:
    """Of a command that must fail: its exit status and what it says."""
    done = subprocess.run(words, env=environment(**variables), capture_output=True, text=True, timeout=120)
    assert done.returncode != 0
    return done.returncode, done.stderr
