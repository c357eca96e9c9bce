"""A small reader of rank files for the tracer's tests, written from docs/trace-format.md alone."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

HEADER = struct.Struct("<8s4I Q 2q 2I 6q 2Q 2Q q 64s 48s")
FIELDS = (
    *("magic", "version", "header_bytes", "rank", "ranks", "pid", "init_end", "finalize_begin", "state"),
    *("thread_level", "offset_init", "offset_init_error", "offset_init_at"),
    *("offset_finalize", "offset_finalize_error", "offset_finalize_at", "lost", "record_cost_ps"),
    *("voluntary_switches", "involuntary_switches", "cpu_ns", "host", "library"),
)

POINT_TO_POINT = (
    "Send",
    "Bsend",
    "Ssend",
    "Rsend",
    "Isend",
    "Ibsend",
    "Issend",
    "Irsend",
    "SendInit",
    "PsendInit",
    "Pready",
    "Parrived",
    "OneSided",
    "FileOpen",
    "FileClose",
    "File",
)
RECEIVES = (
    *("Recv", "Irecv", "RecvInit", "Sendrecv", "Probe", "Mprobe", "Mrecv", "Imrecv", "Isendrecv", "PrecvInit"),
    "Thread",
)
COMPLETIONS = ("Wait", "Waitall", "Waitany", "Waitsome", "Test", "Testall", "Testany", "Testsome")
ONE_SIDED = ("WinFence", "WinPost", "WinStart", "WinComplete", "WinWait", "PassiveTarget", "CoreWait", "Pcontrol")
OTHERS = (
    *("Init", "Finalize", "Abort", "Polls", "CommDef", "CommFree", "Cart"),
    *("RequestFree", "Cancel", "Start", "Unmodelled", "Tracer", "Neighbors", "Window", "WindowFree"),
)
COLLECTIVES = (
    *("Barrier", "Bcast", "Reduce", "Allreduce", "Gather", "Gatherv", "Scatter", "Scatterv"),
    *("Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw"),
    *("ReduceScatter", "ReduceScatterBlock", "Scan", "Exscan", "Neighbor"),
)
NAMES: dict[int, str] = {}
for first, names in (
    *((1, OTHERS), (16, POINT_TO_POINT), (32, RECEIVES)),
    *((48, COMPLETIONS), (56, ONE_SIDED), (64, COLLECTIVES)),
):
    NAMES |= dict(enumerate(names, first))
NAMES |= dict(enumerate((f"I{name}" for name in COLLECTIVES), 128))
NAMES |= dict(enumerate((f"{name}Init" for name in COLLECTIVES), 192))


@dataclass(frozen=True)
class Record:
    """One record, with its words as signed integers."""

    name: str
    info: int
    begin: int
    end: int
    words: tuple[int, ...]
    thread: int = 0

    def pair(self, i: int) -> tuple[int, int]:
        """Word `i` as a pair."""
        return struct.unpack("<ii", struct.pack("<q", self.words[i]))


@dataclass(frozen=True)
class RankFile:
    """A rank's header and records; `tail` is how many bytes follow the last record.

    Waits for a core are beside the records: how many there are is up to the machine. Records of threads are no records
    here: those that follow have the number of the thread.
    """

    header: dict
    records: list[Record]
    tail: int
    waits: list[Record]

    def named(self, *names: str) -> list[Record]:
        """The records with one of these names."""
        return [r for r in self.records if r.name in names]


def read_rank(path: Path) -> RankFile:
    """Read a rank's file."""
    data = path.read_bytes()
    header = dict(zip(FIELDS, HEADER.unpack_from(data), strict=True))
    for text in ("host", "library"):
        header[text] = header[text].rstrip(b"\0").decode()
    read = {1: _plain, 2: _packed}[header["version"]]
    at = header["header_bytes"]
    records: list[Record] = []
    waits: list[Record] = []
    thread = 0
    for record, behind in read(data, at):
        at = behind
        if record.name == "Thread":
            assert record.words[0] != thread
            thread = record.words[0]
        else:
            (waits if record.name == "CoreWait" else records).append(replace(record, thread=thread))
    return RankFile(header, records, len(data) - at, waits)


def _plain(data: bytes, at: int) -> Iterator[tuple[Record, int]]:
    """The records of a file of version 1, each with the byte behind it."""
    while at + 24 <= len(data):
        words, call, info, begin, end = struct.unpack_from("<IHHqq", data, at)
        if call == 0:
            break
        body = struct.unpack_from(f"<{words}q", data, at + 24)
        at += 24 + 8 * words
        yield Record(NAMES[call], info, begin, end, body), at


def _packed(data: bytes, at: int) -> Iterator[tuple[Record, int]]:
    """The same of version 2."""
    stored: dict[int, tuple[int, int, list[int]]] = {}
    next_slot: dict[int, int] = {}
    reference: dict[int, list[int]] = {}
    last = end = 0

    def take(size: int) -> int:
        nonlocal at
        at += size
        assert at <= len(data), "the file ends in the middle of a record"
        return int.from_bytes(data[at - size : at], "little")

    while at < len(data) and data[at] != 0:
        first = take(1)
        begin = end + _signed(take((first >> 2 & 7) + 1))
        end = begin + take((first >> 5) + 1)
        kind = first & 3
        slot = next_slot[last] if kind == 1 else take(2)
        if kind == 3:
            call, info, count = take(1), take(1), take(4)
            sizes = [take(1) for _ in range((count + 1) // 2)]
            words: list[int] = []
            before = reference.setdefault(call, [0] * 8) if slot else [0] * 8
            for i in range(count):
                difference = _signed(take(sizes[i // 2] >> i % 2 * 4 & 15))
                words.append(((words[i - 3] if i >= 8 else before[i]) + difference) % 2**64)
            before[: min(count, 8)] = words[:8]
            content = (call, info, words)
            if slot:
                stored[slot] = content
                next_slot.pop(slot, None)
        else:
            content = stored[slot]
        if slot:
            next_slot[last] = slot
            last = slot
        call, info, words = content
        body = struct.unpack(f"<{len(words)}q", struct.pack(f"<{len(words)}Q", *words))
        yield Record(NAMES[call], info, begin, end, body), at


def _signed(number: int) -> int:
    return number >> 1 if number % 2 == 0 else -(number >> 1) - 1


def read_trace(folder: Path) -> list[RankFile]:
    """Read all ranks of a trace, in order."""
    return [read_rank(path) for path in sorted(folder.glob("rank-*.iwtrace"))]
