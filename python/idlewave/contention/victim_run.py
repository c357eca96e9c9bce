"""A run of a victim, without traffic or beside it: the probe's command and its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ..errors import UsageError
from ..formatting import unknown_name
from ..input.files import read_bytes
from ..input.tables import csv_table
from ..measure.probe_process import Advance, run_probe
from ..mpi import Mpi, build
from ..native_files import package_data
from .columns import COMMAND, MEASURED, SAMPLED, VICTIMS
from .table import schema_of, typed
from .traffic import NAME, PATIENCE_S, Traffic, label, places, summary_of

MOST_RUN_S = 86_400.0
"""A victim's run may take a day: a command may be long."""


@dataclass(frozen=True)
class Setting:
    """What a pair of runs is of: a victim beside traffic."""

    victim: str
    traffic: Traffic

    def __post_init__(self) -> None:
        if self.victim not in (*VICTIMS, COMMAND):
            raise UsageError(unknown_name("victim", self.victim, (*VICTIMS, COMMAND)))


@dataclass(frozen=True)
class VictimRun:
    """A run of a pair: its number, its setting, and whether it is the one with traffic."""

    pair: int
    setting: Setting
    with_traffic: bool
    second: bool


def command_of(
    run: VictimRun, iterations: int, output: Path, seed: int, mpi: Mpi | None, command: Sequence[str] = ()
) -> list[str]:
    """The command of the probe."""
    traffic = run.setting.traffic
    victim, writers = places(traffic.cores)
    options = ["--victim", run.setting.victim, "--victim-cpu", str(victim), "--iterations", str(iterations)]
    options += ["--output", str(output), *(traffic.options(writers, seed) if run.with_traffic else [])]
    if traffic.kind == "mpi-put":
        assert mpi is not None
        if not run.with_traffic:
            options += ["--writer-cpus", str(writers[0])]
        return [str(mpi.mpiexec), "-n", "2", str(build(mpi, "contention-mpi")), *options]
    behind = ["--", *command] if run.setting.victim == COMMAND else []
    return [str(package_data() / "bin" / "idlewave-contention"), *options, *behind]


def record_run(
    run: VictimRun,
    iterations: int,
    file: Path,
    seed: int,
    mpi: Mpi | None = None,
    command: Sequence[str] = (),
    advance: Advance | None = None,
) -> dict[str, Any]:
    """Run the probe, which writes its samples to `file`; returns its summary. Raises MeasurementError if it fails."""
    environment = mpi.environment() if mpi is not None and run.setting.traffic.kind == "mpi-put" else None
    words = command_of(run, iterations, file, seed, mpi, command)
    return summary_of(run_probe(words, environment, NAME, MOST_RUN_S + PATIENCE_S, advance))


def rows_of(run: VictimRun, number: int, file: Path, summary: dict[str, Any] | None = None) -> pd.DataFrame:
    """The rows of the table from the probe's samples; a line that is not complete is left out.

    Without its `summary` a run was ended early: the achieved rate is that within its iterations. Raises InputError for
    other damage.
    """
    data = read_bytes(file, "the samples of a run")
    whole = data[: data.rfind(b"\n") + 1]
    sampled = csv_table(whole, schema_of((*MEASURED, *SAMPLED)), file.name, "the samples of a run")
    traffic = run.setting.traffic
    achieved = 0.0
    if run.with_traffic and summary is not None:
        achieved = float(summary["achieved_rate"])
    elif run.with_traffic and len(sampled):
        achieved = float(sampled["traffic_bytes"].sum() / max(sampled["seconds"].sum(), 1e-9))
    values: dict[str, Any] = {
        "run": number,
        "pair": run.pair,
        "second": run.second,
        "victim": run.setting.victim,
        "traffic": label(traffic if run.with_traffic else None),
        "pair_rate_Bps": traffic.rate,
        "asked_rate_Bps": traffic.rate if run.with_traffic else 0.0,
        "achieved_rate_Bps": achieved,
        "pattern": traffic.pattern,
        "stores": traffic.stores,
        "cores": traffic.cores,
        "buffer_bytes": traffic.buffer_bytes,
    }
    return typed(sampled.assign(**values))
