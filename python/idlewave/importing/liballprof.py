"""The text traces of liballprof, the tracer that comes with LogGOPSim.

A line is a call: its name, when it began, its arguments, and when it ended, separated by colons; times are in µs. A
datatype is a number, its size and its extent, a communicator its handle, the caller's rank and its size; an array of
counts has two fields, its address and the counts. A rank has a file, whose name ends with its number.

What a trace lacks: the members of communicators, which message a receive took, and which request a call such as
MPI_Waitany has completed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TextIO

from ..errors import InputError
from ..escaping import cut, name_of, quote
from ..input.files import opened
from ..trace_format import (
    ANY,
    BLOCKING,
    COUNTS_RECEIVED,
    COUNTS_SENT,
    NONBLOCKING,
    NOT_KNOWN,
    PROC_NULL,
    SELF,
    SENDS,
    WORLD,
    Call,
    Collective,
    pair,
)
from .files_of_ranks import files_of_ranks
from .rank_file import RankFile

FIRST_LINE = "# htor's PMPI Tracer"
LATEST = 2**50
"""The last time that a line may have, µs."""
MOST_LINE = 1 << 20
MOST_BYTES = 2**50
_MPICH_WORLD = 0x44000000
_BEGIN = 1000
"""When the first rank leaves MPI_Init in the trace that is written, µs."""

_NO_MESSAGES = re.compile(
    r"(?:Comm_|Group_|Type_|Cart_|Get_|Error|Address|Attr_|Info_|Op_|Keyval_|Pcontrol|Wtime|Initialized|Finalized|Abort"
    r"|Iprobe|Probe|Test_cancelled|Buffer_|Dims_|Graph_|Topo_|Pack|Unpack|Alloc_mem|Free_mem)"
)
_OUTCOME_NOT_THERE = frozenset({"Waitany", "Waitsome", "Test", "Testall", "Testany", "Testsome"})


@dataclass(frozen=True)
class _Comm:
    handle: int
    rank: int
    size: int


class _Line:
    """The arguments of a line, which are taken one after the other. Raises ValueError for what is none."""

    def __init__(self, fields: list[str]) -> None:
        self._fields = fields
        self._next = 0

    def text(self) -> str:
        self._next += 1
        return self._fields[self._next - 1] if self._next <= len(self._fields) else _missing()

    def number(self) -> int:
        return int(self.text())

    def skip(self, fields: int = 1) -> None:
        for _ in range(fields):
            self.text()

    def bytes(self) -> int:
        """A count and a datatype."""
        return self._size(self.number())

    def _type_size(self) -> int:
        parts = self.text().split(",")
        if len(parts) < 2:
            raise ValueError(f"expected a datatype with its size, found {quote(cut(parts[0]))}")
        return int(parts[1])

    def _size(self, count: int) -> int:
        size = self._type_size()
        if not 0 <= count * size <= MOST_BYTES:
            raise ValueError(f"expected a size from 0 to 2^50 bytes, found {cut(str(count * size))}")
        return count * size

    def counts(self, ranks: int) -> list[int]:
        """An array of counts."""
        self.skip()
        found = [int(count) for count in self.text().strip(",").split(",")]
        if len(found) < ranks:
            raise ValueError(f"expected {ranks} counts, found {len(found)}")
        return found[:ranks]

    def typed(self, counts: list[int]) -> list[int]:
        """These counts of a datatype, in bytes."""
        size = self._type_size()
        sizes = [count * size for count in counts]
        if sizes and not (min(sizes) >= 0 and sum(sizes) <= MOST_BYTES):
            raise ValueError("expected sizes from 0 to 2^50 bytes")
        return sizes

    def comm(self) -> _Comm:
        handle, rank, size = (int(part) for part in self.text().split(","))
        return _Comm(handle & 0xFFFFFFFF if handle < 0 else handle, rank, size)


def _missing() -> str:
    raise ValueError("expected more arguments")


def is_liballprof(source: Path) -> bool:
    """Whether a file is a rank's trace."""
    with opened(source, "a trace") as file:
        return file.read(len(FIRST_LINE)) == FIRST_LINE.encode()


def import_liballprof(source: Path, folder: Path) -> Counter[str]:
    """Write the rank files of the trace with the file `source` of rank 0 to `folder`. Returns what was left out.

    Raises InputError that names file and line if a file is missing, is no trace, or has a line that is none.
    """
    files = _files_of_ranks(source)
    left_out: Counter[str] = Counter()
    shifts = _shifts(files)
    for rank, (file, shift) in enumerate(zip(files, shifts, strict=True)):
        with (
            file.open(encoding="utf-8", errors="replace") as text,
            (folder / f"rank-{rank:07}.iwtrace").open("w+b") as written,
        ):
            reader = _Rank(name_of(file), rank, len(files), written, shift)
            reader.read(text)
            left_out += reader.left_out
    return left_out


