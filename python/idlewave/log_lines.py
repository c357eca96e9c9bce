"""The records of the logger `idlewave` as lines on the error stream."""

from __future__ import annotations

import logging
import sys

from .escaping import printable

_LOG = logging.getLogger("idlewave")


def print_records() -> None:
    """From here on the records are printed, and other handlers get none."""
    if not any(isinstance(handler, _Lines) for handler in _LOG.handlers):
        _LOG.addHandler(_Lines())
    _LOG.propagate = False


class _Lines(logging.Handler):
    """Writes to the present sys.stderr, which a progress display may have replaced."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write the line of a record."""
        if sys.stderr is not None:
            sys.stderr.write(f"{printable(record.getMessage(), keep='')}\n")
            sys.stderr.flush()
