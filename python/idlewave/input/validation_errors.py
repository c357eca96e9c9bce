"""The words for what does not fit a type: which key, what is expected there, and what was found.

msgspec tells the place; the words come from the types (value_types.py).
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
class Place:
    """A value of a file, the type that it is to have, and its key."""

    value: Any
    kind: Any
    key: str

    def at(self, name: str, value: object, kind: object) -> Place:
        """What it has under a name, or a number in brackets."""
        joined = f"{self.key}.{name}" if self.key and not name.startswith("[") else f"{self.key}{name}"
        return Place(value, kind, joined)


def explained(error: msgspec.ValidationError, place: Place, form: Form) -> str:
    """KEY: expected X, found Y, for what msgspec refused of `place`."""
    path = _PATH.search(str(error))
    for step in _STEP.finditer(path[1]) if path else ():
        if unknown := _unknown_key(place):  # it is data, and may look like a place
            return unknown
        if step[3]:
            return _of_an_entry(error, place, form)
        inner = _inside(place, step[1], None if step[2] is None else int(step[2]))
        if inner is None:
            break
        place = inner
    if wrong := _unknown_key(place) or _missing_key(place, form):
        return wrong
    if not _fits_as_struct(place):
        return _refused(place, form)
    own = str(error)[: path.start()] if path else str(error)
    return f"{place.key}.{own}" if place.key else own


def _of_an_entry(error: msgspec.ValidationError, place: Place, form: Form) -> str:
    """Of an object with keys that are data msgspec does not say which is wrong."""
    entry = next((get_args(k) for k in _alternatives(place.kind) if get_origin(k) is dict), None)
    for name, value in place.value.items() if entry else ():
        inner = place.at(cut(str(name)), value, entry[1])  # type: ignore[index]
        try:
            msgspec.convert(value, inner.kind, dec_hook=from_file)
        except msgspec.ValidationError as of_entry:
            return explained(of_entry, inner, form)
    return f"{place.key}: {cut(str(error))}"


def _unknown_key(place: Place) -> str:
    """What is said of a key of a table that is not known there; else nothing."""
    struct = _struct_of(place)
    if struct is None or not isinstance(place.value, dict) or not struct.__struct_config__.forbid_unknown_fields:
        return ""
    known = set(struct.__struct_encode_fields__)
    unknown = next((key for key in place.value if key not in known | {struct.__struct_config__.tag_field}), None)
    if unknown is None:
        return ""
    return f"{place.at(cut(str(unknown)), None, None).key} is not known here; expected {', '.join(sorted(known))}"


def _missing_key(place: Place, form: Form) -> str:
    """What is said of a key of a table that is missing, or of that which tells tables apart; else nothing."""
    struct, tags = _struct_of(place), _tags(place)
    if not isinstance(place.value, dict) or (struct is None and tags is None):
        return ""
    if struct is None and tags is not None:
        key, kinds = tags
        said = found(place.value[key]) if key in place.value else "nothing"
        return f"{place.at(key, None, None).key}: expected one of {', '.join(kinds)}, found {said}"
    hints = get_type_hints(struct, include_extras=True)
    for field in msgspec.structs.fields(struct):
        if field.required and field.encode_name not in place.value:
            inner = place.at(field.encode_name, None, hints[field.name])
            return f"{inner.key}: expected {_words(inner.kind, form, inner.key)}, found nothing"
    return ""


def _refused(place: Place, form: Form) -> str:
    expected, said = _words(place.kind, form, place.key), found(place.value)
    custom = next((kind for kind in _alternatives(place.kind) if kind in (Time, Cost)), None)
    if custom is not None:
        try:
            from_file(custom, place.value)
        except WrongValueError as error:
            expected = str(error) or expected
        except ValueError as error:
            return f"{place.key}: {error}"
    return f"{place.key}: expected {expected}, found {said}" if place.key else f"expected {expected}, found {said}"


def _inside(place: Place, name: str | None, number: int | None) -> Place | None:
    """The value, and its type, that `place` has under a key or a number."""
    if name is not None:
        struct = _struct_of(place)
        if struct is None or not isinstance(place.value, dict):
            return None
        names = dict(zip(struct.__struct_encode_fields__, struct.__struct_fields__, strict=True))
        if name not in names:
            return None
        return place.at(name, place.value.get(name), get_type_hints(struct, include_extras=True)[names[name]])
    if number is None or not isinstance(place.value, list) or number >= len(place.value):
        return None
    for kind in _alternatives(place.kind):
        if get_origin(kind) in (list, tuple):
            items = get_args(kind)
            item = items[0] if len(items) == 1 or items[-1] is ... else items[min(number, len(items) - 1)]
            return place.at(f"[{number}]", place.value[number], item)
    return None


def _alternatives(kind: Any) -> list[Any]:  # noqa: ANN401 - types come in many forms
    """The types of a union, without what is remarked on them."""
    if get_origin(kind) is Annotated:
        return _alternatives(get_args(kind)[0])
    if get_origin(kind) in (Union, types.UnionType):
        return [inner for part in get_args(kind) for inner in _alternatives(part)]
    return [kind]


def _structs(kind: object) -> list[Any]:
    return [k for k in _alternatives(kind) if isinstance(k, type) and issubclass(k, msgspec.Struct)]


def _struct_of(place: Place) -> Any:  # noqa: ANN401 - a Struct's class has what mypy does not know
    """The Struct that a value is to be: of several the one that its tag names."""
    found_structs = _structs(place.kind)
    if len(found_structs) < 2 and not (found_structs and found_structs[0].__struct_config__.tag_field):
        return found_structs[0] if found_structs else None
    for struct in found_structs:
        config = struct.__struct_config__
        if isinstance(place.value, dict) and place.value.get(config.tag_field) == config.tag:
            return struct
    return None


def _tags(place: Place) -> tuple[str, list[str]] | None:
    """The key that tells the Structs of a union apart, and what it may say."""
    configs = [struct.__struct_config__ for struct in _structs(place.kind)]
    return (str(configs[0].tag_field), [str(c.tag) for c in configs]) if configs and configs[0].tag_field else None


def _fits_as_struct(place: Place) -> bool:
    """Whether keys and form are right, so that its `__post_init__` has refused it."""
    return isinstance(place.value, dict) and _struct_of(place) is not None


def _words(kind: Any, form: Form, key: str) -> str:  # noqa: ANN401 - types come in many forms
    """What is expected where this type is."""
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
