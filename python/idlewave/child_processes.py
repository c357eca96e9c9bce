"""Child processes: when Idlewave ends, for whatever reason, they end too, and so do all processes that they started.

Each child runs under a guard process (python/programs/guard.cpp), which survives if this process is killed. An
exception such as an interrupt ends the child before it is passed on.

The wait for a child does not use subprocess.Popen.wait: that takes a lock, and an interrupt between two of its
instructions leaves the lock taken, so that the next wait for the child would not return.
"""

from __future__ import annotations

import contextlib
import errno
import math
import os
import select
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from .errors import IdlewaveError
from .native_files import package_data

GRACE = 5.0
"""Seconds between asking a child to end and killing it, by default."""
LOST = 125
"""The exit status of a command whose own is not known, because the guard was killed or because SIGCHLD is ignored."""
_WHOLE = struct.Struct("=i")
_CHUNK = 1 << 16
"""Bytes that are read from a pipe at once."""


class Child:
    """A running command, used as a context manager: at the end of the block the command has ended.

    `grace`: seconds between asking the command, and all that it started, to end and killing them.
    """

    def __init__(self, process: subprocess.Popen[Any], lifeline: socket.socket) -> None:
        self._process = process
        self._lifeline = lifeline
        self._reaped = False

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
    def pid(self) -> int:
        """The process from which the command, and all that it starts, descends."""
        return self._process.pid

    @property
    def output(self) -> IO[Any]:
        """The standard output of the command, if that is a pipe."""
        assert self._process.stdout is not None
        return self._process.stdout

    def poll(self) -> int | None:
        """The exit status, or minus the number of the signal that ended the command; None while it runs."""
        return self._look(os.WNOHANG)

    def wait(self, seconds: float | None = None) -> int:
        """Wait for the end of the command; returns its exit status. Raises subprocess.TimeoutExpired."""
        if seconds is not None and not self._guard_ends_within(seconds):
            raise subprocess.TimeoutExpired(self._process.args, seconds)
        status = self._look()
        assert status is not None
        return status

    def communicate(self, seconds: float | None = None) -> tuple[bytes, bytes]:
        """What the command writes into pipes for its output and its error stream, until it ends.

        Raises subprocess.TimeoutExpired.
        """
        streams = (self._process.stdout, self._process.stderr)
        said = {pipe.fileno(): bytearray() for pipe in streams if pipe is not None}
        self._read_pipes(lambda number, piece: said[number].extend(piece), seconds)
        output, errors = (b"" if pipe is None else bytes(said[pipe.fileno()]) for pipe in streams)
        return output, errors

    def kill(self) -> None:
        """Kill the command."""
        self._send(b"k")

    def end(self) -> int:
        """Ask the command to end, unless it has ended, and wait for it and all that it started; returns its exit
        status.

        Its output in pipes is read meanwhile: a full pipe would keep it from ending. A second interrupt kills it.
        """
        try:
            if self.poll() is None:
                self._send(b"e")
                self._read_pipes(lambda _number, _piece: None)
        except BaseException:
            self.kill()
            raise
        finally:
            status = self.wait()
            for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
                if stream is not None:
                    stream.close()
            self._lifeline.close()
        return status

    def _look(self, options: int = 0) -> int | None:
        """The exit status, for which this waits unless `options` are os.WNOHANG; then None while the command runs.

        It can be interrupted at any instruction and called again: the child is reaped when its status is known.
        """
        if self._process.returncode is None:
            try:
                found = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT | options)
            except ChildProcessError:
                self._process.returncode = LOST
            else:
                if found is None:
                    return None
                exited = found.si_code == os.CLD_EXITED
                self._process.returncode = found.si_status if exited else -found.si_status
        if not self._reaped:
            with contextlib.suppress(ChildProcessError):  # where SIGCHLD is ignored, the system does it
                os.waitpid(self._process.pid, os.WNOHANG)
            self._reaped = True
        return self._process.returncode

    def _guard_ends_within(self, seconds: float) -> bool:
        """Whether nothing is left of the command, or it is so within `seconds`: then the guard closes its socket."""
        if self._process.returncode is not None:
            return True
        ends = select.poll()
        ends.register(self._lifeline, select.POLLIN)
        return bool(ends.poll(1000 * seconds))

    def _read_pipes(self, take: Callable[[int, bytes], object], seconds: float | None = None) -> None:
        """Read the command's pipes until nothing is left of it; `take` is called with a pipe's file descriptor and what
        was read. Raises subprocess.TimeoutExpired."""
        deadline = math.inf if seconds is None else time.monotonic() + seconds
        events = select.poll()
        for stream in (self._lifeline, self._process.stdout, self._process.stderr):
            if stream is not None:
                events.register(stream, select.POLLIN)
        ended = False
        while True:
            left = 0.0 if ended else max(0.0, deadline - time.monotonic())
            ready = [number for number, _ in events.poll(None if left == math.inf else 1000 * left)]
            if not ready and ended:
                return
            if not ready:
                raise subprocess.TimeoutExpired(self._process.args, seconds or 0.0)
            for number in ready:
                if number == self._lifeline.fileno():
                    ended = True
                    events.unregister(number)
                elif piece := os.read(number, _CHUNK):
                    take(number, piece)
                else:
                    events.unregister(number)

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
    ) as child:
        output, errors = (said.decode(errors="replace") for said in child.communicate(seconds))
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
