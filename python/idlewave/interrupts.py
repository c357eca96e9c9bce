"""What ends a long run from outside."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def ended_by_signals() -> Iterator[None]:
    """Meanwhile SIGTERM, with which a batch system ends a job, raises KeyboardInterrupt as SIGINT does.

    In another thread than the main one nothing changes, for only that one can handle signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)
