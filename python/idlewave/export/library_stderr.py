"""What a compiled library prints to the error stream by itself, kept off it: our error is the one line."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_STREAM = 2
_log = logging.getLogger(__name__)


class OwnWords:
    """The lines that begin with `mark`, as far as they have come."""

    def __init__(self, mark: str, descriptor: int) -> None:
        self._mark = mark
        self._descriptor = descriptor

    def lines(self) -> list[str]:
        """Those of the library."""
        return [line for line in self._all() if line.startswith(self._mark)]

    def others(self) -> list[str]:
        """Those that somebody else wrote meanwhile."""
        return [line for line in self._all() if not line.startswith(self._mark)]

    def _all(self) -> list[str]:
        size = os.fstat(self._descriptor).st_size
        return os.pread(self._descriptor, size, 0).decode(errors="replace").splitlines(keepends=True)


@contextmanager
def own_words(mark: str) -> Iterator[OwnWords]:
    """Meanwhile the error stream of the whole process goes into memory. At the end what does not begin with `mark` is
    written to it, and what does goes to the log, in detail."""
    kept = os.memfd_create("idlewave-words", os.MFD_CLOEXEC)
    words = OwnWords(mark, kept)
    try:
        before = os.dup(_STREAM)
    except OSError:  # there is no error stream
        before = os.open(os.devnull, os.O_WRONLY)
    try:
        _turn(kept)
        try:
            yield words
        finally:
            _turn(before)
            for line in words.lines():
                _log.debug("%s", line.rstrip())
            with suppress(OSError):
                os.write(_STREAM, "".join(words.others()).encode())
    finally:
        os.close(before)
        os.close(kept)


def _turn(to: int) -> None:
    if sys.stderr is not None:
        sys.stderr.flush()
    os.dup2(to, _STREAM)
