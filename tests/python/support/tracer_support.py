"""What the tracer's tests share: finding MPIs, compiling and tracing test programs, records as tuples."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import subprocess
import tempfile
from collections import defaultdict, deque
from pathlib import Path

import pytest
from idlewave import mpi, traced_run
from idlewave.errors import MpiError
from places import PROGRAMS, ROOT
from trace_reader import RankFile, Record, read_trace

WORLD, SELF = 1, 2
ANY = -1
NOWHERE = -2  # MPI_PROC_NULL
UNKNOWN = -3


@functools.cache
def _scratch() -> Path:
    folder = tempfile.mkdtemp(prefix="idlewave-tests-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


@functools.cache
def open_mpi() -> mpi.Mpi:
    """The Open MPI of this Python's environment."""
    try:
        found = mpi.find()
    except MpiError as error:
        pytest.skip(f"no MPI: {error}")
    if found.vendor != mpi.OPEN_MPI:
        pytest.skip(f"the default MPI is {found.vendor}, not Open MPI")
    return found


@functools.cache
def mpich() -> mpi.Mpi:
    """The MPICH of IDLEWAVE_TEST_MPICH (its mpiexec), or in the repository's .mpich."""
    mpiexec = Path(os.environ.get("IDLEWAVE_TEST_MPICH", ROOT / ".mpich/bin/mpiexec"))
    if not mpiexec.is_file():
        pytest.skip(f"no MPICH: there is no {mpiexec} (IDLEWAVE_TEST_MPICH names another)")
    return mpi.find(mpiexec)


@functools.cache
def debian_open_mpi() -> mpi.Mpi:
    """Debian's Open MPI, whose Fortran modules gfortran compiled."""
    if not shutil.which("mpif90.openmpi") or not shutil.which("mpiexec.openmpi"):
        pytest.skip("no Fortran: mpif90.openmpi and mpiexec.openmpi are not installed (gfortran, libopenmpi-dev)")
    return mpi.find("mpiexec.openmpi")


@functools.cache
def flang() -> Path:
    """LLVM's Fortran compiler, of a version that reads an `mpif.h` made for gfortran: later ones refuse its kinds."""
    found = next(filter(None, (shutil.which(f"flang-new-{version}") for version in range(16, 20))), None)
    if found is None:
        pytest.skip("no flang (Debian's flang-16)")
    return Path(found)


@functools.cache
def flang_open_mpi() -> mpi.Mpi:
    """The Open MPI whose Fortran modules flang compiled: IDLEWAVE_TEST_FLANG_MPI names its mpiexec."""
    mpiexec = os.environ.get("IDLEWAVE_TEST_FLANG_MPI")
    if not mpiexec:
        pytest.skip("IDLEWAVE_TEST_FLANG_MPI names no mpiexec of an Open MPI that was built with flang")
    return mpi.find(mpiexec)


