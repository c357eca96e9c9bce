"""How a study that ends early ends the simulations which run on threads of its process."""

from __future__ import annotations

from contextvars import ContextVar
from threading import Event

_STOP: ContextVar[Event | None] = ContextVar("stop", default=None)
"""In a thread that computes a row: what the study sets when it ends early."""


class Stopped(Exception):  # noqa: N818 - no error: the study was stopped
    """The study was stopped while a row was computed."""


def row_ends_with(stop: Event) -> None:
    """From here on `check_stop` in this thread raises Stopped as soon as `stop` is set."""
    _STOP.set(stop)


def check_stop(_now: int = 0) -> None:
    """Raise Stopped if the study that this row belongs to was stopped.

    Row functions give it to simulations as their `progress`, so that Ctrl-C need not wait for them.
    """
    stop = _STOP.get()
    if stop is not None and stop.is_set():
        raise Stopped
