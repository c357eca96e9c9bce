"""Notices on the error stream when something takes longer than expected, and the log of -v.

They go to the logger `idlewave` of the standard library. The command line prints its records; another program that uses
the package decides itself. `logging` is loaded with the first record: most commands make none.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .termination_signals import called_after

if TYPE_CHECKING:
    from logging import Logger

PATIENCE = 2.0
"""Seconds before a notice."""
_shown = False
"""Whether records are printed."""


@contextlib.contextmanager
def notice_if_slow(text: str) -> Iterator[None]:
    """Log `text` if the block takes longer than PATIENCE."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(RuntimeError):  # without memory for another thread there is no notice
            stack.enter_context(called_after(PATIENCE, lambda: logger("idlewave").warning(text)))
        yield


def logger(name: str) -> Logger:
    """The logger `idlewave`, or that of a module of this package."""
    import logging

    if _shown:
        from .log_lines import print_records

        print_records()
    return logging.getLogger(name)


def show_notices() -> None:
    """Print the records of the logger as lines on the error stream."""
    global _shown
    _shown = True


def show_log(*, everything: bool) -> None:
    """Log also files read and written, and programs started and compiled; with `everything` in detail."""
    logger("idlewave").setLevel("DEBUG" if everything else "INFO")
