"""Reads OTF2 archives in forks of this process, each of which reads many. `idlewave.importing.otf2` starts a process
for each archive, which takes longer than to read a small one.

An archive that is damaged may change the memory of its fork, or leave in it what a later one reads where it is cut off:
what becomes of an archive depends, if rarely, on those that its fork has read before.
"""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import pytest
from idlewave.errors import MemoryLimit
from idlewave.importing import otf2 as importing
from otf2_fork import read_all
from reader_attempts import SECONDS

MOST_READ = 1000
"""Archives that a fork reads. Of nearly each damaged one the library keeps a file open."""


@dataclass
class _Fork:
    """A fork that reads archives for the process `parent`."""

    requests: BinaryIO
    answers: BinaryIO
    log: int
    process: int
    parent: int = field(default_factory=os.getpid)
    read: int = 0

    @classmethod
    def start(cls) -> _Fork:
        log = os.memfd_create("log")
        their_requests, requests = os.pipe()
        answers, their_answers = os.pipe()
        process = os.fork()
        if process == 0:
            read_all(their_requests, their_answers, log)
        os.close(their_requests)
        os.close(their_answers)
        return cls(os.fdopen(requests, "wb"), os.fdopen(answers, "rb"), log, process)

    def answer(self, source: Path, folder: Path) -> object:
        """What `read_archive` returns. Raises EOFError and others if the fork ends instead."""
        self.read += 1
        pickle.dump((source, folder), self.requests)
        self.requests.flush()
        return pickle.load(self.answers)

    def hand_over_log(self, said: BinaryIO) -> None:
        """Write to `said` what the library has said of the last archive."""
        said.write(os.pread(self.log, importing.MOST_SAID, 0))
        said.flush()
        os.ftruncate(self.log, 0)

    def end(self) -> int:
        """How the fork, which has closed its pipes, has ended."""
        with suppress(BrokenPipeError):
            self.requests.close()
        self.answers.close()
        os.close(self.log)
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])

    def close(self) -> None:
        """End it, unless this process has it from its parent."""
        if self.parent == os.getpid():
            os.kill(self.process, signal.SIGKILL)
            self.end()


class ReaderInForks:
    """Imports archives as `import_otf2` does, but for the process that reads."""

    def __init__(self) -> None:
        self._fork: _Fork | None = None

    @contextmanager
    def replacing_the_process(self) -> Iterator[None]:
        """In the block archives are read in these forks, and otherwise imported as ever."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(importing, "_read_in_a_process", self._read_in_a_fork)
            yield

    def import_otf2(self, source: Path, folder: Path) -> object:
        """What `idlewave.importing.otf2.import_otf2` returns."""
        with self.replacing_the_process():
            return importing.import_otf2(source, folder)

    def close(self) -> None:
        """End the fork, if there is one."""
        fork, self._fork = self._fork, None
        if fork is not None:
            fork.close()

    def _read_in_a_fork(self, source: Path, folder: Path, _: float, said: BinaryIO) -> tuple[int, bytes]:
        """What `_read_in_a_process` returns; the fork has a time limit of its own."""
        fork = self._present_fork()
        try:
            outcome = fork.answer(source, folder)
            fork.hand_over_log(said)
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):
            return self._after_the_end_of(fork, source, folder, said)
        except BaseException:  # the time is up
            self.close()
            raise
        if isinstance(outcome, MemoryLimit | OSError) and fork.read > 1:  # perhaps for those that the fork read before
            self.close()
            return self._read_again(source, folder, said)
        return 0, pickle.dumps(outcome)

    def _after_the_end_of(self, fork: _Fork, source: Path, folder: Path, said: BinaryIO) -> tuple[int, bytes]:
        """The same of an archive at which the fork ended. If the library crashed, perhaps one before it had damaged the
        memory: a new fork reads it then."""
        fork.hand_over_log(said)
        self._fork = None
        status = fork.end()
        if status == -signal.SIGVTALRM:
            raise RuntimeError(f"Idlewave took more than {SECONDS} s")
        if status >= 0 or status == -signal.SIGPROF or fork.read == 1:
            return status, b""
        return self._read_again(source, folder, said)

    def _read_again(self, source: Path, folder: Path, said: BinaryIO) -> tuple[int, bytes]:
        said.truncate(0)
        said.seek(0)
        return self._read_in_a_fork(source, folder, 0, said)

    def _present_fork(self) -> _Fork:
        """The fork of this process that has not read its last archive."""
        fork = self._fork
        if fork is not None and (fork.read == MOST_READ or fork.parent != os.getpid()):
            self.close()
        if self._fork is None:
            self._fork = _Fork.start()
        return self._fork