@functools.cache
def compiled(compiler: Path | str, source: Path, *flags: str, fortran: Path | None = None) -> Path:
    """The program in `source`, compiled with an MPI's compiler wrapper; Open MPI's takes another Fortran compiler."""
    folder = Path(tempfile.mkdtemp(dir=_scratch()))
    program = folder / source.stem
    environment = dict(os.environ)
    if fortran is not None:
        environment["OMPI_FC"] = str(fortran)
        flags = (*flags, f"-L{fortran.resolve().parent.parent / 'lib'}")  # of its runtime, which Debian's does not find
    command = [compiler, "-O1", "-pthread", *flags, source, "-o", program, "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return program


def with_mpif_h(source: Path, folder: Path) -> Path:
    """A Fortran program that takes MPI from `mpif.h`, made of one that takes it from the module `mpi`."""
    text = source.read_text()
    changed = text.replace("  use mpi\n  implicit none\n", "  implicit none\n  include 'mpif.h'\n")
    assert changed != text
    written = folder / f"{source.stem}_mpif.f90"
    written.write_text(changed)
    return written


def program(use: mpi.Mpi, name: str) -> Path:
    """The test program `name`, compiled for that MPI."""
    return compiled(use.mpicc, PROGRAMS / f"{name}.c")


def command_of(use: mpi.Mpi, ranks: int, executable: Path, *arguments: object) -> list[str]:
    """A launcher's command line."""
    return [str(use.mpiexec), "-n", str(ranks), str(executable), *map(str, arguments)]


def untraced_output(use: mpi.Mpi, ranks: int, executable: Path, *arguments: object) -> str:
    """What a program prints without the tracer."""
    command = command_of(use, ranks, executable, *arguments)
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=use.environment(), timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def trace_of(folder: Path, use: mpi.Mpi, ranks: int, executable: Path, *arguments: object) -> list[RankFile]:
    """The ranks' files of a traced run that succeeds."""
    traced_run.trace(command_of(use, ranks, executable, *arguments), folder)
    return read_trace(folder)


# How the words of each record are to be read: i integer, p pair, r request, m message.
_LAYOUTS = {
    **dict.fromkeys(("Send", "Bsend", "Ssend", "Rsend"), "ipi"),
    **dict.fromkeys(("Isend", "Ibsend", "Issend", "Irsend", "SendInit", "Irecv", "RecvInit"), "ipir"),
    "Recv": "ipipi",
    "Sendrecv": "ipipipi",
    "Isendrecv": "ipipir",
    **dict.fromkeys(("PsendInit", "PrecvInit"), "ipiri"),
    "Pcontrol": "i",
    "Pready": "ri",
    "Probe": "ippi",
    "Mprobe": "ippim",
    "Mrecv": "mpi",
    "Imrecv": "mr",
    **dict.fromkeys(("RequestFree", "Cancel", "Start"), "r"),
}
_WAITS = ("Wait", "Waitall", "Waitany", "Waitsome", "Test", "Testall", "Testany", "Testsome")


def decoded(rank: RankFile) -> list[tuple]:
    """Records as tuples: the name, then its words; pairs as tuples.

    A request is called after the call that made it, with its tag ("Irecv 20"), and a message after its probe.
    A completion is (request, (source, tag), bytes) for receives; of others only the request says something. What the
    first and the last record say of the run and its host is left out.
    """
    open_requests: dict[int, deque[str]] = defaultdict(deque)
    messages: dict[int, str] = {}
    found = []
    for record in rank.records:
        if record.name in ("Init", "Finalize"):
            words = ()
        elif record.name in _WAITS:
            words = tuple(_completed(record, i, open_requests) for i in range(0, len(record.words), 3))
        else:
            words = _words(record, open_requests, messages)
        found.append((record.name, *words))
    return found


def _completed(record: Record, i: int, open_requests: dict[int, deque[str]]) -> tuple:
    waiting = open_requests.get(record.words[i])
    name = waiting[0] if waiting else "?"
    if waiting and "Init" not in name:
        waiting.popleft()
    if name.startswith(("Irecv", "RecvInit", "Imrecv")):
        return (name, record.pair(i + 1), record.words[i + 2])
    return (name,)


def _words(record: Record, open_requests: dict[int, deque[str]], messages: dict[int, str]) -> tuple:
    collective = record.name not in _LAYOUTS
    if collective and record.name.startswith("I") and record.name != "Init":
        layout = "ip" + "r" + "i" * (len(record.words) - 3)
    elif collective:
        layout = "ip"[: len(record.words)] + "i" * (len(record.words) - 2)
    else:
        layout = _LAYOUTS[record.name]
    words = []
    for i, kind in enumerate(layout):
        value = record.words[i]
        if kind == "p":
            words.append(record.pair(i))
        elif kind == "m":
            if record.name == "Mprobe":
                messages[value] = f"Mprobe {record.pair(1)[1]}"
            words.append(messages[value])
        elif kind == "r":
            words.append(_request(record, value, words, open_requests))
        else:
            words.append(value)
    return tuple(words)


def _request(record: Record, value: int, words: list, open_requests: dict[int, deque[str]]) -> str:
    if record.name in ("RequestFree", "Cancel", "Start"):
        waiting = open_requests[value]
        if not waiting:
            return "?"
        return waiting.popleft() if record.name == "RequestFree" else waiting[0]
    tag = f" {words[1][1]}" if record.name in _LAYOUTS and len(words) > 1 else ""
    name = record.name + tag
    if "Init" in name:
        open_requests[value].clear()
    open_requests[value].append(name)
    return name


def sections(records: list[tuple]) -> list[list[tuple]]:
    """The records between the marks (barriers on MPI_COMM_SELF) that programs/calls.c sets; without polls."""
    found: list[list[tuple]] = [[]]
    for record in records:
        if record[:2] == ("Barrier", SELF):
            found.append([])
        elif record[0] not in ("Init", "Finalize", "Polls", "Tracer"):
            found[-1].append(record)
    return found[:-1]
