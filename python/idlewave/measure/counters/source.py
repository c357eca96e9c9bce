"""What a source of counters is: a name, what it counts, and a function that reads all of it now."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

MOST_TEXT = 1 << 20
"""The largest file of counters that is read, bytes."""


@dataclass(frozen=True)
class Counter:
    """What a counter counts, in which unit, and how it counts.

    bits: its width, None if that is not known. It wraps around to 0 at its end, or stays there if it `saturates`.
    """

    what: str = ""
    unit: str = "events"
    bits: int | None = None
    saturates: bool = False


@runtime_checkable
class CounterSource(Protocol):
    """Where counters are from. A plug-in needs no more than this: an entry point of the group `idlewave.counters` that
    names something which returns one without arguments, such as its class.

    `discover` is asked once, and `read` at each boundary of phases, in which it should take some milliseconds at most.
    A counter that cannot be read now is left out of `read`; counters that come later are recorded, too.
    """

    name: str

    def discover(self) -> Mapping[str, Counter]:
        """The counters that are there, by name; none if the source is not there."""
        ...

    def read(self) -> Mapping[str, int]:
        """All counters as they are now, by name."""
        ...


def identities(source: CounterSource) -> Mapping[str, object]:
    """For a source with a method `identities`: for the name of each device, which begins the names of its counters up
    to a dot, what tells it from another of that name. Counters of a device that was replaced have grown by nothing that
    can be known."""
    own: Callable[[], Mapping[str, object]] | None = getattr(source, "identities", None)
    return {} if own is None else own()


def folders_in(place: Path) -> Iterator[Path]:
    """The folders in `place`, links to some included, in one order; none if there is no such place."""
    try:
        yield from sorted(entry for entry in place.iterdir() if entry.is_dir())
    except OSError:
        return


def numbers_in(folder: Path) -> Iterator[tuple[str, int]]:
    """The name and the number of each file in a folder that has a whole number as its text."""
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries)
    except OSError:
        return
    for name in names:
        number = number_in(folder / name)
        if number is not None:
            yield name, number


def number_in(file: Path) -> int | None:
    """The whole number that a file has as its first word, before an "@" that tells when it was; None without one."""
    text = text_in(file, 200)
    words = (text or "").split()
    word = words[0].partition("@")[0] if words else ""
    return int(word, 0) if _is_number(word) else None


def text_at_end(file: Path) -> str | None:
    """The last MOST_TEXT bytes of a file, as text; None if it cannot be read."""
    try:
        size = file.stat().st_size
    except (OSError, ValueError):
        return None
    return text_in(file, begin=max(0, size - MOST_TEXT))


def text_in(file: Path, most: int = MOST_TEXT, begin: int = 0) -> str | None:
    """Up to `most` bytes of a file from `begin` on, as text; None if it cannot be read. A pipe or device is not waited
    for."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except (OSError, ValueError):
        return None
    try:
        if begin:
            os.lseek(descriptor, begin, os.SEEK_SET)
        return os.read(descriptor, most).decode("utf-8", "replace")
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _is_number(word: str) -> bool:
    if word.isascii() and word.isdecimal():
        return len(word) < 40 and (word == "0" or word[0] != "0")
    digits = word[2:]
    return word[:2] == "0x" and 0 < len(digits) < 17 and all(c in "0123456789abcdefABCDEF" for c in digits)
