"""Child processes: when Idlewave ends, for whatever reason, they end too, and so do all processes that they started.

Each child runs under a guard process (python/programs/guard.cpp), which survives if this process is killed. An
exception such as an interrupt ends the child before it is passed on.
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
"""Seconds between asking a child to end and killing it, by default."""
_WHOLE = struct.Struct("=i")


class Child:
    """A running command, used as a context manager: at the end of the block the command has ended.

    `grace`: seconds between asking the command, and all that it started, to end and killing them.
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
        """Start `command`; `streams` are other arguments of subprocess.Popen. Raises OSError if it cannot be
        started."""
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                guarded = [str(_guard()), str(theirs.fileno()), str(grace), *map(str, command)]
                process = subprocess.Popen(guarded, env=environment, pass_fds=[theirs.fileno()], **streams)
        except BaseException:
            ours.close()  # the guard sees the closed socket, and ends
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
        """The standard output of the command, if that is a pipe."""
        assert self._process.stdout is not None
        return self._process.stdout

    def poll(self) -> int | None:
        """The exit status, or minus the number of the signal that ended the command; None while it runs."""
        return self._process.poll()

    def wait(self, seconds: float | None = None) -> int:
        """Wait for the end of the command; returns its exit status. Raises subprocess.TimeoutExpired."""
        return self._process.wait(seconds)

    def communicate(self, seconds: float | None = None) -> tuple[Any, Any]:
        """The outputs of the command, as subprocess.Popen.communicate returns them. Raises
        subprocess.TimeoutExpired."""
        return self._process.communicate(timeout=seconds)

    def kill(self) -> None:
        """Kill the command."""
        self._send(b"k")

    def end(self) -> int:
        """Ask the command to end, unless it has ended, and wait for it and all that it started; returns its exit
        status.

        Its output in pipes is read meanwhile: a full pipe would keep it from ending. A second interrupt kills it.
        """
        try:
            if self._process.poll() is None:
                self._send(b"e")
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

    def _send(self, word: bytes) -> None:
        with contextlib.suppress(OSError):  # the guard has ended
            self._lifeline.send(word, socket.MSG_NOSIGNAL)


def run(
    command: Sequence[str | Path],
    *,
    seconds: float | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a tool to its end, and return its outputs as text; bytes that are not UTF-8 are replaced. Its input is empty.

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
    """The errno for which the command could not be started; 0 if it was started."""
    said = lifeline.recv(_WHOLE.size, socket.MSG_WAITALL)
    if len(said) < _WHOLE.size:
        return errno.ECHILD
    reason: int = _WHOLE.unpack(said)[0]
    return reason
