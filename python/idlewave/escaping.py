"""Escapes text from files and programs for messages, tables and pictures: no control characters, limited length."""

from __future__ import annotations

import unicodedata
from itertools import islice
from pathlib import Path
from typing import Any

MOST_QUOTED = 200
"""How many characters of a value a message shows."""
MOST_NAME = 1000
"""How many characters of a file name a message shows: the last ones."""

_UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Categories of Unicode: control characters, such as those of terminals; format characters, such as those that change
the direction of writing; surrogates, which stand for bytes of file names that are not UTF-8; separators of lines and
paragraphs."""
_MOST_DEPTH = 3
_MOST_ITEMS = 8


def printable(text: str, keep: str = "\n\t") -> str:
    """`text` with invisible characters escaped, except those in `keep`: an escape character becomes \\x1b."""
    if text.isprintable():
        return text
    return "".join(c if c in keep or not _is_unseen(c) else _written_out(c) for c in text)


def cut(text: str, most: int = MOST_QUOTED) -> str:
    """The first `most` characters of `text`, printable, in one line, with … if it is longer."""
    return printable(text[:most], keep="") + ("…" if len(text) > most else "")


def quote(text: object) -> str:
    """`text` in a message: cut, printable, in quotes."""
    return f"'{cut(str(text))}'"


def name_of(path: str | Path) -> str:
    """The name of a file in a message; the end of a very long one."""
    name = str(path)
    return ("…" if len(name) > MOST_NAME else "") + printable(name[-MOST_NAME:], keep="")


def found(value: object) -> str:
    """A value of a file in a message, after "found"."""
    return cut(_shown(value, 0)) if not isinstance(value, str) else quote(value)


def toml_text(text: str) -> str:
    """`text` as a string of TOML."""
    return '"' + "".join(c if c.isprintable() and c not in '"\\' else f"\\U{ord(c):08x}" for c in text) + '"'


def _is_unseen(character: str) -> bool:
    return unicodedata.category(character) in _UNSEEN or _is_none(ord(character))


def _is_none(code: int) -> bool:
    """Whether it is a noncharacter of Unicode (such as U+FFFE and U+FFFF), which XML does not allow."""
    return code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF


def _written_out(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a file name that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _shown(value: object, depth: int) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, int) and abs(value) >= 10**30:
        return f"a number of some {round(value.bit_length() * 0.30103)} digits"
    if isinstance(value, list | tuple | dict):
        return _of_many(value, depth)
    return str(value)


def _of_many(value: list[Any] | tuple[Any, ...] | dict[Any, Any], depth: int) -> str:
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    if depth == _MOST_DEPTH and value:
        return f"{opening}…{closing}"
    if isinstance(value, dict):
        words = [f"{quote(str(k))}: {_shown(v, depth + 1)}" for k, v in islice(value.items(), _MOST_ITEMS)]
    else:
        words = [_shown(item, depth + 1) for item in islice(value, _MOST_ITEMS)]
    return opening + ", ".join([*words, *(["…"] if len(value) > _MOST_ITEMS else [])]) + closing
