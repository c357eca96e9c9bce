"""The message about a value that does not fit its type: the key, what is expected there, and what was found.

msgspec says where the value is; the types say what is expected (value_types.py).
"""

from __future__ import annotations

import re
import types
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from ..escaping import cut, found
from .value_types import Cost, Time, WrongValueError, from_file

Form = Literal["JSON", "TOML"]

_PATH = re.compile(r" - at `(?:key in )?\$([^`]*)`$")
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]|\[(\.\.\.)\]")
_SIMPLE = {str: "a text", int: "a whole number", float: "a number", bool: "true or false", type(None): "null"}


@dataclass(frozen=True)
class Location:
    """A value of a file, its expected type, and its key."""

    value: Any
    kind: Any
    key: str

    def at(self, name: str, value: object, kind: object) -> Location:
        """The value under a name, or under a number in brackets."""
        joined = f"{self.key}.{name}" if self.key and not name.startswith("[") else f"{self.key}{name}"
        return Location(value, kind, joined)


def explained(error: msgspec.ValidationError, location: Location, form: Form) -> str:
    """The message "KEY: expected X, found Y" for an error of msgspec in `location`."""
    path = _PATH.search(str(error))
    for step in _STEP.finditer(path[1]) if path else ():
        if unknown := _unknown_key(location):  # the name of an unknown key is data, and may look like a path
            return unknown
        if step[3]:
            return _of_an_entry(error, location, form)
        inner = _inside(location, step[1], None if step[2] is None else int(step[2]))
        if inner is None:
            break
        location = inner
    if wrong := _unknown_key(location) or _missing_key(location, form):
        return wrong
    if not _fits_as_struct(location):
        return _refused(location, form)
    own = str(error)[: path.start()] if path else str(error)
    return f"{location.key}.{own}" if location.key else own


def _of_an_entry(error: msgspec.ValidationError, location: Location, form: Form) -> str:
    """The message for an object whose keys are data: msgspec does not say which of them is wrong."""
    entry = next((get_args(k) for k in _alternatives(location.kind) if get_origin(k) is dict), None)
    for name, value in location.value.items() if entry else ():
        inner = location.at(cut(str(name)), value, entry[1])  # type: ignore[index]
        try:
            msgspec.convert(value, inner.kind, dec_hook=from_file)
        except msgspec.ValidationError as of_entry:
            return explained(of_entry, inner, form)
    return f"{location.key}: {cut(str(error))}"


def _unknown_key(location: Location) -> str:
    """The message about an unknown key in a table; "" if there is none."""
    struct = _struct_of(location)
    if struct is None or not isinstance(location.value, dict) or not struct.__struct_config__.forbid_unknown_fields:
        return ""
    known = set(struct.__struct_encode_fields__)
    unknown = next((key for key in location.value if key not in known | {struct.__struct_config__.tag_field}), None)
    if unknown is None:
        return ""
    return f"{location.at(cut(str(unknown)), None, None).key} is not known here; expected {', '.join(sorted(known))}"


def _missing_key(location: Location, form: Form) -> str:
    """The message about a missing key, or about the key that distinguishes kinds of tables; "" if all are there."""
    struct, tags = _struct_of(location), _tags(location)
    if not isinstance(location.value, dict) or (struct is None and tags is None):
        return ""
    if struct is None and tags is not None:
        key, kinds = tags
        value = found(location.value[key]) if key in location.value else "nothing"
        return f"{location.at(key, None, None).key}: expected one of {', '.join(kinds)}, found {value}"
    hints = get_type_hints(struct, include_extras=True)
    for field in msgspec.structs.fields(struct):
        if field.required and field.encode_name not in location.value:
            inner = location.at(field.encode_name, None, hints[field.name])
            return f"{inner.key}: expected {_words(inner.kind, form, inner.key)}, found nothing"
    return ""


