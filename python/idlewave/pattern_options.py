"""The patterns and their options.

Its annotations are types, not texts (no `from __future__ import annotations`), each of which would have to be compiled.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict, Unpack, get_args

from . import _core
from .errors import UsageError
from .field_methods import FieldMethods
from .noise_models import MOST_INTERRUPTS
from .parameters import Parameter, filled, parameters_of, takes
from .pattern_bounds import MOST_BYTES as MOST_BYTES
from .pattern_bounds import MOST_RANKS as MOST_RANKS

_SENTENCES = {name: sentence for name, sentence, _ in _core.patterns()}
_CALL, _SHAPE = _core.PatternCall(), _core.GridShape()

PATTERNS: dict[str, tuple[str, tuple[str, ...]]] = {
    "barrier": ("All ranks wait for each other.", ("ways",)),
    "bcast": ("The root's bytes go to all.", ("bytes", "root", "segment")),
    "reduce": ("All ranks' vectors are combined at the root.", ("bytes", "root", "segment", "reduction_cost")),
    "allreduce": ("All ranks' vectors are combined, and all get the result.", ("bytes", "reduction_cost")),
    "gather": ("The root gets a part of every rank.", ("bytes", "root", "send_counts", "recv_counts")),
    "scatter": ("Every rank gets a part of the root's.", ("bytes", "root", "send_counts", "recv_counts")),
    "allgather": ("Every rank gets a part of every rank.", ("bytes", "send_counts", "recv_counts")),
    "alltoall": ("Every rank sends a part to every rank.", ("bytes", "send_counts", "recv_counts")),
    "reduce_scatter": (
        "All ranks' vectors are combined, and each gets a part.",
        ("bytes", "send_counts", "recv_counts", "reduction_cost"),
    ),
    "scan": ("Each rank gets the combination of the ranks up to itself.", ("bytes", "reduction_cost")),
    "exscan": ("Each rank gets the combination of the ranks before it.", ("bytes", "reduction_cost")),
    "dissemination": ("The barrier of that name, with messages of any size.", ("bytes",)),
    "halo1d": (_SENTENCES["halo1d"], ("bytes", "dims", "face_bytes", "periodic", "compute_ns")),
    "halo2d": (_SENTENCES["halo2d"], ("bytes", "dims", "face_bytes", "periodic", "compute_ns")),
    "halo3d": (_SENTENCES["halo3d"], ("bytes", "dims", "face_bytes", "periodic", "compute_ns")),
    "sweep": (
        _SENTENCES["sweep"],
        ("bytes", "dims", "face_bytes", "compute_ns", "blocks", "sweeps"),
    ),
    "slabs_two_sided": (_SENTENCES["slabs_two_sided"], ("bytes", "blocks", "compute_ns")),
    "slabs_nonblocking": (_SENTENCES["slabs_nonblocking"], ("bytes", "blocks", "compute_ns")),
    "slabs_put": (_SENTENCES["slabs_put"], ("bytes", "blocks", "compute_ns")),
    "packed_slabs_put": (_SENTENCES["packed_slabs_put"], ("bytes", "blocks", "compute_ns")),
    "ft": (
        "NAS FT: a domain that a grid of ranks shares is transformed, by one of its exchanges.",
        ("problem", "exchange", "iterations", "dims", "transform_ns", "point_ns", "reduction_cost"),
    ),
    "compute": ("Every rank computes.", ("compute_ns",)),
}
"""For the name of each pattern: what it does, and its options beside ranks and the algorithm of a collective."""

RANKS = Parameter(None, "Number of ranks: of a pattern, or to which a trace is extrapolated", least=1, most=MOST_RANKS)


class ReductionParameters(TypedDict, total=False):
    """What a program's reductions cost."""

    reduction_cost: Annotated[
        float,
        Parameter(_CALL.reduction_cost, "Computation of a reduction", unit="ns per byte", least=0, most=1_000_000),
    ]


Wildcards = Literal["recorded", "keep"]
Gaps = Literal["own", "wall"]
ComputationTimes = Literal["recorded", "drawn"]


POINTS = "a number of calls of each rank (5000), a time since MPI_Init (12s), or a call of MPI_Pcontrol (pcontrol:1)"


