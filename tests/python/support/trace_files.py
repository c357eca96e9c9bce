"""Traces written by hand, by docs/trace-format.md: two ranks that compute and reduce."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SEND, RECV = 16, 32
ALLREDUCE = 64 + 3
INIT, FINALIZE, CORE_WAIT, THREAD = 1, 2, 62, 42
HEADER_BYTES = 256


@dataclass(frozen=True)
class Core:
    """What the system gave each rank: CPU time and context switches."""

    cpu_ns: int
    voluntary: int = 0
    involuntary: int = 0


def write_trace(
    folder: Path,
    *,
    gap_ns: int = 5000,
    hosts: Sequence[str] = ("node1", "node1"),
    said: dict[str, object] | None = None,
    core: Core | None = None,
    waits: Sequence[tuple[int, int]] = (),
) -> Path:
    """The folder of a run of as many ranks as `hosts`, which reduce 64 bytes three times, `gap_ns` apart; trace.json
    says `said`, and the headers what `core` has. `waits` are those for a core, in ns, before each call, and inside
    the one before it; to read them took 100 ns."""
    folder.mkdir(parents=True, exist_ok=True)
    for rank, host in enumerate(hosts):
        records, end = _reductions(gap_ns, waits)
        data = with_header(rank, len(hosts), host, records, end, core=core)
        (folder / f"rank-{rank:07}.iwtrace").write_bytes(data)
    described = {"format": 1, "command": ["mpiexec", "-n", str(len(hosts)), "./solve"], "host": hosts[0]}
    (folder / "trace.json").write_text(json.dumps(described | {"started": "2025-01-02T03:04:05+00:00"} | (said or {})))
    return folder


@dataclass(frozen=True)
class Message:
    """What rank 0 sends to rank 1 by a blocking call: the computation of both ranks before it in ns, tag, and bytes."""

    computed_ns: int
    tag: int
    size: int
    wildcard: bool = False
    """The receive names no source and no tag."""


def write_messages(folder: Path, messages: Sequence[Message]) -> Path:
    """The folder of a run of two ranks that computes and sends these messages."""
    folder.mkdir(parents=True)
    for rank in (0, 1):
        records, now = b"", 1000
        for message in messages:
            peer_and_tag = struct.pack("<2i", 1 - rank, message.tag)
            size = struct.pack("<q", message.size)
            called = struct.pack("<2i", -1, -1) if message.wildcard and rank == 1 else peer_and_tag
            words = struct.pack("<Q", 1) + called + size + (peer_and_tag + size if rank == 1 else b"")
            now += message.computed_ns
            call = SEND if rank == 0 else RECV
            records += struct.pack("<IHHqq", len(words) // 8, call, 0, now, now + 100) + words
            now += 100
        (folder / f"rank-{rank:07}.iwtrace").write_bytes(with_header(rank, 2, "node1", records, now))
    (folder / "trace.json").write_text(json.dumps({"format": 1, "command": ["./send"], "host": "node1"}))
    return folder


def write_threads(folder: Path, *, threads: int, steps: int, step_ns: int, wait_ns: int) -> Path:
    """The folder of a run of one rank whose threads each send to no one at the end of each step. In each step from its
    first call on a thread waits for a core, so long."""
    folder.mkdir(parents=True)
    records = struct.pack("<IHHqq", 0, INIT, 1, 1000, 1000)
    for step in range(1, steps + 1):
        now = 1000 + step * step_ns
        for thread in range(threads):
            before = now if thread else now - step_ns
            records += struct.pack("<IHHqqQ", 1, THREAD, 0, before, before, thread)
            if thread == 0 or step > 1:
                records += struct.pack("<IHHqqqqq", 3, CORE_WAIT, 0, before, before, wait_ns, 0, 0)
            records += struct.pack("<IHHqqQ2iq", 3, SEND, 0, now, now, 1, -2, -1, 8)
    (folder / "rank-0000000.iwtrace").write_bytes(with_header(0, 1, "node1", records, 1000 + steps * step_ns))
    return folder


def _reductions(gap_ns: int, waits: Sequence[tuple[int, int]]) -> tuple[bytes, int]:
    """The records of a rank, and when it calls MPI_Finalize."""
    records, now = struct.pack("<IHHqq", 0, INIT, 1, 1000, 1000) if waits else b"", 1000
    for i in range(3):
        words = struct.pack("<Q2i2q", 1, -3, 0, 64, 64)
        begin, end = now + gap_ns, now + gap_ns + 700
        if waits:
            records += struct.pack("<IHHqqqqq", 3, CORE_WAIT, 0, now, now, *waits[i], 100)
        records += struct.pack("<IHHqq", 4, ALLREDUCE, 0, begin, end) + words
        now = end
    return records, now + gap_ns


def with_header(
    rank: int,
    ranks: int,
    host: str,
    records: bytes,
    end: int,
    *,
    clock: Sequence[int] = (0, 0, 0, 0, 0, 0),
    record_cost_ps: int = 0,
    core: Core | None = None,
) -> bytes:
    """The file of a rank with plain records, which called MPI_Finalize at `end`. `clock`: its offset to rank 0's, the
    offset's error and when it held, at the beginning and at the end."""
    header = bytearray(HEADER_BYTES)
    struct.pack_into("<8s4IQ2q2I", header, 0, b"IDLEWTR1", 1, HEADER_BYTES, rank, ranks, 1, 1000, end, 1, 0)
    struct.pack_into("<6q2Q", header, 56, *clock, 0, record_cost_ps)
    if core is not None:
        struct.pack_into("<2Qq", header, 120, core.voluntary, core.involuntary, core.cpu_ns)
    struct.pack_into("<64s48s", header, 144, host.encode(), b"Some MPI 1.0")
    return bytes(header) + records
