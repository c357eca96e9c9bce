"""Runs an unmodified MPI program with the tracer preloaded into its ranks.

The launcher itself (``mpiexec``, ``mpirun``, ``srun``) is started as it was given. Only its ranks get the library, by
the launcher's own option for environment variables. docs/trace-format.md describes the files that the ranks write.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from . import mpi, unrecorded_ranks
from ._core import recorded_calls, version
from .child_processes import Child
from .child_processes import run as run_tool
from .digests import digest_of_files
from .errors import InputError, MeasurementError, MpiError, OutputError, ProgramError, UsageError
from .escaping import quote
from .lazy_provenance import rank_files
from .mpi import MPICH, OPEN_MPI, Mpi
from .output import write_json
from .provenance import Provenance, command_text, provenance_entry
from .termination_signals import Interrupted, ended_by_signals, shielded
from .trace_folder import TraceFolder

FORMAT = 1

_LAUNCHER = re.compile(r"(mpiexec|mpirun|orterun|prterun)(\..+)?|srun")

# Options of launchers that take one value, or two. Other options count as having none (see _program).
_ONE_VALUE = frozenset(
    [
        *("-n", "--n", "-np", "--np", "-c", "-N", "--npernode", "-npernode", "--ppr", "-ppn", "--ntasks"),
        *("--map-by", "-map-by", "--bind-to", "-bind-to", "--rank-by", "-rank-by", "--cpu-set", "--cpu-bind"),
        *(
            "-H",
            "-host",
            "--host",
            "-hosts",
            "-hostfile",
            "--hostfile",
            "-machinefile",
            "--machinefile",
            "-f",
        ),
        *(
            "-x",
            "-genvlist",
            "-envlist",
            "-wdir",
            "--wdir",
            "-wd",
            "-D",
            "--chdir",
            "-path",
            "--path",
            "-prefix",
        ),
        *("--prefix", "-iface", "-launcher", "-rmk", "-am", "--tune", "--timeout", "-timeout", "--mpi"),
        *("--output-filename", "-personality", "--personality", "-cpus-per-proc", "--cpus-per-task"),
        *("-w", "--nodelist", "--nodes", "--ntasks-per-node", "--mem", "-p", "--partition", "-t", "--time"),
        *("-A", "--account", "-J", "--job-name"),
    ]
)
_TWO_VALUES = frozenset({"-mca", "--mca", "-gmca", "--gmca", "--prtemca", "--pmixmca", "-genv", "-env"})

# The names of the MPI libraries that programs are linked with.
_SONAMES = {"libmpi.so.40": OPEN_MPI, "libmpi.so.12": MPICH, "libmpich.so.12": MPICH}
_STANDARD_ABI = "libmpi_abi.so.1"

# The parts of a rank's header that are needed here (docs/trace-format.md).
_HEADER = struct.Struct("<8s4I Q 2q I 52x Q")
_FINALIZED, _ABORTED, _TERMINATED = 1, 2, 3

GRACE = 8.0
"""Seconds between asking launcher and ranks to end and killing them: less than batch systems grant a job."""


@dataclass(frozen=True)
class TraceRun:
    """A traced run: the folder of the trace, and how the program ran; ``wall_seconds`` includes the launcher's time."""

    directory: Path
    command: tuple[str, ...]
    mpi: Mpi
    host: str
    started: datetime
    wall_seconds: float
    exit_status: int
    ranks: int
    interrupted_by: str | None = None
    """The name of the signal that ended the run, such as SIGTERM."""


@dataclass(frozen=True)
class _Rank:
    """The header of a rank's file."""

    path: Path
    rank: int
    ranks: int
    finalize_begin: int
    state: int
    lost: int

    @property
    def finished(self) -> bool:
        return self.finalize_begin != 0


def trace(
    command: Sequence[str],
    output: Path,
    *,
    overwrite: bool = False,
    output_to: int | None = None,
    on_start: Callable[[], object] | None = None,
) -> TraceRun:
    """Run `command` (``["mpiexec", "-n", "4", "./program", …]``) and write its trace to the folder `output`.

    The program's output passes through; `output_to` is the number of an open file that gets it instead. `overwrite`
    allows to replace an earlier trace, and nothing else. `on_start` is called right before the launcher starts.

    Raises UsageError when the command does not start with a launcher; MpiError when the launcher is missing, or the
    program belongs to another MPI; InputError when there is no such program, or `output` is in use; OutputError when it
    cannot be written, or the disk is full meanwhile; ProgramError when the program fails, or is no MPI program;
    Interrupted when a signal ends it, with all its ranks. What was recorded stays in any case. If nothing was recorded,
    because the job could not start or was interrupted before, the folder is as it was.
    """
    found = find_mpi(command)
    sonames = _check_program(command, found)
    library = mpi.build(mpi.for_standard_abi(found) if _STANDARD_ABI in sonames else found, "tracer")
    directory = output.absolute()
    words = _with_tracer(command, found, library, directory)
    place = TraceFolder(directory)
    with ended_by_signals(), place.removed_if_unused():
        with shielded():
            place.prepare(overwrite=overwrite)
        started = datetime.now(UTC)
        began = time.monotonic()
        if on_start:
            on_start()
        status, end = _run(words, found.environment(), output_to)
        with shielded():
            ranks = _read_ranks(directory)
            if end and not ranks:
                raise Interrupted(end.number, "no rank had recorded anything yet")
            run = TraceRun(
                directory,
                tuple(command),
                found,
                socket.gethostname(),
                started,
                time.monotonic() - began,
                status,
                max((r.ranks for r in ranks), default=0),
                signal.Signals(end.number).name if end else None,
            )
            failure = unrecorded_ranks.take_failure(directory)
            unwritten = _write_description(run)
    if end:
        raise Interrupted(end.number, f"what {_count(ranks)} had recorded is kept in {run.directory}")
    _check_run(run, ranks, failure)
    if unwritten is None:  # once more with the digest, which takes long for a large trace; a signal may end that
        unwritten = _write_description(run, digest_of_files(directory, rank_files(directory)))
    if unwritten:
        raise unwritten
    return run


