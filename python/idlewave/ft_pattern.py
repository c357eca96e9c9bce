"""NAS FT as a pattern: the transform of a domain that a grid of ranks shares, by each exchange of examples/ft."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2
from typing import NamedTuple

from .errors import UsageError
from .jobs import Job, Operation
from .pattern_options import PatternOptions


class Domain(NamedTuple):
    """A class of NAS FT: points in each dimension, and iterations."""

    nx: int
    ny: int
    nz: int
    iterations: int


FT_DOMAINS: dict[str, Domain] = {
    "S": Domain(64, 64, 64, 6),
    "W": Domain(128, 128, 32, 6),
    "A": Domain(256, 256, 128, 6),
    "B": Domain(512, 256, 256, 20),
    "C": Domain(512, 512, 512, 20),
    "D": Domain(2048, 1024, 1024, 25),
}
"""Bailey and others: The NAS Parallel Benchmarks, 1994, and version 3.3, of which class D is."""

POINT_BYTES = 16
"""A point is a complex number of double precision."""

CHECKSUM_BYTES = 24
"""A checksum has three integers of 64 bits (examples/ft)."""

EXCHANGES = ("alltoall", "packed-put", "two-sided", "ialltoall", "put")
"""The exchanges: first those of all slabs at once, then those of each slab as soon as it is computed."""

_CHECKSUM_POINTS = 1024


@dataclass(frozen=True)
class FtCosts:
    """What a rank computes: ns for each point and binary logarithm of a line's length, along x, y and z; and ns for
    each point in the evolution."""

    x: float = 1.0
    y: float = 1.0
    z: float = 1.0
    evolution: float = 1.0


@dataclass(frozen=True)
class FtShape:
    """A domain that TY x TZ ranks share: rank `z * TY + y` has rows of y and planes of z (as examples/ft).

    columns, rows, planes, lines: NX / TY, NY / TY, NZ / TZ and NY / TZ.
    """

    domain: Domain
    ty: int
    tz: int

    def __post_init__(self) -> None:
        nx, ny, nz, _ = self.domain
        for name, points, ranks in (("NX", nx, self.ty), ("NY", ny, self.ty), ("NZ", nz, self.tz), ("NY", ny, self.tz)):
            if points % ranks:
                raise UsageError(
                    f"a grid of {self.ty} x {self.tz} ranks: expected a divisor of {name} = {points}, found {ranks}"
                )

    @property
    def columns(self) -> int:
        """Columns of a rank after the first exchange."""
        return self.domain.nx // self.ty

    @property
    def rows(self) -> int:
        """Rows of a rank before the first exchange."""
        return self.domain.ny // self.ty

    @property
    def planes(self) -> int:
        """Planes of a rank before the second exchange."""
        return self.domain.nz // self.tz

    @property
    def lines(self) -> int:
        """The y's of a rank after the second exchange."""
        return self.domain.ny // self.tz

    @property
    def points(self) -> int:
        """Points of a rank."""
        return self.domain.nx * self.rows * self.planes

    @property
    def plane_bytes(self) -> int:
        """What a rank sends of a plane to each other rank of its plane team."""
        return POINT_BYTES * self.columns * self.rows

    @property
    def line_bytes(self) -> int:
        """What a rank sends of a y to each other rank of its row team; of a plane it sends as much for all its y's."""
        return POINT_BYTES * self.columns * self.planes


