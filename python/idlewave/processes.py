"""Runs of several processes: mpiexec starts them, each does its part, and the first one writes the result.

``python -m idlewave.processes FOLDER TRANSPORT`` is such a process. FOLDER has the file `job`, the call to make, and
receives `answer`, `progress` (the simulated time so far), or `error-N` of process N. TRANSPORT is the library that was
built with the site's MPI (mpi/transport.c).
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from . import _core, mpi
from .child_processes import Child
from .errors import IdlewaveError, MpiError
from .memory_limits import memory_for
from .termination_signals import ended_by_signals

T = TypeVar("T")
Report = Callable[[int], None] | None

POLL = 0.1
"""Seconds between two looks at how far the processes are."""
GRACE = 5.0
"""Seconds that they have to end when they are told to."""


def run_in_processes(call: Callable[..., T], arguments: tuple[Any, ...], processes: int, progress: Report) -> T:
    """The result of a function that this many processes call together, each with a transport to the others.

    `call` is a function of a module. It is called with the arguments, a function for progress or None, and the
    transport; the first process returns the result. `progress` is called a few times a second with the simulated time.
    Raises the error of the first process that failed, or MpiError with the output of the processes if one of them dies.
    """
    site = mpi.find()
    transport = mpi.build(site, "transport")
    with TemporaryDirectory(prefix="idlewave-") as name:
        folder = Path(name)
        (folder / "job").write_bytes(pickle.dumps((call, arguments)))
        command = [str(site.mpiexec), "-n", str(processes), sys.executable, "-m", "idlewave.processes"]
        with ended_by_signals(), (folder / "said").open("w+", encoding="utf-8", errors="replace") as said:
            status = _watch([*command, name, str(transport)], site.environment(), said.fileno(), folder, progress)
            said.seek(0)
            text = said.read().strip()
        for error in sorted(folder.glob("error-" + 6 * "[0-9]")):
            raise pickle.loads(error.read_bytes())
        answer = folder / "answer"
        if status != 0 or not answer.exists():
            text = text or f"it ended with status {status}, and said nothing"
            raise MpiError(f"a run of {processes} processes failed:\n{text}")
        result: T = pickle.loads(answer.read_bytes())
        return result


def _watch(
    command: list[str],
    environment: dict[str, str],
    said: int,
    folder: Path,
    progress: Report,
) -> int:
    """Runs a command to its end, shows how far it is meanwhile, and takes all of it along if that is interrupted."""
    shown = ""
    with Child.start(
        command,
        grace=GRACE,
        environment=environment,
        stdin=subprocess.DEVNULL,
        stderr=said,
        start_new_session=True,
    ) as running:
        while True:
            try:
                return running.wait(POLL)
            except subprocess.TimeoutExpired:
                now = _text_of(folder / "progress")
                if progress is not None and now not in ("", shown):
                    shown = now
                    progress(int(now))


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except FileNotFoundError:
        return ""


def main(folder: Path, library: str) -> None:
    """One process of a run."""
    transport = _core.Transport(library)
    try:
        call, arguments = pickle.loads((folder / "job").read_bytes())
        with memory_for(f"running process {transport.process} of {transport.processes}"):
            answer = call(*arguments, _report(folder, transport), transport)
        if transport.process == 0:
            _put(folder / "answer", pickle.dumps(answer))
        transport.close()
    except BaseException as error:
        if isinstance(error, IdlewaveError):
            _put(folder / f"error-{transport.process:06}", pickle.dumps(error))
        else:
            traceback.print_exc()
        transport.abort(1)
        os._exit(1)


def _report(folder: Path, transport: _core.Transport) -> Callable[[int], None] | None:
    """The first process says how far all are."""
    if transport.process != 0:
        return None
    last = time.monotonic()

    def report(now: int) -> None:
        nonlocal last
        if time.monotonic() - last >= POLL:
            last = time.monotonic()
            _put(folder / "progress", str(now).encode("ascii"))

    return report


def _put(path: Path, content: bytes) -> None:
    """A file that is there whole or not at all."""
    unfinished = path.with_name(f"{path.name}.part")
    unfinished.write_bytes(content)
    unfinished.rename(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
