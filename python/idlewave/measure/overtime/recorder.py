"""The folder of a recording over time, as it is written: rows are appended, and nothing that was recorded is lost.

A row goes to tail.jsonl at once. When there are enough for a part, they are written as one, which is renamed into
place, and the tail becomes empty. Whoever ends this process in between leaves rows in both, which the reader sees by
their phases. What is in memory does not grow with time.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import math
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from ...errors import OutputError, UsageError
from ...escaping import name_of
from ...output import make_folder, write_json, write_table
from .recording import (
    COUNTER,
    SAID,
    SCHEMA,
    TAIL,
    Row,
    TailFile,
    part_file,
    parts_in,
    read_part,
    read_said,
    table_of,
)
from .settings import Settings, difference

PART_ROWS = 4096
_LEAST_ROWS = 64
_PART_NUMBERS = 1 << 18
"""A part has about so many numbers at most, so that one of very many counters takes no more memory."""
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}
RUNNING = "running"


class Recorder:
    """Appends the rows of one run to a recording; used as a context manager.

    A folder that has a recording of the same settings gets another run. Raises UsageError for one of other settings and
    for one into which another process records, InputError for one that is broken, and OutputError if it cannot be
    written: then all earlier rows are in it.
    """

    def __init__(self, folder: Path, settings: Settings) -> None:
        self.folder = folder
        self.settings = settings
        self.rows = 0
        self.said: dict[str, Any] = {}
        self._waiting: list[Row] = []
        self._part = 1
        self._phase = 0
        self._bytes = 0
        self._tail = -1

    def __enter__(self) -> Recorder:
        make_folder(self.folder)
        self._tail = self._open_tail()
        try:
            self._take_over(self._earlier())
        except BaseException:
            self._close_tail()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._close_tail()

    @property
    def run(self) -> int:
        """The number of this run."""
        return len(self.said["runs"]) - 1

    def add(self, row: Row) -> None:
        """Append a row, which gets its run and phase. Raises OutputError; the row is then left out."""
        row = {"run": self.run, "phase": self._phase, **row}
        self._append(msgspec.json.encode(row) + b"\n")
        self._waiting.append(row)
        self._phase += 1
        self.rows += 1
        if len(self._waiting) >= self._rows_of_part(row):
            self._finish_part()

    def say(self, **entries: object) -> None:
        """Put entries into overtime.json, which is written with the next part, or by `write_said`."""
        self.said.update(entries)

    def write_said(self) -> None:
        """Write overtime.json."""
        write_json(self.folder / SAID, self.said)

    def end(self, reason: str) -> None:
        """Say how the run ended, "time" if as it should."""
        self.said["runs"][-1] |= {"ended": reason, "end": _now(), "phases": self._phase}
        self.said["interrupted"] = sum(run.get("ended") != "time" for run in self.said["runs"])
        self.write_said()

    def _earlier(self) -> dict[str, Any] | None:
        if not os.path.lexists(self.folder / SAID):
            if parts_in(self.folder) or os.fstat(self._tail).st_size > 0:
                raise UsageError(
                    f"{name_of(self.folder)} has rows of a recording, but no {SAID}: expected an empty folder, "
                    "or a whole recording"
                )
            return None
        said = read_said(self.folder)
        words = difference(said.get("settings", {}), self.settings.as_json())
        if words:
            raise UsageError(
                f"{name_of(self.folder)} has a recording with other settings, which cannot be continued: {words}"
            )
        return said

    def check_hosts(self, hosts: list[str]) -> None:
        """Raise UsageError if an earlier run had its ranks on other hosts."""
        earlier = self.said.get("hosts") or hosts
        if earlier != hosts:
            raise UsageError(
                f"{name_of(self.folder)} has a recording of the ranks' hosts {_listed(earlier)}, which cannot be "
                f"continued on {_listed(hosts)}"
            )
        self.said["hosts"] = hosts

    def _take_over(self, earlier: dict[str, Any] | None) -> None:
        """Continue behind what is there; the torn end of the tail is removed."""
        parts = parts_in(self.folder)
        self._part = len(parts) + 1
        last = read_part(parts[-1]) if parts else None
        if last is not None and last.num_rows:
            self._phase = int(last["phase"][-1].as_py()) + 1
        tail = TailFile.read(self.folder)
        self._waiting = [row for row in tail.rows if row["phase"] >= self._phase]
        if self._waiting:
            self._phase = int(self._waiting[-1]["phase"]) + 1
        if len(self._waiting) < len(tail.rows):
            self._replace_tail()
        else:
            self._bytes = tail.whole
            os.ftruncate(self._tail, tail.whole)
        self.said = self._said_before(earlier)
        if len(self._waiting) >= PART_ROWS:
            self._finish_part()
        self.write_said()

    def _said_before(self, earlier: dict[str, Any] | None) -> dict[str, Any]:
        settings = self.settings.as_json()
        runs = list(earlier.get("runs", [])) if earlier else []
        for run in runs:
            if run.get("ended") == RUNNING:
                run["ended"] = "unknown"
        said = earlier or {
            "schema": SCHEMA,
            "started": _now(),
            "counters": {},
            "load": {},
            "notes": [],
        }
        runs.append({"run": len(runs), "started": _now(), "ended": RUNNING})
        interrupted = sum(run["ended"] not in ("time", RUNNING) for run in runs)
        return {
            **said,
            "settings": settings,
            "runs": runs,
            "interrupted": interrupted,
            "continued": len(runs) - 1,
        }

    def _rows_of_part(self, row: Mapping[str, Any]) -> int:
        return max(_LEAST_ROWS, min(PART_ROWS, _PART_NUMBERS // max(len(row), 1)))

    def _finish_part(self) -> None:
        """Write the rows of the tail as parts of at most PART_ROWS rows, and empty the tail."""
        while self._waiting:
            rows, rest = self._waiting[:PART_ROWS], self._waiting[PART_ROWS:]
            write_table(part_file(self.folder, self._part), table_of(rows))
            self._part += 1
            self._waiting = rest
        os.ftruncate(self._tail, 0)
        self._bytes = 0
        if self.said:
            self.write_said()

    def _replace_tail(self) -> None:
        """Write the rows that are in no part yet as the whole tail."""
        os.ftruncate(self._tail, 0)
        self._bytes = 0
        for row in self._waiting:
            self._append(msgspec.json.encode(row) + b"\n")

    def _open_tail(self) -> int:
        file = self.folder / TAIL
        try:
            tail = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise OutputError(file, error.strerror or str(error)) from error
        try:
            fcntl.flock(tail, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(tail)
            raise UsageError(f"{name_of(self.folder)}: another process records into it") from None
        except OSError as error:  # a file system without locks
            if error.errno not in _NO_LOCKS:
                os.close(tail)
                raise OutputError(file, error.strerror or str(error)) from error
        return tail

    def _append(self, line: bytes) -> None:
        """Append a whole line. What a full disk took of one is removed."""
        try:
            written = 0
            while written < len(line):
                written += os.write(self._tail, line[written:])
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._tail, self._bytes)
            raise OutputError(self.folder / TAIL, error.strerror or str(error)) from error
        self._bytes += len(line)

    def _close_tail(self) -> None:
        if self._tail >= 0:
            os.close(self._tail)
            self._tail = -1


class Columns(dict[str, str]):
    """The column of each counter by its name: one text for all rows."""

    def __missing__(self, name: str) -> str:
        self[name] = column = f"{COUNTER}{name}"
        return column

    def row_of(self, phase: Mapping[str, Any], grown: Mapping[str, float]) -> Row:
        """The row of a phase, and of what counters grew by in it; a number that is not known is None."""
        numbers = {self[name]: None if math.isnan(value) else value for name, value in grown.items()}
        return {**phase, **numbers}


def _listed(hosts: list[str]) -> str:
    return ", ".join(hosts[:8]) + (f" and {len(hosts) - 8} more" if len(hosts) > 8 else "")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
