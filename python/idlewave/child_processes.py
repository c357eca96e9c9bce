"""The processes that Idlewave starts: whatever ends it ends them, and all that they have started.

Each runs below a guard of its own (python/programs/guard.cpp), which outlives this process if that is killed. An
interrupt, or any other exception, ends the command before it goes on.
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import struct
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from .errors import IdlewaveError
from .native_files import package_data

GRACE = 5.0
"""Seconds that a command has to end when it is told to, if nothing else is said."""
_WHOLE = struct.Struct("=i")


class Child:
    """A command that runs, to be used as a context: where that ends, the command has ended.

    `grace`: how many seconds it has to end, with all that it started, when it is told to; then it is killed.
    """

    def __init__(self, process: subprocess.Popen[Any], lifeline: socket.socket) -> None:
        self._process = process
        self._lifeline = lifeline

    @classmethod
    def start(
        cls,
        command: Sequence[str | Path],
        *,
        grace: float = GRACE,
        environment: Mapping[str, str] | None = None,
        **streams: Any,  # noqa: ANN401 - those of subprocess
    ) -> Child:
        """Start `command`; `streams` are other arguments of subprocess.Popen. Raises OSError if it cannot be."""
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                guarded = [str(_guard()), str(theirs.fileno()), str(grace), *map(str, command)]
                process = subprocess.Popen(guarded, env=environment, pass_fds=[theirs.fileno()], **streams)
        except BaseException:
            ours.close()  # from which a guard sees that nobody is there
            raise
        child = cls(process, ours)
        try:
            reason = _reason(ours)
        except BaseException:
            child.end()
            raise
        if reason:
            child.end()
            raise OSError(reason, os.strerror(reason), str(command[0]))
        return child

    def __enter__(self) -> Child:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    @property
    def output(self) -> IO[Any]:
        """Its standard output, if that is a pipe."""
        assert self._process.stdout is not None
        return self._process.stdout

    def poll(self) -> int | None:
        """Its exit status, minus the signal's number if one ended it; None while it runs."""
        return self._process.poll()

    def wait(self, seconds: float | None = None) -> int:
        """Its exit status, when it has ended. Raises subprocess.TimeoutExpired."""
        return self._process.wait(seconds)

    def communicate(self, seconds: float | None = None) -> tuple[Any, Any]:
        """All that it prints, as subprocess.Popen says it. Raises subprocess.TimeoutExpired."""
        return self._process.communicate(timeout=seconds)

    def kill(self) -> None:
        """End it at once."""
        self._tell(b"k")

    def end(self) -> int:
        """Tell it to end, unless it has, and wait until nothing of it is left. Its exit status.

        What it still prints into pipes is taken: else it could not end. A second interrupt kills it.
        """
        try:
            if self._process.poll() is None:
                self._tell(b"e")
                self._process.communicate()
        finally:
            if self._process.returncode is None:
                self.kill()
                self._process.wait()
            for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
                if stream is not None:
                    stream.close()
            self._lifeline.close()
        return self._process.returncode

    def _tell(self, word: bytes) -> None:
        with contextlib.suppress(OSError):  # it has ended
            self._lifeline.send(word, socket.MSG_NOSIGNAL)


def run(
    command: Sequence[str | Path],
    *,
    seconds: float | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a tool to its end, and take what it prints: as text, whatever its bytes are; nothing can be typed into it.

    Raises OSError if it cannot be started, and subprocess.TimeoutExpired after `seconds`.
    """
    with Child.start(
        command,
        environment=environment,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as child:
        output, errors = child.communicate(seconds)
        return subprocess.CompletedProcess(list(command), child.wait(), output, errors)


def _guard() -> Path:
    guard = package_data() / "bin" / "idlewave-guard"
    if not guard.is_file():
        raise IdlewaveError(f"this installation of idlewave lacks {guard}")
    return guard


def _reason(lifeline: socket.socket) -> int:
    """Why the command could not be started, 0 if it was."""
    said = lifeline.recv(_WHOLE.size, socket.MSG_WAITALL)
    if len(said) < _WHOLE.size:
        return errno.ECHILD
    reason: int = _WHOLE.unpack(said)[0]
    return reason
