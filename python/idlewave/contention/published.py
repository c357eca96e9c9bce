"""What was published on network-induced memory contention, to stand beside what is measured: the talk of R. Grant, T.
Groves and others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from .features import SETS

TALK = {
    ("without", "time"): (-0.04, 0.941, 0.946, 0.930),
    ("with RDMA", "time"): (0.912, 0.959, 0.978, 0.925),
    ("without", "stalled"): (np.nan, 0.086, 0.030, 0.068),
    ("with RDMA", "stalled"): (np.nan, 0.870, 0.973, 0.997),
}
"""Table IV of the talk on network-induced memory contention: with stalled cycles, and misses of L1, L2, L3."""
TALK_COLUMNS = ("stalled cycles", "L1 misses", "L2 misses", "L3 misses")


def talk_scores() -> pd.DataFrame:
    """The out-of-bag scores of Grant, Groves and others, by application and feature set: forests on counters of nodes
    into which RDMA wrote."""
    rows: Sequence[tuple[str, float, float, float]] = (
        ("STREAM-DRAM", 1.000, 1.000, 0.995),
        ("STREAM-cache", 1.000, 1.000, 0.990),
        ("HPCCG", 0.998, 0.999, 0.999),
        ("CNS", 0.741, 0.747, 0.742),
        ("LAMMPS", 1.000, 1.000, 1.000),
    )
    return pd.DataFrame(rows, columns=["application", *SETS])


TALK_VICTIMS = {
    "stream": "STREAM-DRAM",
    "stream-cache": "STREAM-cache",
    "cg": "HPCCG",
    "stencil": "CNS",
    "lj": "LAMMPS",
}
"""The application of the talk that a victim is like."""
