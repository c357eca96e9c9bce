"""The signals that end a run, SIGINT, SIGTERM and SIGHUP, as one exception.

The command line handles them before it loads anything else, so this module imports no large module.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C, the end of a job by a batch system, and the end of a terminal."""
PATIENCE = 1.0
"""Seconds after a signal in which further signals count as the same: `timeout` and batch systems send several."""
_AGAIN = 0.01
"""Seconds until a signal is answered again, after one that was lost or came while a module was imported."""
_IMPORT_SYSTEM = "<frozen importlib._bootstrap>"
"""The file name of the code of the import system."""


class Interrupted(KeyboardInterrupt):
    """A signal ended the run. `number` is the number of the signal; `kept` says what is kept of the work, or is ""."""

    def __init__(self, number: int, kept: str = "") -> None:
        super().__init__(number, kept)
        self.number = number
        self.kept = kept

    def __str__(self) -> str:
        what = f"interrupted by {signal.Signals(self.number).name}"
        return f"{what}; {self.kept}" if self.kept else what

    @property
    def exit_status(self) -> int:
        """The exit status of the command line, 128 + the number of the signal as in shells."""
        return 128 + self.number

    @classmethod
    def by(cls, end: KeyboardInterrupt, kept: str = "") -> Interrupted:
        """The interrupt `end`, which Python's own handler may have raised, with what is kept."""
        return cls(end.number if isinstance(end, Interrupted) else signal.SIGINT, kept)


def answer_signals() -> None:
    """From here on the signals raise Interrupted in this process, also those that were blocked until now.

    Ignored signals stay ignored: SIGHUP under nohup, SIGINT of a command that a shell started in the background. A
    second signal raises again, but not within PATIENCE after the first, so that the clean-up continues.

    Who started this process may have ignored SIGCHLD; then nobody would learn how its children ended.
    """
    if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    handler = _Handler(begun=False)
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)
    sys.unraisablehook = handler.unraisable
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)


def work_begins() -> None:
    """From here on an interrupt may have something to clean up. Before, a signal ends the process at once if a module
    is being imported, which takes long on a slow disk."""
    for handler in _handlers():
        handler.begun = True


def leave_signals() -> None:
    """From here on the signals have their default action: another program is about to replace this one (exec)."""
    handlers = _handlers()
    _replace_handlers(signal.SIG_DFL)
    for handler in handlers:
        handler.close()


def end_at_once(status: int) -> None:
    """From here on a signal ends the process at once with `status`: the command is done and has printed its result."""
    for handler in _handlers():
        handler.status = status
        handler.stop_timer()
    # At its very end Python removes its handlers, and a signal would end it with another status. So the signals are
    # ignored then, which holds for all threads; blocking them would hold for this thread only.
    atexit.register(_replace_handlers, signal.SIG_IGN)


def _handlers() -> set[_Handler]:
    return {handler for handler in map(signal.getsignal, ENDING) if isinstance(handler, _Handler)}


def _replace_handlers(handler: signal.Handlers) -> None:
    for number in ENDING:
        if isinstance(signal.getsignal(number), _Handler):
            signal.signal(number, handler)


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """In the block the signals raise Interrupted, unless they are handled or ignored already.

    In another thread than the main one nothing changes, because only the main thread can handle signals.
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
        handler.close()


@contextmanager
def shielded() -> Iterator[None]:
    """Handled signals that arrive in the block raise at its end. For short blocks that must not be interrupted."""
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


@contextmanager
def called_after(seconds: float, call: Callable[[], object]) -> Iterator[None]:
    """Call `call` in another thread if the block takes longer than `seconds`."""
    timer = threading.Timer(seconds, call)
    timer.daemon = True
    try:
        with shielded():  # an interrupt in it could become "release unlocked lock"; it is raised here
            timer.start()
        yield
    finally:
        timer.cancel()


class _Handler:
    """The handler of all signals.

    While a module is imported, an exception that comes from outside can be lost: the module may catch it, Python may
    turn it into another (RuntimeError, when a class is made), and a module in C++ may abort. So a signal that arrives
    then is answered after the import.
    """

    def __init__(self, *, begun: bool = True) -> None:
        self.begun = begun
        """Whether an interrupt may have something to clean up."""
        self.shields = 0
        self.status: int | None = None
        """The exit status of the process, once that is certain."""
        self._last = -PATIENCE
        self._waiting = 0

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.status is not None:
            os._exit(self.status)
        now = time.monotonic()
        if now - self._last < PATIENCE:
            return
        self._last = now
        self._waiting = number
        self._answer(frame)

    def raise_waiting(self) -> None:
        """Raise Interrupted for a signal that has arrived, unless a block is shielded."""
        if self._waiting and not self.shields:
            number, self._waiting = self._waiting, 0
            self.stop_timer()
            raise Interrupted(number)

    def unraisable(self, what: sys.UnraisableHookArgs) -> None:
        """Raise an Interrupted again that Python could not pass on.

        Python prints an exception that is raised in, for example, a callback of the garbage collector, and continues.
        """
        if not isinstance(what.exc_value, Interrupted):
            sys.__unraisablehook__(what)
            return
        self._waiting = what.exc_value.number
        self._answer_later()

    def close(self) -> None:
        """Raise Interrupted for a signal that still waits for an answer; nothing raises later."""
        if signal.getsignal(signal.SIGALRM) == self._alarm:
            self.stop_timer()
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
        self.raise_waiting()

    def stop_timer(self) -> None:
        """Nothing is answered later. A timer that runs on would end the process when Python has removed its handlers,
        or another program has replaced it."""
        if signal.getsignal(signal.SIGALRM) == self._alarm:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _answer(self, frame: FrameType | None) -> None:
        if not _importing(frame):
            self.raise_waiting()
        elif not self.begun:
            end = Interrupted(self._waiting)
            os.write(2, f"{end}\n".encode())
            os._exit(end.exit_status)
        elif signal.getsignal(signal.SIGALRM) in (signal.SIG_DFL, self._alarm):
            self._answer_later()
        else:  # who uses this library has the timer
            self.raise_waiting()

    def _answer_later(self) -> None:
        signal.signal(signal.SIGALRM, self._alarm)
        signal.setitimer(signal.ITIMER_REAL, _AGAIN)

    def _alarm(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - as Python calls handlers
        if self._waiting and self.status is None:
            self._answer(frame)


def _importing(frame: FrameType | None) -> bool:
    """Whether a module is being imported in `frame` or in one of its callers."""
    while frame is not None:
        if frame.f_code.co_filename == _IMPORT_SYSTEM:
            return True
        frame = frame.f_back
    return False
