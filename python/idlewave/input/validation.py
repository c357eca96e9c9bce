"""Checks decoded values against types; a value that does not fit is reported as FILE: KEY: expected X, found Y.

The `__post_init__` of a Struct may raise ValueError("KEY: expected X, found Y") for conditions that types cannot
express; KEY is a key of its own table.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from ..errors import InputError
from ..escaping import name_of
from .bounds import MOST_TEXT
from .decoding import decode_json, decode_toml
from .files import decoded, read_bytes
from .value_types import from_file

if TYPE_CHECKING:
    from .validation_errors import Form

T = TypeVar("T")


def checked(value: object, kind: type[T], name: str, *, form: Form = "JSON", key: str = "") -> T:
    """`value` as a `kind`. Messages call its file `name`; `key` is the place of the value there. Raises InputError."""
    try:
        return msgspec.convert(value, kind, dec_hook=from_file)
    except msgspec.ValidationError as error:
        from .validation_errors import Location, explained

        raise InputError(f"{name}: {explained(error, Location(value, kind, key), form)}") from None


def load_json(path: str | Path, what: str, *, most: int = MOST_TEXT) -> Any:  # noqa: ANN401 - a decoded file is anything
    """The decoded content of a JSON file. `what` describes the expected file in errors. Raises InputError."""
    name = name_of(path)
    return decode_json(decoded(read_bytes(path, what, most=most), name), name)


def read_json(path: str | Path, kind: type[T], what: str) -> T:
    """The content of a JSON file as a `kind`. Raises InputError."""
    return checked(load_json(path, what), kind, name_of(path))


def read_toml(text: str, kind: type[T], name: str) -> T:
    """The text of a TOML file as a `kind`. Messages call the file `name`. Raises InputError."""
    return checked(decode_toml(text, name), kind, name, form="TOML")
