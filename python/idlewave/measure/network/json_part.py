"""A part of a JSON file that knows its place, so that what is missing or of another form is named."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ...errors import InputError

T = TypeVar("T")


@dataclass(frozen=True)
class JsonPart:
    """`value` is what `file` has under `key` ("" for the whole). Each method raises InputError naming both."""

    file: Path
    value: Any
    key: str = ""

    def refused(self, expected: str) -> InputError:
        """The error that says what was expected here."""
        shown = repr(self.value)
        shown = shown if len(shown) <= 40 else f"{shown[:40]}…"
        place = f"{self.file}: {self.key}" if self.key else str(self.file)
        return InputError(f"{place}: expected {expected}, found {shown}")

    def at(self, name: str) -> JsonPart:
        """What an object has under a name, which must be there."""
        if name not in self.object():
            raise InputError(f"{self.file}: {self.key or 'the object'}: '{name}' is missing")
        return self.maybe(name)

    def maybe(self, name: str) -> JsonPart:
        """What an object has under a name; None if it has nothing."""
        return JsonPart(self.file, self.object().get(name), f"{self.key}.{name}" if self.key else name)

    def object(self) -> dict[str, Any]:
        """An object, as it is."""
        if not isinstance(self.value, dict):
            raise self.refused("a JSON object")
        return self.value

    def parts(self) -> list[JsonPart]:
        """The elements of a list."""
        if not isinstance(self.value, list):
            raise self.refused("a list")
        return [JsonPart(self.file, value, f"{self.key}[{i}]") for i, value in enumerate(self.value)]

    def pair(self) -> tuple[float, float]:
        """Two numbers, the first not above the second."""
        numbers = [part.number() for part in self.parts()]
        if len(numbers) != 2 or numbers[0] > numbers[1]:
            raise self.refused("two numbers in order")
        return numbers[0], numbers[1]

    def number(self) -> float:
        """A finite number, as it is."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float) or not math.isfinite(self.value):
            raise self.refused("a number")
        return self.value

    def whole(self) -> int:
        """A whole number from 0 on."""
        if isinstance(self.value, bool) or not isinstance(self.value, int) or self.value < 0:
            raise self.refused("a whole number from 0 on")
        return self.value

    def text(self) -> str:
        """A string."""
        if not isinstance(self.value, str):
            raise self.refused("a string")
        return self.value

    def texts(self) -> tuple[str, ...]:
        """A list of strings."""
        return tuple(part.text() for part in self.parts())

    def truth(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            raise self.refused("true or false")
        return self.value

    def optional(self, read: Callable[[JsonPart], T]) -> T | None:
        """What `read` makes of this; None where there is nothing, or null."""
        return None if self.value is None else read(self)


def read_object(file: Path) -> JsonPart | None:
    """The object in a file; None if there is no such file. Raises InputError naming the file."""
    try:
        said = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: expected JSON: {error}") from error
    part = JsonPart(file, said)
    part.object()
    return part
