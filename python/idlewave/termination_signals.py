"""What ends a run from outside: SIGINT, SIGTERM and SIGHUP, as one exception.

The command line answers them before anything else is loaded, so this module loads nothing large.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C, what a batch system ends a job with, and the end of a terminal."""
PATIENCE = 1.0
"""Seconds after a signal in which others are taken for the same wish: `timeout` and batch systems send several."""
_AGAIN = 0.01
"""Seconds after which an exception that Python could not pass on is raised once more."""


class Interrupted(KeyboardInterrupt):
    """A signal asks for the end. `number` is the signal's; `kept` says what is kept of the work, "" if nothing is."""

    def __init__(self, number: int, kept: str = "") -> None:
        super().__init__(number, kept)
        self.number = number
        self.kept = kept

    def __str__(self) -> str:
        what = f"interrupted by {signal.Signals(self.number).name}"
        return f"{what}; {self.kept}" if self.kept else what

    @property
    def exit_status(self) -> int:
        """What the command line ends with, as shells say it."""
        return 128 + self.number

    @classmethod
    def by(cls, end: KeyboardInterrupt, kept: str = "") -> Interrupted:
        """The same end, also where Python's own handler raised it, with what is kept."""
        return cls(end.number if isinstance(end, Interrupted) else signal.SIGINT, kept)


def answer_signals() -> None:
    """From here on the signals raise Interrupted, also those that were blocked until now; for the whole process.

    What is ignored stays so: SIGHUP under nohup, SIGINT of what a shell started in the background. A second signal
    raises again, but not within PATIENCE of the one before, so that cleaning up goes on.
    """
    handler = _Handler()
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)
    sys.unraisablehook = handler.unraisable
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)


def leave_signals() -> None:
    """From here on the signals end the process as they end any: another program is to take its place."""
    _replace_handlers(signal.SIG_DFL)


def end_at_once(status: int) -> None:
    """From here on a signal only hastens the end of the process, with that exit status: all is done and told."""
    for handler in _handlers():
        handler.status = status
    # Last of all Python gives up its handlers, and a signal would end it with another status: it is ignored, by all
    # threads. To block it would hold for this one alone.
    atexit.register(_replace_handlers, signal.SIG_IGN)


def _handlers() -> set[_Handler]:
    return {handler for handler in map(signal.getsignal, ENDING) if isinstance(handler, _Handler)}


def in_place_of(error: BaseException) -> Interrupted | None:
    """The interrupt that a library has made an ImportError of, as numpy does while it is loaded; else None."""
    number = next((handler.raised for handler in _handlers() if handler.raised), 0)
    return Interrupted(number) if number and isinstance(error, ImportError) else None


def _replace_handlers(handler: signal.Handlers) -> None:
    for number in ENDING:
        if isinstance(signal.getsignal(number), _Handler):
            signal.signal(number, handler)


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Meanwhile the signals raise Interrupted, unless they are answered, or ignored, already.

    In another thread than the main one nothing changes, for only that one can handle signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    plain = (signal.SIG_DFL, signal.default_int_handler)
    before = {number: signal.getsignal(number) for number in ENDING if signal.getsignal(number) in plain}
    handler = _Handler()
    for number in before:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


@contextmanager
def shielded() -> Iterator[None]:
    """Signals that are answered, and come meanwhile, raise at its end: for what is short, and has to be whole."""
    handlers = _handlers()
    if threading.current_thread() is not threading.main_thread():
        handlers = set()
    for handler in handlers:
        handler.shields += 1
    try:
        yield
    finally:
        for handler in handlers:
            handler.shields -= 1
        for handler in handlers:
            handler.raise_waiting()


class _Handler:
    """Answers a signal. One for all of them."""

    def __init__(self) -> None:
        self.shields = 0
        self.status: int | None = None
        """What the process ends with, once that is certain."""
        self.raised = 0
        """The number of the last signal that raised."""
        self._last = -PATIENCE
        self._waiting = 0

    def __call__(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - as Python calls handlers
        if self.status is not None:
            os._exit(self.status)
        now = time.monotonic()
        if now - self._last < PATIENCE:
            return
        self._last = now
        self._waiting = number
        self.raise_waiting()

    def raise_waiting(self) -> None:
        """Raises what has come, if nothing is shielded from it."""
        if self._waiting and not self.shields:
            self.raised, self._waiting = self._waiting, 0
            raise Interrupted(self.raised)

    def unraisable(self, what: sys.UnraisableHookArgs) -> None:
        """Python prints what is raised where nobody can catch it, such as in a callback of the garbage collector, and
        goes on: so an end is asked for again."""
        if not isinstance(what.exc_value, Interrupted):
            sys.__unraisablehook__(what)
            return
        self._waiting = what.exc_value.number
        signal.signal(signal.SIGALRM, lambda *_: self.raise_waiting())
        signal.setitimer(signal.ITIMER_REAL, _AGAIN)
