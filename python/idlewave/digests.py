"""Digests of contents. They do not depend on the name of a file, on its comments, or on the order of its keys.

All are SHA-256, written "sha256:" and 64 hexadecimal digits. docs/provenance.md says which bytes each one covers.
"""

from __future__ import annotations

import math
import stat
import sys
from array import array
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _core
from .escaping import printable
from .noise_models import REACHES, AnyNoise, Noise, as_times, is_buffer_of_times, times_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import IO

    import numpy.typing as npt
    import pandas as pd

    from .machine import Level, Machine
    from .random_noise import DetourLength, MixedNoise, PoissonNoise
    from .variation import Variation

COMMENT = b"// idlewave: "
"""The beginning of the lines of GOAL text that have its provenance and its CRC-32C."""
MOST_COMMENT = 1 << 20
_SEAL = COMMENT + b"CRC-32C "
_SEAL_LENGTH = len(_SEAL) + 9
_PIECE = 1 << 20

State = tuple[Path, int, int, int]


def digest_of(value: object) -> str:
    """The digest of a value of JSON: of its text in ASCII with sorted keys and without blanks."""
    import json

    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return _word(_sha256(text.encode()))


def digest_of_file(path: Path) -> str:
    """The digest of the bytes of a file, as `sha256sum` prints it."""
    with path.open("rb") as file:
        return digest_of_stream(file)


def digest_of_stream(stream: IO[bytes]) -> str:
    """The digest of the remaining bytes of a stream."""
    digest = _sha256()
    while piece := stream.read(_PIECE):
        digest.update(piece)
    return _word(digest)


def digest_of_files(folder: Path, paths: Iterable[Path]) -> str:
    """The digest of files below a folder: of the output of `sha256sum NAME...` there, with sorted names."""
    from concurrent.futures import ThreadPoolExecutor

    named = {path.relative_to(folder).as_posix(): path for path in paths}
    names = sorted(named)
    with ThreadPoolExecutor() as pool:
        words = pool.map(digest_of_file, [named[name] for name in names])
        lines = [f"{word.removeprefix('sha256:')}  {name}\n" for word, name in zip(words, names, strict=True)]
    return _word(_sha256("".join(lines).encode()))


def digest_of_table(table: pd.DataFrame) -> str:
    """The digest of the columns of a table in their order: the name of each, then its numbers as little-endian int64 or
    float64, or its texts; names and texts end with an end of line."""
    digest = _sha256()
    for name in table.columns:
        digest.update(f"{name}\n".encode())
        column = table[name]
        if column.dtype.kind in "biu":
            digest.update(column.to_numpy("<i8").tobytes())
        elif column.dtype.kind == "f":
            digest.update(column.to_numpy("<f8").tobytes())
        else:
            digest.update("".join(f"{text}\n" for text in column).encode())
    return _word(digest)


class Content(NamedTuple):
    """The content of the file of a schedule: its digest, and the comment with the provenance of GOAL text.

    The digest covers the bytes without that comment and the seal at the end, so that equal schedules have equal
    digests. `sealed`: there is a comment, and the seal shows that the text was not changed since.
    """

    digest: str
    comment: bytes = b""
    sealed: bool = False


def digest_of_schedule(stream: IO[bytes]) -> Content:
    """The content of the file of a schedule, which is read to its end."""
    first = stream.readline(MOST_COMMENT)
    digest, crc, last = _sha256(), 0, b""
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
    """The digests of the parts of a machine: "network", "node" (the network within a node), "shared_buffer",
    "one_sided", "noise", "variation".

    That of one-sided operations covers what completes them, that of the noise its reach.

    Two parts have one digest if the simulator gives the same times with both. The ranks of a node are not covered.
    """
    parts = {"network": digest_of_level(machine.network)}
    if machine.node is not None:
        parts["node"] = digest_of_level(machine.node)
    if machine.shared_buffer is not None:
        parts["shared_buffer"] = digest_of_level(machine.shared_buffer)
    if machine.one_sided is not None:
        parts["one_sided"] = digest_of({"level": digest_of_level(machine.one_sided), "progress": machine.progress})
    if machine.noise is not None:
        reaches = [part for part in REACHES if part in machine.noise_reaches]
        parts["noise"] = digest_of({"noise": _described(machine.noise), "reaches": reaches})
    if machine.variation is not None:
        parts["variation"] = digest_of(_described_variation(machine.variation))
    return parts


