"""Files of detours, which the noise of a machine names: CSV with the header start_ns,length_ns. Reader and writer."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from . import _core
from .errors import InputError
from .escaping import cut, name_of
from .input.bounds import MOST_LINE, MOST_TABLE, size_words
from .input.files import opened
from .noise_models import as_times, buffer_of_times
from .units import parse_time

if TYPE_CHECKING:
    import numpy.typing as npt

    from .noise_models import Times

_COLUMNS = ["start_ns", "length_ns"]
_HEADERS = (b"start_ns,length_ns\n", b"start_ns,length_ns\r\n")
_PIECE = 1 << 20


def read_detours(path: str | Path) -> tuple[Times, Times]:
    """Read a CSV file of detours: a header, then start_ns,length_ns (decimals allowed). Returns ps, as
    `buffer_of_times` does.

    Raises InputError naming file and line. Whether they fit a period is checked when a machine is made of them.
    """
    starts, lengths = array("q"), array("q")
    name = name_of(path)
    with opened(path, "a file of detours") as file:
        unparsed = file.readline(MOST_LINE)
        plain_header = unparsed in _HEADERS
        if plain_header:
            unparsed = _read_plain_rows(file, starts, lengths)
        all_read = plain_header and not unparsed and file.tell() <= MOST_TABLE  # `_lines` refuses a longer file
        if not all_read:
            _read_rows(_lines(unparsed, file, name), name, starts, lengths, header_read=plain_header)
    return buffer_of_times(starts), buffer_of_times(lengths)


def detours_csv(starts: npt.ArrayLike, lengths: npt.ArrayLike) -> str:
    """The text of a file of detours, from times in ps: exact, in ns with three decimals."""
    pairs = zip(as_times(starts).tolist(), as_times(lengths).tolist(), strict=True)
    rows = [f"{s // 1000}.{s % 1000:03d},{n // 1000}.{n % 1000:03d}" for s, n in pairs]
    return "\n".join([",".join(_COLUMNS), *rows]) + "\n"


def _read_plain_rows(file: BinaryIO, starts: array[int], lengths: array[int]) -> bytes:
    """Read rows as `detours_csv` writes them, which the compiled core does far faster. Returns the bytes that were read
    behind the last of them: rows of another form, or a last row without an end of line."""
    unparsed = b""
    while (
        len(unparsed) <= MOST_LINE
        and b"\n" not in unparsed
        and file.tell() <= MOST_TABLE
        and (piece := file.read(_PIECE))
    ):
        unparsed += piece
        some_starts, some_lengths, parsed = _core.plain_detours(unparsed)
        starts.frombytes(some_starts)
        lengths.frombytes(some_lengths)
        unparsed = unparsed[parsed:]
    return unparsed


def _read_rows(lines: Iterator[str], name: str, starts: array[int], lengths: array[int], *, header_read: bool) -> None:
    """Read rows of any form, behind those that were read. `header_read`: the header was read, too."""
    import csv  # which plain rows do not need

    lines_before = len(starts) + header_read
    rows = csv.reader(lines)
    try:
        if not header_read:
            _check_header(next(rows, None), name)
        for row in rows:
            if row:
                start, length = _times(row, f"{name}:{lines_before + rows.line_num}")
                starts.append(start)
                lengths.append(length)
    except csv.Error as error:
        where = f"{name}:{lines_before + rows.line_num}"
        raise InputError(f"{where}: cannot be read as a file of detours: {error}") from error


def _check_header(header: list[str] | None, name: str) -> None:
    if header is None or [word.strip() for word in header[:2]] != _COLUMNS:
        raise InputError(f"{name}:1: expected the header start_ns,length_ns, found {_row(header)}")


def _lines(unparsed: bytes, file: BinaryIO, name: str) -> Iterator[str]:
    """The remaining lines of a file, of which `unparsed` has been read. Size and length of lines are limited."""
    size = file.tell() - len(unparsed)
    *whole, last = unparsed.split(b"\n")
    for line in chain((line + b"\n" for line in whole), _further_lines(last, file), (b"",)):
        size += len(line)
        if len(line) >= MOST_LINE or size > MOST_TABLE:
            bound = f"lines of less than {size_words(MOST_LINE)}, and at most {size_words(MOST_TABLE)} of them"
            raise InputError(f"{name}: cannot be read as a file of detours: expected {bound}")
        if line:
            yield line.decode("utf-8", "replace")


def _further_lines(begun: bytes, file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file, of whose next one `begun` has been read. A line beyond MOST_LINE comes in parts."""
    while line := begun + file.readline(MOST_LINE):
        yield line
        begun = b""


def _times(row: list[str], where: str) -> tuple[int, int]:
    try:
        start, length = (parse_time(f"{cell.strip()}ns") for cell in row[:2])
    except ValueError:
        said = f"expected start_ns,length_ns, found {_row(row)}"
        raise InputError(f"{where}: {said}; both are numbers, of at most 106 days") from None
    if start < 0 or length < 0:
        raise InputError(f"{where}: expected times that are not negative, found {_row(row)}")
    return start, length


def _row(cells: list[str] | None) -> str:
    return "nothing" if cells is None else cut(",".join(cells))
