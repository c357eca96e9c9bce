"""OTF2 archives, as Score-P writes them, with the events of MPI.

The library of OTF2, which is in C, writes and searches past the end of its memory in some archives that are damaged:
it crashes, or computes for ever. So a process of its own (otf2_process.py) reads the archive, and how that ends is
found here.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from ..child_processes import Child
from ..errors import IdlewaveError, InputError
from ..escaping import name_of, quote
from ..wait_notices import logger
from .otf2_reader import Refused

STANDSTILL = 30.0
"""Seconds of computing in which the library reads nothing, after which it counts as caught in a loop."""
DEFINITIONS = 1e4
"""Bytes of definitions that it reads a second at least; they are read before the first event."""
CRASHES = ("SIGSEGV", "SIGBUS", "SIGABRT", "SIGFPE", "SIGILL")
"""The signals that end a process which the library crashed."""
MOST_SAID = 1 << 20
"""Bytes of what the library says that are looked at, from the beginning."""


def import_otf2(source: Path, folder: Path) -> Counter[str]:
    """Write the rank files of the archive with the anchor file `source` to `folder`. Returns what was left out.

    Raises InputError if the archive cannot be read or has no events of MPI, LibraryError without the package otf2,
    MemoryLimit if memory runs out, and IdlewaveError if something else ends the process that reads.
    """
    _check_files(source)
    definitions = source.with_name(f"{source.stem}.def")
    seconds = STANDSTILL + (definitions.stat().st_size / DEFINITIONS if definitions.is_file() else 0)
    with _memory_file() as said:
        status, answer = _read_in_a_process(source, folder, seconds, said)
        lines = os.pread(said.fileno(), MOST_SAID, 0).decode(errors="replace").splitlines()
    for line in lines:
        logger(__name__).debug("%s", line)
    if status != 0:
        _ended_badly(source, status, lines)
    return _result(source, pickle.loads(answer), lines)


def _read_in_a_process(source: Path, folder: Path, seconds: float, said: BinaryIO) -> tuple[int, bytes]:
    """How the process that reads the archive ends, its exit status or minus the number of a signal; and its answer.
    That comes through a pipe, as a file may be limited to less."""
    process = [sys.executable, "-P", "-m", f"{__package__}.otf2_process", str(source), str(folder), str(seconds)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": said}
    with Child.start(process, environment=environment, **streams) as child:
        answer = child.output.read()
        return child.wait(), answer


def _check_files(source: Path) -> None:
    """OTF2 would wait for ever for a pipe."""
    try:
        local = source.with_name(source.stem)
        files = [source.with_name(f"{source.stem}.def"), *(local.iterdir() if local.is_dir() else ())]
        found = next((file for file in files if file.exists() and not (file.is_file() or file.is_dir())), None)
    except OSError as error:
        raise InputError(f"{name_of(source)}: cannot be read as an OTF2 archive: {error.strerror}") from error
    if found is not None:
        raise InputError(f"{name_of(found)}: cannot be read as a file of an OTF2 archive: it is no file")


def _result(source: Path, outcome: object, lines: list[str]) -> Counter[str]:
    """What the process returned, or the error that it met."""
    if isinstance(outcome, Refused):
        said = next((line for line in lines if line.startswith("[OTF2]")), "")
        if not said and "INTERRUPTED_BY_CALLBACK" in str(outcome):  # after Python's words
            _cannot_be_read(source, f"its bindings cannot use a definition or an event: {quote(_last(lines))}")
        _cannot_be_read(source, quote(said.strip() or outcome))
    if isinstance(outcome, Exception):
        raise outcome
    assert isinstance(outcome, Counter)
    return outcome


def _ended_badly(source: Path, status: int, lines: list[str]) -> NoReturn:
    ended = {-number: number.name for number in signal.Signals}.get(status, f"signal {-status}")
    if ended == "SIGPROF":
        _cannot_be_read(source, "OTF2's library read nothing from it for a long time")
    if ended in CRASHES:
        _cannot_be_read(source, f"OTF2's library crashed ({ended}) after {quote(_last(lines))}")
    if status < 0:
        memory = ", as systems do that run out of memory" if ended == "SIGKILL" else ""
        raise IdlewaveError(f"{name_of(source)}: the process that read it was ended by {ended}{memory}")
    text = "\n".join(lines)
    raise RuntimeError(f"the process that read {name_of(source)} ended with status {status}:\n{text}")


def _last(lines: list[str]) -> str:
    return next((line.strip() for line in reversed(lines) if line.strip()), "no message")


def _cannot_be_read(source: Path, why: str) -> NoReturn:
    raise InputError(f"{name_of(source)}: cannot be read as an OTF2 archive: {why}; expected an undamaged archive")


@contextmanager
def _memory_file() -> Iterator[BinaryIO]:
    with os.fdopen(os.memfd_create("idlewave-otf2", os.MFD_CLOEXEC), "w+b") as file:
        yield file
