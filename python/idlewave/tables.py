"""Checked access to a TOML file's tables: what is wrong is said with the file, the key and what was expected."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from .errors import InputError
from .units import parse_cost, parse_time


def quoted(text: str) -> str:
    """`text` as a string of TOML."""
    return '"' + "".join(c if c.isprintable() and c not in '"\\' else f"\\U{ord(c):08x}" for c in text) + '"'


class Tables:
    """What readers of a file's tables share. `name` is what messages call the file; `where` is a table's or key's name.

    Files that a table names are relative to `folder`. All raise InputError.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder

    def time_of(self, table: dict[str, Any], key: str, where: str) -> int:
        """A time, ps."""
        return int(self.quantity(table.get(key), f"{where}.{key}", cost=False))

    def quantity(self, value: object, where: str, *, cost: bool) -> Any:  # noqa: ANN401 - int or float by `cost`
        """A time in whole ps, or if `cost` one per byte, which may be a part of one."""
        if not isinstance(value, str):
            self.fail(where, "a time with a unit, such as '1.3us'", value)
        try:
            result = parse_cost(value) if cost else parse_time(value)
        except ValueError as error:
            raise InputError(f"{self.name}: {where}: {error}") from None
        if not 0 <= result < 2**62:
            self.fail(where, "a time that is not negative and below 50 days", value)
        return result

    def integer(self, table: dict[str, Any], key: str, where: str, *, least: int, other: str = "") -> int:
        """A whole number from `least` on; `other` is what else a message says may stand there."""
        value = table.get(key)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value < 2**63:
            self.fail(f"{where}.{key}", f"a whole number from {least} on {other}".rstrip(), value)
        return int(value)

    def table(self, table: dict[str, Any], key: str, where: str, *, required: bool) -> dict[str, Any]:
        """The table of that key, empty if it is not there and not required."""
        value = table.get(key)
        if not isinstance(value, dict) and (required or value is not None):
            self.fail(where, f"a table [{where}]", value)
        return value if isinstance(value, dict) else {}

    def only(self, table: Mapping[str, Any], where: str, allowed: set[str]) -> None:
        """Refuse other keys."""
        for key in table:
            if key not in allowed:
                name = f"{where}.{key}" if where else key
                raise InputError(f"{self.name}: {name} is not known here; expected {', '.join(sorted(allowed))}")

    def fail(self, where: str, expected: str, found: object) -> NoReturn:
        """Raise InputError; `found` None is said as nothing."""
        shown = "nothing" if found is None else repr(found)
        raise InputError(f"{self.name}: {where}: expected {expected}, found {shown}")

    def positive(self, table: dict[str, Any], key: str, where: str) -> float:
        """A finite number above 0."""
        value = table.get(key)
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < math.inf:
            self.fail(f"{where}.{key}", "a number above 0", value)
        return float(value)
