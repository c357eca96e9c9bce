"""Damage to a folder of files that a reader takes: bytes, words, values, columns, and what stands where a file was."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import struct
from collections.abc import Callable
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from otf2_mutations import otf2_record

WORDS = (
    *(
        "-1",
        "0",
        "1",
        "-0",
        "1e308",
        "1e999",
        "-1e999",
        "1e-400",
        "nan",
        "inf",
        "NaN",
        "Infinity",
        "1.5",
        "0x1f",
        "1_0",
    ),
    *("9223372036854775807", "9223372036854775808", "-9223372036854775809", "18446744073709551616", "4294967296"),
    *("9" * 5000, "0." + "3" * 5000, "1e" + "9" * 400, "null", "true", "false", "[]", "{}", '""', "''", "1979-05-27"),
    *('"1e999999999s"', '"1e400s"', '"1e-999999999s"', '"-1us"', '"0s"', '"1ps"', '"106d"', '"' + "9" * 90 + 's"'),
    *('"/dev/zero"', '"../../etc/passwd"', '"."', '".."', '"a\\u0000b"', '"\\u001b[31m"', '"\\ud800"', '"abc"'),
    *("\x1b[2J\x1b[31m", "\u202e", "\x00", "\r\n", ",,,,", "=", "[[", "]]", "#", '"', "'" * 3, "a." * 200 + "a"),
    *("[" * 3000, "{" * 100, '{"a":' * 200, "x" * 20_000, "\u00e9" * 300),
)
"""What a word or a value of a text is replaced by."""
_WORDS = tuple(word.encode() for word in WORDS)
VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        2**31,
        2**63 - 1,
        2**63,
        2**64,
        -(2**63) - 1,
        10**30,
        0.5,
        -0.5,
        1e308,
        -1e308,
        1e-300,
    ),
    *(
        "",
        "abc",
        "\x1b[31m",
        "\u202e",
        "/dev/zero",
        "../../etc/passwd",
        "a\x00b",
        "9" * 5000,
        "x" * 20_000,
        "[/]",
        "$\\x$",
    ),
    *([], [[]], [None], ["a", "a"], [1, -1], [1e308], {}, {"": {}}, {"a": {"b": {"c": []}}}),
)
"""What a value of JSON is replaced by."""
CELLS: tuple[Any, ...] = (
    -1,
    0,
    1,
    2**62,
    2**63 - 1,
    -(2**63),
    1.5,
    1e308,
    float("nan"),
    float("inf"),
    "abc",
    "",
    None,
    True,
)

_WORD = re.compile(rb"[\w.+-]+|\"[^\"\n]*\"|[\[\]{},=:]")


def damage(folder: Path, draw: random.Random) -> str:
    """Damage one of the files in `folder`, or several, or put something else in its place; returns what was done to
    which."""
    done = []
    for _ in range(draw.choice(_TIMES)):
        files = sorted(file for file in folder.rglob("*") if file.is_file() and not file.is_symlink())
        if not files:
            break
        file = draw.choice(files)
        kind = draw.choice([*_kinds(file.suffix), *_PLACES])
        if kind in _PLACES:
            kind(file, draw)
        else:
            there = [beside.read_bytes() for beside in files if beside.parent == file.parent]
            file.write_bytes(_damaged(kind, file.read_bytes(), draw, there))
        done.append(f"{kind.__name__} of {file.relative_to(folder)}")
    return ", ".join(done)


def damage_contents(files: dict[str, bytes], draw: random.Random) -> list[tuple[str, str]]:
    """Damage the contents of one of the files, or of several, by their names; returns what was done to which."""
    done = []
    names = sorted(files)
    for _ in range(draw.choice(_TIMES)):
        name = draw.choice(names)
        kind = draw.choice(_kinds(name[name.rfind(".") :]))
        files[name] = _damaged(kind, files[name], draw, list(files.values()))
        done.append((kind.__name__, name))
    return done


def _damaged(kind: Callable[..., bytes], data: bytes, draw: random.Random, there: list[bytes]) -> bytes:
    return other(there, draw) if kind is other else kind(data, draw)


@cache
def _kinds(ending: str) -> tuple[Callable[..., Any], ...]:
    """The kinds of damage to the content of a file with this ending, each as often as it is to be drawn."""
    own: dict[str, list[Callable[..., bytes]]] = {
        ".json": [json_value] * 14,
        ".parquet": [column] * 8,
        ".csv": [cell] * 5,
        ".et": [field] * 40,
        ".bin": [number] * 8 + [records] * 24,
        ".iwtrace": [number] * 8,
        ".otf2": [number] * 8,
        **dict.fromkeys((".def", ".evt"), [number] * 4 + [otf2_record] * 20),
    }
    return (*_BYTES, *_BYTES, *own.get(ending, []))


def flip(content: bytes, draw: random.Random) -> bytes:
    data = bytearray(content)
    for _ in range(draw.choice((1, 1, 2, 8, 64))):
        if data:
            data[draw.randrange(len(data))] = draw.choice((0, 1, 127, 128, 255, draw.randrange(256)))
    return bytes(data)


def number(content: bytes, draw: random.Random) -> bytes:
    """A number of one to eight bytes, in one of both byte orders: another, or a little more or less."""
    data = bytearray(content)
    width = draw.choice((1, 2, 4, 8))
    if len(data) < width:
        return content
    order: Literal["big", "little"] = draw.choice(("big", "little"))
    at = draw.randrange(len(data) - width + 1)
    before = int.from_bytes(data[at : at + width], order)
    other = (
        0,
        1,
        1 << draw.randrange(8 * width),
        (1 << draw.randrange(8 * width + 1)) - 1,
        before + draw.randint(-9, 9),
    )
    data[at : at + width] = (draw.choice(other) % (1 << 8 * width)).to_bytes(width, order)
    return bytes(data)


_INDEX = struct.Struct(">7Q")


def records(data: bytes, draw: random.Random) -> bytes:
    """The records of a DUMPI file, with the places of its parts in its index as they are then."""
    if len(data) < 16 + _INDEX.size:
        return flip(data, draw)
    *places, last = _INDEX.unpack_from(data, len(data) - _INDEX.size)
    header, first = places[3], places[4] + 8
    if not 0 < first < header < len(data) - _INDEX.size:
        return flip(data, draw)
    body = draw.choice((flip, number, number, number, splice, cut))(data[first:header], draw)
    more = len(body) - (header - first)
    moved = [(place + more) % 2**64 if place >= header else place for place in places]
    index = _INDEX.pack(*moved, last)
    return data[:first] + body + data[header : -_INDEX.size] + index


def field(content: bytes, draw: random.Random) -> bytes:
    """A field of one of a file's protobuf messages, each behind its length, at any depth: gone, twice, or another."""
    messages = _behind_lengths(content)
    if not messages:
        return flip(content, draw)
    changed = draw.randrange(len(messages))
    messages[changed] = _with_another_field(messages[changed], draw)
    if draw.random() < 0.1:
        messages.insert(draw.randrange(len(messages)), messages[draw.randrange(len(messages))])
    return b"".join(varint(len(message)) + message for message in messages)