def _refused(location: Location, form: Form) -> str:
    expected, value = _words(location.kind, form, location.key), found(location.value)
    custom = next((kind for kind in _alternatives(location.kind) if kind in (Time, Cost)), None)
    if custom is not None:
        try:
            from_file(custom, location.value)
        except WrongValueError as error:
            expected = str(error) or expected
        except ValueError as error:
            return f"{location.key}: {error}"
    message = f"expected {expected}, found {value}"
    return f"{location.key}: {message}" if location.key else message


def _inside(location: Location, name: str | None, number: int | None) -> Location | None:
    """The location below `location` under a key or a number; None if there is none."""
    if name is not None:
        struct = _struct_of(location)
        if struct is None or not isinstance(location.value, dict):
            return None
        names = dict(zip(struct.__struct_encode_fields__, struct.__struct_fields__, strict=True))
        if name not in names:
            return None
        return location.at(name, location.value.get(name), get_type_hints(struct, include_extras=True)[names[name]])
    if number is None or not isinstance(location.value, list) or number >= len(location.value):
        return None
    for kind in _alternatives(location.kind):
        if get_origin(kind) in (list, tuple):
            items = get_args(kind)
            item = items[0] if len(items) == 1 or items[-1] is ... else items[min(number, len(items) - 1)]
            return location.at(f"[{number}]", location.value[number], item)
    return None


def _alternatives(kind: Any) -> list[Any]:  # noqa: ANN401 - types come in many forms
    """The types of a union, without annotations."""
    if get_origin(kind) is Annotated:
        return _alternatives(get_args(kind)[0])
    if get_origin(kind) in (Union, types.UnionType):
        return [inner for part in get_args(kind) for inner in _alternatives(part)]
    return [kind]


def _structs(kind: object) -> list[Any]:
    return [k for k in _alternatives(kind) if isinstance(k, type) and issubclass(k, msgspec.Struct)]


def _struct_of(location: Location) -> Any:  # noqa: ANN401 - a Struct's class has what mypy does not know
    """The expected Struct of a value; of several the one that the tag of the value names."""
    found_structs = _structs(location.kind)
    if len(found_structs) < 2 and not (found_structs and found_structs[0].__struct_config__.tag_field):
        return found_structs[0] if found_structs else None
    for struct in found_structs:
        config = struct.__struct_config__
        if isinstance(location.value, dict) and location.value.get(config.tag_field) == config.tag:
            return struct
    return None


def _tags(location: Location) -> tuple[str, list[str]] | None:
    """The key that distinguishes the Structs of a union, and its possible values."""
    configs = [struct.__struct_config__ for struct in _structs(location.kind)]
    return (str(configs[0].tag_field), [str(c.tag) for c in configs]) if configs and configs[0].tag_field else None


def _fits_as_struct(location: Location) -> bool:
    """Whether the value has the form of its Struct, so that the error is from `__post_init__`."""
    return isinstance(location.value, dict) and _struct_of(location) is not None


def _words(kind: Any, form: Form, key: str) -> str:  # noqa: ANN401 - types come in many forms
    """The text for what is expected of a value of this type."""
    if get_origin(kind) is Annotated:
        said = [meta.description for meta in get_args(kind)[1:] if isinstance(meta, msgspec.Meta) and meta.description]
        return said[0] if said else _words(get_args(kind)[0], form, key)
    if get_origin(kind) in (Union, types.UnionType):
        parts = [_words(part, form, key) for part in get_args(kind) if part is not type(None)]
        return " or ".join(dict.fromkeys(parts))
    if get_origin(kind) is Literal:
        choices = [str(choice) for choice in get_args(kind)]
        return " or ".join(choices) if len(choices) < 3 else f"one of {', '.join(choices)}"
    if kind in (Time, Cost):
        return str(kind.words)
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if get_origin(kind) in (list, tuple):
        items = get_args(kind)
        if form == "TOML" and _structs(items[0]):
            return f"tables [[{key}]]"
        return f"a list of {len(items)}" if get_origin(kind) is tuple and items[-1] is not ... else "a list"
    return "a JSON object" if form == "JSON" else f"a table [{key}]" if key else "a table"
