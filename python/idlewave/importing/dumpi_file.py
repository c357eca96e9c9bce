"""The file of one rank of a DUMPI trace: its index, its header, the sizes of datatypes, and its records.

All numbers are big-endian. The file ends with an index of 64 bytes: a magic number and the places of seven parts. The
first are the sizes of datatypes, the fourth to sixth the header, the records and the footer.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from ..errors import InputError
from ..escaping import name_of
from ..input.files import opened
from .dumpi_layouts import END_OF_STREAM, FUNCTIONS, ROOTED

MAGIC = bytes.fromhex("ffaadd44554d5049")
OLDEST, NEWEST = (0, 6, 9), (13, 255, 255)
"""The versions of DUMPI whose records are read: earlier ones have other fields, later ones are not known."""
WHAT = "the file of a rank of a DUMPI trace"
_INDEX = struct.Struct(">8s7Q")
_FOOTER_MAGIC = 0xF007FEE7
_CPU, _WALL, _THREAD, _COUNTERS, _STATUSES = 4, 8, 64, 128, 3
_TIMES = struct.Struct(">HIHI")
_STATUS = struct.Struct(">iiBBi")
_COUNT = struct.Struct(">i")
_HEAD = struct.Struct(">HB")
_COUNTED = END_OF_STREAM - 2
"""How many functions have a number of calls in the footer."""
_WRAP = 1 << 16
"""The seconds of a time are counted modulo this."""
NS = 10**9


class Status(NamedTuple):
    """What a receive or probe found."""

    bytes: int
    source: int
    cancelled: int
    error: int
    tag: int


class Record(NamedTuple):
    """One call: the byte where its record begins, its name without MPI_, the rank's clock in ns when it began and
    ended, and its fields, by dumpi_layouts."""

    at: int
    name: str
    begin: int
    end: int
    fields: list[Any]


@contextmanager
def opened_rank(path: Path) -> Iterator[RankTrace]:
    """The file of a rank. Raises InputError that names file and byte if it is none."""
    with opened(path, WHAT) as file:
        try:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:  # an empty file
            raise InputError(f"{name_of(path)}: byte 0: expected {WHAT}, found an empty file") from None
        with data:
            yield RankTrace(data, name_of(path))


class RankTrace:
    """Reads the file of one rank, which is mapped to memory."""

    def __init__(self, data: mmap.mmap, name: str) -> None:
        self._data = data
        self.name = name
        self._check_magic()
        if len(data) < len(MAGIC) + _INDEX.size:
            self.fail(len(data), "expected an index of 64 bytes at the end: the file was cut")
        index_at = len(data) - _INDEX.size
        magic, sizes, _, _, header, body, footer, _ = _INDEX.unpack_from(data, index_at)
        if magic != MAGIC:
            self.fail(
                index_at,
                "expected an index that begins with ff aa dd 44 55 4d 50 49: the file was cut, the program did not "
                "end by itself, or it is of DUMPI before version 0.6.9",
            )
        self._end = index_at
        for place, part in ((sizes, "sizes of datatypes"), (header, "header"), (body, "records"), (footer, "footer")):
            if not len(MAGIC) <= place < index_at:
                self.fail(index_at, f"expected the place of the {part} in the file, found {place}")
        self.version = self._read_version(header)
        self.host = self._read_host(header + 11)
        self.sizes: list[int] = self._ints(sizes)[0]
        self._footer = self._checked_footer(footer)
        self._body, self._end_of_body = body, header
        self._wall = self._number(body + 4)

    def fail(self, at: int, why: str) -> NoReturn:
        """Refuse what stands at byte `at`."""
        raise InputError(f"{self.name}: byte {at}: {why}")

    def records(self) -> Iterator[Record]:
        """The calls in the order in which they ended. Raises InputError, also for calls of a second thread."""
        data, at, end = self._data, self._body + 8, self._end_of_body
        thread: int | None = None
        last = 0
        while True:
            begin = at
            number, mask = _HEAD.unpack_from(data, at)
            if number == END_OF_STREAM:
                if at + 2 != end:
                    self.fail(at, f"expected records up to byte {end - 2}, where the header begins")
                return
            if number > END_OF_STREAM or FUNCTIONS[number][1] == "-" or at + 3 > end:
                self.fail(at, f"expected the number of a function, found {number}")
            name, at = FUNCTIONS[number][0], at + 3
            try:
                if mask & _THREAD:
                    caller, at = int.from_bytes(data[at : at + 2], "big"), at + 2
                    if thread is not None and caller != thread:
                        self.fail(
                            begin, f"MPI_{name} is called by thread {caller}: expected calls of one thread a rank"
                        )
                    thread = caller
                began, ended, at = self._times(begin, mask, at, last)
                last = ended
                if (numbers := _NUMBERS[number]) is not None:
                    fields, at = list(numbers.unpack_from(data, at)), at + numbers.size
                else:
                    fields, at = self._fields(number, at, mask)
            except struct.error:
                self.fail(begin, f"the record of MPI_{name} is not complete")
            if at > end - 2:
                self.fail(begin, f"the record of MPI_{name} does not end before the header, at byte {end - 2}")
            yield Record(begin, name, began, ended, fields)

    def _times(self, record: int, mask: int, at: int, last: int) -> tuple[int, int, int]:
        """When a call began and ended, and where the next field is."""
        if mask & _CPU:
            at += _TIMES.size
        if not mask & _WALL:
            self.fail(record, "expected a call with its wall time: it was not recorded (timestamp in dumpi.conf)")
        first, first_ns, second, second_ns = _TIMES.unpack_from(self._data, at)
        at += _TIMES.size
        if first_ns >= NS or second_ns >= NS:
            self.fail(record, f"expected less than 10^9 ns, found {max(first_ns, second_ns)}")
        began = _unwrapped(first, last // NS) * NS + first_ns
        ended = _unwrapped(second, began // NS) * NS + second_ns
        if mask & _COUNTERS:
            at += 1 + 16 * self._data[at] if at < self._end else 1
        return began, max(began, ended), at

    def _fields(self, number: int, at: int, mask: int) -> tuple[list[Any], int]:
        name = FUNCTIONS[number][0]
        fields: list[Any] = []
        for part, steps in enumerate(_STEPS[number]):
            if part == 1:
                rank, root = ROOTED[name]
                if fields[rank] != fields[root]:
                    continue
            for step in steps:
                if isinstance(step, struct.Struct):
                    fields += step.unpack_from(self._data, at)
                    at += step.size
                elif step == "s" and not mask & _STATUSES:
                    fields.append([])
                else:
                    value, at = _READ[step](self, at)
                    fields.append(value)
        return fields, at

    def _count(self, at: int, size: int) -> int:
        """How many parts of at least `size` bytes follow, which must be in the file."""
        count: int = _COUNT.unpack_from(self._data, at)[0]
        if not 0 <= count <= (self._end - at - 4) // size:
            self.fail(at, f"expected a count of parts in the file, found {count}")
        return count

    def _ints(self, at: int) -> tuple[list[int], int]:
        return self._numbers(at, "i", 4)

    def _numbers(self, at: int, code: str, size: int) -> tuple[list[int], int]:
        count = self._count(at, size)
        return list(struct.unpack_from(f">{count}{code}", self._data, at + 4)), at + 4 + count * size

    def _statuses(self, at: int) -> tuple[list[Status], int]:
        count = self._count(at, _STATUS.size)
        first = at + 4
        found = [Status(*_STATUS.unpack_from(self._data, first + i * _STATUS.size)) for i in range(count)]
        return found, first + count * _STATUS.size

    def _past_text(self, at: int) -> tuple[None, int]:
        """Texts are not read."""
        return None, at + 4 + self._count(at, 1)

    def _past_texts(self, at: int) -> tuple[None, int]:
        count, at = self._count(at, 4), at + 4
        for _ in range(count):
            _, at = self._past_text(at)
        return None, at

    def _past_lists_of_texts(self, at: int) -> tuple[None, int]:
        count, at = self._count(at, 4), at + 4
        for _ in range(count):
            _, at = self._past_texts(at)
        return None, at

    def _rows(self, at: int) -> tuple[list[list[int]], int]:
        count, at = self._count(at, 4), at + 4
        rows = []
        for _ in range(count):
            row, at = self._ints(at)
            rows.append(row)
        return rows, at

    def _number(self, at: int) -> int:
        if at + 4 > self._end:
            self.fail(at, "expected a number of 4 bytes")
        number: int = _COUNT.unpack_from(self._data, at)[0]
        return number

    def _check_magic(self) -> None:
        found = self._data[: len(MAGIC)]
        if found == MAGIC[::-1]:
            self.fail(0, "expected ff aa dd 44 55 4d 50 49, found it in the other byte order")
        if found != MAGIC:
            self.fail(0, f"expected ff aa dd 44 55 4d 50 49, found {found.hex(' ')}")

    def _read_version(self, header: int) -> tuple[int, ...]:
        version = tuple(self._data[header : header + 3])
        if not OLDEST <= version <= NEWEST:
            written = ".".join(map(str, version))
            self.fail(header, f"expected a trace of DUMPI from version 0.6.9 to 13, found one of version {written}")
        return version

    def _read_host(self, at: int) -> str:
        length = int.from_bytes(self._data[at : at + 2], "big")
        if at + 2 + length > self._end:
            self.fail(at, f"expected the name of a host in the file, found one of {length} bytes")
        return self._data[at + 2 : at + 2 + length].decode("utf-8", errors="replace")

    def _checked_footer(self, footer: int) -> int:
        if footer + 8 + 8 * _COUNTED > self._end:
            self.fail(footer, f"expected a footer with the numbers of calls of {_COUNTED} functions")
        if int.from_bytes(self._data[footer : footer + 8], "big") != _FOOTER_MAGIC:
            self.fail(footer, "expected a footer, which begins with 00 00 00 00 f0 07 fe e7")
        return footer

    def ignored(self) -> int:
        """How many calls were made and not recorded."""
        return sum(struct.unpack_from(f">{_COUNTED}I", self._data, self._footer + 8 + 4 * _COUNTED))

    @property
    def wall_offset(self) -> int:
        """The second of the rank's clock from which its times count."""
        return self._wall


