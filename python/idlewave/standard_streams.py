"""The standard streams of a command: what cannot be written to them is told, as it is of a file."""

from __future__ import annotations

import errno
import io
import os
import sys
from dataclasses import dataclass
from typing import Any

from .errors import OutputError


class _Output(io.BufferedWriter):
    """The standard output, whose errors say that it is that.

    The buffer does so, and not the file below it: a signal that raises just after the file was written would let the
    buffer write the same once more.
    """

    def write(self, data: Any, /) -> int:  # noqa: ANN401 - whatever has a buffer
        try:
            return super().write(data)
        except OSError as error:
            raise _told(error) from error

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            raise _told(error) from error


def _told(error: OSError) -> BrokenPipeError | OutputError:
    """What is to be raised for an error of the standard output."""
    if isinstance(error, BrokenPipeError):
        return error
    closed = error.errno == errno.EBADF
    return OutputError("standard output", "it is closed" if closed else error.strerror or str(error))


class _Errors(io.FileIO):
    """The error stream: what cannot be written to it does not end the work, but shows in the exit status."""

    failed = False

    def write(self, data: Any, /) -> int:  # noqa: ANN401
        try:
            return super().write(data)
        except OSError:
            self.failed = True
            return len(data)


@dataclass(frozen=True)
class Streams:
    """The standard streams, whose errors are told. `errors` is None where there is no error stream."""

    errors: _Errors | None

    @classmethod
    def take(cls) -> Streams:
        """Put them in the place of Python's own."""
        _fill_closed()
        sys.stdout = _text(_Output(io.FileIO(1, "wb", closefd=False)), sys.stdout)
        if sys.stderr is None:
            return cls(None)
        errors = _Errors(2, "wb", closefd=False)
        sys.stderr = _text(io.BufferedWriter(errors), sys.stderr)
        return cls(errors)

    def close(self) -> bool:
        """Write out what is left; whether nothing that was ever written to the error stream is lost.

        Raises OutputError or BrokenPipeError if the standard output takes no more. Nothing is left to be written when
        Python ends, which would complain in its own way.
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
        errors="backslashreplace",  # what a terminal cannot show is no reason to fail
        line_buffering=binary.isatty() or binary.fileno() == 2,
    )


def _fill_closed() -> None:
    """Streams that are closed would become the first files that are opened: they become such that fail."""
    for number, mode in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_RDONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, mode), True)  # the lowest number that is free


def _forget(number: int) -> None:
    """What is still to be written to a stream goes nowhere."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, number)
    os.close(nothing)
