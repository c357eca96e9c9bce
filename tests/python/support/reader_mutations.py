"""Damage to a folder of files that a reader takes: bytes, words, values, columns, and what stands where a file was."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pandas as pd

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


def damage(folder: Path, draw: random.Random, *, contents_only: bool = False) -> str:
    """Damage one of the files in `folder`, or several; returns what was done to which. `contents_only`: no file becomes
    something else than a file."""
    done = []
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        files = sorted(file for file in folder.rglob("*") if file.is_file() and not file.is_symlink())
        if not files:
            break
        file = draw.choice(files)
        kinds = [*_BYTES, *_BYTES, *(() if contents_only else _PLACES)]
        own = {".json": [json_value] * 14, ".parquet": [column] * 8, ".csv": [column] * 5, ".et": [field] * 40}
        own |= {".bin": [number] * 8, ".iwtrace": [number] * 8}
        kinds += own.get(file.suffix, [])
        kind = draw.choice(kinds)
        kind(file, draw)
        done.append(f"{kind.__name__} of {file.relative_to(folder)}")
    return ", ".join(done)


def flip(file: Path, draw: random.Random) -> None:
    data = bytearray(file.read_bytes())
    for _ in range(draw.choice((1, 1, 2, 8, 64))):
        if data:
            data[draw.randrange(len(data))] = draw.choice((0, 1, 127, 128, 255, draw.randrange(256)))
    file.write_bytes(data)


def number(file: Path, draw: random.Random) -> None:
    """A number of one to eight bytes, in one of both byte orders: another, or a little more or less."""
    data = bytearray(file.read_bytes())
    width = draw.choice((1, 2, 4, 8))
    if len(data) < width:
        return
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
    file.write_bytes(data)


def field(file: Path, draw: random.Random) -> None:
    """A field of one of a file's protobuf messages, each behind its length, at any depth: gone, twice, or another."""
    messages = _behind_lengths(file.read_bytes())
    if not messages:
        return flip(file, draw)
    changed = draw.randrange(len(messages))
    messages[changed] = _with_another_field(messages[changed], draw)
    if draw.random() < 0.1:
        messages.insert(draw.randrange(len(messages)), messages[draw.randrange(len(messages))])
    file.write_bytes(b"".join(varint(len(message)) + message for message in messages))
    return None


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


def cut(file: Path, draw: random.Random) -> None:
    data = file.read_bytes()
    file.write_bytes(data[: draw.randrange(len(data) + 1)])


def splice(file: Path, draw: random.Random) -> None:
    data = file.read_bytes()
    first, last, at = (draw.randrange(len(data) + 1) for _ in range(3))
    file.write_bytes(data[:at] + data[min(first, last) : max(first, last)] + data[at + draw.randrange(64) :])


def words(file: Path, draw: random.Random) -> None:
    data = file.read_bytes()
    found = list(_WORD.finditer(data))
    for word in sorted(draw.sample(found, min(len(found), draw.choice((1, 1, 2, 4)))), key=lambda w: -w.start()):
        data = data[: word.start()] + draw.choice(WORDS).encode() + data[word.end() :]
    file.write_bytes(data)


def lines(file: Path, draw: random.Random) -> None:
    rows = file.read_bytes().split(b"\n")
    i, j = draw.randrange(len(rows)), draw.randrange(len(rows))
    draw.choice((lambda: rows.pop(i), lambda: rows.insert(j, rows[i]), lambda: rows.__setitem__(j, rows[i])))()
    file.write_bytes(b"\n".join(rows))


def other(file: Path, draw: random.Random) -> None:
    there = [part for part in file.parent.iterdir() if part.is_file() and not part.is_symlink()]
    texts = (b"", b"\n", b"[]", b"{}", b"null", b"\xff\xfe", b"\x00" * 4096, draw.randbytes(512), b"[" * 100_000)
    file.write_bytes(draw.choice([*texts, *(part.read_bytes() for part in there)]))


def json_value(file: Path, draw: random.Random) -> None:
    try:
        said = json.loads(file.read_text())
    except (ValueError, RecursionError):
        return flip(file, draw)
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
    file.write_text(json.dumps(said))
    return None


def column(file: Path, draw: random.Random) -> None:
    text = file.suffix == ".csv"
    try:
        table = pd.read_csv(file) if text else pd.read_parquet(file)
    except Exception:  # it is damaged already, whatever pandas says of it
        return flip(file, draw)
    names = list(table.columns)
    if not names or not len(table):
        return flip(file, draw)
    name, cell = draw.choice(names), draw.choice(CELLS)
    rows = draw.sample(range(len(table)), min(len(table), draw.choice((1, 1, 5, len(table)))))
    kind = draw.randrange(6)
    if kind == 0:
        table = table.drop(columns=name)
    elif kind == 1:
        table = table.iloc[: draw.choice((0, 1, 2))]
    elif kind == 2:
        table[name] = [cell] * len(table)
    else:
        values = table[name].astype(object).tolist()
        for row in rows:
            values[row] = cell
        table[name] = pd.Series(values, dtype=object).infer_objects()
    try:
        table.to_csv(file, index=False) if text else table.to_parquet(file, index=False)
    except Exception:  # a column of mixed types, which Parquet has not
        table[name] = table[name].map(str)
        table.to_parquet(file, index=False)
    return None


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


def contents(folder: Path) -> dict[Path, bytes]:
    """The files in a folder, for `put_back`."""
    return {file.relative_to(folder): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def put_back(sample: dict[Path, bytes], place: Path) -> None:
    """Make the files in `place` those of `sample`: quicker than `restore`, and only after damage to contents."""
    for name, data in sample.items():
        file = place / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


def restore(sample: Path, place: Path) -> None:
    """Make `place` the same as `sample`."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(sample, place)


_BYTES: list[Callable[[Path, random.Random], None]] = [flip, cut, splice, words, words, words, lines, other]
_PLACES: list[Callable[[Path, random.Random], None]] = [gone, folder, pipe, device]
