"""Recordings of the probe of patterns, whose times are known."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from idlewave.machine import Level, Machine, Parameters, Segment
from idlewave.measure.network.fitting.pattern_times import AFTER, PATTERNS, PatternItem, PatternPrograms
from idlewave.measure.network.job.patterns import PatternMeasurement, read_patterns

COLUMNS = [
    *("pattern", "window", "size", "repetitions", "delay_ns", "elapsed_ns", "at_ns", "disturbed"),
    *("pilot_before_ns", "pilot_after_ns"),
]
REFERENCES = ["reference_before_ns", "reference_after_ns"]
"""Columns that earlier versions did not record."""
ITEMS = [(0, 1, 1), (0, 1, 4096), (1, 1, 1), (1, 16, 4096), (3, 16, 4096)]
"""Pattern, window and size of what was measured."""
SAMPLES = 9

SMALL = Parameters(L=400_000, o_s=60_000, o_r=150_000, g=90_000, G=80.0, O_s=70.0, O_r=90.0, c=0)
ONE_COPY = Parameters(L=300_000, o_s=100_000, o_r=900_000, g=50_000, G=60.0, O_s=0.0, O_r=65.0, c=2_500_000)
SIZES = (1, 64, 512, 1024, 2047, 2048, 4096, 16384, 65536)
TWO_PROTOCOLS = Machine("two protocols", Level(SMALL, (Segment(2048, ONE_COPY),)))


def time_ns(pattern: int, window: int, size: int) -> int:
    """The median time of a repetition."""
    return 1000 + 100 * pattern * window + size


def write(folder: Path, rows: npt.ArrayLike, **changes: object) -> None:
    """A recording with these rows."""
    folder.mkdir(exist_ok=True, parents=True)
    table = np.array(rows, dtype="<i8")
    table.tofile(folder / "patterns.i64")
    said = {
        "probe": "patterns",
        "ranks": [{"host": "a"}, {"host": "b"}],
        "patterns": list(PATTERNS),
        "interrupted": False,
        "tables": {"samples": {"file": "patterns.i64", "columns": [*COLUMNS, *REFERENCES][: table.shape[1]]}},
    }
    (folder / "patterns.json").write_text(json.dumps(said | changes))


def recorded(folder: Path, **changes: object) -> None:
    rows = [
        (pattern, window, size, 4, 0, 4 * (time_ns(pattern, window, size) + i - SAMPLES // 2), 10**6 * i, 0, 200, 200)
        for i in range(SAMPLES)
        for pattern, window, size in ITEMS
    ]
    write(folder, rows, **changes)


def items(sizes: Sequence[int], late_ns: int = 0) -> list[PatternItem]:
    """The items that the probe measures at these sizes."""
    found = []
    for size in sizes:
        found += [PatternItem(name, 1, size) for name in ("ping-pong", "posted in advance", "cold buffers")]
        for window in (1, 4, 16, 64):
            found += [PatternItem("stream", window, size), PatternItem("both ways", window, size)]
            if window in (4, 16):
                found.append(PatternItem("blocking stream", window, size))
            if window <= 4 and late_ns:
                found.append(PatternItem("late receivers", window, size, late_ns))
    return found


COMPUTED_NS = (10_000, 50_000, 250_000, 1_000_000, 3_000_000, 10_000_000)
"""How long ranks compute before the exchanges after computations."""


def items_after(sizes: Sequence[int]) -> list[PatternItem]:
    """Exchanges after computations, as the probe measures them."""
    return [PatternItem(AFTER, 1, size, computed) for size in sizes for computed in COMPUTED_NS]


def rows_of(
    measured: Sequence[PatternItem],
    machine: Machine,
    pilot_ns: int,
    random: np.random.Generator,
    scatter: float = 0.01,
    reference_ns: int | None = None,
) -> list[tuple[int, ...]]:
    """Samples of a machine that does what the simulator says, with a scatter. `reference_ns`: of the computation beside
    them, None as earlier versions recorded them."""
    times = PatternPrograms(measured).times(machine) / 1000
    rows = []
    for i in range(SAMPLES):
        for item, time in zip(measured, times, strict=True):
            pilots = [round(pilot_ns * random.normal(1, 0.01)) for _ in range(2)]
            elapsed = round(64 * time * random.normal(1, scatter))
            key = (PATTERNS.index(item.pattern), item.window, item.size)
            references = [] if reference_ns is None else [reference_ns, reference_ns]
            rows.append((*key, 64, item.delay_ns, elapsed, 10**6 * i, 0, *pilots, *references))
    return rows


def measured(folder: Path, machines: list[tuple[Machine, int]], seed: int = 1) -> PatternMeasurement:
    """A measurement with an epoch on each machine, and its pilot in ns."""
    random = np.random.default_rng(seed)
    for epoch, (machine, pilot_ns) in enumerate(machines, 1):
        write(folder / f"epoch-{epoch}", rows_of(items(SIZES, late_ns=5_000), machine, pilot_ns, random))
    return read_patterns(folder)