def find_mpi(command: Sequence[str]) -> Mpi:
    """The MPI of the launcher that begins `command`. Raises UsageError if it begins with none, MpiError if there is no
    such MPI."""
    if not command or not _LAUNCHER.fullmatch(Path(command[0]).name):
        given = quote(command[0]) if command else "nothing"
        raise UsageError(
            "expected a command that starts with mpiexec, mpirun or srun, such as `mpiexec -n 4 ./program`, "
            f"found {given}"
        )
    name = command[0]
    if Path(name).name == "srun":
        if not shutil.which(name):
            raise MpiError(f"{quote(name)} was not found or cannot be run")
        return mpi.find()
    if name in ("mpiexec", "mpirun") and not shutil.which(name):
        return mpi.find()
    return mpi.find(name)


def _program(command: Sequence[str]) -> str:
    """The program in the command line of a launcher.

    Launchers have more options than are listed here. After an unknown option the first word that is a program counts.
    Raises InputError if no word is a program.
    """
    words = list(command[1:])
    certain = True
    first = None
    while words:
        word = words.pop(0)
        if word in _ONE_VALUE:
            words[:1] = []
        elif word in _TWO_VALUES:
            words[:2] = []
        elif word.startswith("-"):
            certain = certain and "=" in word
        else:
            first = first or word
            found = shutil.which(word)
            if found:
                return found
            if certain:
                break
    if first is None:
        raise UsageError(f"no program is named in `{' '.join(command)}`")
    if Path(first).is_file():
        raise InputError(f"{quote(first)} is a file that cannot be executed: expected a program (chmod +x?)")
    raise InputError(f"{quote(first)} was not found: expected a program to trace")


def _check_program(command: Sequence[str], found: Mpi) -> set[str]:
    """Raises MpiError if the program is linked with another MPI; returns the names of the libraries that it needs."""
    program = _program(command)
    try:
        done = run_tool(["ldd", program], seconds=60)
    except (OSError, subprocess.TimeoutExpired):
        return set()
    sonames = set(re.findall(r"^\s*(\S+) =>", done.stdout, re.MULTILINE))
    for soname in sonames:
        vendor = _SONAMES.get(soname)
        if vendor and vendor != found.vendor:
            raise MpiError(
                f"{program} is linked with {vendor} ({soname}), but {found.mpiexec} is the launcher of "
                f"{found.vendor} {found.version}: start it with {vendor}'s mpiexec, or "
                f"compile it with {found.mpicc}"
            )
    return sonames


def _with_tracer(command: Sequence[str], found: Mpi, library: Path, directory: Path) -> list[str]:
    """`command` with options of the launcher that preload the tracer into its ranks only."""
    preload = ":".join(filter(None, [str(library), os.environ.get("LD_PRELOAD")]))
    variables = {"LD_PRELOAD": preload, "IDLEWAVE_TRACE_DIR": str(directory)}
    if Path(command[0]).name == "srun":
        exported = ",".join(["ALL", *(f"{name}={value}" for name, value in variables.items())])
        return [command[0], f"--export={exported}", *command[1:]]
    if found.vendor == MPICH:
        options = [word for name, value in variables.items() for word in ("-genv", name, value)]
        return [str(found.mpiexec), *options, *command[1:]]
    options = [word for name, value in variables.items() for word in ("-x", f"{name}={value}")]
    words = [str(found.mpiexec), *options]
    for word in command[1:]:
        # -x of Open MPI holds for one of several programs only.
        words += [word, *options] if word == ":" else [word]
    return words


def _run(words: list[str], environment: dict[str, str], output_to: int | None) -> tuple[int, Interrupted | None]:
    """Run to the end; returns the exit status, and the interrupt after which the launcher was asked to end its
    ranks."""
    try:
        launcher = Child.start(words, grace=GRACE, environment=environment, stdout=output_to)
    except OSError as error:
        raise MpiError(f"{words[0]} cannot be started: {error.strerror}") from error
    with launcher:
        try:
            return launcher.wait(), None
        except KeyboardInterrupt as end:
            return launcher.end(), Interrupted.by(end)


