"""The programs that studies simulate: generated ones, by name, and schedules of one's own, at several numbers of
ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..algorithm_rules import AlgorithmRule
from ..errors import UsageError
from ..escaping import quote
from ..formatting import unknown_name
from ..jobs import Job, Operation
from ..machine import Machine
from ..pattern_options import PATTERNS, PatternOptions
from ..schedule import Schedule

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
    "sweep": _Defaults(12_000, 1_000_000, 1, blocks=10, sweeps=8),
    **dict.fromkeys(
        ("slabs_two_sided", "slabs_nonblocking", "slabs_put", "packed_slabs_put"), _Defaults(64, 1_000_000, 1, blocks=4)
    ),
}
NAMES = (*(name for name in PATTERNS if name not in ("ft", "compute")), "cg")
"""The generated programs: patterns repeated, and cg, which exchanges the faces of a block with its six neighbours,
computes, and forms two dot products, as a conjugate gradient method does in each iteration."""


@dataclass(frozen=True)
class ProgramSettings:
    """What generated programs are like; None: as each of them is by default.

    `bytes` are those of a message or vector (not of cg's dot products), `compute_ns` the computation after each
    exchange of faces, block of a sweep or slab. Collectives compute nothing between their operations. `algorithms`
    chooses algorithms of collectives by name, `rules` those of the others.
    """

    bytes: int | None = None
    compute_ns: int | None = None
    iterations: int | None = None
    reduction_cost: float = 0.0
    algorithms: Mapping[str, str] = field(default_factory=dict)
    rules: tuple[AlgorithmRule, ...] = ()


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
    options = PatternOptions(compute_ns=compute, blocks=defaults.blocks, sweeps=defaults.sweeps)

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
    else:
        operations = [operation(name, size)]
    return Schedule.compose([Job(ranks, operations, repetitions=iterations)], name=name, rules=chosen.rules)


def _at(program: str | Schedule, ranks: int, settings: ProgramSettings) -> Schedule:
    if isinstance(program, str):
        return generated(program, ranks, settings)
    return program if program.ranks == ranks else program.extrapolate(ranks)
