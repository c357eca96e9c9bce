"""The sizes of collectives in a DUMPI trace.

It does not say which calls are in place. Where both the sent and the received sizes are there, and MPI ignores the sent
ones in place, the received ones are taken.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..trace_format import COUNTS_RECEIVED, COUNTS_SENT, NOT_KNOWN, Collective

MOST_BYTES = 2**50


class Place(NamedTuple):
    """A communicator: its id in the trace, the rank's own number on it, and its size."""

    comm: int
    rank: int
    size: int


class Sizes:
    """The sizes of datatypes of a rank, in bytes."""

    def __init__(self, sizes: list[int]) -> None:
        self._sizes = sizes

    def of(self, count: int, datatype: int) -> int:
        """So many of a datatype, in bytes. Raises ValueError."""
        if datatype >= len(self._sizes):
            raise ValueError(f"datatype {datatype} is not among the {len(self._sizes)} whose sizes the trace has")
        size = count * self._sizes[datatype]
        if not 0 <= size <= MOST_BYTES:
            raise ValueError(f"expected a size from 0 to 2^50 bytes, found {size}")
        return size

    def of_parts(self, counts: list[int], datatypes: int | list[int], place: Place) -> list[int]:
        """A part for each rank, in bytes; `datatypes` are one for all, or one each. Raises ValueError."""
        types = datatypes if isinstance(datatypes, list) else [datatypes] * len(counts)
        if len(counts) != place.size or len(types) != place.size:
            raise ValueError(f"expected {place.size} counts on a communicator of that size, found {len(counts)}")
        sizes = [self.of(count, datatype) for count, datatype in zip(counts, types, strict=True)]
        if sum(sizes) > MOST_BYTES:
            raise ValueError(f"expected at most 2^50 bytes in all, found {sum(sizes)}")
        return sizes


class Arguments(NamedTuple):
    """Root, bytes sent, bytes received, counts and info of a collective (docs/trace-format.md)."""

    root: int
    sent: int
    received: int
    counts: tuple[int, ...] = ()
    info: int = 0


_Fields = list[Any]


def _barrier(_fields: _Fields, _place: Place, _sizes: Sizes) -> Arguments:
    return Arguments(NOT_KNOWN, 0, 0)


def _bcast(fields: _Fields, _place: Place, sizes: Sizes) -> Arguments:
    size = sizes.of(fields[0], fields[1])
    return Arguments(fields[2], size, size)


def _reduce(fields: _Fields, _place: Place, sizes: Sizes) -> Arguments:
    size = sizes.of(fields[0], fields[1])
    return Arguments(fields[3], size, size)


def _vector(fields: _Fields, _place: Place, sizes: Sizes) -> Arguments:
    size = sizes.of(fields[0], fields[1])
    return Arguments(NOT_KNOWN, size, size)


def _one_part(fields: _Fields, _place: Place, sizes: Sizes) -> Arguments:
    """MPI_Gather and MPI_Scatter: all parts are equal, and the root's own buffer may be in place."""
    root = fields[3]
    size = sizes.of(*(fields[5:7] if fields[0] == root else fields[1:3]))
    return Arguments(root, size, size)


def _equal_parts(fields: _Fields, _place: Place, sizes: Sizes) -> Arguments:
    size = sizes.of(fields[2], fields[3])
    return Arguments(NOT_KNOWN, size, size)


def _gatherv(fields: _Fields, place: Place, sizes: Sizes) -> Arguments:
    rank, _, count, datatype, root = fields[:5]
    if rank != root:
        return Arguments(root, sizes.of(count, datatype), 0)
    parts = sizes.of_parts(fields[6], fields[8], place)
    return Arguments(root, parts[place.rank], sum(parts), tuple(parts), COUNTS_RECEIVED)


def _scatterv(fields: _Fields, place: Place, sizes: Sizes) -> Arguments:
    rank, _, sent_type, count, datatype, root = fields[:6]
    if rank != root:
        return Arguments(root, 0, sizes.of(count, datatype))
    parts = sizes.of_parts(fields[7], sent_type, place)
    return Arguments(root, sum(parts), parts[place.rank], tuple(parts), COUNTS_SENT)


def _allgatherv(fields: _Fields, place: Place, sizes: Sizes) -> Arguments:
    parts = sizes.of_parts(fields[3], fields[5], place)
    return Arguments(NOT_KNOWN, parts[place.rank], sum(parts), tuple(parts), COUNTS_RECEIVED)


def _all_to_all_parts(fields: _Fields, place: Place, sizes: Sizes) -> Arguments:
    """MPI_Alltoallv and MPI_Alltoallw."""
    _, sent_counts, _, sent_types, counts, _, types, _ = fields
    received = sizes.of_parts(counts, types, place)
    in_place = len(sent_counts) != place.size or any(count < 0 for count in sent_counts)
    sent = received if in_place else sizes.of_parts(sent_counts, sent_types, place)
    return Arguments(NOT_KNOWN, sum(sent), sum(received), (*sent, *received), COUNTS_RECEIVED | COUNTS_SENT)


def _reduce_scatter(fields: _Fields, place: Place, sizes: Sizes) -> Arguments:
    parts = sizes.of_parts(fields[1], fields[2], place)
    return Arguments(NOT_KNOWN, sum(parts), parts[place.rank], tuple(parts), COUNTS_RECEIVED)


class _Kind(NamedTuple):
    number: Collective
    comm: int
    """Which field of the record is the communicator."""
    arguments: Callable[[_Fields, Place, Sizes], Arguments]


COLLECTIVES = {
    "Barrier": _Kind(Collective.BARRIER, 0, _barrier),
    "Bcast": _Kind(Collective.BCAST, 3, _bcast),
    "Reduce": _Kind(Collective.REDUCE, 4, _reduce),
    "Allreduce": _Kind(Collective.ALLREDUCE, 3, _vector),
    "Scan": _Kind(Collective.SCAN, 3, _vector),
    "Exscan": _Kind(Collective.EXSCAN, 3, _vector),
    "Gather": _Kind(Collective.GATHER, 4, _one_part),
    "Scatter": _Kind(Collective.SCATTER, 4, _one_part),
    "Allgather": _Kind(Collective.ALLGATHER, 4, _equal_parts),
    "Alltoall": _Kind(Collective.ALLTOALL, 4, _equal_parts),
    "Gatherv": _Kind(Collective.GATHERV, 5, _gatherv),
    "Scatterv": _Kind(Collective.SCATTERV, 6, _scatterv),
    "Allgatherv": _Kind(Collective.ALLGATHERV, 6, _allgatherv),
    "Alltoallv": _Kind(Collective.ALLTOALLV, 7, _all_to_all_parts),
    "Alltoallw": _Kind(Collective.ALLTOALLW, 7, _all_to_all_parts),
    "Reduce_scatter": _Kind(Collective.REDUCE_SCATTER, 4, _reduce_scatter),
}
"""The collectives, by name."""
