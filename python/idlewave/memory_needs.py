"""Lower bounds of the memory that a run needs, in bytes.

They must be lower bounds, because a run is refused if they exceed a limit. They count what the core keeps of a rank or
LP in any case, without pending events, queues, and the memory of the interpreter. If the size of a structure depends on
the compiler, the bound is the slope of the peak between 400,000 and a million idle ranks, less a margin.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

RANK = 80
"""The state of a simulated rank (docs/speed.md); the slope is 88 with its finish time."""
FINISH = 8
"""The finish time of a rank in the result."""
DIFFERENTIATED = 136
"""State, finish time and derivatives of a rank if few ranks differ; the slope is 140 to 148."""
RECORDED = 200
"""What is recorded of a rank in any case; the slope is 247 to 256."""
RECORDED_OP = 150
"""A recorded op: OpRecord of the core, of 160 bytes."""
LP = {"phold": 24, "epidemic": 56, "flood": 100}
"""The state of an LP of each model, with its entry in the scheduler; the slopes are 31, 63 and 109."""
EVENT = 16
"""A pending event of a model."""
CASE_OF_STUDY = 500
"""A simulation of a study on threads: the case and its row; 610 with CPython 3.11."""


def simulation(ranks: int, processes: int = 1) -> int:
    """A simulation of finish times in the first of so many processes, which gets all of them."""
    return RANK * (ranks // processes) + FINISH * ranks


def recorded(ranks: int, ops: int, most_bytes: int) -> int:
    """A recording of at least `ops` ops, which ends with an error at `most_bytes` of rows."""
    return RECORDED * ranks + min(RECORDED_OP * ops, most_bytes)


def study(cases: int) -> int:
    """A study of so many simulations, without what each of them needs while it runs."""
    return CASE_OF_STUDY * cases


def goal_text(ranks: int, ops: int) -> int:
    """GOAL text, once in the core and once in Python.

    A rank has at least "rank 0 {", "}" and ends of lines, an op has "l1: calc 1" and an end of line.
    """
    return 2 * (11 * ranks + 11 * ops)


def model(name: str, parameters: Mapping[str, Any], processes: int = 1) -> int:
    """The LPs of a model with their first events, in one of so many processes."""
    if name == "phold":
        return int(parameters["lps"] * (LP[name] + EVENT * _started(parameters))) // processes
    if name == "epidemic":
        return int(parameters["persons"]) * LP[name] // processes
    return (int(parameters["routers"]) + int(parameters["hosts"])) * LP[name] // processes


def _started(parameters: Mapping[str, Any]) -> float:
    """How many of PHOLD's first events of an LP come before the end, on average: only these are kept."""
    left, mean = parameters["end"] - parameters["lookahead"], parameters["mean"]
    if left <= 0:
        return 0.0
    share = 1.0 if mean == 0 else -math.expm1(-left / mean)
    return 0.9 * share * float(parameters["start_events"])  # less a margin for chance
