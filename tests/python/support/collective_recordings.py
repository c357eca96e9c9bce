"""Recordings of the probe of collectives, whose times are known."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

COLUMNS = ["collective", "size", "repetitions", "elapsed_ns", "at_ns", "disturbed", "pilot_before_ns", "pilot_after_ns"]
NAMES = ["barrier", "bcast", "allreduce", "reduction"]
ITEMS = [(0, 0), (1, 8), (1, 4096), (2, 8), (2, 4096), (3, 8), (3, 4096)]
"""Collective and size of what was measured."""
SAMPLES = 9
PILOT_NS = 200


def time_ns(collective: int, size: int) -> int:
    """The median time of a call."""
    return 1000 + 100 * collective + size


def recorded(folder: Path, **changes: object) -> None:
    """A recording of two ranks; `changes` of its summary."""
    folder.mkdir(exist_ok=True, parents=True)
    rows = [
        (which, size, 4, 4 * (time_ns(which, size) + i - SAMPLES // 2), 10**6 * i, 0, PILOT_NS, PILOT_NS)
        for i in range(SAMPLES)
        for which, size in ITEMS
    ]
    np.array(rows, dtype="<i8").tofile(folder / "collectives.i64")
    said = {
        "probe": "collectives",
        "ranks": [{"host": "a", "cpu": 0}, {"host": "a", "cpu": 1}],
        "collectives": NAMES,
        "before_barrier": ["bcast", "reduce", "gather", "scatter"],
        "control_variables": [{"name": "coll_tuned_allreduce_algorithm", "value": "ignore"}],
        "interrupted": False,
        "tables": {"samples": {"file": "collectives.i64", "columns": COLUMNS}},
    }
    (folder / "collectives.json").write_text(json.dumps(said | changes))
