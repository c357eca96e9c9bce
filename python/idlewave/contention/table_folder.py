"""The table of contention in a folder: a file a run, written when the run has ended, and the settings.

A full disk or a killed process costs the run that goes on, and nothing that is there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from ..errors import InputError
from ..escaping import name_of
from ..input.tables import Column as ColumnSchema
from ..input.tables import Schema, read_table
from ..input.validation import read_json
from ..input.value_types import Open, Whole
from ..output import make_folder, write_json, write_table
from .columns import COLUMNS, Column
from .victim_run import VictimRun, typed

SETTINGS = "contention.json"
RUNS = "runs"
WHAT = "the table of contention"
_FILE = re.compile(r"run-(\d+)-pair-(\d+)-(quiet|traffic)\.parquet")
_KINDS: Mapping[str, Any] = {"int32": "whole", "int64": "whole", "float64": "number", "bool": "flag", "string": "text"}


class SettingsSchema(Open):
    """The part of contention.json that is used."""

    schema: Whole
    plan: dict[str, Any]
    runs: Whole
    said: dict[str, Any]


def schema_of(columns: tuple[Column, ...] = COLUMNS) -> Schema:
    """How the columns are checked when they are read."""
    return {
        column.name: ColumnSchema(_KINDS[column.type], nullable=column.name.startswith(("counter.", "probe.")))
        for column in columns
    }


class TableFolder:
    """A folder with the table of contention, to which runs are appended."""

    def __init__(self, folder: Path, plan: Mapping[str, Any]) -> None:
        """Begin the table of this plan in `folder`, or continue it. Raises InputError if there is another plan's."""
        self._runs = make_folder(folder / RUNS)
        self._file = folder / SETTINGS
        self._settings: dict[str, Any] = {"schema": 1, "plan": dict(plan), "runs": 0, "said": {}}
        if self._file.exists():
            there = read_settings(folder)
            differing = [key for key in {**plan, **there.plan} if there.plan.get(key) != plan.get(key)]
            if differing:
                raise InputError(
                    f"{name_of(folder)}: has the table of another measurement, whose {differing[0]} is "
                    f"{there.plan.get(differing[0])!r}: expected {plan.get(differing[0])!r}, or another folder"
                )
            self._settings |= {"runs": there.runs, "said": there.said}
        self.number = int(self._settings["runs"])
        """The number of this start of the measurement."""
        self._settings["runs"] = self.number + 1
        write_json(self._file, self._settings)

    @property
    def said(self) -> dict[str, Any]:
        """What the probe and the environment said."""
        return dict(self._settings["said"])

    def say(self, said: Mapping[str, Any]) -> None:
        """Store what the probe or the environment says, unless that is there already."""
        if set(said) <= set(self._settings["said"]):
            return
        self._settings["said"] = {**said, **self._settings["said"]}
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


def read_settings(folder: str | Path) -> SettingsSchema:
    """The settings of a table. Raises InputError naming the file."""
    file = Path(folder) / SETTINGS
    found = read_json(file, SettingsSchema, WHAT)
    if found.schema != 1:
        raise InputError(f"{name_of(file)}: schema: expected 1, found {found.schema}")
    return found


def read_contention(folder: str | Path) -> pd.DataFrame:
    """The table in a folder of `idlewave contention measure`, in the order in which the runs were made.

    Raises InputError naming the file.
    """
    read_settings(folder)
    files = sorted(file for file in (Path(folder) / RUNS).glob("*.parquet") if _FILE.fullmatch(file.name))
    if not files:
        raise InputError(f"{name_of(Path(folder) / RUNS)}: expected the rows of a run, found none")
    tables = [read_table(file, schema_of(), WHAT) for file in files]
    found = typed(pd.concat([table for table in tables if len(table)] or tables[:1], ignore_index=True))
    return found.sort_values(["run", "start_ns", "iteration"], kind="stable", ignore_index=True)