def digest_of_level(level: Level) -> str:
    """The digest of one level of a network: S, and the parameters by size; segments that change nothing do not
    count."""
    rows: list[list[float]] = []
    for start, p in ((0, level.parameters), *((s.start, s.parameters) for s in level.segments)):
        row = [int(p.L), int(p.o_s), int(p.o_r), int(p.g), float(p.G), float(p.O_s)]
        if p.O_s != p.O_r or p.c or p.o_p:  # most machines have none of them, and the digests of LogGOPS
            row += [float(p.O_r), int(p.c), int(p.o_p)]
        if not rows or rows[-1][1:] != row:
            rows.append([int(start), *row])
    return digest_of({"S": level.eager_limit, "segments": rows})


def _described(noise: AnyNoise) -> dict[str, Any]:
    return _described_trace(noise) if isinstance(noise, Noise) else _described_random(noise)


def _described_variation(variation: Variation) -> dict[str, Any]:
    import numpy as np  # which its class has loaded

    L, G = (_word(_sha256(np.asarray(column, "<f8").tobytes())) for column in (variation.L, variation.G))
    return {"starts": _digest_of_times(variation.starts), "L": L, "G": G, "period": variation.period}


def _described_random(noise: MixedNoise | PoissonNoise) -> dict[str, Any]:
    from .random_noise import MixedNoise  # which a command without random detours does not load

    if isinstance(noise, MixedNoise):
        return {
            "kind": "mixture",
            "trace": _described(noise.trace),
            "random": [_described(source) for source in noise.random],
        }
    return {
        "kind": "poisson",
        "interval": float(noise.interval),
        "length": _described_law(noise.length),
        "phase": noise.phase,
    }


def _described_law(law: DetourLength) -> dict[str, Any]:
    from .random_noise import EmpiricalLength, FixedLength, UniformLength

    name = type(law).__name__.removesuffix("Length").lower()
    if isinstance(law, EmpiricalLength):
        return {"distribution": name, "lengths": _digest_of_times(times_of(law, "lengths"))}
    number = int if isinstance(law, FixedLength | UniformLength) else float
    return {"distribution": name, **{item.name: number(getattr(law, item.name)) for item in fields(law)}}


def _described_trace(noise: Noise) -> dict[str, Any]:
    phase = noise.phase if isinstance(noise.phase, str) else [int(time) for time in noise.phase]
    starts, lengths = (_digest_of_times(times_of(noise, name)) for name in ("starts", "lengths"))
    return {"kind": "trace", "starts": starts, "lengths": lengths, "period": int(noise.period), "phase": phase}


def _digest_of_times(values: npt.ArrayLike) -> str:
    """The digest of times as little-endian int64."""
    if is_buffer_of_times(values) and sys.byteorder == "little":
        return _word(_sha256(values))
    return _word(_sha256(as_times(values).astype("<i8", copy=False).data))


def plain(value: object) -> Any:  # noqa: ANN401 - a value of JSON
    """`value` as a value of JSON: data classes as objects, sequences as lists, numbers of numpy as those of Python.

    Anything else becomes a printable text.
    """
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
    """The state of files at the moment when they are first read, so that their digest can be computed later.

    It is computed only if no file has changed since. A pipe has no digest.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self.paths = tuple(paths)
        self._before = [_state(path) for path in self.paths]

    def problem(self) -> str:
        """The reason why their digest cannot be computed any more; empty if it can."""
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


def _sha256(data: bytes | memoryview | array[int] = b"") -> Any:  # noqa: ANN401
    import hashlib

    return hashlib.sha256(data)


def _word(digest: Any) -> str:  # noqa: ANN401 - hashlib's type has no name
    return f"sha256:{digest.hexdigest()}"