def _files_of_ranks(source: Path) -> list[Path]:
    """The files of all ranks, from that of rank 0: its name has the number 0 before its ending."""
    found = re.fullmatch(r"(.*?)(?<![0-9])(0+)(\D*)", source.name)
    if not found:
        raise InputError(f"{name_of(source)}: expected the file of rank 0, whose name has a 0 before its ending")
    files = files_of_ranks(source, found[1], found[3], digits=len(found[2]))
    for file in files:
        if not is_liballprof(file):
            raise InputError(f"{name_of(file)}: expected a trace of liballprof, which begins with {FIRST_LINE!r}")
    return files


def _shifts(files: list[Path]) -> list[int]:
    """What is added to the times of each rank, µs: they begin at 1 ms. Ranks with clocks of their own have left
    MPI_Init together."""
    starts: list[int] = []
    own_clocks = False
    for file in files:
        with file.open(encoding="utf-8", errors="replace") as text:
            for number, line in enumerate(_lines(text, name_of(file)), 1):
                if line.startswith("# clockdiff:"):
                    own_clocks = own_clocks or _clock_difference(line, name_of(file), number) != 0
                if line.startswith("MPI_Init"):
                    starts.append(_time(line.rstrip().rsplit(":", 1)[-1], name_of(file), number))
                    break
            else:
                raise InputError(f"{name_of(file)}: has no MPI_Init: expected a trace from there on")
    first = min(starts)
    return [_BEGIN - (start if own_clocks else first) for start in starts]


def _clock_difference(line: str, name: str, number: int) -> float:
    """The seconds in a line such as `# clockdiff: 0.000012 s (relative to rank 0)`."""
    try:
        return float(line.split()[2])
    except (IndexError, ValueError):
        raise InputError(
            f"{name}:{number}: expected a difference of clocks in s, found {quote(cut(line.strip()))}"
        ) from None


def _lines(text: TextIO, name: str) -> Iterator[str]:
    """The lines of a file, of bounded length."""
    while line := text.readline(MOST_LINE):
        if len(line) == MOST_LINE:
            raise InputError(f"{name}: expected lines of at most {MOST_LINE:,} characters")
        yield line


def _time(text: str, name: str, number: int) -> int:
    try:
        time = int(text)
    except ValueError:
        time = -1
    if not 0 <= time <= LATEST:
        raise InputError(f"{name}:{number}: expected a time in µs, found {quote(cut(text))}")
    return time


