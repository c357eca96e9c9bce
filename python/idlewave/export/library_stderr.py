"""Keeps messages of compiled libraries off the error stream, so that our error is the only line."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ..wait_notices import logger

_STREAM = 2


class LibraryLines:
    """The captured lines so far; those that begin with `mark` are the library's."""

    def __init__(self, mark: str, descriptor: int) -> None:
        self._mark = mark
        self._descriptor = descriptor

    def lines(self) -> list[str]:
        """The lines of the library."""
        return [line for line in self._all() if line.startswith(self._mark)]

    def others(self) -> list[str]:
        """The lines of others, such as threads of this process."""
        return [line for line in self._all() if not line.startswith(self._mark)]

    def _all(self) -> list[str]:
        size = os.fstat(self._descriptor).st_size
        return os.pread(self._descriptor, size, 0).decode(errors="replace").splitlines(keepends=True)


@contextmanager
def captured_lines(mark: str) -> Iterator[LibraryLines]:
    """Capture the error stream of the whole process in the block.

    At the end the lines that begin with `mark` go to the log of -vv, and the other lines to the error stream.
    """
    kept = os.memfd_create("idlewave-stderr", os.MFD_CLOEXEC)
    captured = LibraryLines(mark, kept)
    try:
        before = os.dup(_STREAM)
    except OSError:  # there is no error stream
        before = os.open(os.devnull, os.O_WRONLY)
    try:
        _redirect(kept)
        try:
            yield captured
        finally:
            _redirect(before)
            for line in captured.lines():
                logger(__name__).debug("%s", line.rstrip())
            with suppress(OSError):
                os.write(_STREAM, "".join(captured.others()).encode())
    finally:
        os.close(before)
        os.close(kept)


def _redirect(to: int) -> None:
    if sys.stderr is not None:
        sys.stderr.flush()
    os.dup2(to, _STREAM)
