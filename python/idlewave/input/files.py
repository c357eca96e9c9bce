"""The bytes of files: of regular files and pipes, of limited size, and of files that data may name."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO, NamedTuple

from ..errors import InputError
from ..escaping import MOST_NAME, found, name_of, quote
from .bounds import MOST_TEXT, size_words

PATIENCE = 1.0
"""Seconds within which another process must begin to write a pipe; else the pipe counts as empty."""
_LOOK_MS = 20
_BLOCK = 1 << 20


@contextmanager
def opened(path: str | Path, what: str, *, pipe: bool = False) -> Iterator[BinaryIO]:
    """Open a regular file to read, or with `pipe` also a pipe, such as `<(command)`.

    `what` describes the expected file in errors. A device, and a pipe without `pipe`, is refused without waiting. A
    pipe that nobody begins to write within PATIENCE counts as empty. Raises InputError, also for errors of reading in
    the block.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError as error:
        raise _unreadable(path, what, error.strerror or str(error)) from error
    except ValueError as error:  # a name with a zero byte
        raise _unreadable(path, what, "no file has such a name") from error
    mode = os.fstat(descriptor).st_mode
    if not (stat.S_ISREG(mode) or (pipe and stat.S_ISFIFO(mode))):
        os.close(descriptor)
        raise _unreadable(path, what, f"expected a file, found {_kind(mode)}")
    with os.fdopen(descriptor, "rb") as file:
        try:
            yield file
        except OSError as error:
            raise _unreadable(path, what, error.strerror or str(error)) from error


def read_bytes(path: str | Path, what: str, *, most: int = MOST_TEXT, pipe: bool = False) -> bytes:
    """The content of a file of at most `most` bytes. Raises InputError, as `opened` does."""
    with opened(path, what, pipe=pipe) as file:
        if os.fstat(file.fileno()).st_size > most:
            raise _unreadable(path, what, f"expected at most {size_words(most)}")
        blocks, size = [], 0
        for block in _blocks(file, most + 1):
            blocks.append(block)
            size += len(block)
            if size > most:
                raise _unreadable(path, what, f"expected at most {size_words(most)}")
        return b"".join(blocks)


@contextmanager
def at_hand(path: str | Path, what: str) -> Iterator[str]:
    """The name of a regular file, for readers that open files themselves: `path`, or a copy of the content of a pipe.

    Raises InputError as `opened` does. An InputError of the block gets the name of the pipe instead of the copy's.
    """
    with opened(path, what, pipe=True) as file:
        copy = None if _is_regular(file) else _copy_of(file)
    if copy is None:
        yield str(path)
        return
    with copy:
        name = f"/proc/self/fd/{copy.fileno()}"
        try:
            yield name
        except InputError as error:
            error.args = (str(error).replace(name, name_of(path), 1),)
            raise


def read_text(path: str | Path, what: str, *, most: int = MOST_TEXT, pipe: bool = False) -> str:
    """The text of a file in UTF-8. Raises InputError, as `opened` does, and for bytes that are not UTF-8."""
    return decoded(read_bytes(path, what, most=most, pipe=pipe), name_of(path))


def decoded(data: bytes, name: str) -> str:
    """`data` as text. Raises InputError with the line of the first byte that is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{name}:{line}: expected UTF-8, found the byte 0x{data[error.start]:02x}") from error


def below(folder: str | Path, named: str, where: str, *, outside: bool = False, hint: str = "") -> Path:
    """The path of a file that data in `folder` names. It must lie there or below, links followed, unless `outside`.

    `where` it is named, and a `hint` on how to allow other places, are for errors. Raises InputError.
    """
    path = Path(folder) / named
    if "\0" in named or len(named) > MOST_NAME:
        raise InputError(f"{where}: expected the name of a file, found {quote(named)}")
    if not outside:
        top = os.path.realpath(folder)
        real = os.path.realpath(path)
        if os.path.commonpath([top, real]) != top:
            raise InputError(
                f"{where}: expected a file below {name_of(top)}, found {quote(named)}, which is outside{hint}"
            )
    return path


def _is_regular(file: BinaryIO) -> bool:
    return stat.S_ISREG(os.fstat(file.fileno()).st_mode)


def _copy_of(file: BinaryIO) -> IO[bytes]:
    """A nameless temporary file with the content of `file`."""
    import tempfile

    copy = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    try:
        for block in _blocks(file):
            copy.write(block)
        copy.flush()
    except BaseException:
        copy.close()
        raise
    return copy


def _blocks(file: BinaryIO, most: int = sys.maxsize) -> Iterator[bytes]:
    """The blocks of a file, up to `most` bytes in all."""
    block = _first(file, min(_BLOCK, most))
    while block:
        yield block
        most -= len(block)
        block = _next(file, min(_BLOCK, most))


def _first(file: BinaryIO, most: int) -> bytes:
    """The first bytes; the writer of a pipe may start a little later than its reader."""
    block = _next(file, most)
    if block or _is_regular(file):
        return block
    import select

    poll = select.poll()
    poll.register(file, select.POLLIN)
    end = time.monotonic() + PATIENCE
    while not block and time.monotonic() < end:
        if any(not event & select.POLLIN for _, event in poll.poll(_LOOK_MS)):
            break  # the writer has closed it
        block = _next(file, most)
    return block


def _next(file: BinaryIO, most: int) -> bytes:
    """The next bytes. It waits only while a pipe has writers; a pipe without writers has ended."""
    block: bytes | None = file.read(most)
    if block is None:
        os.set_blocking(file.fileno(), True)
        block = file.read(most)
    return block or b""


def _kind(mode: int) -> str:
    for test, words in (
        (stat.S_ISDIR, "a directory"),
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
        (stat.S_ISSOCK, "a socket"),
    ):
        if test(mode):
            return words
    return "something else"


def _unreadable(path: str | Path, what: str, why: str) -> InputError:
    return InputError(f"{name_of(path)}: cannot be read as {what}: {why}")


class Origin(NamedTuple):
    """The origin of a text: its name in messages, and the folder of the files that it names.

    With `outside` these files may lie elsewhere; `hint` says in errors how to allow that.
    """

    name: str
    folder: Path
    outside: bool = False
    hint: str = ""

    def refusal(self, key: str, expected: str, value: object) -> InputError:
        """The error for a value that is not as expected; None stands for a missing one."""
        said = "nothing" if value is None else found(value)
        return InputError(f"{self.name}: {key}: expected {expected}, found {said}")

    def file(self, named: str, key: str) -> Path:
        """The path of a file that the text names under `key`. Raises InputError."""
        return below(self.folder, named, f"{self.name}: {key}", outside=self.outside, hint=self.hint)