def _unwrapped(second: int, last: int) -> int:
    """A second that is known modulo 2^16: the one that is not much before `last`."""
    return second + (last - second + _WRAP // 2) // _WRAP * _WRAP if last > second else second


def _steps(layout: str) -> list[list[struct.Struct | str]]:
    """How to read a record: for each part numbers together, and what has a count."""
    parts: list[list[struct.Struct | str]] = []
    for part in layout.split("|"):
        steps: list[struct.Struct | str] = []
        numbers = ""
        for letter in part:
            if letter in _FORMATS:
                numbers += _FORMATS[letter]
                continue
            steps += [struct.Struct(">" + numbers)] if numbers else []
            steps.append(letter)
            numbers = ""
        steps += [struct.Struct(">" + numbers)] if numbers else []
        parts.append(steps)
    return parts


_FORMATS = {"b": "B", "t": "H", "c": "H", "h": "H", "i": "i", "q": "q"}
_READ = {
    "a": RankTrace._ints,
    "d": lambda trace, at: trace._numbers(at, "H", 2),
    "e": lambda trace, at: trace._numbers(at, "B", 1),
    "r": RankTrace._rows,
    "s": RankTrace._statuses,
    "z": RankTrace._past_text,
    "Z": RankTrace._past_texts,
    "Y": RankTrace._past_lists_of_texts,
}
_STEPS = [_steps(layout) if layout != "-" else [] for _, layout in FUNCTIONS]


def _numbers_alone(steps: list[list[struct.Struct | str]]) -> struct.Struct | None:
    only = steps[0][0] if len(steps) == 1 and len(steps[0]) == 1 else None
    return only if isinstance(only, struct.Struct) else None


_NUMBERS = [_numbers_alone(steps) for steps in _STEPS]
"""The fields of the records that have numbers alone, which are most."""