class _Rank:
    """Reads the lines of a rank and writes its records."""

    def __init__(self, name: str, rank: int, ranks: int, file: BinaryIO, shift: int) -> None:
        self._name = name
        self._rank, self._ranks = rank, ranks
        self._file = RankFile(file, rank, ranks, "", "imported from liballprof")
        self._shift = shift
        self._open: dict[int, tuple[int, int]] = {}  # by request: source and tag, and bytes
        self._mpich = False
        self.left_out: Counter[str] = Counter()

    def read(self, text: TextIO) -> None:
        for number, line in enumerate(_lines(text, self._name), 1):
            if not line.startswith("MPI_"):
                if line.strip() and not line.startswith("#"):
                    raise InputError(f"{self._name}:{number}: expected a call of MPI, found {quote(cut(line.strip()))}")
                continue
            name, *fields = line.strip().split(":")
            if len(fields) < 2:
                raise InputError(f"{self._name}:{number}: expected a call with times, found {quote(cut(line.strip()))}")
            try:
                self._call(name.removeprefix("MPI_"), fields, number)
            except (ValueError, IndexError) as error:
                raise InputError(
                    f"{self._name}:{number}: not {quote(cut(name))} as liballprof writes it: {error}"
                ) from error
        self._file.close()

    def _ns(self, text: str, number: int) -> int:
        return max(1, (_time(text, self._name, number) + self._shift) * 1000)

    def _call(self, name: str, fields: list[str], number: int) -> None:
        if name in ("Init", "Init_thread"):
            self._file.init_end = self._ns(fields[-1], number)
            self._file.write(Call.INIT, self._file.init_end, self._file.init_end)
            return
        begin = self._ns(fields[0], number)
        if name == "Finalize":
            self._file.finalize_begin = begin
            self._file.write(Call.FINALIZE, begin, begin)
            return
        end = self._ns(fields[-1], number)
        if end < begin:
            raise ValueError("expected an end that is not before its beginning")
        line = _Line(fields[1:-1])
        if name in SENDS:
            self._send(SENDS[name], name.startswith("I"), line, begin, end)
        elif name in ("Recv", "Irecv"):
            self._receive(name == "Irecv", line, begin, end)
        elif name in ("Sendrecv", "Wait", "Waitall"):
            {"Sendrecv": self._sendrecv, "Wait": self._wait, "Waitall": self._wait_all}[name](line, begin, end)
        elif name in _COLLECTIVES:
            self._collective(name, line, begin, end)
        elif name.startswith("I") and name[1:].capitalize() in _COLLECTIVES:
            self._collective(name[1:].capitalize(), line, begin, end, nonblocking=True)
        elif name in _OUTCOME_NOT_THERE:
            self.left_out["calls of which the trace lacks the requests that they completed"] += 1
        elif not _NO_MESSAGES.match(name):
            self.left_out[f"calls of MPI_{name}"] += 1

    def _communicator(self, comm: _Comm) -> int | None:
        """The id of the communicator; None if it is not known who is on it."""
        self._mpich = self._mpich or comm.handle == _MPICH_WORLD
        if comm.size > self._ranks:
            raise ValueError(
                f"a communicator has {comm.size} ranks, and there are files of {self._ranks}: expected the files of "
                "all ranks"
            )
        if comm.size == self._ranks and comm.rank == self._rank:
            return WORLD
        if comm.size == 1:
            return SELF
        self.left_out["calls on communicators whose members the trace does not list"] += 1
        return None

    def _peer(self, rank: int) -> int:
        """A rank, or what is written for any source or none, which MPICH has the other way round."""
        if rank >= 0:
            return rank
        return (ANY if rank == -2 else PROC_NULL) if self._mpich else max(rank, PROC_NULL)

    def _send(self, call: Call, nonblocking: bool, line: _Line, begin: int, end: int) -> None:
        line.skip()
        size, peer, tag = line.bytes(), line.number(), line.number()
        communicator = self._communicator(line.comm())
        if communicator is None:
            return
        request = [line.number()] if nonblocking else []
        self._file.write(call, begin, end, [communicator, pair(self._peer(peer), tag), size, *request])
        if request:
            self._open[request[0]] = (pair(NOT_KNOWN, NOT_KNOWN), -1)

    def _receive(self, nonblocking: bool, line: _Line, begin: int, end: int) -> None:
        line.skip()
        size, source, tag = line.bytes(), line.number(), line.number()
        communicator = self._communicator(line.comm())
        if communicator is None:
            return
        asked, received = self._source_and_tag(source, tag)
        self._count_wildcard(source)
        if nonblocking:
            request = line.number()
            self._file.write(Call.IRECV, begin, end, [communicator, asked, size, request])
            self._open[request] = (received, size)
        else:
            self._file.write(Call.RECV, begin, end, [communicator, asked, size, received, size])

    def _source_and_tag(self, source: int, tag: int) -> tuple[int, int]:
        """As they were asked for, and of the message: that of a wildcard is not known."""
        peer = self._peer(source)
        asked = pair(peer, tag)
        if peer == PROC_NULL:
            return asked, pair(PROC_NULL, -1)
        return asked, pair(NOT_KNOWN if peer == ANY else peer, NOT_KNOWN if tag == -1 else tag)

    def _count_wildcard(self, source: int) -> None:
        self.left_out["messages that receives without a source took"] += self._peer(source) == ANY

    def _sendrecv(self, line: _Line, begin: int, end: int) -> None:
        line.skip()
        sent, destination, sent_tag = line.bytes(), line.number(), line.number()
        line.skip()
        size, source, tag = line.bytes(), line.number(), line.number()
        communicator = self._communicator(line.comm())
        if communicator is None:
            return
        asked, received = self._source_and_tag(source, tag)
        self._count_wildcard(source)
        to = pair(self._peer(destination), sent_tag)
        self._file.write(Call.SENDRECV, begin, end, [communicator, to, sent, asked, size, received, size])

    def _wait(self, line: _Line, begin: int, end: int) -> None:
        self._complete(Call.WAIT, [line.number()], begin, end)

    def _wait_all(self, line: _Line, begin: int, end: int) -> None:
        """The requests lie one behind the other in an array. They are handles of 4 or 8 bytes."""
        count, first = line.number(), line.number()
        if not 0 <= count <= MOST_LINE:
            raise ValueError(f"expected a number of requests, found {count}")
        arrays = [[first + size * i for i in range(count)] for size in (4, 8)]
        known = [sum(request in self._open for request in requests) for requests in arrays]
        self._complete(Call.WAITALL, arrays[0] if known[0] > known[1] else arrays[1], begin, end)

    def _complete(self, call: Call, requests: list[int], begin: int, end: int) -> None:
        words: list[int] = []
        for request in requests:
            if request in self._open:
                received, size = self._open.pop(request)
                words += [request, received, size]
        if words:
            self._file.write(call, begin, end, words)

    def _collective(self, name: str, line: _Line, begin: int, end: int, *, nonblocking: bool = False) -> None:
        number, arguments = _COLLECTIVES[name]
        root, sent, received, counts, info, comm = arguments(line, self._ranks, self._rank)
        communicator = self._communicator(comm)
        if communicator is None:
            return
        request = [line.number()] if nonblocking else []
        words = [communicator, pair(root, 0), *request, sent, received, *counts]
        self._file.write(number + (NONBLOCKING if nonblocking else BLOCKING), begin, end, words, info)
        if request:
            self._open[request[0]] = (pair(NOT_KNOWN, NOT_KNOWN), -1)


