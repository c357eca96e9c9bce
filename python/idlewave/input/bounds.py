"""Limits of what is read."""

from __future__ import annotations

MOST_TEXT = 64 << 20
"""Most bytes of a JSON or TOML file, and of a list of numbers."""
MOST_TABLE = 4 << 30
"""Most bytes of a table: Parquet, CSV, or columns of 64 bits."""
MOST_LINE = 1 << 20
"""Most bytes of a line, in a file that is read by lines."""
MOST_DEPTH = 64
"""Most levels of nested tables and lists, and most parts of a dotted key."""
MOST_DIGITS = 1000
"""Most digits of a number."""


def size_words(size: int) -> str:
    """A number of bytes that is a multiple of a binary unit, with that unit."""
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= scale:
            return f"{size // scale} {unit}"
    return f"{size} B"
