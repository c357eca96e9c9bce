"""Damage to a folder of files that a reader takes: bytes, words, values, columns, and what stands where a file was."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


def damage(folder: Path, draw: random.Random) -> str:
    """Damage one of the files in `folder`, or several; returns what was done to which."""
    done = []
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        files = sorted(file for file in folder.rglob("*") if file.is_file() and not file.is_symlink())
        if not files:
            break
        file = draw.choice(files)
        kinds = [*_BYTES, *_BYTES, *_PLACES]
        kinds += {".json": [json_value] * 14, ".parquet": [column] * 8, ".csv": [column] * 5}.get(file.suffix, [])
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


def restore(sample: Path, place: Path) -> None:
    """Make `place` the same as `sample`."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(sample, place)


_BYTES: list[Callable[[Path, random.Random], None]] = [flip, cut, splice, words, words, words, lines, other]
_PLACES: list[Callable[[Path, random.Random], None]] = [gone, folder, pipe, device]
