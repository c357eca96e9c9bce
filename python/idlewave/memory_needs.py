"""How much memory a run needs at least, in bytes.

These are lower bounds, for what they exceed is refused before it is tried: the size of what the core keeps of a rank or
LP whatever it does, without events under way, queues, and what the interpreter has. Where the structure's size depends
on the compiler, it is the slope of the peak between 400,000 and a million ranks that do nothing, less a margin.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

RANK = 80
"""A simulated rank's state (docs/speed.md); the slope is 88 with its finish time."""
FINISH = 8
"""A rank's finish time, in the answer."""
DIFFERENTIATED = 136
"""A rank's state, finish time and derivatives where few differ; the slope is 140 to 148."""
RECORDED = 200
"""A rank, of what is recorded whatever it does; the slope is 247 to 256."""
RECORDED_OP = 130
"""A recorded op: the core's OpRecord, of 136 bytes."""
LP = {"phold": 24, "epidemic": 56, "flood": 100}
"""The state of an LP of each model with its place in the scheduler; the slopes are 31, 63 and 109."""
EVENT = 16
"""An event of a model that waits."""


def simulation(ranks: int, processes: int = 1) -> int:
    """Of finish times, in one of so many processes: the first, which has all of them."""
    return RANK * (ranks // processes) + FINISH * ranks


def recorded(ranks: int, ops: int, most_bytes: int) -> int:
    """Of a recording of all that at least `ops` ops do, which ends with an error at `most_bytes` of rows."""
    return RECORDED * ranks + min(RECORDED_OP * ops, most_bytes)


def goal_text(ranks: int, ops: int) -> int:
    """Of GOAL text: once the core's, once Python's. A rank has at least "rank 0 {", "}" and ends of lines, and an op
    "l1: calc 1" and its end.
    """
    return 2 * (11 * ranks + 11 * ops)


def model(name: str, parameters: Mapping[str, Any], processes: int = 1) -> int:
    """Of a model's LPs with the events that they begin with, in one of so many processes."""
    if name == "phold":
        return int(parameters["lps"] * (LP[name] + EVENT * _started(parameters))) // processes
    if name == "epidemic":
        return int(parameters["persons"]) * LP[name] // processes
    return (int(parameters["routers"]) + int(parameters["hosts"])) * LP[name] // processes


def _started(parameters: Mapping[str, Any]) -> float:
    """Of PHOLD's events at the start of an LP, how many come before the end, on average: only these are kept."""
    left, mean = parameters["end"] - parameters["lookahead"], parameters["mean"]
    if left <= 0:
        return 0.0
    share = 1.0 if mean == 0 else -math.expm1(-left / mean)
    return 0.9 * share * float(parameters["start_events"])  # less what chance may do
