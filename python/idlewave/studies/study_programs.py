"""The programs that studies of noise simulate: collectives, small applications, and one's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..algorithm_rules import AlgorithmRule
from ..errors import UsageError
from ..formatting import unknown_name
from ..jobs import Job, Operation
from ..pattern_options import PATTERNS, PatternOptions
from ..schedule import Schedule, algorithms

APPLICATIONS = {
    "solver": "computes, exchanges halos of a 2D grid, and ends each iteration with an allreduce of 8 B",
    "halo2d": "computes, and exchanges halos of a 2D grid",
    "sweep": "computes block by block in sweeps through a 2D grid, from each corner once an iteration",
}
COMPUTE_NS = 1_000_000
"""What a rank of an application computes in an iteration."""
HALO_BYTES = 8192
ITERATIONS = 5
_BLOCKS, _SWEEPS = 5, 4


@dataclass(frozen=True)
class Program:
    """A program on so many ranks, which consists of `steps` equal steps.

    `is_collective`: it is one operation after another, without computation.
    """

    name: str
    ranks: int
    bytes: int
    steps: int
    schedule: Schedule
    is_collective: bool


def collective(name: str, ranks: int, size: int, times: int = 1, rules: Sequence[AlgorithmRule] = ()) -> Program:
    """A collective, or COLLECTIVE=ALGORITHM, `times` times one after another. Raises UsageError for another name."""
    kind, _, algorithm = name.partition("=")
    known = [*dict.fromkeys(algorithms()["collective"]), "dissemination"]
    if kind not in known or kind not in PATTERNS:
        raise UsageError(unknown_name("program", kind, [*APPLICATIONS, *known]))
    operation = Operation(kind, bytes=size, algorithm=algorithm, times=times)
    schedule = Schedule.compose([Job(ranks, [operation])], name=name, rules=rules)
    return Program(name, ranks, size, times, schedule, is_collective=True)


def application(
    name: str,
    ranks: int,
    compute_ns: int = COMPUTE_NS,
    iterations: int = ITERATIONS,
    rules: Sequence[AlgorithmRule] = (),
) -> Program:
    """One of APPLICATIONS."""
    in_blocks = compute_ns // (_BLOCKS * _SWEEPS)
    halo = Operation("halo2d", bytes=HALO_BYTES, options=PatternOptions(compute_ns=compute_ns))
    through = PatternOptions(compute_ns=in_blocks, blocks=_BLOCKS, sweeps=_SWEEPS)
    operations = {
        "solver": [halo, Operation("allreduce", bytes=8)],
        "halo2d": [halo],
        "sweep": [Operation("sweep", bytes=HALO_BYTES, options=through)],
    }[name]
    schedule = Schedule.compose([Job(ranks, operations, repetitions=iterations)], name=name, rules=rules)
    return Program(name, ranks, HALO_BYTES, iterations, schedule, is_collective=False)


def own_program(schedule: Schedule, ranks: int) -> Program:
    """One's own program, extrapolated if it has another number of ranks. Raises UsageError if it cannot be."""
    program = schedule if ranks == schedule.ranks else schedule.extrapolate(ranks)
    return Program(schedule.name, ranks, 0, 1, program, is_collective=False)


def program_named(
    name: str,
    ranks: int,
    size: int,
    operations: int,
    compute_ns: int,
    iterations: int,
    rules: Sequence[AlgorithmRule] = (),
) -> Program:
    """An application or a collective of that name; `size` and `operations` are of a collective."""
    if name in APPLICATIONS:
        return application(name, ranks, compute_ns, iterations, rules)
    return collective(name, ranks, size, operations, rules)
