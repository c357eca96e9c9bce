"""What people simulate, without a peer that could: traced programs, their conversion, and continued to many ranks."""

from __future__ import annotations

import time
from pathlib import Path

import idlewave
from kernel_runs import said_by
from peer import IDLEWAVE, SEED
from rich.table import Table
from traces import write_sweep

CONVERSIONS = 5
TRACED = (5, 8, 75)
"""Rows, columns and iterations of the traced sweep: 40 ranks."""
COPIES, LARGE_COPIES = 70, 700
PATTERN = ["sweep", "--ranks", "28000", "--dims", "140x200", "--sweeps", "8", "--blocks"]
BLOCKS, LARGE_BLOCKS = 20, 100


def conversion(trace: Path, calls: int) -> Table:
    """What a call of a trace takes until its program is in memory."""
    table = Table("trace to program", "calls", "reading, ns a call", "conversion, ns a call")
    reading, converting = [], []
    for _ in range(CONVERSIONS):
        begin = time.perf_counter()
        read = idlewave.Trace.load(trace)
        middle = time.perf_counter()
        idlewave.Schedule.from_trace(read)
        reading.append(middle - begin)
        converting.append(time.perf_counter() - middle)
    table.add_row(
        "sweep of 40 ranks", f"{calls:,}", f"{min(reading) / calls * 1e9:.0f}", f"{min(converting) / calls * 1e9:.0f}"
    )
    return table


def simulations(trace: Path, machine: Path, *, large: bool) -> Table:
    """Programs on many ranks, on one thread and on two."""
    table = Table("program", "ranks", "threads", "messages", "seconds", "ns a message", "MiB")
    rows, columns, _ = TRACED
    ranks = rows * columns * (LARGE_COPIES if large else COPIES)
    works = {
        "traced sweep, continued": [str(trace), "--ranks", str(ranks)],
        "pattern of a sweep": [*PATTERN, str(LARGE_BLOCKS if large else BLOCKS)],
    }
    for name, work in works.items():
        for threads in (1, 2):
            how = ["--scheduler", "yawns", "--threads", str(threads)] if threads > 1 else []
            said = said_by([IDLEWAVE, "simulate", *work, "--machine", machine, "--json", *how])
            seconds, messages = said["seconds"], said["messages"]
            table.add_row(
                name,
                work[work.index("--ranks") + 1],
                str(threads),
                f"{messages:,}",
                f"{seconds:.2f}",
                f"{seconds / messages * 1e9:.0f}",
                f"{said['peak_rss_bytes'] / 2**20:.0f}",
            )
    return table


def programs(folder: Path, machine: Path, *, large: bool) -> list[Table]:
    """All tables."""
    trace = folder / "traced-sweep"
    calls = write_sweep(trace, *TRACED, SEED)
    tables = [conversion(trace, calls), simulations(trace, machine, large=large)]
    for table in tables:
        for column in table.columns[1:]:
            column.justify = "right"
    return tables
