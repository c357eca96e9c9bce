"""Bytes of files: of regular ones, of which there are not too many, and which lie where data may name them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ..errors import InputError
from ..quoting import found, name_of, quote
from .bounds import MOST_TEXT, size_words

_BLOCK = 1 << 20


@contextmanager
def opened(path: str | Path, what: str, *, pipe: bool = False) -> Iterator[BinaryIO]:
    """A regular file to read, or if `pipe`, one end of a pipe: what the user names may be `<(command)`.

    `what` it is to be, for errors. A device or, unless asked for, a pipe is refused before anything waits for it.
    Raises InputError, also for what goes wrong while it is read.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError as error:
        raise _unreadable(path, what, error.strerror or str(error)) from error
    except ValueError as error:  # a name with a zero byte
        raise _unreadable(path, what, "no file has such a name") from error
    with os.fdopen(descriptor, "rb") as file:
        mode = os.fstat(descriptor).st_mode
        if not (stat.S_ISREG(mode) or (pipe and stat.S_ISFIFO(mode))):
            raise _unreadable(path, what, f"expected a file, found {_kind(mode)}")
        try:
            yield file
        except OSError as error:
            raise _unreadable(path, what, error.strerror or str(error)) from error


def read_bytes(path: str | Path, what: str, *, most: int = MOST_TEXT, pipe: bool = False) -> bytes:
    """The whole of a file of at most `most` bytes. Raises InputError, as `opened` does."""
    with opened(path, what, pipe=pipe) as file:
        blocks, size = [], 0
        while block := _next(file, min(_BLOCK, most + 1 - size)):
            blocks.append(block)
            size += len(block)
            if size > most:
                raise _unreadable(path, what, f"expected at most {size_words(most)}")
        return b"".join(blocks)


def read_text(path: str | Path, what: str, *, most: int = MOST_TEXT, pipe: bool = False) -> str:
    """The whole of a file of UTF-8. Raises InputError, as `opened` does, and for bytes that are none."""
    return decoded(read_bytes(path, what, most=most, pipe=pipe), name_of(path))


def decoded(data: bytes, name: str) -> str:
    """`data` as text. Raises InputError with the line of the first byte that is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{name}:{line}: expected UTF-8, found the byte 0x{data[error.start]:02x}") from error


def below(folder: str | Path, named: str, where: str, *, outside: bool = False, hint: str = "") -> Path:
    """The path of a file that data in `folder` names: it lies there or below, whatever links say, unless `outside`.

    `where` it is named and a `hint` on how to allow others, for errors. Raises InputError.
    """
    path = Path(folder) / named
    if "\0" in named:
        raise InputError(f"{where}: expected the name of a file, found {quote(named)}")
    if not outside:
        top = os.path.realpath(folder)
        real = os.path.realpath(path)
        if os.path.commonpath([top, real]) != top:
            raise InputError(
                f"{where}: expected a file below {name_of(top)}, found {quote(named)}, which is outside{hint}"
            )
    return path


def _next(file: BinaryIO, most: int) -> bytes:
    """The next bytes; waits only for somebody who may write them, for a pipe without writers has ended."""
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


@dataclass(frozen=True)
class Origin:
    """Where something that is read comes from: what messages call it, and the folder of the files that it names.

    `outside`: they may lie elsewhere; `hint`: how to allow that, for errors.
    """

    name: str
    folder: Path
    outside: bool = False
    hint: str = ""

    def refusal(self, key: str, expected: str, value: object) -> InputError:
        """The error for a value that is not as expected; None is nothing."""
        said = "nothing" if value is None else found(value)
        return InputError(f"{self.name}: {key}: expected {expected}, found {said}")

    def file(self, named: str, key: str) -> Path:
        """The file that it names under `key`. Raises InputError."""
        return below(self.folder, named, f"{self.name}: {key}", outside=self.outside, hint=self.hint)
