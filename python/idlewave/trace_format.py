"""The numbers of docs/trace-format.md that Python reads and writes."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from enum import IntEnum

MAGIC = b"IDLEWTR1"
FIXED = struct.Struct("<IHHqq")
"""The fixed part of a record: its number of words, call, info, begin and end."""
HEADER_BYTES = 256
WORLD, SELF = 1, 2
"""The ids of MPI_COMM_WORLD and MPI_COMM_SELF."""
ANY = -1
"""Stands for any source or tag."""
PROC_NULL = -2
"""Stands for a rank: MPI_PROC_NULL."""
IS_ROOT = -4
"""Stands for the root of a collective on an intercommunicator: MPI_ROOT."""
NOT_KNOWN = -3
"""Stands for a rank or a tag; −1 does for a number of bytes."""


class Call(IntEnum):
    """The numbers of calls."""

    INIT = 1
    FINALIZE = 2
    POLLS = 4
    COMM_DEF = 5
    COMM_FREE = 6
    CART = 7
    REQUEST_FREE = 8
    CANCEL = 9
    START = 10
    UNMODELLED = 11
    TRACER = 12
    NEIGHBORS = 13
    WINDOW = 14
    WINDOW_FREE = 15
    SEND = 16
    BSEND = 17
    SSEND = 18
    RSEND = 19
    ISEND = 20
    IBSEND = 21
    ISSEND = 22
    IRSEND = 23
    SEND_INIT = 24
    PSEND_INIT = 25
    PREADY = 26
    PARRIVED = 27
    ONE_SIDED = 28
    FILE_OPEN = 29
    FILE_CLOSE = 30
    FILE = 31
    RECV = 32
    IRECV = 33
    RECV_INIT = 34
    SENDRECV = 35
    PROBE = 36
    MPROBE = 37
    MRECV = 38
    IMRECV = 39
    ISENDRECV = 40
    PRECV_INIT = 41
    THREAD = 42
    WAIT = 48
    WAITALL = 49
    WAITANY = 50
    WAITSOME = 51
    TEST = 52
    TESTALL = 53
    TESTANY = 54
    TESTSOME = 55
    WIN_FENCE = 56
    PASSIVE_TARGET = 61
    CORE_WAIT = 62
    PCONTROL = 63


class Collective(IntEnum):
    """The numbers of collectives: of a blocking call 64 more, of a nonblocking one 128, of a persistent one 192."""

    BARRIER = 0
    BCAST = 1
    REDUCE = 2
    ALLREDUCE = 3
    GATHER = 4
    GATHERV = 5
    SCATTER = 6
    SCATTERV = 7
    ALLGATHER = 8
    ALLGATHERV = 9
    ALLTOALL = 10
    ALLTOALLV = 11
    ALLTOALLW = 12
    REDUCE_SCATTER = 13
    REDUCE_SCATTER_BLOCK = 14
    SCAN = 15
    EXSCAN = 16
    NEIGHBOR = 17


BLOCKING, NONBLOCKING, PERSISTENT = 64, 128, 192
COUNTS_RECEIVED, COUNTS_SENT = 1, 2
"""Info bits of a collective whose record lists such counts."""
MEMBERS = 1
"""The info bit of a CommDef that lists the members."""
TWO_GROUPS = 2
"""That of a CommDef of an intercommunicator."""


LATEST = 2**60
"""The last time that a trace may have, ns."""

SENDS = {
    "Send": Call.SEND,
    "Bsend": Call.BSEND,
    "Ssend": Call.SSEND,
    "Rsend": Call.RSEND,
    "Isend": Call.ISEND,
    "Ibsend": Call.IBSEND,
    "Issend": Call.ISSEND,
    "Irsend": Call.IRSEND,
}
"""The calls that send a message, by their name without MPI_."""


def pair(low: int, high: int) -> int:
    """Two 32-bit numbers in one word."""
    return (low & 0xFFFFFFFF) | (high & 0xFFFFFFFF) << 32


def pairs(numbers: Sequence[int]) -> list[int]:
    """Numbers two to a word; the last half is 0 if their number is odd."""
    even = [*numbers, 0] if len(numbers) % 2 else numbers
    return [pair(*even[i : i + 2]) for i in range(0, len(even), 2)]


def halves(word: int) -> tuple[int, int]:
    """The two 32-bit numbers of a word."""
    low, high = word & 0xFFFFFFFF, word >> 32 & 0xFFFFFFFF
    return low - (low >> 31 << 32), high - (high >> 31 << 32)


def signed(word: int) -> int:
    """A word as the number that it stands for."""
    return word - (word >> 63 << 64)
