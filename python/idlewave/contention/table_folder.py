"""The table of contention in a folder: a file a run, written when the run has ended, and the settings.

A full disk or a killed process costs the run that goes on, and nothing that is there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from ..errors import InputError, UsageError
from ..escaping import name_of, quote
from ..input.tables import read_table
from ..input.validation import read_json
from ..input.value_types import Open, Whole
from ..output import make_folder, write_json, write_table
from .table import schema_of, typed
from .victim_run import VictimRun

SETTINGS = "contention.json"
RUNS = "runs"
WHAT = "the table of contention"
_FILE = re.compile(r"run-(\d+)-pair-(\d+)-(quiet|traffic)\.parquet")


class SettingsSchema(Open):
    """The part of contention.json that is used: `plan` has the settings, `said` the descriptions."""

    schema: Whole
    plan: dict[str, Any]
    runs: Whole
    said: dict[str, Any]


class TableFolder:
    """A folder with the table of contention, to which runs are appended."""

    def __init__(self, folder: Path, measurement: Mapping[str, Any]) -> None:
        """Begin the table of this measurement in `folder`, or continue it. `measurement`: all its settings. Raises
        UsageError if the folder has one with other settings."""
        self._runs = make_folder(folder / RUNS)
        self._file = folder / SETTINGS
        self._settings: dict[str, Any] = {"schema": 1, "plan": dict(measurement), "runs": 0, "said": {}}
        if self._file.exists():
            there = read_settings(folder)
            words = _difference(there.plan, measurement)
            if words:
                raise UsageError(
                    f"{name_of(folder)} has a measurement with other settings, which cannot be continued: {words}"
                )
            self._settings |= {"runs": there.runs, "said": there.said}
        self.number = int(self._settings["runs"])
        """The number of this start of the measurement."""
        self._settings["runs"] = self.number + 1
        write_json(self._file, self._settings)

    @property
    def descriptions(self) -> dict[str, Any]:
        """Of the environment, and of the first run by the probe."""
        return dict(self._settings["said"])

    def describe(self, descriptions: Mapping[str, Any]) -> None:
        """Store descriptions by their names, unless those are there already."""
        if set(descriptions) <= set(self._settings["said"]):
            return
        self._settings["said"] = {**descriptions, **self._settings["said"]}
        write_json(self._file, self._settings)

    def complete_pairs(self, iterations: int) -> set[int]:
        """The pairs whose two runs are there with all iterations, from one start."""
        found: dict[tuple[int, int], int] = {}
        for file in self._runs.iterdir():
            if name := _FILE.fullmatch(file.name):
                key = int(name[1]), int(name[2])
                found[key] = found.get(key, 0) + (len(read_table(file, schema_of(), WHAT)) >= iterations)
        return {pair for (_, pair), runs in found.items() if runs == 2}

    def append(self, run: VictimRun, rows: pd.DataFrame) -> None:
        """Append the rows of a run. Raises OutputError."""
        kind = "traffic" if run.with_traffic else "quiet"
        write_table(self._runs / f"run-{self.number:03}-pair-{run.pair:06}-{kind}.parquet", rows)


def why_not_counted(folder: str | Path, counter: str) -> str:
    """What the probe said of why a counter could not be read; empty if it said nothing, or this is no such folder."""
    if not (Path(folder) / SETTINGS).exists():
        return ""
    probe = read_settings(folder).said.get("probe")
    counters = probe.get("counters") if isinstance(probe, dict) else None
    reason = counters.get(counter) if isinstance(counters, dict) else None
    return reason if isinstance(reason, str) else ""


def _difference(recorded: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """The settings in which a recorded measurement differs, in words; empty if in none."""
    names = [name for name in {**wanted, **recorded} if recorded.get(name) != wanted.get(name)]
    return "; ".join(
        "other victims or traffic"
        if name == "settings"
        else f"{name} {quote(recorded.get(name, 'none'))} there, {quote(wanted.get(name, 'none'))} here"
        for name in names
    )


def read_settings(folder: str | Path) -> SettingsSchema:
    """The settings of a table. Raises InputError naming the file."""
    file = Path(folder) / SETTINGS
    found = read_json(file, SettingsSchema, WHAT)
    if found.schema != 1:
        raise InputError(f"{name_of(file)}: schema: expected 1, found {found.schema}")
    return found


def environment_of(path: str | Path) -> dict[str, Any]:
    """What is known of where a table was measured; nothing of a file, and of a folder without settings. Raises
    InputError."""
    if not (Path(path) / SETTINGS).exists():
        return {}
    environment = read_settings(path).said.get("environment")
    return environment if isinstance(environment, dict) else {}


def read_contention(path: str | Path) -> pd.DataFrame:
    """The table in the folder of a measurement, in the files .parquet of another folder, or in a file (.parquet, .csv),
    in the order in which the runs were made.

    Columns of counters and probes may be missing, and are NaN then. Raises InputError naming the file.
    """
    place = Path(path)
    tables = [read_table(file, schema_of(), WHAT) for file in _files_of(place)]
    found = typed(pd.concat([table for table in tables if len(table)] or tables[:1], ignore_index=True))
    if found.empty:
        raise InputError(f"{name_of(place)}: expected {WHAT}, found no rows")
    return found.sort_values(["run", "start_ns", "iteration"], kind="stable", ignore_index=True)


def _files_of(place: Path) -> list[Path]:
    if not place.is_dir():
        return [place]
    if (place / SETTINGS).exists():
        read_settings(place)
    runs = place / RUNS
    files = sorted(file for file in (runs if runs.is_dir() else place).glob("*.parquet") if file.is_file())
    if not files:
        raise InputError(f"{name_of(place)}: expected {WHAT}, a file or a folder with files .parquet, found none")
    return files