_Arguments = tuple[int, int, int, list[int], int, _Comm]
"""Root, bytes sent, bytes received, counts, info and communicator of a collective (docs/trace-format.md)."""


def _barrier(line: _Line, _ranks: int, _rank: int) -> _Arguments:
    return NOT_KNOWN, 0, 0, [], 0, line.comm()


def _bcast(line: _Line, _ranks: int, _rank: int) -> _Arguments:
    line.skip()
    size, root = line.bytes(), line.number()
    return root, size, size, [], 0, line.comm()


def _reduced(line: _Line) -> int:
    """The bytes of a reduction's vector, behind which its operation stands."""
    line.skip(2)
    size = line.bytes()
    line.skip()
    return size


def _vector(line: _Line, _ranks: int, _rank: int) -> _Arguments:
    size = _reduced(line)
    return NOT_KNOWN, size, size, [], 0, line.comm()


def _reduce(line: _Line, _ranks: int, _rank: int) -> _Arguments:
    size = _reduced(line)
    root = line.number()
    return root, size, size, [], 0, line.comm()


def _sent_and_received(line: _Line) -> tuple[int, int]:
    """The bytes of both buffers."""
    line.skip()
    sent = line.bytes()
    line.skip()
    return sent, line.bytes()


def _gather(line: _Line, _ranks: int, _rank: int) -> _Arguments:
    """Only the root knows what it receives; all parts are equal."""
    sent, _ = _sent_and_received(line)
    root = line.number()
    return root, sent, sent, [], 0, line.comm()


def _scatter(line: _Line, _ranks: int, _rank: int) -> _Arguments:
    """Only the root knows what it sends; all parts are equal."""
    _, received = _sent_and_received(line)
    root = line.number()
    return root, received, received, [], 0, line.comm()


def _parts(line: _Line, _ranks: int, _rank: int) -> _Arguments:
    sent, received = _sent_and_received(line)
    return NOT_KNOWN, sent, received, [], 0, line.comm()


def _allgatherv(line: _Line, ranks: int, _rank: int) -> _Arguments:
    line.skip()
    sent = line.bytes()
    line.skip()
    counts = line.counts(ranks)
    line.skip(2)
    sizes = line.typed(counts)
    return NOT_KNOWN, sent, sum(sizes), sizes, COUNTS_RECEIVED, line.comm()


def _alltoallv(line: _Line, ranks: int, _rank: int) -> _Arguments:
    line.skip()
    counts = line.counts(ranks)
    line.skip(2)
    sent = line.typed(counts)
    line.skip()
    counts = line.counts(ranks)
    line.skip(2)
    received = line.typed(counts)
    info = COUNTS_RECEIVED | COUNTS_SENT
    return NOT_KNOWN, sum(sent), sum(received), [*sent, *received], info, line.comm()


def _reduce_scatter(line: _Line, ranks: int, rank: int) -> _Arguments:
    line.skip(2)
    counts = line.counts(ranks)
    sizes = line.typed(counts)
    line.skip()
    return NOT_KNOWN, sum(sizes), sizes[rank], sizes, COUNTS_RECEIVED, line.comm()


_COLLECTIVES: dict[str, tuple[int, Callable[[_Line, int, int], _Arguments]]] = {
    "Barrier": (Collective.BARRIER, _barrier),
    "Bcast": (Collective.BCAST, _bcast),
    "Reduce": (Collective.REDUCE, _reduce),
    "Allreduce": (Collective.ALLREDUCE, _vector),
    "Scan": (Collective.SCAN, _vector),
    "Exscan": (Collective.EXSCAN, _vector),
    "Gather": (Collective.GATHER, _gather),
    "Scatter": (Collective.SCATTER, _scatter),
    "Allgather": (Collective.ALLGATHER, _parts),
    "Alltoall": (Collective.ALLTOALL, _parts),
    "Allgatherv": (Collective.ALLGATHERV, _allgatherv),
    "Alltoallv": (Collective.ALLTOALLV, _alltoallv),
    "Reduce_scatter": (Collective.REDUCE_SCATTER, _reduce_scatter),
}
