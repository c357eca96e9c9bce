"""Damage to the records of OTF2's files of definitions and events, so that what is around them stays in order.

A file begins with a header of 18 bytes. A record is a byte for its kind, one for its length (255: eight more), and so
many bytes; one of a time (kind 5) has eight bytes and no length. Numbers in it are a byte for their size and so many
bytes; 255 stands for the largest one.
"""

from __future__ import annotations

import random

_HEADER, _END, _TIME = 18, 2, 5


def otf2_record(data: bytes, draw: random.Random) -> bytes:
    """The bytes of a file in which a record, or a few, are changed: a number in it, its kind, or where it is."""
    records, rest = _records(data)
    for _ in range(draw.choice((1, 1, 2, 5))):
        if records:
            _change(records, draw)
    return data[:_HEADER] + b"".join(map(_encoded, records)) + rest


def _records(data: bytes) -> tuple[list[tuple[int, bytes]], bytes]:
    """The records as far as they can be told apart, and what follows."""
    found = []
    at = _HEADER
    while at + 1 < len(data) and data[at] != _END:
        kind, begin, size = data[at], at + 2, data[at + 1]
        if kind == _TIME:
            begin, size = at + 1, 8
        elif size == 255:
            begin, size = at + 10, int.from_bytes(data[at + 2 : at + 10], "little")
        if begin + size > len(data):
            break
        found.append((kind, data[begin : begin + size]))
        at = begin + size
    return found, data[at:]


def _encoded(one: tuple[int, bytes]) -> bytes:
    kind, content = one
    if kind == _TIME and len(content) == 8:
        return bytes((kind,)) + content
    size = bytes((len(content),)) if len(content) < 255 else b"\xff" + len(content).to_bytes(8, "little")
    return bytes((kind,)) + size + content


def _change(records: list[tuple[int, bytes]], draw: random.Random) -> None:
    at = draw.randrange(len(records))
    kind, content = records[at]
    how = draw.randrange(10)
    if how < 6:
        records[at] = kind, _with_another_number(content, draw) if kind != _TIME else draw.randbytes(8)
    elif how == 6:
        records[at] = draw.choice((draw.randrange(10, 100), draw.randrange(256))), content
    elif how == 7:
        records.insert(draw.randrange(len(records)), records[at])
    elif how == 8:
        del records[at]
    else:
        records.insert(draw.randrange(len(records)), records.pop(at))


def _with_another_number(content: bytes, draw: random.Random) -> bytes:
    """Also bytes that are no size of a number may be taken for one."""
    if not content:
        return draw.randbytes(draw.randrange(4))
    at = draw.randrange(len(content))
    size = content[at] if content[at] <= 8 else 0
    value = draw.choice((0, 1, 2, 3, 17, 255, 1 << 16, 1 << 31, (1 << 32) - 2, 1 << 40, 1 << 62, (1 << 64) - 2))
    width = (value.bit_length() + 7) // 8
    number = draw.choice((b"\xff", bytes((width,)) + value.to_bytes(width, "little"), draw.randbytes(1)))
    return content[:at] + number + content[at + 1 + size :]
