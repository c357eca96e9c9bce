"""How much of anything is read."""

from __future__ import annotations

MOST_TEXT = 64 << 20
"""Bytes of a JSON or TOML file, and of a list of numbers."""
MOST_TABLE = 4 << 30
"""Bytes of a table: Parquet, CSV, or columns of 64 bits."""
MOST_LINE = 1 << 20
"""Bytes of a line of a file that is read by lines."""
MOST_DEPTH = 64
"""Levels of tables and lists within each other, and parts of a key with dots."""
MOST_DIGITS = 1000
"""Digits of a number as it is written."""


def size_words(size: int) -> str:
    """`size`, a power of two or a few of them, with its unit."""
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= scale:
            return f"{size // scale} {unit}"
    return f"{size} B"
