"""Recordings of the clocks probe, of clocks whose line is known."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np


def synthetic(seed: int, *, slow_way: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray, float, float]:
    """Bursts of a clock with a known line: some are disturbed; messages of `slow_way` ns more in one direction."""
    random = np.random.default_rng(seed)
    at = np.sort(random.uniform(0, 10e9, 60)).astype(np.int64) + 10**15
    drift, offset = random.uniform(-50, 50), random.uniform(-1e9, 1e9)
    there, back = (1000 + random.exponential(40, 60) for _ in range(2))
    there += slow_way
    hit = random.random(60) < 0.2
    there[hit] += random.exponential(50_000, hit.sum())
    true = offset + drift * 1e-6 * (at - 10**15 - 5 * 10**9)
    found = np.round(true + (there - back) / 2).astype(np.int64)
    return at, found, np.ceil((there + back) / 2).astype(np.int64), offset, drift


def recorded(folder: Path, **changes: object) -> None:
    at, offset, error, _, _ = synthetic(3)
    columns = ["rank", "burst", "offset_ns", "error_ns", "at_ns", "exchanges", "shortest_ns", "disturbed"]
    n = len(at)
    rows = [np.ones(n), np.arange(n), offset, error, at, np.full(n, 15), 2 * error, np.zeros(n)]
    np.stack([row.astype("<i8") for row in rows], axis=1).tofile(folder / "clocks-bursts.i64")
    said = {
        "probe": "clocks",
        "ranks": [{"host": "a"}, {"host": "b"}],
        "interrupted": False,
        "tables": {"bursts": {"file": "clocks-bursts.i64", "columns": columns}},
    }
    (folder / "clocks.json").write_text(json.dumps(said | changes))
