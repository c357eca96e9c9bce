"""A word to who waits, where something takes longer than one expects.

It goes to the logger `idlewave`, as the standard library has it: the command line shows what comes there, and a program
that uses the package decides for itself.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
from collections.abc import Iterator

from .escaping import printable

PATIENCE = 2.0
"""Seconds that one waits without a word."""
_LOG = logging.getLogger("idlewave")


@contextlib.contextmanager
def notice_if_slow(text: str) -> Iterator[None]:
    """Say `text` if what is done meanwhile takes longer than PATIENCE."""
    timer = threading.Timer(PATIENCE, _LOG.warning, [text])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def show_notices() -> None:
    """Show the words as lines on the error stream."""
    _LOG.addHandler(_Lines())
    _LOG.propagate = False


def show_log(*, everything: bool) -> None:
    """Show, too, what is read, written, started and compiled; `everything`: in detail."""
    _LOG.setLevel(logging.DEBUG if everything else logging.INFO)


class _Lines(logging.Handler):
    """Writes to what is the error stream at that time: a progress display puts itself in its place."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line."""
        if sys.stderr is not None:
            sys.stderr.write(f"{printable(record.getMessage(), keep='')}\n")
            sys.stderr.flush()
