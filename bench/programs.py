"""Schedules as real programs have them, and of a dissemination with noise, beside a bare loop; and what no peer could:
traced programs, their conversion, and continued to many ranks."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory

import idlewave
from kernel_runs import said_by
from peer import GENERAL_WORKS, IDLEWAVE, LARGE_GENERAL_WORKS, SEED, write_schedule
from rich.table import Table
from simulations import PERIODS, Work, fastest, machine_file, recording_arguments
from traces import write_sweep

CONVERSIONS = 5
RUNS = 10
TRACED = (5, 8, 75)
"""Rows, columns and iterations of the traced sweep: 40 ranks."""
COPIES, LARGE_COPIES = 70, 700
PATTERN = ["sweep", "--ranks", "28000", "--dims", "140x200", "--sweeps", "8", "--blocks"]
BLOCKS, LARGE_BLOCKS = 20, 100
DISSEMINATIONS = [Work("dissemination", 2**18, noise=noise) for noise in ("", *PERIODS)]
"""Without noise and with each share of it: what noise costs by general rules."""


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


def beside_loop(folder: Path, floors: Path, *, large: bool) -> Table:
    """Schedules beside bench/schedule_loop.cpp, without reading them. The folder has the machines."""
    table = Table("schedule", "ranks", "noise", "messages", "ns a message", "bare loop, ns", "over it", "same answer")
    for work in [*GENERAL_WORKS, *(LARGE_GENERAL_WORKS if large else []), *DISSEMINATIONS]:
        with TemporaryDirectory(dir=folder) as name:
            file = Path(name) / "schedule.bin"
            write_schedule(work, floors, file)
            schedule = idlewave.Schedule.load(file)
            machine = idlewave.Machine.load(folder / machine_file(work.noise))
            runs = [idlewave.simulate(schedule, machine) for _ in range(RUNS)]
            loop = fastest([floors / "schedule_loop", file, str(RUNS), *recording_arguments(folder, work.noise)])
        ours = min(run.seconds for run in runs) / runs[0].messages * 1e9
        table.add_row(
            work.pattern,
            f"{work.ranks:,}",
            work.noise or "none",
            f"{runs[0].messages:,}",
            f"{ours:.0f}",
            f"{loop.nanoseconds:.0f}",
            f"{ours / loop.nanoseconds:.1f} x",
            "yes" if loop.last == runs[0].max_finish else f"{runs[0].max_finish} and {loop.last} ps",
        )
    return table


def programs(folder: Path, floors: Path, *, large: bool) -> list[Table]:
    """All tables. The folder has the machines."""
    trace = folder / "traced-sweep"
    calls = write_sweep(trace, *TRACED, SEED)
    tables = [
        beside_loop(folder, floors, large=large),
        conversion(trace, calls),
        simulations(trace, folder / machine_file(""), large=large),
    ]
    for table in tables:
        for column in table.columns[1:]:
            column.justify = "right"
    return tables
