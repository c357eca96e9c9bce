"""The standard streams of a command: a failed write to them is an error, like a failed write to a file."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any, NamedTuple

from .errors import OutputError


class _Output(io.BufferedWriter):
    """The standard output; its errors name it.

    The buffer converts the errors, not the file below it: if a signal raised in the file just after a write, the buffer
    would write the same bytes once more.
    """

    def write(self, data: Any, /) -> int:  # noqa: ANN401 - whatever has a buffer
        try:
            return super().write(data)
        except OSError as error:
            raise _output_error(error) from error

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            raise _output_error(error) from error


def _output_error(error: OSError) -> BrokenPipeError | OutputError:
    """The exception for an error of the standard output."""
    if isinstance(error, BrokenPipeError):
        return error
    closed = error.errno == errno.EBADF
    return OutputError("standard output", "it is closed" if closed else error.strerror or str(error))


class _Errors(io.FileIO):
    """The error stream: a failed write to it does not end the command, but changes its exit status."""

    failed = False

    def write(self, data: Any, /) -> int:  # noqa: ANN401
        try:
            return super().write(data)
        except OSError:
            self.failed = True
            return len(data)


class Streams(NamedTuple):
    """The standard streams with error handling. `errors` is None if there is no error stream."""

    errors: _Errors | None

    @classmethod
    def take(cls) -> Streams:
        """Replace sys.stdout and sys.stderr."""
        _fill_closed()
        sys.stdout = _text(_Output(io.FileIO(1, "wb", closefd=False)), sys.stdout)
        if sys.stderr is None:
            return cls(None)
        errors = _Errors(2, "wb", closefd=False)
        sys.stderr = _text(io.BufferedWriter(errors), sys.stderr)
        return cls(errors)

    def close(self) -> bool:
        """Flush both streams; returns False if a write to the error stream has ever failed.

        Raises OutputError or BrokenPipeError if the standard output cannot be written. Nothing is left to be flushed
        when Python ends, which would print a message of its own.
        """
        try:
            sys.stdout.flush()
        except (OutputError, OSError):
            _forget(1)
            raise
        finally:
            if self.errors is not None:
                sys.stderr.flush()
        return self.errors is None or not self.errors.failed


def _text(binary: io.BufferedWriter, like: Any) -> io.TextIOWrapper:  # noqa: ANN401 - any text stream, or None
    return io.TextIOWrapper(
        binary,
        encoding=getattr(like, "encoding", None) or "utf-8",
        errors="backslashreplace",  # a character that the terminal lacks is no error
        line_buffering=binary.isatty() or binary.fileno() == 2,
    )


def _fill_closed() -> None:
    """Open /dev/null in place of closed streams, so that no other file gets their numbers. Writes to it fail."""
    for number, mode in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_RDONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, mode), True)  # os.open takes the lowest free number


def _forget(number: int) -> None:
    """Discard what is still buffered for a stream."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, number)
    os.close(nothing)
