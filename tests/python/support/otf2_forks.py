"""Reads OTF2 archives in forks of this process, each of which reads many, one after the other: `import_otf2` starts a
process for each."""

from __future__ import annotations

import ctypes
import gc
import os
import pickle
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import _otf2
import pytest
from idlewave.importing import otf2 as importing
from idlewave.importing.otf2_reader import read_archive
from otf2.event_reader import BufferedEventReader

SECONDS = 0.1
"""Seconds of computing after which a fork in which the library reads nothing ends."""
MOST_READ = 500
"""Archives that a fork reads. The library keeps the memory and the open files of each."""
_NOBODY = 0
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Of mallopt."""


class ReaderInForks:
    """Imports archives as `import_otf2` does, but for the process that reads. A fork that the library crashes is
    followed by another one."""

    def __init__(self) -> None:
        self._fork = _NOBODY
        self._read = 0
        self._requests: BinaryIO
        self._answers: BinaryIO
        self._said = 0
        self._parent = 0

    @contextmanager
    def instead(self) -> Iterator[None]:
        """In the block archives are read in these forks, and otherwise imported as ever."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(importing, "_read_in_a_process", self._read_in_a_fork)
            yield

    def import_otf2(self, source: Path, folder: Path) -> object:
        """What `idlewave.importing.otf2.import_otf2` returns."""
        with self.instead():
            return importing.import_otf2(source, folder)

    def _read_in_a_fork(self, source: Path, folder: Path, _: float, said: BinaryIO) -> tuple[int, bytes]:
        if self._fork == _NOBODY or self._parent != os.getpid():  # a fork of this process's parent serves that
            self._start()
        outcome, crashed = None, False
        try:
            pickle.dump((source, folder), self._requests)
            self._requests.flush()
            outcome = pickle.load(self._answers)
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):  # the library crashed, perhaps after its answer
            crashed = True
        except BaseException:  # perhaps the time is up
            os.kill(self._fork, signal.SIGKILL)
            self._end()
            raise
        said.write(os.pread(self._said, importing.MOST_SAID, 0))
        said.flush()
        os.ftruncate(self._said, 0)
        self._read += 1
        status = self._end() if crashed or self._read == MOST_READ else 0
        return status if crashed else 0, pickle.dumps(outcome)

    def _start(self) -> None:
        self._said = os.memfd_create("said")
        their_requests, requests = os.pipe()
        answers, their_answers = os.pipe()
        self._parent = os.getpid()
        self._fork = os.fork()
        if self._fork == 0:
            os.close(requests)
            os.close(answers)
            _read_all(os.fdopen(their_requests, "rb"), os.fdopen(their_answers, "wb"), self._said)
        os.close(their_requests)
        os.close(their_answers)
        self._requests, self._answers = os.fdopen(requests, "wb"), os.fdopen(answers, "rb")
        self._read = 0

    def _end(self) -> int:
        """How the fork ended, which it does without further requests."""
        fork, self._fork = self._fork, _NOBODY
        with suppress(BrokenPipeError):
            self._requests.close()
        self._answers.close()
        os.close(self._said)
        return os.waitstatus_to_exitcode(os.waitpid(fork, 0)[1])


def _read_all(requests: BinaryIO, answers: BinaryIO, said: int) -> None:
    """What otf2_process.py does, for one archive after the other."""
    try:
        for stream in (1, 2):
            os.dup2(said, stream)
        for number in (signal.SIGPROF, signal.SIGALRM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        gc.disable()  # it took a third of the time; a fork ends before it needs the memory
        _keep_freed_memory()
        _keep_callbacks()
        while True:
            try:
                source, folder = pickle.load(requests)
            except EOFError:
                os._exit(0)
            os.lseek(said, 0, os.SEEK_SET)
            pickle.dump(read_archive(source, folder, SECONDS), answers)
            answers.flush()
    except BaseException:
        import traceback

        traceback.print_exc()
        os._exit(1)


def _keep_freed_memory() -> None:
    """Let the C library take no memory from the system that it has freed before: the library's buffers are large."""
    libc = ctypes.CDLL(None)
    libc.mallopt(_MMAP_THRESHOLD, 1 << 25)
    libc.mallopt(_TRIM_THRESHOLD, 1 << 29)


class _OfPresentReader:
    """Has the methods of the reader of events that is used now."""

    reader: BufferedEventReader

    def __getattr__(self, name: str) -> Callable[..., object]:
        return lambda *arguments: getattr(self.reader, name)(*arguments)


def _keep_callbacks() -> None:
    """Let the bindings make the C functions for events once, and not for each archive: a fifth of the time."""
    present, callbacks = _OfPresentReader(), _otf2.GlobalEvtReaderCallbacks_New()
    BufferedEventReader._set_global_event_reader_callbacks(present, callbacks)
    _otf2.GlobalEvtReaderCallbacks_New = lambda: callbacks
    _otf2.GlobalEvtReaderCallbacks_Delete = lambda _: None
    BufferedEventReader._set_global_event_reader_callbacks = lambda reader, _: setattr(present, "reader", reader)
