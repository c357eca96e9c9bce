"""The simulated times of collectives in loops as the probe has them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ....algorithm_rules import AlgorithmRule
from ....jobs import Job, Operation
from ....machine import Machine
from ....schedule import Schedule
from ....simulation import simulate

REDUCTION = "reduction"
"""What beside the collectives is measured: a reduction within a rank."""
NS = 1000.0
ROOTED = ("bcast", "reduce", "gather", "scatter")
"""Rank 0 is the root, and a barrier follows, as in the probe: nobody runs ahead of the others."""
BARRIER = "barrier"
FEW, MANY = 2, 6
"""Calls of two simulations: the difference leaves out what only the first ones have."""

Array = NDArray[np.float64]


def call_times(
    operations: Sequence[Operation], machine: Machine, ranks: int, rules: Iterable[AlgorithmRule] = ()
) -> Array:
    """The time of one call of each operation in a loop on a machine without noise, ps: of one with a root, that of the
    barrier which follows, too.

    The ranks are on as few nodes as they can be.
    """
    apart = -(-ranks // machine.node_ranks) * machine.node_ranks if machine.node else ranks
    ends = []
    for calls in (FEW, MANY):
        jobs = [
            Job(
                ranks,
                [operation, Operation(BARRIER)] if operation.name in ROOTED else [operation],
                repetitions=calls,
                first=i * apart,
            )
            for i, operation in enumerate(operations)
        ]
        ends.append(simulate(Schedule.compose(jobs, rules=tuple(rules)), machine).finish[::apart])
    return np.asarray((ends[1] - ends[0]) / (MANY - FEW), dtype=np.float64)


def reduction_cost_at(reductions: pd.DataFrame, size: int) -> float:
    """The measured cost of a reduction of `size` bytes, ns per byte; 0 if none was measured."""
    if reductions.empty or size == 0:
        return 0.0
    time = np.interp(size, reductions["size"], reductions["median_ps"])
    return float(time) / NS / size