class ConversionParameters(TypedDict, total=False):
    """How the calls of a trace become messages."""

    wildcards: Annotated[
        Wildcards,
        Parameter(
            "recorded",
            "Receives of a trace that name no source take the message that they took in the traced run, or the first "
            "with their tag that comes (keep)",
            choices=get_args(Wildcards),
        ),
    ]
    gaps: Annotated[
        Gaps,
        Parameter(
            "own",
            "Computations of a trace are the times between calls, without the waits for a core that another process "
            "had, or with them (wall)",
            choices=get_args(Gaps),
        ),
    ]
    computation_times: Annotated[
        ComputationTimes,
        Parameter(
            "recorded",
            "Each computation of a trace takes as long as it took, or as one of its call site on its rank that is "
            "drawn from those recorded (drawn)",
            choices=get_args(ComputationTimes),
        ),
    ]
    computation_seed: Annotated[
        int, Parameter(0, "Seed of drawn computations", least=0, most=2**64 - 1, metavar="SEED")
    ]
    scale_computation: Annotated[
        str,
        Parameter(
            "",
            "Factor by which computations of a trace take longer, as on another processor, and factors by phase or "
            "call site, separated by commas (0.5,level:2=0.25,SITE=1); `idlewave computation` lists them",
            metavar="FACTORS",
        ),
    ]
    interrupts: Annotated[
        float,
        Parameter(
            0.0,
            "Share of the time of a trace's computations that interrupts took, which is removed since the noise of the "
            "simulated machine adds it again",
            least=0,
            most=MOST_INTERRUPTS,
            metavar="SHARE",
        ),
    ]
    cut: Annotated[
        bool,
        Parameter(False, "Use a trace of a run that ended early, up to its last consistent point"),
    ]
    begin: Annotated[str, Parameter("", f"Leave out what the traced ranks did before this point: {POINTS}")]
    end: Annotated[str, Parameter("", "Leave out what they did after this one")]


class TraceParameters(ReductionParameters, ConversionParameters, total=False):
    """How a trace becomes a schedule."""


class OperationParameters(ReductionParameters, total=False):
    """The parameters of every operation of a pattern."""

    bytes: Annotated[
        int,
        Parameter(_CALL.bytes, "Size of the messages of a pattern", unit="bytes", least=0, most=MOST_BYTES),
    ]
    algorithm: Annotated[
        str,
        Parameter(
            "", "Algorithm of a collective (listed by `idlewave algorithms`)", default_text="the first of its list"
        ),
    ]


def _three(numbers: Sequence[int]) -> tuple[int, ...]:
    """The numbers of all three dimensions of the core's grid; missing ones are 0."""
    return (*numbers, 0, 0, 0)[:3]


class PatternParameters(TypedDict, total=False):
    """The parameters of some patterns only, with the defaults of the core."""

    root: Annotated[int, Parameter(_CALL.root, "Root of bcast, reduce, gather and scatter", least=0)]
    segment: Annotated[
        int,
        Parameter(
            _CALL.segment,
            "Size of a segment of a pipelined collective; 0: no segments",
            unit="bytes",
            least=0,
            most=MOST_BYTES,
        ),
    ]
    ways: Annotated[int, Parameter(_CALL.ways, "n of the algorithm nway_dissemination", least=1, most=2**20)]
    send_counts: Annotated[
        Sequence[int],
        Parameter((), "Sizes of the parts sent to each rank; the list is repeated over the ranks", unit="bytes"),
    ]
    recv_counts: Annotated[
        Sequence[int],
        Parameter((), "Sizes of the parts received from each rank; the list is repeated over the ranks", unit="bytes"),
    ]
    dims: Annotated[
        Sequence[int],
        Parameter(
            (),
            "Process grid: of a halo or sweep, where a dimension of 0 is chosen; or of a trace that is continued by "
            "its structure",
            to_core=_three,
        ),
    ]
    face_bytes: Annotated[
        Sequence[int],
        Parameter((), "Sizes of the messages through a face, one for each dimension", unit="bytes", to_core=_three),
    ]
    periodic: Annotated[bool, Parameter(_SHAPE.periodic, "Whether the grid of a halo is periodic")]
    compute_ns: Annotated[
        int,
        Parameter(
            _SHAPE.compute_ns,
            "Computation after an exchange of a halo, or of each block of a sweep or slab",
            "ns",
            least=0,
            most=2**53,
        ),
    ]
    blocks: Annotated[int, Parameter(_SHAPE.blocks, "Blocks of planes in a sweep, or slabs", least=1, most=2**26)]
    sweeps: Annotated[
        int,
        Parameter(_SHAPE.sweeps, "Number of sweeps, which start in the corners of the grid in turn", least=1, most=8),
    ]