def _read_ranks(directory: Path) -> list[_Rank]:
    found = []
    for path in sorted(directory.glob("rank-*.iwtrace")):
        with path.open("rb") as file:
            data = file.read(_HEADER.size)
        if len(data) < _HEADER.size:
            continue
        magic, _, _, rank, ranks, _, _, finalize_begin, state, lost = _HEADER.unpack(data)
        if magic == b"IDLEWTR1":
            found.append(_Rank(path, rank, ranks, finalize_begin, state, lost))
    return found


def _write_description(run: TraceRun, digest: str = "") -> OutputError | None:
    """Write trace.json; returns the error if that fails, because an error of the run itself comes first.

    `digest` is the digest of the ranks' files, "" if it is not known.
    """
    description = {
        "format": FORMAT,
        "command": list(run.command),
        "mpi": {"vendor": run.mpi.vendor, "version": run.mpi.version, "mpiexec": str(run.mpi.mpiexec)},
        "host": run.host,
        "started": run.started.isoformat(timespec="seconds"),
        "wall_seconds": round(run.wall_seconds, 6),
        "exit_status": run.exit_status,
        "interrupted_by": run.interrupted_by,
        "ranks": run.ranks,
    }
    made_by = Provenance("trace", made_by=command_text(run.command), version=version(), host=run.host)
    provenance = replace(made_by, time=str(description["started"]), digests={"content": digest} if digest else {})
    try:
        write_json(run.directory / "trace.json", description | provenance_entry(provenance))
    except OutputError as error:
        return error
    return None


def _check_run(run: TraceRun, ranks: list[_Rank], failure: unrecorded_ranks.RankFailure | None) -> None:
    ended = f"{run.mpi.mpiexec.name} ended with {_status(run.exit_status)}"
    if any(run.directory.glob("conflict-*")):
        raise MpiError(
            "several processes each said that they are rank 0 of 1, or are linked with another MPI: "
            f"the program's MPI is not that of {run.mpi.mpiexec} ({run.mpi.vendor} {run.mpi.version})"
        )
    if failure is not None:
        lost = sum(r.lost for r in ranks)
        raise OutputError(run.directory, f"{failure.sentence(bool(ranks), lost)} ({ended})")
    if not ranks and run.exit_status != 0:
        raise ProgramError(f"{ended} before any rank had passed MPI_Init; nothing was recorded")
    if not ranks:
        raise ProgramError(
            f"no rank recorded anything in {run.directory}: `{' '.join(run.command)}` is no MPI program, "
            "or has its MPI linked statically, which cannot be traced"
        )
    missing = sorted(set(range(run.ranks)) - {r.rank for r in ranks})
    if missing:
        raise ProgramError(
            f"no file was written by rank {_listed(missing)} of {run.ranks} ({ended}); what the others "
            f"recorded is kept in {run.directory}"
        )
    if not all(r.finished for r in ranks):
        raise ProgramError(f"{_blame(ranks)} {ended}. What was recorded is kept in {run.directory}")
    if run.exit_status != 0:
        raise ProgramError(
            f"{ended}, though every rank reached MPI_Finalize. What was recorded is kept in {run.directory}"
        )
    _check_space(run, ranks)


def _check_space(run: TraceRun, ranks: list[_Rank]) -> None:
    short = [r for r in ranks if r.lost]
    if short:
        raise MeasurementError(
            f"{sum(r.lost for r in short)} records of rank {_listed(r.rank for r in short)} were lost: "
            f"no space is left for {run.directory}, or a limit on the size of files is too low. What was "
            "recorded before is kept there"
        )


def _blame(ranks: list[_Rank]) -> str:
    """Sentences that name the ranks that did not finish.

    Those are the ranks that called MPI_Abort, else the ranks that died by themselves, else all that the launcher ended.
    """
    unfinished = [r for r in ranks if not r.finished]
    died = [r for r in unfinished if r.state not in (_ABORTED, _TERMINATED)]
    aborted = [r for r in unfinished if r.state == _ABORTED]
    first = aborted or died or unfinished
    others = [r.rank for r in unfinished if r not in first]
    kept = ", ".join(f"{recorded_calls(r.path)} calls of rank {r.rank}" for r in first[:8])
    text = f"Rank {_listed([r.rank for r in first])} "
    text += "called MPI_Abort" if aborted else "never reached MPI_Finalize"
    text += f" ({kept}{', …' if len(first) > 8 else ''})."
    if others:
        text += f" Rank {_listed(others)} had not finished either when the launcher ended the program."
    return text


def _status(status: int) -> str:
    """An exit status, with the name of the signal if it stands for one (128 + signal, as in shells and launchers)."""
    number = -status if status < 0 else status - 128
    if status < 0 or 128 < status < 192:
        with contextlib.suppress(ValueError):
            return f"exit status {status} ({signal.Signals(number).name})"
    return f"exit status {status}"


def _count(ranks: list[_Rank]) -> str:
    return "1 rank" if len(ranks) == 1 else f"{len(ranks)} ranks"


def _listed(numbers: Iterable[int]) -> str:
    """Numbers with ranges: [0, 1, 2, 5] -> "0-2, 5"."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
