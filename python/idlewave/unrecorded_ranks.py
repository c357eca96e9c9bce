"""Ranks that cannot write their files leave word of it in a file made before: a full disk has no room for another.

The tracer writes an errno and its rank, two int32 (tracer/record.c); of several ranks the last one's word stays.
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
    """A rank that could not write its file, or no more of it, and why."""

    rank: int
    reason: str

    def sentence(self, recorded: bool, lost: int) -> str:
        """What is the matter; `recorded`: there are ranks with records, of which `lost` were lost."""
        if not recorded:
            return f"{self.reason}: rank {self.rank} could not make its file; the program went on untraced"
        if not lost:
            return f"{self.reason}: rank {self.rank} could not make its file; what other ranks recorded is kept"
        return (
            f"{self.reason}: rank {self.rank} could not extend its file; what was recorded before is kept there, "
            f"{lost} records were lost"
        )


def make_failure_file(directory: Path) -> None:
    """Make the file for the word. Raises OSError."""
    (directory / FILE).write_bytes(bytes(_WORD.size))


def is_failure_file(file: Path) -> bool:
    """Whether it is that file, with or without a word in it. Raises OSError."""
    return file.name == FILE and file.is_file() and file.stat().st_size <= _WORD.size


def remove_failure_file(directory: Path) -> None:
    """Remove it, if it is there. Raises OSError."""
    (directory / FILE).unlink(missing_ok=True)


def take_failure(directory: Path) -> RankFailure | None:
    """What a rank left word of, if one did; the file is gone afterwards."""
    try:
        said = (directory / FILE).read_bytes()
        (directory / FILE).unlink()
        number, rank = _WORD.unpack(said)
    except (OSError, struct.error):
        return None
    return RankFailure(rank, os.strerror(number)) if number else None
