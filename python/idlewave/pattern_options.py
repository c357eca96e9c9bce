"""The patterns, and the options of a collective, a halo exchange or a sweep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .errors import UsageError

PATTERNS: dict[str, tuple[str, tuple[str, ...]]] = {
    "barrier": ("all ranks wait for each other", ("ways",)),
    "bcast": ("the root's bytes go to all", ("bytes", "root", "segment")),
    "reduce": ("all ranks' vectors are combined at the root", ("bytes", "root", "segment", "reduction_cost")),
    "allreduce": ("all ranks' vectors are combined, and all get the result", ("bytes", "reduction_cost")),
    "gather": ("the root gets a part of every rank", ("bytes", "root", "send_counts", "recv_counts")),
    "scatter": ("every rank gets a part of the root's", ("bytes", "root", "send_counts", "recv_counts")),
    "allgather": ("every rank gets a part of every rank", ("bytes", "send_counts", "recv_counts")),
    "alltoall": ("every rank sends a part to every rank", ("bytes", "send_counts", "recv_counts")),
    "reduce_scatter": (
        "all ranks' vectors are combined, and each gets a part",
        ("bytes", "send_counts", "recv_counts", "reduction_cost"),
    ),
    "scan": ("each rank gets the combination of the ranks up to itself", ("bytes", "reduction_cost")),
    "exscan": ("each rank gets the combination of the ranks before it", ("bytes", "reduction_cost")),
    "dissemination": ("the barrier of that name, with messages of any size", ("bytes",)),
    "halo1d": ("neighbours in a row exchange faces", ("bytes", "dims", "face_bytes", "periodic", "compute_ns")),
    "halo2d": ("neighbours in a grid exchange faces", ("bytes", "dims", "face_bytes", "periodic", "compute_ns")),
    "halo3d": ("neighbours in a cube exchange faces", ("bytes", "dims", "face_bytes", "periodic", "compute_ns")),
    "sweep": (
        "a wavefront goes through a grid from a corner, block by block",
        ("bytes", "dims", "face_bytes", "compute_ns", "blocks", "sweeps"),
    ),
    "compute": ("every rank computes", ("compute_ns",)),
}
"""For the name of each pattern: what it does, and its options beside ranks and the algorithm of a collective."""

DEFAULT_SEGMENT = 65536
MOST_BYTES = 2**50


@dataclass(frozen=True)
class PatternOptions:
    """The options of a pattern beside its name, ranks, bytes and algorithm. A pattern ignores options that it lacks.

    root: of bcast, reduce, gather, scatter.
    segment: size of a segment in pipelined algorithms (bcast chain and binary, reduce pipelined); 0: no segments.
    ways: n of the barrier nway_dissemination.
    send_counts, recv_counts: bytes to, and from, each rank, instead of equal parts; repeated over the ranks. Of an
    all-to-all, `send_counts` may be those of all ranks, one rank's after the other's.
    dims: ranks in each dimension of a halo exchange or sweep; a dimension of 0 is chosen; empty: as close to a cube as
    possible.
    face_bytes: bytes through a face across each dimension; empty: the pattern's bytes.
    periodic: whether the grid of a halo exchange is periodic.
    compute_ns: computation after a halo exchange, or for each block of a sweep.
    blocks: number of blocks into which a sweep divides its planes.
    sweeps: number of sweeps, which start in the corners in turn; more than 4 use each corner twice.
    """

    root: int = 0
    segment: int = DEFAULT_SEGMENT
    ways: int = 2
    send_counts: tuple[int, ...] = ()
    recv_counts: tuple[int, ...] = ()
    dims: tuple[int, ...] = ()
    face_bytes: tuple[int, ...] = ()
    periodic: bool = True
    compute_ns: int = 0
    blocks: int = 1
    sweeps: int = 1

    def check(self, ranks: int, *, matrix: bool = False) -> None:
        """Raise UsageError that names the option if a value has no meaning for so many ranks.

        `matrix`: the send counts may be those of all ranks.
        """
        _within("root", self.root, 0, ranks - 1)
        _within("segment", self.segment, 0, MOST_BYTES)
        _within("ways", self.ways, 1, 2**20)
        _within("compute_ns", self.compute_ns, 0, 2**53)
        _within("blocks", self.blocks, 1, 2**26)
        _within("sweeps", self.sweeps, 1, 8)
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
