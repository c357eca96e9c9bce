"""The programs that studies simulate: generated ones, by name, and schedules of one's own, at several numbers of
ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..algorithm_rules import AlgorithmRule
from ..errors import UsageError
from ..escaping import quote
from ..formatting import unknown_name
from ..jobs import Job, Operation
from ..machine import Machine
from ..pattern_options import PATTERNS, PatternOptions
from ..schedule import Schedule, algorithms

MACHINE = "odin"
"""The machine of studies of programs, if no other is named."""
GENERATED = ("allreduce", "halo3d", "sweep", "cg")
"""The programs of studies, if no others are named."""
RANKS = (64, 256, 1024)
"""The numbers of ranks of generated programs, if none are asked for."""
DOT_PRODUCT = 8
"""Bytes of the allreduce of a dot product."""


@dataclass(frozen=True)
class _Defaults:
    """What a generated program is like unless it is said otherwise."""

    bytes: int
    compute_ns: int
    iterations: int
    blocks: int = 1
    sweeps: int = 1


_COLLECTIVE = _Defaults(8, 0, 20)
_HALO = _Defaults(8192, 1_000_000, 10)
_DEFAULTS = {
    "barrier": _Defaults(0, 0, 20),
    "dissemination": _Defaults(1, 0, 20),
    "halo1d": _HALO,
    "halo2d": _HALO,
    "halo3d": _HALO,
    "cg": _HALO,
    "solver": _HALO,
    "sweep": _Defaults(12_000, 1_000_000, 1, blocks=10, sweeps=8),
    **dict.fromkeys(
        ("slabs_two_sided", "slabs_nonblocking", "slabs_put", "packed_slabs_put"), _Defaults(64, 1_000_000, 1, blocks=4)
    ),
}
NAMES = (*(name for name in PATTERNS if name not in ("ft", "compute")), "cg", "solver")
"""The generated programs: patterns repeated; cg, which exchanges the faces of a block with its six neighbours,
computes, and forms two dot products, as a conjugate gradient method does in each iteration; and solver, which exchanges
those of a 2D grid, computes, and forms one."""
APPLICATIONS = ("solver", "halo2d", "sweep")
"""The programs that compute among those of studies of noise, each as of `APPLICATION`."""


@dataclass(frozen=True)
class ProgramSettings:
    """What generated programs are like; None: as each of them is by default.

    `bytes` are those of a message or vector (not of the dot products of cg and solver), `compute_ns` the computation
    after each exchange of faces, block of a sweep or slab; `blocks` and `sweeps` are those of a sweep. Collectives
    compute nothing between their operations. `algorithms` chooses algorithms of collectives by name, `rules` those of
    the others.
    """

    bytes: int | None = None
    compute_ns: int | None = None
    iterations: int | None = None
    reduction_cost: float = 0.0
    algorithms: Mapping[str, str] = field(default_factory=dict)
    rules: tuple[AlgorithmRule, ...] = ()
    blocks: int | None = None
    sweeps: int | None = None


APPLICATION = ProgramSettings(bytes=8192, compute_ns=1_000_000, iterations=5)
SWEEP = replace(APPLICATION, compute_ns=50_000, blocks=5, sweeps=4)
"""A sweep among APPLICATIONS: a rank computes as much in an iteration as in one of the others."""


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


def programs_at(
    programs: Sequence[str | Schedule],
    ranks: Sequence[int] | None = None,
    settings: ProgramSettings | None = None,
    machine: Machine | None = None,
) -> list[Schedule]:
    """Each program at each number of ranks, in the order of the programs and then of the ranks.

    A name stands for a generated program (`NAMES`), whose collectives follow the rules of `machine` unless there are
    others. Without `ranks` a schedule keeps its own, else it is extrapolated. Raises UsageError, InputError.
    """
    if not programs:
        raise UsageError("expected at least one program")
    chosen = settings or ProgramSettings()
    if machine is not None and not chosen.rules:
        chosen = ProgramSettings(**{**vars(chosen), "rules": machine.algorithm_rules})
    found = []
    for program in programs:
        found += [_at(program, count, chosen) for count in ranks_of(program, ranks)]
    names = [(schedule.name, schedule.ranks) for schedule in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"expected each program once at each number of ranks, found {quote(twice[0])} twice")
    return found


def ranks_of(program: str | Schedule, ranks: Sequence[int] | None = None) -> list[int]:
    """The numbers of ranks of a program in a study that is asked for `ranks`, None: for none."""
    own = [program.ranks] if isinstance(program, Schedule) else RANKS
    return sorted(own if ranks is None else ranks)


def lacking_work(program: str | Schedule, settings: ProgramSettings | None = None) -> set[str]:
    """The kinds of a CPU's work, of calc and reduction, that a generated program has none of; of a schedule nothing is
    known."""
    if isinstance(program, Schedule):
        return set()
    lacking = set() if settings is not None and settings.reduction_cost else {"reduction"}
    return lacking if _DEFAULTS.get(program, _COLLECTIVE).compute_ns else {"calc", *lacking}


def generated(name: str, ranks: int, settings: ProgramSettings | None = None) -> Schedule:
    """The generated program of that name. Raises UsageError for another name."""
    if name not in NAMES:
        raise UsageError(unknown_name("program", name, NAMES))
    chosen = settings or ProgramSettings()
    defaults = _DEFAULTS.get(name, _COLLECTIVE)
    size = defaults.bytes if chosen.bytes is None else chosen.bytes
    compute = defaults.compute_ns if chosen.compute_ns is None else chosen.compute_ns
    iterations = defaults.iterations if chosen.iterations is None else chosen.iterations
    blocks = defaults.blocks if chosen.blocks is None else chosen.blocks
    sweeps = defaults.sweeps if chosen.sweeps is None else chosen.sweeps
    options = PatternOptions(compute_ns=compute, blocks=blocks, sweeps=sweeps)

    def operation(pattern: str, volume: int, times: int = 1) -> Operation:
        algorithm = chosen.algorithms.get(pattern, "")
        return Operation(
            pattern,
            bytes=volume,
            algorithm=algorithm,
            reduction_cost=chosen.reduction_cost,
            times=times,
            options=options,
        )

    if name == "cg":
        operations = [operation("halo3d", size), operation("allreduce", DOT_PRODUCT, times=2)]
    elif name == "solver":
        operations = [operation("halo2d", size), operation("allreduce", DOT_PRODUCT)]
    else:
        operations = [operation(name, size)]
    return Schedule.compose([Job(ranks, operations, repetitions=iterations)], name=name, rules=chosen.rules)


def _at(program: str | Schedule, ranks: int, settings: ProgramSettings) -> Schedule:
    if isinstance(program, str):
        return generated(program, ranks, settings)
    return program if program.ranks == ranks else program.extrapolate(ranks)


def collective(name: str, ranks: int, size: int, times: int = 1, rules: Sequence[AlgorithmRule] = ()) -> Program:
    """A collective, or COLLECTIVE=ALGORITHM, `times` times one after another. Raises UsageError for another name."""
    kind, _, algorithm = name.partition("=")
    known = [*dict.fromkeys(algorithms()["collective"]), "dissemination"]
    if kind not in known or kind not in PATTERNS:
        raise UsageError(unknown_name("program", kind, [*APPLICATIONS, *known]))
    operation = Operation(kind, bytes=size, algorithm=algorithm, times=times)
    schedule = Schedule.compose([Job(ranks, [operation])], name=name, rules=rules)
    return Program(name, ranks, size, times, schedule, is_collective=True)


def application(name: str, ranks: int, rules: Sequence[AlgorithmRule] = ()) -> Program:
    """One of APPLICATIONS, as of `APPLICATION`."""
    chosen = replace(SWEEP if name == "sweep" else APPLICATION, rules=tuple(rules))
    schedule = generated(name, ranks, chosen)
    return Program(name, ranks, chosen.bytes or 0, chosen.iterations or 1, schedule, is_collective=False)


def own_program(schedule: Schedule, ranks: int) -> Program:
    """One's own program, extrapolated if it has another number of ranks. Raises UsageError if it cannot be."""
    return Program(schedule.name, ranks, 0, 1, _at(schedule, ranks, ProgramSettings()), is_collective=False)


def program_named(name: str, ranks: int, size: int, operations: int, rules: Sequence[AlgorithmRule] = ()) -> Program:
    """An application or a collective of that name; `size` and `operations` are of a collective."""
    if name in APPLICATIONS:
        return application(name, ranks, rules)
    return collective(name, ranks, size, operations, rules)
