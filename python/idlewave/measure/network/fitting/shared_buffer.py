"""The parameters of messages through a buffer that the ranks of a node share, from the times of collectives.

An MPI library may leave its messages out where all ranks of a collective are on one node: MPICH's release-gather
collectives write and read flags and data in common memory. A flag takes a latency L until another rank sees it, and
who takes data out of the buffer copies each byte, which takes O_r. What a rank copies into the buffer is part of the
costs of the call.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from ....algorithm_rules import AlgorithmRule
from ....formatting import plain_time
from ....jobs import Operation
from ....machine import Level, Machine, Parameters
from ....units import parse_cost
from .collective_times import NS, Array, call_times

THROUGH_BUFFER = "release_gather"
"""The algorithm of each collective that has one."""
BUFFER_PARAMETERS = 2
"""L and O_r."""
_FLAGS = ("barrier", "allreduce")
"""Collectives in which a rank waits for flags alone, as long as they are small."""
_SMALL = 256
"""Bytes whose copies take no time beside the flags."""
_LARGE = 4096
"""Bytes from which on copies take more time than flags."""
_NOTHING = Parameters(L=0, o_s=0, o_r=0, g=0)


def flags_of(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of calls in which a rank waits for flags alone."""
    return table[table["collective"].isin(_FLAGS) & (table["size"] <= _SMALL)]


def buffer_of(table: pd.DataFrame, ranks: int) -> Level:
    """The parameters with which no collective is faster than its messages through the buffer: costs of calls come on
    top of these.

    `table`: see `CollectiveMeasurement.table`; it has rows of `flags_of`.
    """
    L = int(_least(flags_of(table), replace(_NOTHING, L=1000), ranks) * 1000)
    waiting = replace(_NOTHING, L=L)
    large = table[(table["collective"] == "bcast") & (table["size"] >= _LARGE)]
    if large.empty:
        return Level(waiting)
    without = _times(large, waiting, ranks)
    copying = large.assign(median_ps=(large["median_ps"] - without).clip(lower=0))
    per_byte = _least(copying, replace(_NOTHING, O_r=1.0), ranks)
    return Level(replace(waiting, O_r=parse_cost(f"{per_byte / NS:.6g}ns")))


def buffer_note(buffer: Level) -> str:
    """The sentence about a buffer that was found."""
    p = buffer.parameters
    copies = f", and copies a byte in {plain_time(p.O_r)}" if p.O_r else ""
    return (
        "Some collectives pass through a buffer that the ranks of a node share, not through messages: another rank "
        f"sees a flag after {plain_time(p.L)}{copies}."
    )


def _least(table: pd.DataFrame, unit: Parameters, ranks: int) -> float:
    """How often the parameters `unit` fit into the measured times at most."""
    return float(np.min(table["median_ps"].to_numpy() / _times(table, unit, ranks)))


def _times(table: pd.DataFrame, parameters: Parameters, ranks: int) -> Array:
    """What the collectives would take through a buffer with these parameters alone, ps."""
    operations = [
        Operation(str(name), bytes=int(size), algorithm=THROUGH_BUFFER)
        for name, size in zip(table["collective"], table["size"], strict=True)
    ]
    machine = Machine("buffer", Level(_NOTHING), shared_buffer=Level(parameters))
    barrier = [AlgorithmRule("barrier", THROUGH_BUFFER)]
    return call_times(operations, machine, ranks, barrier)
