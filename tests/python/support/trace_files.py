"""Traces written by hand, by docs/trace-format.md: two ranks that compute and reduce."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from pathlib import Path

ALLREDUCE = 64 + 3
HEADER_BYTES = 256


def write_trace(
    folder: Path,
    *,
    gap_ns: int = 5000,
    hosts: Sequence[str] = ("node1", "node1"),
    said: dict[str, object] | None = None,
) -> Path:
    """The folder of a run of as many ranks as `hosts`, which reduce 64 bytes three times, `gap_ns` apart; trace.json
    says `said`."""
    folder.mkdir(parents=True, exist_ok=True)
    for rank, host in enumerate(hosts):
        (folder / f"rank-{rank:07}.iwtrace").write_bytes(_rank(rank, len(hosts), host, gap_ns))
    described = {"format": 1, "command": ["mpiexec", "-n", str(len(hosts)), "./solve"], "host": hosts[0]}
    (folder / "trace.json").write_text(json.dumps(described | {"started": "2025-01-02T03:04:05+00:00"} | (said or {})))
    return folder


def _rank(rank: int, ranks: int, host: str, gap_ns: int) -> bytes:
    records, now = b"", 1000
    for _ in range(3):
        words = struct.pack("<Q2i2q", 1, -3, 0, 64, 64)
        records += struct.pack("<IHHqq", 4, ALLREDUCE, 0, now + gap_ns, now + gap_ns + 700) + words
        now += gap_ns + 700
    header = bytearray(HEADER_BYTES)
    struct.pack_into("<8s4IQ2q2I", header, 0, b"IDLEWTR1", 1, HEADER_BYTES, rank, ranks, 1, 1000, now + gap_ns, 1, 0)
    struct.pack_into("<64s48s", header, 144, host.encode(), b"Some MPI 1.0")
    return bytes(header) + records
