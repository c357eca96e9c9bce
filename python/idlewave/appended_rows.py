"""A file of JSON lines that grows while something runs: each row is there at once, whatever happens then."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from .errors import OutputError

MOST_ROW = 1 << 16
"""A last line that is longer is no row."""


class AppendedRows:
    """A file to which rows of JSON are appended, each at once; used as a context manager.

    `first` is the key with which each row begins. A last line without an end that begins so was left by an earlier run:
    it is removed first, and `removed` says so. Any other is not touched: OutputError. A pipe or a terminal is written
    as it is.
    """

    def __init__(self, path: str | Path, first: str) -> None:
        self._path = Path(path)
        self._begin = f'{{"{first}"'.encode()
        self._descriptor = -1
        self._regular = True
        self.removed = False

    def __enter__(self) -> AppendedRows:
        try:
            self._path.absolute().parent.mkdir(parents=True, exist_ok=True)
            self._regular = not self._path.exists() or self._path.is_file()
            access = os.O_RDWR | os.O_CREAT if self._regular else os.O_WRONLY
            self._descriptor = os.open(self._path, access | os.O_CLOEXEC, 0o666)
            try:
                self._regular = stat.S_ISREG(os.fstat(self._descriptor).st_mode)
                if self._regular:
                    self._remove_unfinished()
            except BaseException:
                os.close(self._descriptor)
                raise
        except OSError as error:
            raise self._failure(error) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, once."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor < 0:
            return
        try:
            os.close(descriptor)
        except OSError as error:  # what a server of files has not stored
            raise self._failure(error) from error

    def append(self, row: Mapping[str, object]) -> None:
        """Append a row. What a full disk let through of it is removed again. Raises OutputError."""
        line = (json.dumps(row, allow_nan=False) + "\n").encode()
        try:
            end = os.lseek(self._descriptor, 0, os.SEEK_END) if self._regular else 0
            written = os.write(self._descriptor, line)
            if written < len(line) and self._regular:
                os.ftruncate(self._descriptor, end)
        except OSError as error:
            raise self._failure(error) from error
        if written < len(line):
            raise OutputError(self._path, "there is no room for a whole row")

    def _remove_unfinished(self) -> None:
        size = os.fstat(self._descriptor).st_size
        last = os.pread(self._descriptor, MOST_ROW, max(size - MOST_ROW, 0))
        _, end, tail = last.rpartition(b"\n")
        if not tail:
            return
        if not (end or size <= MOST_ROW) or not (tail.startswith(self._begin) or self._begin.startswith(tail)):
            expected = self._begin.decode()
            raise OutputError(
                self._path, f"its last line has no end, and is no row: expected rows that begin with {expected}"
            )
        os.ftruncate(self._descriptor, size - len(tail))
        self.removed = True

    def _failure(self, error: OSError) -> OutputError:
        return OutputError(self._path, error.strerror or str(error))
