"""Recordings of the pairs probe, of networks whose levels and parameters are known."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
from idlewave.measure.network.job.pairs import SAMPLES


def planted(
    seed: int, shape: tuple[int, ...], latencies: tuple[float, ...], scatter: float, missing: float = 0.0
) -> np.ndarray:
    """Latencies (ns) of a tree: shape[0] ranks a group, shape[1] groups a group of the next level, …

    They scatter by `scatter` (lognormal); a part is missing, but for a chain of neighbours, as the probe's sample has.
    """
    random = np.random.default_rng(seed)
    ranks = np.arange(math.prod(shape))
    matrix = np.zeros((len(ranks), len(ranks)))
    for level in reversed(range(len(shape))):
        block = ranks // math.prod(shape[: level + 1])
        matrix[block[:, None] == block[None, :]] = latencies[level]
    noise = np.triu(np.exp(random.normal(0, scatter, matrix.shape)), 1)
    gone = np.triu(random.random(matrix.shape) < missing, 2)
    matrix *= noise + noise.T
    matrix[gone | gone.T] = np.nan
    return matrix


PARAMETERS = {"near": (150.0, 100.0, 180.0, 0.2), "far": (900.0, 250.0, 400.0, 0.5)}
"""L, o, g (ns) and G (ns a byte) within a node and beyond."""


def synthetic(seed: int, hosts: list[str], scatter: float = 0.01, n: int = 8) -> pd.DataFrame:
    """Samples as the probe writes them, of a network with PARAMETERS; both ranks are client in turn."""
    random = np.random.default_rng(seed)
    rows = []
    for one in range(len(hosts)):
        for other in range(one + 1, len(hosts)):
            L, o, g, G = PARAMETERS["near" if hosts[one] == hosts[other] else "far"]
            for visit in range(4):
                a, b = (one, other) if visit % 2 == 0 else (other, one)
                for _ in range(10):
                    for size in (1, 1024, 65536):
                        trip = 2 * (L + 2 * o + (size - 1) * G)
                        gap = max(g + (size - 1) * G, o)
                        values = {"rtt": (1, 0.0, trip), "train": (n, 0.0, trip + (n - 1) * gap)}
                        if size == 1:
                            values["paced"] = (n, 3 * trip, trip + (n - 1) * (o + 3 * trip))
                        for series, (messages, delay, value) in values.items():
                            # A paced train is as exact as its pauses, which are measured.
                            wrong = random.normal(0, scatter) if series != "paced" else 0.0
                            rows.append((a, b, size, series, messages, visit, delay, value * (1 + wrong), 0, 0))
    return pd.DataFrame(rows, columns=list(SAMPLES))


def recorded(folder: Path, samples: pd.DataFrame, hosts: list[str], **changes: object) -> Path:
    samples.to_csv(folder / "pairs.csv", index=False)
    said = {
        "probe": "pairs",
        "file": "pairs.csv",
        "ranks": [{"host": host, "cpu": 0, "pinned_by_probe": False} for host in hosts],
        "pairs": len(hosts) * (len(hosts) - 1) // 2,
        "interrupted": False,
    }
    (folder / "pairs.json").write_text(json.dumps(said | changes))
    return folder


HOSTS = ["x"] * 4 + ["y"] * 4
