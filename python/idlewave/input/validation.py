"""What a file holds, against a type: what is wrong with it is said as FILE: KEY: expected X, found Y.

A Struct's `__post_init__` may raise ValueError("KEY: expected X, found Y") for what types cannot say; KEY is that of
its own table.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ..errors import InputError
from ..escaping import name_of
from .bounds import MOST_TEXT
from .decoding import decode_json, decode_toml
from .files import decoded, read_bytes
from .validation_errors import Form, Place, explained
from .value_types import from_file

T = TypeVar("T")


def checked(value: object, kind: type[T], name: str, *, form: Form = "JSON", key: str = "") -> T:
    """`value` as a `kind`. `name` is what messages call its file, `key` where in it the value is. Raises InputError."""
    try:
        return msgspec.convert(value, kind, dec_hook=from_file)
    except msgspec.ValidationError as error:
        raise InputError(f"{name}: {explained(error, Place(value, kind, key), form)}") from None


def load_json(path: str | Path, what: str, *, most: int = MOST_TEXT) -> Any:  # noqa: ANN401 - a decoded file is anything
    """What a file of JSON holds. `what` it is to be, for errors. Raises InputError."""
    name = name_of(path)
    return decode_json(decoded(read_bytes(path, what, most=most), name), name)


def read_json(path: str | Path, kind: type[T], what: str) -> T:
    """A file of JSON as a `kind`. Raises InputError."""
    return checked(load_json(path, what), kind, name_of(path))


def read_toml(text: str, kind: type[T], name: str) -> T:
    """The text of a TOML file, which messages call `name`, as a `kind`. Raises InputError."""
    return checked(decode_toml(text, name), kind, name, form="TOML")
