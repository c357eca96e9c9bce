"""The file of one rank of a trace, written record by record (docs/trace-format.md)."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

from ..trace_format import FIXED, HEADER_BYTES, MAGIC

NO_CALL = 0
"""The number of no call: a record with it is not written."""


@dataclass(eq=False)
class PendingRecord:
    """A record that is not written yet. `words` are None while they are still to come, as of a receive that is not
    complete. Two are never the same, though all of them may be equal."""

    call: int
    begin: int
    end: int
    words: list[int] | None
    info: int = 0

    def leave_out(self) -> None:
        """Write nothing for it."""
        self.call, self.words = NO_CALL, []


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
        self._file.write(
            FIXED.pack(len(words), call, info, begin, self._last) + struct.pack(f"<{len(words)}Q", *masked)
        )

    def close(self) -> None:
        """Write the header. The rank counts as finalized if `finalize_begin` was set."""
        rank, ranks = self._fixed
        header = bytearray(HEADER_BYTES)
        state = 1 if self.finalize_begin else 0
        struct.pack_into("<8s4IQ2qI", header, 0, MAGIC, 1, HEADER_BYTES, rank, ranks, 0, self.init_end,
                         self.finalize_begin, state)  # fmt: skip
        struct.pack_into("<64s48s", header, 144, *self._texts)
        self._file.seek(0)
        self._file.write(header)