def _with_another_field(message: bytes, draw: random.Random, depth: int = 0) -> bytes:
    fields = _fields(message)
    if not fields:
        return draw.randbytes(draw.randrange(8))
    at = draw.randrange(len(fields))
    key, value = fields[at]
    how = draw.randrange(6)
    changed: list[tuple[int, int | bytes]]
    if isinstance(value, bytes) and key & 7 == 2 and depth < 4 and how < 3:
        changed = [(key, _with_another_field(value, draw, depth + 1))]
    elif how < 2:
        changed = [(key, value)] * (2 * how)
    elif how == 2:
        changed = [(draw.randrange(33) << 3 | key & 7, value)]
    elif isinstance(value, int):
        changed = [(key, draw.choice((0, 1, 127, 1 << 31, (1 << 64) - 1, value + 1, value ^ 1 << draw.randrange(64))))]
    else:
        changed = [(key, bytes(draw.randrange(256) if draw.random() < 0.2 else byte for byte in value))]
    return b"".join(_encoded(*one) for one in [*fields[:at], *changed, *fields[at + 1 :]])


def _encoded(key: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return varint(key) + varint(value % (1 << 64))
    return varint(key) + (varint(len(value)) if key & 7 == 2 else b"") + value


def varint(value: int) -> bytes:
    """A number as protobuf writes it."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _behind_lengths(data: bytes) -> list[bytes]:
    messages, at = [], 0
    while at < len(data):
        length, at = _varint(data, at)
        messages.append(data[at : at + length])
        at += length
    return messages


def _fields(message: bytes) -> list[tuple[int, int | bytes]]:
    """The fields by their keys; those of bytes that are no message end where they stop to be read as fields."""
    found: list[tuple[int, int | bytes]] = []
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        if key & 7 == 0:
            value, at = _varint(message, at)
            found.append((key, value))
            continue
        size = {1: 8, 5: 4}.get(key & 7)
        if key & 7 == 2:
            size, at = _varint(message, at)
        if size is None:
            break
        found.append((key, message[at : at + size]))
        at += size
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data):
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            break
    return value, at


def cut(data: bytes, draw: random.Random) -> bytes:
    return data[: draw.randrange(len(data) + 1)]


def splice(data: bytes, draw: random.Random) -> bytes:
    first, last, at = (draw.randrange(len(data) + 1) for _ in range(3))
    return data[:at] + data[min(first, last) : max(first, last)] + data[at + draw.randrange(64) :]


def words(data: bytes, draw: random.Random) -> bytes:
    for _ in range(draw.choice((1, 1, 2, 4))):
        at = draw.randrange(-len(data) // 8, len(data)) if data else 0  # below 0: the first word
        found = _WORD.search(data, max(at, 0))
        if found and at > 0:  # perhaps in the middle of one: the next
            found = _WORD.search(data, found.end()) or found
        if found:
            data = data[: found.start()] + draw.choice(_WORDS) + data[found.end() :]
    return data


def lines(data: bytes, draw: random.Random) -> bytes:
    rows = data.split(b"\n")
    i, j = draw.randrange(len(rows)), draw.randrange(len(rows))
    draw.choice((lambda: rows.pop(i), lambda: rows.insert(j, rows[i]), lambda: rows.__setitem__(j, rows[i])))()
    return b"\n".join(rows)


def other(there: list[bytes], draw: random.Random) -> bytes:
    """Another content: that of a file beside it, or none that is meant."""
    texts = (b"", b"\n", b"[]", b"{}", b"null", b"\xff\xfe", b"\x00" * 4096, draw.randbytes(512), _DEEP)
    return draw.choice([*texts, *there])


def json_value(data: bytes, draw: random.Random) -> bytes:
    try:
        said = json.loads(data)
    except (ValueError, RecursionError):
        return flip(data, draw)
    places: list[tuple[Any, Any]] = []

    def walk(value: Any) -> None:
        for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
            places.append((value, key))
            walk(value[key])

    walk(said)
    for container, key in draw.sample(places, min(len(places), draw.choice((1, 1, 1, 2, 4)))):
        if isinstance(container, dict) and draw.random() < 0.25:
            container.pop(key, None)
        else:
            container[key] = draw.choice(VALUES)
    return json.dumps(said).encode()


def column(data: bytes, draw: random.Random) -> bytes:
    """A column of Parquet: gone, short, or with another value in some cells."""
    try:
        table = pd.read_parquet(BytesIO(data))
    except Exception:  # it is damaged already, whatever pandas says of it
        return flip(data, draw)
    names = list(table.columns)
    if not names or not len(table):
        return flip(data, draw)
    name, value = draw.choice(names), draw.choice(CELLS)
    rows = draw.sample(range(len(table)), min(len(table), draw.choice((1, 1, 5, len(table)))))
    kind = draw.randrange(6)
    if kind == 0:
        table = table.drop(columns=name)
    elif kind == 1:
        table = table.iloc[: draw.choice((0, 1, 2))]
    elif kind == 2:
        table[name] = [value] * len(table)
    else:
        values = table[name].astype(object).tolist()
        for row in rows:
            values[row] = value
        table[name] = pd.Series(values, dtype=object).infer_objects()
    try:
        return table.to_parquet(index=False)
    except Exception:  # a column of mixed types, which Parquet has not
        table[name] = table[name].map(str)
        return table.to_parquet(index=False)


def cell(data: bytes, draw: random.Random) -> bytes:
    """A cell of CSV: another, gone, or twice; a column that is gone, or has another value; or few rows."""
    rows = [row.split(b",") for row in data.split(b"\n")]
    row = draw.choice(rows)
    at = draw.randrange(len(row))
    how = draw.randrange(10)
    if how == 0:
        row.pop(at)
    elif how == 1:
        row.insert(at, row[at])
    elif how == 2:
        rows = [[*cells[:at], *cells[at + 1 :]] for cells in rows]
    elif how == 3:
        rows = rows[: draw.randrange(1, 4)]
    elif how == 4:
        value = str(draw.choice(CELLS)).encode()
        rows[1:] = [[*cells[:at], value, *cells[at + 1 :]] if at < len(cells) else cells for cells in rows[1:]]
    else:
        row[at] = str(draw.choice(CELLS)).encode()
    return b"\n".join(map(b",".join, rows))


def gone(file: Path, _: random.Random) -> None:
    file.unlink()


def folder(file: Path, _: random.Random) -> None:
    file.unlink()
    file.mkdir()


def pipe(file: Path, _: random.Random) -> None:
    file.unlink()
    os.mkfifo(file)


def device(file: Path, draw: random.Random) -> None:
    file.unlink()
    file.symlink_to(draw.choice(("/dev/zero", "/dev/full", "/etc/passwd", file.name, "nowhere", "/proc/self/mem")))


def contents(folder: Path) -> dict[str, bytes]:
    """The files in a folder, by their places in it."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def restore(sample: Path, place: Path) -> None:
    """Make `place` the same as `sample`."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(sample, place)


_TIMES = (1, 1, 1, 2, 3)
"""How many damages there are."""
_DEEP = b"[" * 100_000
_BYTES: list[Callable[..., bytes]] = [flip, cut, splice, words, words, words, lines, other]
_PLACES: list[Callable[[Path, random.Random], None]] = [gone, folder, pipe, device]
