"""What the tests of endings share: commands that run long, signals sent to them, and what is left of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
MARK = "IDLEWAVE_TEST_MARK"
_PATIENCE = 30


def launcher(name: str = "idlewave") -> Path:
    """The installed program of that name, which starts Python with signals blocked; or a skip."""
    for folder in (str(Path(sys.executable).parent), *os.environ["PATH"].split(os.pathsep)):
        found = Path(folder) / name
        if found.is_file() and found.read_bytes()[:4] == b"\x7fELF":
            return found
    pytest.skip(f"the package's program {name} is not installed beside this Python, or on the path")


def idlewave() -> list[str]:
    """The command line, by this Python."""
    return [sys.executable, "-c", "import idlewave.cli; idlewave.cli.main()"]


@dataclass
class Running:
    """A command that runs, in a session of its own."""

    process: subprocess.Popen[str]
    mark: str

    def end_by(self, number: int) -> tuple[int, str]:
        """Send it a signal; its exit status, and what it says on the error stream."""
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=_PATIENCE)
        return self.process.returncode, said

    def left(self) -> list[str]:
        """Commands of processes that descend from it and run."""
        return processes_with(self.mark)


@contextmanager
def started(command: list[str], folder: Path, **environment: str) -> Iterator[Running]:
    """A command in `folder`, which nothing survives."""
    mark = uuid.uuid4().hex
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=os.environ | {MARK: mark} | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=_with_plain_signals,
    )
    try:
        yield Running(process, mark)
    finally:
        for number in pids_with(mark):
            os.kill(number, signal.SIGKILL)
        process.communicate(timeout=_PATIENCE)


def _with_plain_signals() -> None:
    """Who starts tests in the background may ignore interrupts, and so would all below."""
    for number in ENDING:
        signal.signal(number, signal.SIG_DFL)


def await_true(holds: Callable[[], object]) -> None:
    """Waits until something holds."""
    deadline = time.monotonic() + _PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def pids_with(mark: str) -> list[int]:
    """Processes that inherited the mark, and have not ended."""
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                if mark.encode() in (place / "environ").read_bytes() and "\nState:\tZ" not in (
                    place / "status"
                ).read_text(errors="replace"):
                    found.append(int(place.name))
            except OSError:
                continue
    return found


def words_of(number: int) -> list[str]:
    """A process's command line; none if it has ended."""
    try:
        return Path(f"/proc/{number}/cmdline").read_text(errors="replace").split("\0")
    except OSError:
        return [""]


def processes_with(mark: str) -> list[str]:
    """Their commands."""
    return [" ".join(words_of(number)) for number in pids_with(mark)]
