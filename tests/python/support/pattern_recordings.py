"""Recordings of the probe of patterns, whose times are known."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from idlewave.measure.network.fitting.pattern_times import PATTERNS

COLUMNS = ["pattern", "window", "size", "repetitions", "elapsed_ns", "at_ns", "disturbed"]
ITEMS = [(0, 1, 1), (0, 1, 4096), (1, 1, 1), (1, 16, 4096), (2, 16, 4096)]
"""Pattern, window and size of what was measured."""
SAMPLES = 9


def time_ns(pattern: int, window: int, size: int) -> int:
    """The median time of a repetition."""
    return 1000 + 100 * pattern * window + size


def recorded(folder: Path, **changes: object) -> None:
    rows = [
        (pattern, window, size, 4, 4 * (time_ns(pattern, window, size) + i - SAMPLES // 2), 10**6 * i, 0)
        for i in range(SAMPLES)
        for pattern, window, size in ITEMS
    ]
    np.array(rows, dtype="<i8").tofile(folder / "patterns.i64")
    said = {
        "probe": "patterns",
        "ranks": [{"host": "a"}, {"host": "b"}],
        "patterns": list(PATTERNS),
        "interrupted": False,
        "tables": {"samples": {"file": "patterns.i64", "columns": COLUMNS}},
    }
    (folder / "patterns.json").write_text(json.dumps(said | changes))
