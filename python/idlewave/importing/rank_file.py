"""The file of one rank of a trace, written record by record (docs/trace-format.md)."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from enum import IntEnum
from typing import BinaryIO

HEADER_BYTES = 256
WORLD, SELF = 1, 2
"""The ids of MPI_COMM_WORLD and MPI_COMM_SELF."""
NOT_KNOWN = -3
"""Stands for a rank or a tag; −1 does for a number of bytes."""


class Call(IntEnum):
    """The numbers of calls that imported traces have."""

    INIT = 1
    FINALIZE = 2
    POLLS = 4
    COMM_DEF = 5
    CANCEL = 9
    SEND = 16
    BSEND = 17
    SSEND = 18
    RSEND = 19
    ISEND = 20
    IBSEND = 21
    ISSEND = 22
    IRSEND = 23
    RECV = 32
    IRECV = 33
    SENDRECV = 35
    WAIT = 48
    WAITALL = 49


class Collective(IntEnum):
    """The numbers of collectives: of a blocking call 64 more, of a nonblocking one 128 more."""

    BARRIER = 0
    BCAST = 1
    REDUCE = 2
    ALLREDUCE = 3
    GATHER = 4
    SCATTER = 6
    ALLGATHER = 8
    ALLTOALL = 10
    REDUCE_SCATTER_BLOCK = 14
    SCAN = 15
    EXSCAN = 16


BLOCKING, NONBLOCKING = 64, 128
MEMBERS = 1
"""The info bit of a CommDef that lists the members."""


def pair(low: int, high: int) -> int:
    """Two 32-bit numbers in one word."""
    return (low & 0xFFFFFFFF) | (high & 0xFFFFFFFF) << 32


class RankFile:
    """Writes the records of one rank; times are in ns and may not decrease, which small steps back are corrected to."""

    def __init__(self, file: BinaryIO, rank: int, ranks: int, host: str, library: str) -> None:
        self._file = file
        self._last = 0
        self.init_end = 0
        self.finalize_begin = 0
        self._fixed = (rank, ranks)
        self._texts = (host.encode()[:63], library.encode()[:47])
        file.write(bytes(HEADER_BYTES))

    def write(self, call: int, begin: int, end: int, words: Sequence[int] = (), info: int = 0) -> None:
        """Write one record. A word may be negative."""
        begin = max(begin, self._last)
        self._last = max(begin, end)
        masked = [word & 0xFFFFFFFFFFFFFFFF for word in words]
        self._file.write(struct.pack(f"<IHHqq{len(words)}Q", len(words), call, info, begin, self._last, *masked))

    def close(self) -> None:
        """Write the header. The rank counts as finalized if `finalize_begin` was set."""
        rank, ranks = self._fixed
        header = bytearray(HEADER_BYTES)
        state = 1 if self.finalize_begin else 0
        struct.pack_into("<8s4IQ2qI", header, 0, b"IDLEWTR1", 1, HEADER_BYTES, rank, ranks, 0, self.init_end,
                         self.finalize_begin, state)  # fmt: skip
        struct.pack_into("<64s48s", header, 144, *self._texts)
        self._file.seek(0)
        self._file.write(header)
