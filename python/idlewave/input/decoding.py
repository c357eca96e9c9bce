"""JSON and TOML as Python's values, of bounded depth and with numbers of bounded length."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from ..errors import InputError
from ..escaping import cut, printable
from .bounds import MOST_DEPTH, MOST_DIGITS

# Patterns, which are compiled when they are used: most texts need none.
# Strings; an unterminated one ends with the text, so that each character is visited once.
_JSON_STRING = r'"(?:[^"\\]|\\.)*+(?:"|\Z)'
_TOML_STRING = (
    r'"""(?:[^"\\]|\\.|"(?!""))*+(?:"""|\Z)'
    r"|'''.*?(?:'''|\Z)"
    r'|"(?:[^"\\\n]|\\.)*+(?:["\n]|\Z)'
    r"|'[^'\n]*(?:['\n]|\Z)"
    r"|#[^\n]*"
)
_LONG_NUMBER = rf"(?<!\w)\d[\d_a-fA-Fx]{{{MOST_DIGITS},}}+"
_LONG_KEY = rf"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){{{MOST_DEPTH},}}+"
_JSON = msgspec.json.Decoder(float_hook=float)
_DEPTH = {"[": 1, "{": 1, "]": -1, "}": -1}
_NO_SPACE = str.maketrans("", "", " \n\t\r\u202f")
_NO_BRACKET = r"[^][{}]+"


def decode_json(text: str, name: str) -> Any:  # noqa: ANN401 - a decoded file is anything
    """The value of a JSON text; a number beyond the range of floats is infinite. Raises InputError with the line.

    Texts in it are made printable, because tables and pictures show them.
    """
    _check(text, _JSON_STRING, name)
    try:
        value = _JSON.decode(text)
    except msgspec.DecodeError as error:
        raise InputError(f"{name}: expected JSON: {_with_line(str(error), text)}") from error
    plain = "\\" not in text and text.translate(_NO_SPACE).isprintable()
    return value if plain else _printable(value)


def decode_toml(text: str, name: str) -> dict[str, Any]:
    """The value of a TOML text. Raises InputError with the line."""
    import tomllib

    _check(text, _TOML_STRING, name)
    try:
        return tomllib.loads(text)
    except ValueError as error:  # also for a number or a date that Python cannot represent
        raise InputError(f"{name}: not TOML: {cut(str(error))}") from error


def _check(text: str, string: str, name: str) -> None:
    """Raise InputError for a text that is nested too deeply, or has numbers too long for a decoder."""
    if text.count("[") + text.count("{") + text.count(".") <= MOST_DEPTH and len(text) <= MOST_DIGITS:
        return
    bare = re.sub(string, _blank, text, flags=re.DOTALL)
    if long := re.search(_LONG_NUMBER, bare):
        raise InputError(f"{name}:{_line(bare, long.start())}: expected numbers of at most {MOST_DIGITS} digits")
    key = re.search(_LONG_KEY, bare)
    if key is not None:
        raise InputError(f"{name}:{_line(bare, key.start())}: expected keys of at most {MOST_DEPTH} parts")
    depth = 0
    for bracket in re.sub(_NO_BRACKET, "", bare):
        depth += _DEPTH[bracket]
        if depth > MOST_DEPTH:
            raise InputError(f"{name}: expected at most {MOST_DEPTH} levels of tables and lists within each other")


def _printable(value: Any) -> Any:  # noqa: ANN401 - a decoded file is anything
    if isinstance(value, str):
        return printable(value, keep="")
    if isinstance(value, list):
        return [_printable(item) for item in value]
    if isinstance(value, dict):
        return {printable(key, keep=""): _printable(item) for key, item in value.items()}
    return value


def _blank(string: re.Match[str]) -> str:
    """The replacement of a string: a word, which may be a part of a key, and its ends of lines."""
    return "_" + "\n" * string[0].count("\n")


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _with_line(message: str, text: str) -> str:
    """The message of a decoder, with the line instead of the byte."""
    match = re.search(r" \(byte (\d+)\)$", message)
    if match is None:
        return message
    line = text.encode()[: int(match[1])].count(b"\n") + 1
    return f"{message[: match.start()]} in line {line}"