FtProblem = Literal["S", "W", "A", "B", "C", "D"]
FtExchange = Literal["alltoall", "two-sided", "put", "packed-put", "ialltoall"]


class FtParameters(TypedDict, total=False):
    """The parameters of the pattern ft, beside the process grid TY, TZ (dims)."""

    problem: Annotated[FtProblem, Parameter("A", "Class of NAS FT", choices=get_args(FtProblem))]
    exchange: Annotated[FtExchange, Parameter("alltoall", "Exchange of FT", choices=get_args(FtExchange))]
    iterations: Annotated[
        int, Parameter(0, "Iterations of FT", least=0, most=10_000, default_text="those of its class")
    ]
    transform_ns: Annotated[
        float,
        Parameter(
            1.0,
            "Computation of FT's transforms for each point and binary logarithm of the line's length",
            unit="ns",
            least=0,
            most=1e6,
        ),
    ]
    point_ns: Annotated[
        float, Parameter(1.0, "Computation of FT's evolution for each point", unit="ns", least=0, most=1e6)
    ]


class AllPatternParameters(OperationParameters, PatternParameters, FtParameters, total=False):
    """The parameters of a pattern beside its name and the number of ranks."""


def _fields_of(table: type) -> Any:  # noqa: ANN401 - mypy knows no class that is made
    """A record with the parameters of a table and their defaults."""
    declared = parameters_of(table)
    defaults = {name: parameter.default for name, (_, parameter) in declared.items()}
    kinds = {name: kind for name, (kind, _) in declared.items()}
    made = type("_Fields", (FieldMethods,), {"__doc__": table.__doc__, "__annotations__": kinds, **defaults})
    return dataclass(frozen=True, eq=False, repr=False)(made)


_Fields: Any = _fields_of(PatternParameters)


class PatternOptions(_Fields):  # type: ignore[misc]
    """The options of a pattern, by name; those that do not concern the pattern are ignored."""

    @takes(PatternParameters)
    def __init__(self, **options: Unpack[PatternParameters]) -> None:
        super().__init__(**options)

    def core(self, size: int, reduction_cost: float) -> _core.PatternCall:
        """The arguments of an operation with messages of `size` bytes, for the core."""
        call = filled(PatternParameters, vars(self), _core.PatternCall(), shape := _core.GridShape())
        call.bytes, call.reduction_cost = size, reduction_cost
        call.shape = shape
        return call

    def check(self, ranks: int, *, matrix: bool = False) -> None:
        """Raise UsageError that names the option if a value has no meaning for so many ranks.

        `matrix`: the send counts may be those of all ranks.
        """
        _within("root", self.root, 0, ranks - 1)
        _list("send_counts", self.send_counts, ranks**2 if matrix else ranks, MOST_BYTES)
        if len(self.send_counts) > ranks and len(self.send_counts) != ranks**2:
            raise UsageError(f"expected {ranks**2} send_counts for {ranks} ranks, found {len(self.send_counts)}")
        _list("recv_counts", self.recv_counts, ranks, MOST_BYTES)
        _list("dims", self.dims, 3, ranks)
        _list("face_bytes", self.face_bytes, 3, MOST_BYTES)


def _within(name: str, value: int, least: int, most: int) -> None:
    if not isinstance(value, int) or not least <= value <= most:
        raise UsageError(f"expected {name} from {least} to {most}, found {value}")


def _list(name: str, values: Sequence[int], longest: int, most: int) -> None:
    if len(values) > longest:
        raise UsageError(f"expected at most {longest} {name}, found {len(values)}")
    for value in values:
        _within(name, value, 0, most)
