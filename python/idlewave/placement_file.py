"""Placement files: the number of the thread of every LP, separated by blanks or ends of lines."""

from __future__ import annotations

import re
from pathlib import Path

from .errors import InputError
from .escaping import name_of, quote
from .input.files import read_text

MOST_PARTITIONS = 2**32 - 1
_WORD = re.compile(r"\S+")


def read_placement(path: str | Path) -> list[int]:
    """Read the thread of each LP from a file or a pipe. Raises InputError with line and word."""
    text = read_text(path, "a placement", pipe=True)
    placed = []
    for word in _WORD.finditer(text):
        number = int(word[0]) if word[0].isascii() and word[0].isdecimal() and len(word[0]) <= 10 else -1
        if not 0 <= number <= MOST_PARTITIONS:
            line = text.count("\n", 0, word.start()) + 1
            raise InputError(
                f"{name_of(path)}:{line}: expected whole numbers from 0 to {MOST_PARTITIONS}, found {quote(word[0])}"
            )
        placed.append(number)
    return placed
