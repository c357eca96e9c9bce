"""Digests: words that are equal where contents are, whatever the file's name, its comments or its order of keys.

All are SHA-256, written "sha256:" and 64 hexadecimal digits. docs/provenance.md says of which bytes each one is.
"""

from __future__ import annotations

import hashlib
import json
import math
import stat
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _core
from .escaping import printable
from .noise_models import (
    REACHES,
    AnyNoise,
    DetourLength,
    EmpiricalLength,
    FixedLength,
    MixedNoise,
    Noise,
    PoissonNoise,
    UniformLength,
    as_times,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import IO

    import numpy.typing as npt

    from .machine import Level, Machine

COMMENT = b"// idlewave: "
"""How the lines begin in which GOAL text says what it was made from, and what its CRC-32C is."""
MOST_COMMENT = 1 << 20
_SEAL = COMMENT + b"CRC-32C "
_SEAL_LENGTH = len(_SEAL) + 9
_PIECE = 1 << 20

State = tuple[Path, int, int, int]


def digest_of(value: object) -> str:
    """Of a value of JSON: of its text with sorted keys, without blanks, in ASCII."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return _word(hashlib.sha256(text.encode()))


def digest_of_file(path: Path) -> str:
    """Of a file's bytes, as `sha256sum` shows it."""
    with path.open("rb") as file:
        return digest_of_stream(file)


def digest_of_stream(stream: IO[bytes]) -> str:
    """Of what is left of a stream's bytes."""
    digest = hashlib.sha256()
    while piece := stream.read(_PIECE):
        digest.update(piece)
    return _word(digest)


def digest_of_files(folder: Path, paths: Iterable[Path]) -> str:
    """Of files below a folder: of what `sha256sum NAME...` prints there, the names in order."""
    from concurrent.futures import ThreadPoolExecutor

    named = {path.relative_to(folder).as_posix(): path for path in paths}
    names = sorted(named)
    with ThreadPoolExecutor() as pool:
        words = pool.map(digest_of_file, [named[name] for name in names])
        lines = [f"{word.removeprefix('sha256:')}  {name}\n" for word, name in zip(words, names, strict=True)]
    return _word(hashlib.sha256("".join(lines).encode()))


@dataclass(frozen=True)
class Content:
    """Of a schedule's file: its digest, and the comment in which GOAL text says what it was made from.

    The digest is of the bytes without that comment and the seal at the end, so that equal texts have equal ones.
    `sealed`: there is a comment, and the text is the one that was written with it.
    """

    digest: str
    comment: bytes = b""
    sealed: bool = False


def digest_of_schedule(stream: IO[bytes]) -> Content:
    """Of a schedule in a file, read to its end."""
    first = stream.readline(MOST_COMMENT)
    digest, crc, last = hashlib.sha256(), 0, b""
    if not first.startswith(COMMENT):
        stream.seek(0)
        return Content(digest_of_stream(stream))
    while piece := stream.read(_PIECE):
        text, last = (last + piece)[:-_SEAL_LENGTH], (last + piece)[-_SEAL_LENGTH:]
        digest.update(text)
        crc = _core.crc32c(text, crc)
    if not last.startswith(_SEAL):
        digest.update(last)
    return Content(_word(digest), first[len(COMMENT) :].strip(), last == b"%s%08x\n" % (_SEAL, crc))


def digests_of_machine(machine: Machine) -> dict[str, str]:
    """By part, of those that there are: "network", "node" (the network within one), "noise" (with what it reaches).

    Two parts are equal if the simulator cannot tell one from the other. A node's number of ranks is not in them.
    """
    parts = {"network": digest_of_level(machine.network)}
    if machine.node is not None:
        parts["node"] = digest_of_level(machine.node)
    if machine.noise is not None:
        reaches = [part for part in REACHES if part in machine.noise_reaches]
        parts["noise"] = digest_of({"noise": _described(machine.noise), "reaches": reaches})
    return parts


def digest_of_level(level: Level) -> str:
    """Of one level of a network: S, and the parameters by size, without segments in which nothing changes."""
    rows: list[list[float]] = []
    for start, p in ((0, level.parameters), *((s.start, s.parameters) for s in level.segments)):
        row = [int(p.L), int(p.o_s), int(p.o_r), int(p.g), float(p.G), float(p.O)]
        if not rows or rows[-1][1:] != row:
            rows.append([int(start), *row])
    return digest_of({"S": level.eager_limit, "segments": rows})


def _described(noise: AnyNoise) -> dict[str, Any]:
    if isinstance(noise, MixedNoise):
        return {
            "kind": "mixture",
            "trace": _described(noise.trace),
            "random": [_described(source) for source in noise.random],
        }
    if isinstance(noise, PoissonNoise):
        return {
            "kind": "poisson",
            "interval": float(noise.interval),
            "length": _described_law(noise.length),
            "phase": noise.phase,
        }
    return _described_trace(noise)


def _described_law(law: DetourLength) -> dict[str, Any]:
    name = type(law).__name__.removesuffix("Length").lower()
    if isinstance(law, EmpiricalLength):
        return {"distribution": name, "lengths": _digest_of_times(law.lengths)}
    number = int if isinstance(law, FixedLength | UniformLength) else float
    return {"distribution": name, **{item.name: number(getattr(law, item.name)) for item in fields(law)}}


def _described_trace(noise: Noise) -> dict[str, Any]:
    phase = noise.phase if isinstance(noise.phase, str) else [int(time) for time in noise.phase]
    starts, lengths = _digest_of_times(noise.starts), _digest_of_times(noise.lengths)
    return {"kind": "trace", "starts": starts, "lengths": lengths, "period": int(noise.period), "phase": phase}


def _digest_of_times(values: npt.ArrayLike) -> str:
    """Of times as little-endian int64."""
    return _word(hashlib.sha256(as_times(values).astype("<i8", copy=False).data))


def plain(value: object) -> Any:  # noqa: ANN401 - a value of JSON
    """`value` as one of JSON: data classes as objects, sequences as lists, numpy's numbers as Python's; as texts, which
    are printable, whatever JSON has not."""
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | range):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return printable(str(value), keep="")


class Files:
    """Files as they were at one moment, when they began to be read; so their digest may be asked for later.

    It is taken only if none of them has changed since. What is no regular file (a pipe) has no digest.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self.paths = tuple(paths)
        self._before = [_state(path) for path in self.paths]

    def problem(self) -> str:
        """Why their digest would be that of something else; empty if it would not."""
        for path, before in zip(self.paths, self._before, strict=True):
            if before is None:
                return f"{path} is no regular file"
            if _state(path) != before:
                return f"{path} has changed since it was read"
        return ""


def _state(path: Path) -> State | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return (path, found.st_size, found.st_mtime_ns, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def _word(digest: Any) -> str:  # noqa: ANN401 - hashlib's type has no name
    return f"sha256:{digest.hexdigest()}"
