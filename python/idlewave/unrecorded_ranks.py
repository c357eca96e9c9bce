"""The failure file of a trace: a rank that cannot write its own file writes the reason there.

The file is made before the job starts, because a full disk has no room for a new one. The tracer writes an errno and
its rank, two int32 (tracer/record.c). If several ranks fail, the reason of the last one stays.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from pathlib import Path

FILE = "failure"
_WORD = struct.Struct("<ii")


@dataclass(frozen=True)
class RankFailure:
    """A rank that could not make or extend its file, and the reason."""

    rank: int
    reason: str

    def sentence(self, recorded: bool, lost: int) -> str:
        """A sentence on the failure. `recorded`: some ranks have records; `lost`: how many records were lost."""
        if not recorded:
            return f"{self.reason}: rank {self.rank} could not make its file; the program went on untraced"
        if not lost:
            return f"{self.reason}: rank {self.rank} could not make its file; what other ranks recorded is kept"
        return (
            f"{self.reason}: rank {self.rank} could not extend its file; what was recorded before is kept there, "
            f"{lost} records were lost"
        )


def make_failure_file(directory: Path) -> None:
    """Make the failure file. Raises OSError."""
    (directory / FILE).write_bytes(bytes(_WORD.size))


def is_failure_file(file: Path) -> bool:
    """Whether `file` is a failure file, empty or with a reason. Raises OSError."""
    return file.name == FILE and file.is_file() and file.stat().st_size <= _WORD.size


def remove_failure_file(directory: Path) -> None:
    """Remove the failure file, if it is there. Raises OSError."""
    (directory / FILE).unlink(missing_ok=True)


def take_failure(directory: Path) -> RankFailure | None:
    """Read and remove the failure file; returns None if no rank has written to it."""
    try:
        said = (directory / FILE).read_bytes()
        (directory / FILE).unlink()
        number, rank = _WORD.unpack(said)
    except (OSError, struct.error):
        return None
    return RankFailure(rank, os.strerror(number)) if number else None
