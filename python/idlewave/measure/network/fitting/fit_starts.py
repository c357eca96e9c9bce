"""Places where the fit of a piece begins, from single patterns.

A stream may be limited by the receiver's CPU, the sender's, or the NIC; and each may be so for a message or for its
further bytes.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from .observations import Array
from .piece_fit import NAMES

LIMITS = ("receiver", "sender", "NIC")
"""What may limit a stream."""


def fit_starts(table: pd.DataFrame) -> list[Array]:
    """Places to begin, parameters by NAMES, for the rows of a piece (KEYS and median_ps)."""
    way, stream, both, blocking = (
        _line(table, pattern) for pattern in ("ping-pong", "stream", "both ways", "blocking stream")
    )
    found = []
    for limit in LIMITS:
        o_s, o_r = _ends(limit, stream[0], both[0])
        for bytes_limit in (limit, "receiver") if limit != "receiver" else (limit,):
            O_s, O_r = _ends(bytes_limit, stream[1], both[1])
            named = {
                "L": way[0] - o_s - o_r,
                "o_s": o_s,
                "o_r": o_r,
                "g": stream[0] if limit == "NIC" else 0.0,
                "G": stream[1],
                "O_s": O_s,
                "O_r": O_r,
                "c": blocking[0] - o_s,
                "o_p": 0.0,
            }
            found.append(np.maximum([named[name] for name in NAMES], 0.0))
    return found


def _line(table: pd.DataFrame, pattern: str) -> tuple[float, float]:
    """Time and cost per byte of a further message in a pattern: by its two widest windows that most sizes have, so that
    the answer's time is not in it; of one window, by its time. 0 without the pattern."""
    own = table[table["pattern"] == pattern]
    if own.empty:
        return 0.0, 0.0
    sizes, row = np.unique(own["size"].to_numpy(dtype=np.float64), return_inverse=True)
    windows, column = np.unique(own["window"].to_numpy(dtype=np.int64), return_inverse=True)
    times_of = np.full((len(sizes), len(windows)), np.nan)
    times_of[row, column] = own["median_ps"].to_numpy(dtype=np.float64)
    counts = np.isfinite(times_of).sum(axis=0)
    widest = np.flatnonzero(counts == counts.max())[-2:]
    known = np.isfinite(times_of[:, widest]).all(axis=1)
    if len(widest) == 2 and known.any():
        near, far = widest
        spans, messages = times_of[:, far] - times_of[:, near], int(windows[far] - windows[near])
    else:
        spans, messages = times_of[:, widest[-1]], 2 if pattern == "ping-pong" else int(windows[widest[-1]])
        known = np.isfinite(spans)
    sizes, times = sizes[known], np.maximum(spans[known] / messages, 1.0)
    if len(sizes) < 2:
        return float(times[0]), 0.0
    weighted = np.stack([np.ones(len(sizes)), sizes], axis=1) / times[:, None]
    line = np.linalg.lstsq(weighted, np.ones(len(sizes)), rcond=None)[0]
    return max(float(line[0]), 0.0), max(float(line[1]), 0.0)


def _ends(limit: str, stream: float, both: float) -> tuple[float, float]:
    """The costs at the sender and at the receiver, of which `both` is the sum, if `limit` makes a stream so slow."""
    if limit == "NIC":
        return both / 2, both / 2
    slower = min(stream, both)
    return (slower, both - slower) if limit == "sender" else (both - slower, slower)
