"""Small DUMPI traces for executions of their reader: of one to four ranks, and together with each kind of record."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dumpi_trace import STEM, rank_file
from idlewave.errors import InputError
from idlewave.importing.dumpi import import_dumpi
from idlewave.importing.dumpi_file import MAGIC
from idlewave.importing.dumpi_layouts import END_OF_STREAM, FUNCTIONS, ROOTED
from reader_attempts import Files

_NUMBERS = {name: number for number, (name, _) in enumerate(FUNCTIONS)}
_FORMATS = {"b": "B", "t": "H", "c": "H", "h": "H", "i": "i", "q": "q"}
_ITEMS = {"a": "i", "d": "H", "e": "B"}
_WALL, _THREAD, _CPU, _COUNTERS, _STATUSES = 8, 64, 4, 128, 1
_SIZES = [0, 0, 1, 1, 2, 4, 8, 16, 4, 8, 12, 20]
"""Of datatypes, by number."""
_INT, _WORLD, _NULL, _NONE = 5, 2, 1, -1
_NEW, _GROUP, _REQUEST = 5, 9, 20
"""Handles that a program may get."""
_STATUS = (8, 0, 0, 0, 3)


@dataclass
class _Rank:
    """The records of one rank. `mask` has what is recorded of each call beside its fields."""

    mask: int = _WALL | _THREAD
    records: bytearray = field(default_factory=bytearray)
    calls: int = 0

    def add(self, name: str, *values: Any) -> _Rank:
        """A call with the values of its fields, in the order of its layout."""
        mask = self.mask | (_STATUSES if "s" in FUNCTIONS[_NUMBERS[name]][1] else 0)
        begin, end = 1000 * self.calls, 1000 * self.calls + 500
        self.calls += 1
        self.records += struct.pack(">HB", _NUMBERS[name], mask)
        self.records += struct.pack(">H", 0) if mask & _THREAD else b""
        self.records += struct.pack(">HIHI", 0, begin, 0, end) if mask & _CPU else b""
        self.records += struct.pack(">HIHI", 7, begin, 7, end)
        self.records += bytes([1, *range(16)]) if mask & _COUNTERS else b""
        self.records += _fields(name, list(values))
        return self

    def file(self, version: tuple[int, int, int] = (13, 0, 0)) -> bytes:
        """The file of the rank, with a call of MPI_Finalize at its end."""
        self.add("Finalize")
        begin = MAGIC + struct.pack(">ii", 7, 7) + bytes(self.records) + struct.pack(">H", END_OF_STREAM)
        header = bytes(version) + bytes(8) + struct.pack(">H", 5) + b"node0"
        sizes = struct.pack(f">i{len(_SIZES)}i", len(_SIZES), *_SIZES)
        functions = END_OF_STREAM - 2
        footer = struct.pack(">Q", 0xF007FEE7) + bytes(8 * functions)
        at = [len(begin) + len(header), 8, 8, len(begin), 8, len(begin + header + sizes), 8]
        return begin + header + sizes + footer + MAGIC + struct.pack(">7Q", *at)


def _fields(name: str, values: list[Any]) -> bytes:
    layout = FUNCTIONS[_NUMBERS[name]][1]
    taken = iter(values)
    data = b""
    for number, letters in enumerate(layout.split("|")):
        if number == 1 and values[ROOTED[name][0]] != values[ROOTED[name][1]]:
            continue
        for letter in letters:
            data += _field(letter, next(taken))
    assert next(taken, None) is None, name
    return data


def _field(letter: str, value: Any) -> bytes:
    if letter in _FORMATS:
        return struct.pack(">" + _FORMATS[letter], value)
    if letter in _ITEMS:
        return struct.pack(f">i{len(value)}{_ITEMS[letter]}", len(value), *value)
    count = struct.pack(">i", len(value))
    if letter == "z":
        return count + value
    if letter == "s":
        return count + b"".join(struct.pack(">iiBBi", *status) for status in value)
    return count + b"".join(_field({"r": "a", "Z": "z", "Y": "Z"}[letter], one) for one in value)


def small_dumpi() -> Sequence[Files]:
    """Traces with a few calls each; some have a file about the trace, others have not."""
    traces = [*_messages(), *_collectives(), *_communicators()]
    samples: list[Files] = [_trace([rank.file() for rank in ranks], meta=i % 3 == 0) for i, ranks in enumerate(traces)]
    samples += [_trace([_init(mask).add("Barrier", _WORLD).file((9, 1, 2))]) for mask in (_WALL, 255 & ~_STATUSES & ~2)]
    return [*samples, *_of_each_function()]


def _trace(files: list[bytes], *, meta: bool = False) -> dict[str, bytes]:
    found = {f"in/{rank_file(Path(), rank).name}": data for rank, data in enumerate(files)}
    text = f"hostname=vm\nnumprocs={len(files)}\nfileprefix={STEM}\nversion=13\n"
    return found | ({f"in/{STEM}.meta": text.encode()} if meta else {})


def _init(mask: int = _WALL | _THREAD) -> _Rank:
    return _Rank(mask).add("Init", [b"./a.out"])


def _messages() -> Iterator[list[_Rank]]:
    """Pairs of ranks that exchange messages."""
    sent, taken = (8, _INT), (16, _INT)
    first, second = _init(), _init()
    first.add("Send", *sent, 1, 3, _WORLD).add("Recv", *taken, 1, 3, _WORLD, [_STATUS])
    second.add("Recv", *taken, -1, -1, _WORLD, [_STATUS]).add("Ssend", *sent, 0, 3, _WORLD)
    yield [first, second]
    ranks = [_init(), _init()]
    for rank, other in ((0, 1), (1, 0)):
        ranks[rank].add("Irecv", *taken, other, 3, _WORLD, _REQUEST).add("Isend", *sent, other, 3, _WORLD, _REQUEST + 1)
    ranks[0].add("Waitall", 2, [_REQUEST, _REQUEST + 1], [_STATUS, _STATUS])
    ranks[1].add("Test", _REQUEST, 0, []).add("Wait", _REQUEST + 1, []).add("Wait", _REQUEST, [_STATUS])
    yield ranks
    ranks = [_init(), _init()]
    for rank, other in ((0, 1), (1, 0)):
        ranks[rank].add("Sendrecv", *sent, other, 3, *taken, other, 3, _WORLD, [_STATUS])
        ranks[rank].add("Sendrecv_replace", *sent, other, 3, -1, 3, _WORLD, [_STATUS])
        ranks[rank].add("Iprobe", other, 3, _WORLD, 0, []).add("Probe", other, 3, _WORLD, [_STATUS])
    yield ranks
    alone = _init().add("Send_init", *sent, 0, 3, _WORLD, 30).add("Recv_init", *taken, 0, 3, _WORLD, 31)
    alone.add("Startall", 2, [30, 31]).add("Testall", 2, [30, 31], 1, [_STATUS, _STATUS]).add("Start", 30)
    yield [alone.add("Request_free", 30).add("Request_free", 31)]
    alone = _init().add("Irecv", *taken, -1, -1, _WORLD, 40).add("Irecv", *taken, 0, 3, _WORLD, 41)
    alone.add("Testany", 2, [40, 41], -1, 0, []).add("Waitany", 2, [40, 41], 1, [_STATUS]).add("Cancel", 40)
    yield [alone.add("Testsome", 1, [40], 1, [0], [_STATUS])]
    alone = _init().add("Irecv", *taken, 0, 3, _WORLD, 40).add("Irecv", *taken, 0, 3, _WORLD, 40)
    alone.add("Waitsome", 2, [40, 40], 2, [0, 1], [_STATUS, _STATUS]).add("Bsend", *sent, 0, 3, _WORLD)
    yield [alone.add("Rsend", *sent, -1, 3, _WORLD).add("Recv", *taken, -1, 3, _WORLD, [])]


def _collectives() -> Iterator[list[_Rank]]:
    """On one and two ranks, with the fields that only the root has."""
    for size in (1, 2):
        some, more, vectors = ([_init() for _ in range(size)] for _ in range(3))
        for rank in range(size):
            counts, places, types = [2] * size, list(range(size)), [_INT] * size
            some[rank].add("Bcast", 8, _INT, 0, _WORLD).add("Reduce", 8, _INT, 1, 0, _WORLD)
            some[rank].add("Allreduce", 8, _INT, 1, _WORLD).add("Scan", 8, _INT, 1, _WORLD)
            some[rank].add("Exscan", 8, _INT, 1, _WORLD).add("Barrier", _WORLD)
            more[rank].add("Gather", rank, 2, _INT, 0, _WORLD, *((2, _INT) if rank == 0 else ()))
            more[rank].add("Scatter", rank, 2, _INT, 0, _WORLD, *((2, _INT) if rank == 0 else ()))
            more[rank].add("Allgather", 2, _INT, 2, _INT, _WORLD).add("Alltoall", 2, _INT, 2, _INT, _WORLD)
            more[rank].add("Reduce_scatter", size, counts, _INT, 1, _WORLD)
            vectors[rank].add("Gatherv", rank, size, 2, _INT, 0, _WORLD, *((counts, places) if rank == 0 else ()), _INT)
            vectors[rank].add(
                "Scatterv", rank, size, _INT, 2, _INT, 0, _WORLD, *((counts, places) if rank == 0 else ())
            )
            vectors[rank].add("Allgatherv", size, 2, _INT, counts, places, _INT, _WORLD)
            vectors[rank].add("Alltoallv", size, counts, places, _INT, counts, places, _INT, _WORLD)
            vectors[rank].add("Alltoallw", size, counts, places, types, counts, places, types, _WORLD)
        yield from (some, more, vectors)


def _communicators() -> Iterator[list[_Rank]]:
    """What makes communicators and groups."""
    for size in (2, 4):
        ranks = [_init() for _ in range(size)]
        for number, rank in enumerate(ranks):
            rank.add("Comm_size", _WORLD, size).add("Comm_split", _WORLD, number % 2, -number, _NEW)
            rank.add("Comm_dup", _NEW, _NEW + 1).add("Barrier", _NEW + 1).add("Comm_free", _NEW)
        yield ranks
    ranks = [_init() for _ in range(4)]
    for rank in ranks:
        rank.add("Cart_create", _WORLD, 2, [2, 2], [1, 0], 0, _NEW).add("Cart_sub", 2, _NEW, [1, 0], _NEW + 1)
        rank.add("Allreduce", 1, _INT, 1, _NEW + 1)
    yield ranks
    ranks = [_init() for _ in range(2)]
    for number, rank in enumerate(ranks):
        rank.add("Comm_group", _WORLD, _GROUP).add("Group_incl", _GROUP, 1, [1], _GROUP + 1)
        rank.add("Comm_create", _WORLD, _GROUP + 1, _NEW if number == 1 else _NULL)
        rank.add("Group_range_excl", _GROUP, 1, [[0, 0, 1]], _GROUP + 2).add("Comm_split", _WORLD, 0, 0, _NEW + 1)
    yield ranks
    alone = _init().add("Comm_group", _WORLD, _GROUP).add("Group_excl", _GROUP, 1, [0], _GROUP + 1)
    for name in ("Group_union", "Group_intersection", "Group_difference"):
        alone.add(name, _GROUP, _GROUP + 1, _GROUP + 2)
    alone.add("Group_range_incl", _GROUP, 1, [[0, 0, 1]], _GROUP + 3)
    yield [alone.add("Comm_create", _WORLD, _GROUP + 3, _NEW).add("Comm_disconnect", _NEW)]
    yield [_init().add("Graph_create", 0, _WORLD, 1, [1], [0], 0, _NEW).add("Barrier", _NEW)]
    joined = _init().add("Intercomm_create", _WORLD, 0, _WORLD, 0, 9, _NEW).add("Intercomm_merge", _NEW, 0, _NEW + 1)
    yield [joined.add("Comm_get_parent", _NULL).add("Barrier", _NEW + 1)]


def _of_each_function(together: int = 8) -> Iterator[Files]:
    """Traces of one rank that together call each function that has a record, with values that are read."""
    names = [name for name, layout in FUNCTIONS if layout != "-" and name not in ("Init", "Finalize")]
    draw = random.Random(1)
    with TemporaryDirectory() as made:
        folder = Path(made)
        calls = [(name, _values_read(name, draw, folder)) for name in names]
    for i in range(0, len(calls), together):
        rank = _init(_WALL | _THREAD | _CPU if i % 3 == 0 else _WALL)
        for name, values in calls[i : i + together]:
            rank.add(name, *values)
        yield _trace([rank.file()])


def _values_read(name: str, draw: random.Random, folder: Path) -> list[Any]:
    """Values for the fields of a call with which its record is read."""
    for _ in range(200):
        values = _values(name, draw)
        source = rank_file(folder, 0)
        source.write_bytes(_init().add(name, *values).file())
        try:
            import_dumpi(source, folder)
        except InputError:
            continue
        return values
    raise AssertionError(f"no values for MPI_{name} were found")


def _values(name: str, draw: random.Random) -> list[Any]:
    parts = FUNCTIONS[_NUMBERS[name]][1].split("|")
    values = [_value(letter, draw) for letter in parts[0]]
    for number, part in enumerate(parts[1:]):
        if number == 1 or values[ROOTED[name][0]] == values[ROOTED[name][1]]:
            values += [_value(letter, draw) for letter in part]
    return values


def _value(letter: str, draw: random.Random) -> Any:
    few = range(draw.randrange(3))
    if letter in "az":
        return [draw.choice((0, 0, 1, -1)) for _ in few] if letter == "a" else bytes(few)
    if letter in "de":
        return [draw.randrange(10) for _ in few]
    if letter in "rZY":
        return [_value({"r": "a", "Z": "z", "Y": "Z"}[letter], draw) for _ in few]
    if letter == "s":
        return [_STATUS]
    return {"t": draw.randrange(2, 11), "c": draw.choice((2, 2, 3)), "h": draw.randrange(1, 40)}.get(
        letter, draw.choice((0, 0, 1, 2) if letter == "b" else (0, 0, 1, -1))
    )
