"""Notices on the error stream when something takes longer than expected, and the log of -v.

They go to the logger `idlewave` of the standard library. The command line prints its records; another program that uses
the package decides itself.
"""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Iterator

from .escaping import printable
from .termination_signals import called_after

PATIENCE = 2.0
"""Seconds before a notice."""
_LOG = logging.getLogger("idlewave")


@contextlib.contextmanager
def notice_if_slow(text: str) -> Iterator[None]:
    """Log `text` if the block takes longer than PATIENCE."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(RuntimeError):  # without memory for another thread there is no notice
            stack.enter_context(called_after(PATIENCE, lambda: _LOG.warning(text)))
        yield


def show_notices() -> None:
    """Print the records of the logger as lines on the error stream."""
    _LOG.addHandler(_Lines())
    _LOG.propagate = False


def show_log(*, everything: bool) -> None:
    """Log also files read and written, and programs started and compiled; with `everything` in detail."""
    _LOG.setLevel(logging.DEBUG if everything else logging.INFO)


class _Lines(logging.Handler):
    """Writes to the present sys.stderr, which a progress display may have replaced."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write the line of a record."""
        if sys.stderr is not None:
            sys.stderr.write(f"{printable(record.getMessage(), keep='')}\n")
            sys.stderr.flush()
