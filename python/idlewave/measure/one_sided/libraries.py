"""The one-sided libraries beside MPI's own: OpenSHMEM of the same MPI, UCX and libfabric of the system, and GASNet-EX
that the user has built."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ... import mpi as mpis
from ...errors import IdlewaveError, UsageError
from ...escaping import quote
from ...formatting import join_words, unknown_name
from ...mpi import OPEN_MPI, Mpi
from ...pkg_config import ask, pkg_config
from ..probe_process import run_probe

BACK_END_NAMES = {
    "mpi": "MPI messages",
    "rma": "MPI windows",
    "shmem": "OpenSHMEM",
    "ucx": "UCX",
    "libfabric": "libfabric",
    "gasnet": "GASNet-EX",
}
"""What is compared: by the name of a back end what users read."""
BACK_ENDS = tuple(BACK_END_NAMES)
INSTALLED = ("ucx", "libfabric")
"""Those that pkg-config finds by their names."""
ALWAYS = ("mpi", "rma")
"""Those that every MPI has."""
GASNET = "IDLEWAVE_GASNET"
"""The variable of the environment with the folder in which GASNet-EX is installed."""
CONDUITS = ("ibv", "ofi", "ucx", "mpi")
"""GASNet's conduits whose processes an MPI's launcher starts, from the network's own to the general one."""
TRIAL = 60.0
"""Seconds within which a library has to have started and moved a few bytes."""


@dataclass(frozen=True)
class Library:
    """A library with the flags to compile and to link with it."""

    name: str
    flags: tuple[str, ...]
    libraries: tuple[str, ...]


@dataclass(frozen=True)
class Chosen:
    """The back ends that are measured, the program that has them, and sentences about those that were left out."""

    names: tuple[str, ...]
    program: Path
    notes: tuple[str, ...] = ()


def choose(mpi: Mpi, wanted: Sequence[str] | None = None, gasnet: str | Path | None = None) -> Chosen:
    """The back ends `wanted`, None: all that run here, in a program that is compiled if need be.

    `gasnet`: the folder in which GASNet-EX is installed, None: that of $IDLEWAVE_GASNET. Raises UsageError for a name
    that is not known, and for a back end wanted that is not there or does not run, with the reason.
    """
    for name in wanted or ():
        if name not in BACK_ENDS:
            raise UsageError(unknown_name("back end", name, BACK_ENDS))
    folder = gasnet or os.environ.get(GASNET)
    names = [*(wanted or [*ALWAYS, "shmem", *INSTALLED, *(["gasnet"] if folder else [])])]
    found: list[Library] = []
    notes = []
    for name in names:
        if name in ALWAYS:
            continue
        try:
            library = _find(name, mpi, folder)
            _try(mpi, library)
            found.append(library)
        except IdlewaveError as error:
            if wanted:
                raise UsageError(f"the back end {name} is not there: {error}") from error
            reason, _, _more = str(error).partition("\n")
            notes.append(f"The back end {name} is left out: {reason.rstrip('.:')}.")
    known = {library.name for library in found}
    chosen = tuple(name for name in dict.fromkeys(names) if name in ALWAYS or name in known)
    return Chosen(chosen, _build(mpi, found), tuple(notes))


def _build(mpi: Mpi, libraries: Sequence[Library]) -> Path:
    flags = [flag for library in libraries for flag in library.flags]
    return mpis.build_one_sided(mpi, flags, [name for library in libraries for name in library.libraries])


def _try(mpi: Mpi, library: Library) -> None:
    """Move a few bytes by the library: one that is installed may still not run. Raises MeasurementError with what it
    says."""
    program = _build(mpi, [library])
    with tempfile.TemporaryDirectory(prefix="idlewave-") as folder:
        options = ["--output", folder, "--back-ends", library.name, "--seconds", "0.01", "--max-size", "1"]
        command = [str(mpi.mpiexec), "-n", "2", str(program), *options]
        run_probe(command, mpi.environment(), f"one-sided communication by {library.name}", TRIAL)


def _find(name: str, mpi: Mpi, gasnet: str | Path | None) -> Library:
    """A library by the name of its back end. Raises UsageError with the reason if it is not there."""
    if name == "shmem":
        return _find_shmem(mpi)
    if name == "gasnet":
        return _find_gasnet(gasnet)
    flags = pkg_config(name, mpis.FABRICS[name])
    if flags is None:
        raise UsageError(f"pkg-config finds no {name}")
    libraries = tuple(word for word in flags if word.startswith(("-l", "-L")))
    return Library(name, tuple(word for word in flags if word not in libraries), libraries)


def _find_shmem(mpi: Mpi) -> Library:
    """OpenSHMEM of the MPI. Raises UsageError with the reason if it has none."""
    if mpi.vendor != OPEN_MPI:
        raise UsageError(f"{mpi.vendor} has no OpenSHMEM; Open MPI may have one")
    beside = [mpi.mpicxx.parent, mpi.mpicxx.resolve().parent]
    if not any((folder / name).is_file() for folder in beside for name in ("oshc++", "oshcc")):
        raise UsageError(f"the Open MPI of {mpi.mpicxx} has no OpenSHMEM: there is no oshcc beside it")
    return Library("shmem", ("-DIDLEWAVE_SHMEM",), ("-loshmem",))


def _find_gasnet(folder: str | Path | None) -> Library:
    """GASNet-EX installed in `folder`, with the first of its conduits that MPI's launcher starts. Raises UsageError
    with the reason if there is none."""
    if folder is None:
        raise UsageError(f"the folder in which GASNet-EX is installed is not known: name it with --gasnet or {GASNET}")
    described = Path(folder) / "lib" / "pkgconfig"
    there = {name: described / f"gasnet-{name}-seq.pc" for name in CONDUITS}
    file = next((file for file in there.values() if file.is_file()), None)
    if file is None:
        names = join_words(list(CONDUITS), " or ")
        raise UsageError(
            f"{quote(folder)} has no GASNet-EX of one thread over a conduit that MPI's launcher starts ({names}): "
            f"expected such as {there['mpi']}"
        )
    try:
        compiling, linking = ask(file, "--cflags"), ask(file, "--libs")
    except UsageError as error:
        raise UsageError(f"{file} cannot be read: {error}") from error
    flags = [word for word in compiling if word.startswith("-D")]
    folders = [part for word in compiling if word.startswith("-I") for part in ("-isystem", word[2:])]
    libraries = [word for word in linking if word.startswith(("-l", "-L"))]
    return Library("gasnet", ("-DIDLEWAVE_GASNET", *flags, *folders), tuple(libraries))