def ft_shape(problem: str, ranks: int, grid: Sequence[int] = ()) -> FtShape:
    """The shape of a class on so many ranks. Without a grid TY is the largest that fits and is at most TZ.

    Raises UsageError if the class cannot be shared so, and says why.
    """
    domain = FT_DOMAINS[problem]
    given = [number for number in grid if number]
    if given:
        if len(given) != 2 or given[0] * given[1] != ranks:
            raise UsageError(f"expected a grid TY, TZ of {ranks} ranks, found {', '.join(map(str, grid))}")
        return FtShape(domain, *given)
    for ty in sorted((t for t in range(1, ranks + 1) if ranks % t == 0 and t * t <= ranks), reverse=True):
        try:
            return FtShape(domain, ty, ranks // ty)
        except UsageError:
            continue
    raise UsageError(f"class {problem} of FT cannot be shared by {ranks} ranks: no TY and TZ divide its dimensions")


def ft_job(shape: FtShape, exchange: str, iterations: int, costs: FtCosts) -> Job:
    """FT of so many iterations (0: those of the class): the transform of the initial values, and in each iteration the
    evolution, the inverse transform and the checksum."""
    operations = _forward(shape, exchange, costs)
    for _ in range(iterations or shape.domain.iterations):
        operations += _iteration(shape, exchange, costs)
    return Job(shape.ty * shape.tz, operations)


def ft_iterations_job(shape: FtShape, exchange: str, costs: FtCosts, iterations: int = 1) -> Job:
    """Iterations of FT by themselves, of which all ranks begin the first at the same time."""
    return Job(shape.ty * shape.tz, iterations * _iteration(shape, exchange, costs))


def ft_computation_ns(job: Job) -> int:
    """What a rank of FT computes, ns."""
    by_slab = _BY_SLAB.values()
    once: int = sum(o.options.compute_ns for o in job.operations if o.name == "compute")
    slabs: int = sum(o.options.blocks * o.options.compute_ns for o in job.operations if o.name in by_slab)
    return once + slabs


def ft_bytes(shape: FtShape) -> int:
    """What a rank sends to others in the two exchanges of a transform, bytes."""
    return shape.lines * shape.line_bytes * (shape.tz - 1) + shape.planes * shape.plane_bytes * (shape.ty - 1)


def _transform(lines: int, length: int, cost: float) -> float:
    """The time of the transforms of `lines` lines, in ns."""
    return lines * length * log2(length) * cost


def _forward(shape: FtShape, exchange: str, costs: FtCosts) -> list[Operation]:
    domain = shape.domain
    row_bytes = shape.line_bytes // shape.planes * shape.lines  # of a plane to a rank of the row team
    return [
        *_exchange(
            exchange,
            _Team("blocks", shape.ty, shape.ty),
            shape.planes,
            shape.plane_bytes,
            _transform(shape.rows, domain.nx, costs.x),
        ),
        *_exchange(
            exchange,
            _Team("strided", shape.ty, shape.tz),
            shape.planes,
            row_bytes,
            _transform(shape.columns, domain.ny, costs.y),
        ),
        _compute(_transform(shape.columns * shape.lines, domain.nz, costs.z)),
    ]


def _iteration(shape: FtShape, exchange: str, costs: FtCosts) -> list[Operation]:
    domain = shape.domain
    evolution = costs.evolution * shape.columns * domain.nz
    return [
        *_exchange(
            exchange,
            _Team("strided", shape.ty, shape.tz),
            shape.lines,
            shape.line_bytes,
            _transform(shape.columns, domain.nz, costs.z) + evolution,
        ),
        *_exchange(
            exchange,
            _Team("blocks", shape.ty, shape.ty),
            shape.planes,
            shape.plane_bytes,
            _transform(shape.columns, domain.ny, costs.y),
        ),
        _compute(
            _transform(shape.rows * shape.planes, domain.nx, costs.x)
            + costs.evolution * min(_CHECKSUM_POINTS / (shape.ty * shape.tz), shape.points)
        ),
        Operation("reduce", bytes=CHECKSUM_BYTES),
    ]


class _Team(NamedTuple):
    """The ranks that exchange slabs: as `Operation.group` says, and how many they are."""

    group: str
    group_size: int
    members: int

    def operation(self, name: str, size: int = 0, options: PatternOptions | None = None) -> Operation:
        """An operation of the team."""
        own = options or PatternOptions()
        return Operation(name, bytes=size, group=self.group, group_size=self.group_size, options=own)


def _compute(ns: float) -> Operation:
    return Operation("compute", options=PatternOptions(compute_ns=round(ns)))


_BY_SLAB = {
    "two-sided": "slabs_two_sided",
    "ialltoall": "slabs_nonblocking",
    "put": "slabs_put",
    "packed-put": "packed_slabs_put",
}


def _exchange(exchange: str, team: _Team, slabs: int, size: int, slab_ns: float) -> list[Operation]:
    """Slabs are computed and exchanged in a team, `size` bytes of each with every other rank."""
    if team.members == 1:
        return [_compute(slabs * slab_ns)]
    if exchange == "alltoall":
        return [_compute(slabs * slab_ns), team.operation("alltoall", slabs * size)]
    done = [team.operation(_BY_SLAB[exchange], size, PatternOptions(blocks=slabs, compute_ns=round(slab_ns)))]
    if exchange in ("put", "packed-put"):
        done.append(team.operation("barrier"))  # which tells the team that all has arrived
    return done
