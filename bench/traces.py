"""Traces as `idlewave trace` records them (docs/trace-format.md), of a program that is not run."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from pathlib import Path

FINALIZE, SEND, RECV = 2, 16, 32
WORLD = 1
"""The id of MPI_COMM_WORLD."""
BLOCKS = 20
FACE = 3_200
"""Bytes."""
LEAST_WORK, MOST_WORK = 1_000, 9_000
"""ns of a block's computation."""
CALL = 200
"""ns inside a call."""
CORNERS = ((1, 1), (-1, 1), (-1, -1), (1, -1))


def write_sweep(folder: Path, rows: int, columns: int, iterations: int, seed: int) -> int:
    """Write the trace of a wavefront: in each iteration sweeps from the four corners, in blocks. Every block's
    computation takes another time. Returns the number of calls."""
    folder.mkdir()
    dice = random.Random(seed)
    calls = 0
    for rank in range(rows * columns):
        clock, records = 0, []
        for upstream, downstream in _blocks(rank, rows, columns, iterations):
            for call, peers in ((RECV, upstream), (SEND, downstream)):
                for peer in peers:
                    records.append(_message(call, peer, clock))
                    clock += CALL
                    calls += 1
                if call == RECV:
                    clock += dice.randint(LEAST_WORK, MOST_WORK)
        records.append(struct.pack("<IHHqq", 0, FINALIZE, 0, clock, clock))
        (folder / f"rank-{rank:07}.iwtrace").write_bytes(_header(rank, rows * columns, clock) + b"".join(records))
    return calls


def _blocks(rank: int, rows: int, columns: int, iterations: int) -> Iterator[tuple[list[int], list[int]]]:
    """Of every block of all sweeps: the ranks upstream and those downstream."""
    row, column = divmod(rank, columns)

    def at(i: int, j: int) -> list[int]:
        return [i * columns + j] if 0 <= i < rows and 0 <= j < columns else []

    for _ in range(iterations):
        for down, right in CORNERS:
            upstream = at(row - down, column) + at(row, column - right)
            downstream = at(row + down, column) + at(row, column + right)
            for _ in range(BLOCKS):
                yield upstream, downstream


def _pair(first: int, second: int) -> bytes:
    return struct.pack("<ii", first, second)


def _message(call: int, peer: int, clock: int) -> bytes:
    words = struct.pack("<Q", WORLD) + _pair(peer, 0) + struct.pack("<q", FACE)
    if call == RECV:
        words += _pair(peer, 0) + struct.pack("<q", FACE)
    return struct.pack("<IHHqq", len(words) // 8, call, 0, clock, clock + CALL) + words


def _header(rank: int, ranks: int, end: int) -> bytes:
    """Of a rank that has finalized; all read one clock."""
    fields = struct.pack("<8sIIIIQqqIIqqqqqqQQQQq", b"IDLEWTR1", 1, 256, rank, ranks, 1, 0, end, 1, 0, *[0] * 11)
    return fields.ljust(144, b"\0") + b"bench".ljust(64, b"\0") + b"none".ljust(48, b"\0")
