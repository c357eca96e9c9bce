"""The bytes that a rank sends and receives in a collective, as Score-P counts them: totals of what it sends to all
ranks, itself included, and gets from them. `importing/otf2_collectives.py` has the way back."""

from __future__ import annotations

from dataclasses import dataclass

from ..trace_format import IS_ROOT, PROC_NULL, Collective


@dataclass(frozen=True)
class Place:
    """Where a rank stands in a collective: its rank, how many ranks it exchanges with (of an intercommunicator those of
    the other group), and the root; `between`: on an intercommunicator."""

    rank: int
    ranks: int
    root: int
    between: bool = False

    def at_root(self) -> bool:
        """Whether the rank is the root."""
        return self.root == IS_ROOT if self.between else self.root == self.rank

    def aside(self) -> bool:
        """Whether the rank is in the root's group of an intercommunicator, and is not the root."""
        return self.between and self.root == PROC_NULL


def total_bytes(collective: Collective, at: Place, sent: int, received: int) -> tuple[int, int] | None:
    """The totals that a rank sends and receives, of the sizes in a trace (docs/trace-format.md); None if they are not
    known."""
    if min(sent, received) < 0:
        return None
    kind = Collective
    if collective in (kind.BARRIER, kind.GATHERV, kind.SCATTERV, kind.ALLTOALLV, kind.ALLTOALLW):
        return sent, received
    if collective in (kind.BCAST, kind.SCATTER, kind.REDUCE, kind.GATHER):
        return _of_rooted(collective, at, sent, received)
    if collective in (kind.ALLREDUCE, kind.ALLGATHER, kind.ALLTOALL):
        return at.ranks * sent, at.ranks * received
    if collective == kind.ALLGATHERV:
        return at.ranks * sent, received
    if collective in (kind.REDUCE_SCATTER, kind.REDUCE_SCATTER_BLOCK):
        return sent, at.ranks * received
    if collective == kind.SCAN:
        return (at.ranks - at.rank) * sent, (at.rank + 1) * sent
    if collective == kind.EXSCAN:
        return (at.ranks - at.rank - 1) * sent, at.rank * sent
    return None


def _of_rooted(collective: Collective, at: Place, sent: int, received: int) -> tuple[int, int]:
    if at.aside():
        return 0, 0
    to_all = collective in (Collective.BCAST, Collective.SCATTER)
    if not at.at_root():
        return (0, received) if to_all else (sent, 0)
    own = 0 if at.between else 1
    if to_all:
        return at.ranks * sent, own * received
    return own * sent, at.ranks * received
