"""Reads OTF2 archives in forks of this process, which start quicker than the process that `idlewave import` starts."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import otf2  # noqa: F401 - so that the forks have it
import pytest
from idlewave.importing import otf2 as importing
from idlewave.importing.otf2_reader import read_archive

SECONDS = 2.0
"""Seconds of computing after which a fork in which the library reads nothing ends."""


@contextmanager
def reading_in_forks() -> Iterator[None]:
    """In the block archives are read in forks, and otherwise imported as ever."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(importing, "_read_in_a_process", _read_in_a_fork)
        yield


def _read_in_a_fork(source: Path, folder: Path, _: float, said: BinaryIO) -> tuple[int, bytes]:
    theirs, ours = os.pipe()
    fork = os.fork()
    if fork == 0:
        _read(source, folder, ours, said)
    os.close(ours)
    try:
        with os.fdopen(theirs, "rb") as answer:
            content = answer.read()
        status = os.waitpid(fork, 0)[1]
    except BaseException:
        os.kill(fork, signal.SIGKILL)
        os.waitpid(fork, 0)
        raise
    return os.waitstatus_to_exitcode(status), content


def _read(source: Path, folder: Path, answer: int, said: BinaryIO) -> None:
    """What otf2_process.py does."""
    try:
        os.dup2(said.fileno(), 1)
        os.dup2(said.fileno(), 2)
        outcome = read_archive(source, folder, SECONDS)
        with os.fdopen(answer, "wb") as file:
            pickle.dump(outcome, file)
        os._exit(0)
    except BaseException:
        import traceback

        traceback.print_exc()
        os._exit(1)
