"""What a fork does that reads OTF2 archives (otf2_forks.py): what idlewave.importing.otf2_process does, for one archive
after the other, and with less work for each."""

from __future__ import annotations

import ctypes
import gc
import os
import pickle
import signal
import traceback
from collections.abc import Callable

import _otf2
from idlewave.importing.otf2_reader import read_archive
from otf2.event_reader import BufferedEventReader
from reader_attempts import SECONDS, limit_memory

STANDSTILL = 0.1
"""Seconds of computing after which the fork ends if the library reads nothing. It reads the largest sample in 0.03."""
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""Parameters of mallopt(3), from malloc.h."""


def read_all(requests: int, answers: int, log: int) -> None:
    """Read the archives that `requests` names, write to `answers` what otf2_process.py writes, and end. What the
    library says goes to `log`, from its beginning for each archive. Where Idlewave itself takes longer than a reader
    may, SIGVTALRM ends the fork."""
    try:
        _prepare(requests, answers, log)
        asked, answered = os.fdopen(requests, "rb"), os.fdopen(answers, "wb")
        while True:
            try:
                source, folder = pickle.load(asked)
            except EOFError:
                os._exit(0)
            os.lseek(log, 0, os.SEEK_SET)
            signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
            pickle.dump(read_archive(source, folder, STANDSTILL), answered)
            answered.flush()
    except BaseException:
        try:
            os.write(2, traceback.format_exc().encode())
        finally:
            os._exit(1)


def _prepare(requests: int, answers: int, log: int) -> None:
    for stream in (1, 2):
        os.dup2(log, stream)
    used = sorted((requests, answers, log))  # others would keep open what somebody waits for the end of
    for first, last in zip((2, *used), (*used, os.sysconf("SC_OPEN_MAX")), strict=True):
        os.closerange(first + 1, last)
    for number in (signal.SIGPROF, signal.SIGVTALRM, signal.SIGALRM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    limit_memory()
    gc.disable()  # it takes a third of the time; the fork ends before it needs the memory
    _keep_freed_memory()
    _share_callbacks()


def _keep_freed_memory() -> None:
    """OTF2 allocates large buffers for each archive: to return them to the system takes as long as to read."""
    libc = ctypes.CDLL(None)
    libc.mallopt(M_MMAP_THRESHOLD, 1 << 25)  # the largest that there is
    libc.mallopt(M_TRIM_THRESHOLD, 1 << 29)


class _CurrentEventReader:
    """Hands each call on to the event reader of the archive that is being read."""

    reader: BufferedEventReader

    def __getattr__(self, name: str) -> Callable[..., object]:
        return lambda *arguments: getattr(self.reader, name)(*arguments)


def _share_callbacks() -> None:
    """Let all archives share the C functions that the bindings make for events: to make them takes a fifth of the
    time."""
    current, callbacks = _CurrentEventReader(), _otf2.GlobalEvtReaderCallbacks_New()
    BufferedEventReader._set_global_event_reader_callbacks(current, callbacks)
    _otf2.GlobalEvtReaderCallbacks_New = lambda: callbacks
    _otf2.GlobalEvtReaderCallbacks_Delete = lambda _: None
    BufferedEventReader._set_global_event_reader_callbacks = lambda reader, _: setattr(current, "reader", reader)
