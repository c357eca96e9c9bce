"""The recordings of many nodes, or of a node's cores, in one table, with the outliers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...errors import InputError
from .compare import expected_maximum, noise_figures, window_losses
from .noise_recording import Detours

THRESHOLD = 3.5
"""Robust distance from the median above which one is an outlier (B. Iglewicz, D. Hoaglin, 1993)."""

LEAST_RATIO = 1.2
"""An outlier is at least so many times the median: if all are nearly equal, a tiny difference is no outlier."""

FEWEST = 4
"""With fewer there is no outlier: their median is not meaningful."""

WINDOW_PS = 10**9
RANKS = 1000
QUANTITIES = ("overhead", "p999_ps", "longest_ps", "maximum_ps")


def rank_nodes(cores: Sequence[Detours]) -> pd.DataFrame:
    """A row a node, the noisiest first: node, cores, and the columns of `ranking`."""
    groups: dict[str, list[Detours]] = {}
    for core in cores:
        groups.setdefault(core.node, []).append(core)
    table = ranking(groups, "node")
    table.insert(1, "cores", [len(groups[node]) for node in table["node"]])
    return table


def rank_cores(cores: Sequence[Detours]) -> pd.DataFrame:
    """A row a core of one node, the noisiest first: core, and the columns of `ranking`.

    Raises InputError if a core occurs twice.
    """
    groups = {str(core.core): [core] for core in cores}
    if len(groups) < len(cores):
        raise InputError(f"expected {len(cores)} different cores of one node, found {len(groups)}")
    return ranking(groups, "core")


def ranking(groups: Mapping[str, Sequence[Detours]], name: str) -> pd.DataFrame:
    """One row a group: `name`, seconds, overhead, p999_ps, longest_ps, maximum_ps, outlier.

    `maximum_ps`: the expected largest loss of 1000 ranks like this one in a window of 1 ms. The groups are ranked by
    it, and then by overhead. `outlier`: the quantities, separated by blanks, in which the group is one (`outliers`).
    """
    rows = []
    for group, cores in groups.items():
        figures = noise_figures(cores)
        losses = window_losses(cores, WINDOW_PS)
        maximum = float(expected_maximum(losses, [RANKS])[0]) if len(losses) else 0.0
        seconds = sum(core.duration for core in cores) * 1e-12
        rows.append((group, seconds, figures["overhead"], figures["p999_ps"], figures["longest_ps"], maximum))
    table = pd.DataFrame(rows, columns=[name, "seconds", *QUANTITIES])
    flags = {quantity: outliers(table[quantity].to_numpy(dtype=float)) for quantity in QUANTITIES}
    table["outlier"] = [" ".join(q.removesuffix("_ps") for q in QUANTITIES if flags[q][i]) for i in range(len(table))]
    return table.sort_values(["maximum_ps", "overhead"], ascending=False, ignore_index=True)


def outliers(values: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Which of `values` (not negative) are far above the others.

    The logarithm x has 0.6745 (x - median) / MAD > 3.5, and the value is at least 1.2 times the median. If the MAD is
    0, the mean absolute deviation over 0.7979 takes its place (Iglewicz and Hoaglin). Fewer than four have no outliers.
    """
    if len(values) < FEWEST:
        return np.zeros(len(values), dtype=bool)
    positive = values[values > 0]
    least = float(positive.min()) if len(positive) else 1.0
    x = np.log(np.maximum(values, least / 2))
    off = x - np.median(x)
    deviation = float(np.median(np.abs(off))) / 0.6745
    if deviation == 0:
        deviation = float(np.abs(off).mean()) / 0.7979
    if deviation == 0:
        return np.zeros(len(values), dtype=bool)
    far: npt.NDArray[np.bool_] = (off / deviation > THRESHOLD) & (off > np.log(LEAST_RATIO))
    return far
