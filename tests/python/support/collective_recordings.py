"""Recordings of the probe of collectives, whose times are known."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

COLUMNS = ["collective", "size", "repetitions", "elapsed_ns", "at_ns", "disturbed", "pilot_before_ns", "pilot_after_ns"]
BARRIERS = ["barrier_before_ns", "barrier_after_ns"]
NAMES = ["barrier", "bcast", "allreduce", "reduction"]
ITEMS = [(0, 0), (1, 8), (1, 4096), (2, 8), (2, 4096), (3, 8), (3, 4096)]
"""Collective and size of what was measured."""
SAMPLES = 9
PILOT_NS = 200


def time_ns(collective: int, size: int) -> int:
    """The median time of a call."""
    return 1000 + 100 * collective + size


def recorded(folder: Path, barriers_ns: Sequence[int] = (), **changes: object) -> None:
    """A recording of two ranks; `changes` of its summary. `barriers_ns`: how long barriers took in each round, of which
    all times are a multiple; earlier versions did not record them."""
    folder.mkdir(exist_ok=True, parents=True)
    rows = []
    for i in range(SAMPLES):
        slower = barriers_ns[i] // min(barriers_ns) if barriers_ns else 1
        speed = [PILOT_NS, PILOT_NS, *([barriers_ns[i]] * 2 if barriers_ns else [])]
        rows += [
            (which, size, 4, 4 * (slower * time_ns(which, size) + i - SAMPLES // 2), 10**6 * i, 0, *speed)
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
        "tables": {"samples": {"file": "collectives.i64", "columns": [*COLUMNS, *(BARRIERS if barriers_ns else [])]}},
    }
    (folder / "collectives.json").write_text(json.dumps(said | changes))
