"""Measures what traffic into memory does to victims: pairs of runs without and with it, in random order."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import pandas as pd

from .. import mpi as mpis
from ..errors import InputError, MeasurementError, UsageError
from ..host_environment import describe_recording
from ..measurement_parameters import ContentionParameters
from ..mpi import Mpi
from ..parameters import takes
from ..termination_signals import Interrupted, ended_by_signals
from .columns import COMMAND, VICTIMS
from .defaults import RATES
from .table_folder import TableFolder, read_contention
from .traffic import Traffic, places
from .victim_run import Setting, VictimRun, record_run, rows_of

if TYPE_CHECKING:
    from rich.progress import Progress

RUNNING = "running.csv"
"""The samples of the run that goes on."""


@takes(ContentionParameters)
def contention_impact(
    victims: Sequence[str] = VICTIMS,
    rates: Sequence[float] = RATES,
    cores: Sequence[int] = (1,),
    *,
    traffic: str = "writer",
    command: Sequence[str] = (),
    folder: str | Path | None = None,
    mpi: Mpi | None = None,
    progress: Progress | None = None,
    **given: Unpack[ContentionParameters],
) -> pd.DataFrame:
    """Run each of `victims` without and with traffic at each of `rates` (bytes per second) from each number of `cores`.

    Returns a row an iteration: the columns are those of `columns.COLUMNS`. `traffic`: of TRAFFIC_KINDS. `cores`: 0 is
    traffic that is handled on the victim's own core. `command`: what the victim `command` runs. `folder` gets each run
    when it has ended; a measurement that was interrupted is continued there. The orders of the pairs and of the two
    runs of each are drawn from `seed`. Raises MeasurementError if a probe or the command fails, UsageError for what
    cannot be measured here and if `folder` has a measurement with other settings; on an interrupt the rows of the run
    that was cut are kept, too.
    """
    stores = "library" if traffic == "mpi-put" else given["stores"]
    settings = [
        Setting(victim, Traffic(traffic, float(rate), given["pattern"], stores, number, given["buffer"]))
        for victim in dict.fromkeys(victims)
        for rate in dict.fromkeys(rates)
        for number in dict.fromkeys(cores)
    ]
    _check(settings, command)
    runs = planned(settings, given["pairs"], given["seed"])
    used = mpi or mpis.find() if traffic == "mpi-put" else None
    with _place(folder) as place:
        measurement = {"settings": [_described(setting) for setting in settings], "command": list(command), **given}
        table = TableFolder(place, measurement)
        if not table.descriptions:
            table.describe(
                {"environment": describe_recording("contention", used, by="idlewave.contention.contention_impact")}
            )
        try:
            _measure(runs, table, place, given, used, command, progress)
        except KeyboardInterrupt as end:
            if folder is None:
                raise
            raise Interrupted.by(end, f"the runs so far are kept in {folder}: the same call continues") from end
        return read_contention(place)


def planned(settings: Sequence[Setting], pairs: int, seed: int) -> list[VictimRun]:
    """All runs in their random order, the two of a pair beside each other."""
    draws = random.Random(seed)
    order = [setting for setting in settings for _ in range(pairs)]
    draws.shuffle(order)
    runs = []
    for pair, setting in enumerate(order):
        traffic_first = draws.random() < 0.5
        runs += [
            VictimRun(pair, setting, with_traffic=traffic_first, second=False),
            VictimRun(pair, setting, with_traffic=not traffic_first, second=True),
        ]
    return runs


def _measure(
    runs: Sequence[VictimRun],
    table: TableFolder,
    place: Path,
    given: ContentionParameters,
    mpi: Mpi | None,
    command: Sequence[str],
    progress: Progress | None,
) -> None:
    done = table.complete_pairs(given["iterations"])
    task = None if progress is None else progress.add_task("contention", total=len(runs))
    for number, run in enumerate(runs):
        if run.pair not in done:
            _measure_one(run, table, place / RUNNING, given, mpi, command)
        if progress is not None and task is not None:
            progress.update(task, completed=number + 1)


def _measure_one(
    run: VictimRun, table: TableFolder, file: Path, given: ContentionParameters, mpi: Mpi | None, command: Sequence[str]
) -> None:
    """Record a run and append its rows; also what there is of a run that an interrupt or a failure cuts."""
    file.unlink(missing_ok=True)
    try:
        with ended_by_signals():
            summary = record_run(run, given["iterations"], file, given["seed"] + run.pair, mpi, command)
    except (KeyboardInterrupt, MeasurementError):
        _append_cut(run, table, file)
        raise
    table.append(run, rows_of(run, table.number, file, summary))
    table.describe({"probe": summary})
    file.unlink(missing_ok=True)


def _append_cut(run: VictimRun, table: TableFolder, file: Path) -> None:
    if not file.exists():
        return
    try:
        rows = rows_of(run, table.number, file)
    except InputError:  # not even its header was written
        return
    if len(rows):
        table.append(run, rows)
    file.unlink(missing_ok=True)


def _check(settings: Sequence[Setting], command: Sequence[str]) -> None:
    if not settings:
        raise UsageError("expected at least one victim, one rate and one number of cores")
    if any(setting.victim == COMMAND for setting in settings) != bool(command):
        raise UsageError(f"the victim '{COMMAND}' goes with a command behind --, and a command with this victim")
    for setting in settings:
        places(setting.traffic.cores)
        if setting.victim == COMMAND and setting.traffic.kind == "mpi-put":
            raise UsageError(f"the victim '{COMMAND}' goes with the traffic 'writer'")


def _described(setting: Setting) -> dict[str, Any]:
    return {"victim": setting.victim, **asdict(setting.traffic)}


@contextmanager
def _place(folder: str | Path | None) -> Iterator[Path]:
    if folder is not None:
        yield Path(folder)
        return
    with tempfile.TemporaryDirectory(prefix="idlewave-") as temporary:
        yield Path(temporary)
