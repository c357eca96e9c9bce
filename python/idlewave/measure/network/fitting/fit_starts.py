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
    times_of = table[table["pattern"] == pattern].pivot_table(index="size", columns="window", values="median_ps")
    if times_of.empty:
        return 0.0, 0.0
    counts = times_of.notna().sum()
    widest = [int(window) for window in counts.index[counts == counts.max()]][-2:]
    known = times_of[widest].dropna()
    if len(widest) == 2 and len(known):
        spans, messages = known[widest[1]] - known[widest[0]], widest[1] - widest[0]
    else:
        spans, messages = times_of[widest[-1]].dropna(), 2 if pattern == "ping-pong" else widest[-1]
    sizes = spans.index.to_numpy(dtype=np.float64)
    times = np.maximum(spans.to_numpy(dtype=np.float64) / messages, 1.0)
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
