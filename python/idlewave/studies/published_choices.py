"""What MPICH chose in 2005, as published with the algorithms: to be set beside a study's own decision tables.

R. Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in MPICH, IJHPCA 19(1), 2005;
the sizes are those of MPICH 1.2, src/coll/intra_fns_new.c of 31 March 2005.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .decision_tables import Variant

TITLE = "MPICH of 2005"
_LEAST_RANKS = 8
"""The least ranks of Bruck's alltoall, and of long broadcasts."""


@dataclass(frozen=True)
class PublishedChoice:
    """The published choice of a collective, in words, and as a function of ranks and bytes: the algorithm's name, or
    None where the simulator lacks it."""

    text: str
    algorithms: tuple[str, ...]
    name: Callable[[int, int], str | None]

    def choose(self, ranks: int, size: int) -> Variant | None:
        """The algorithm, in whole messages."""
        name = self.name(ranks, size)
        return None if name is None else Variant(name)


def _power_of_two(ranks: int) -> bool:
    return ranks & (ranks - 1) == 0


def _allgather(ranks: int, size: int) -> str:
    total = ranks * size
    if _power_of_two(ranks) and total < 524_288:
        return "recursive_doubling"
    return "bruck" if total < 81_920 else "ring"


def _alltoall(ranks: int, size: int) -> str:
    if size <= 256 and ranks >= _LEAST_RANKS:
        return "bruck"
    return "linear" if size <= 32_768 else "pairwise"


def _bcast(ranks: int, size: int) -> str | None:
    if size < 12_288 or ranks < _LEAST_RANKS:
        return "binomial"
    by_doubling = _power_of_two(ranks) and size < 524_288
    return None if by_doubling else "scatter_allgather"


PUBLISHED = {
    "allgather": PublishedChoice(
        "recursive doubling below 512 KiB of all ranks on powers of two; else Bruck's below 80 KiB, and a ring",
        ("recursive_doubling", "bruck", "ring"),
        _allgather,
    ),
    "allreduce": PublishedChoice(
        "recursive doubling up to 2 KiB, then Rabenseifner's",
        ("recursive_doubling", "rabenseifner"),
        lambda _ranks, size: "recursive_doubling" if size <= 2048 else "rabenseifner",
    ),
    "alltoall": PublishedChoice(
        "Bruck's up to 256 B from 8 ranks on; else all at once up to 32 KiB, then pairwise",
        ("bruck", "linear", "pairwise"),
        _alltoall,
    ),
    "bcast": PublishedChoice(
        "binomial below 12 KiB or 8 ranks; then a scatter and an allgather",
        ("binomial", "scatter_allgather"),
        _bcast,
    ),
    "reduce": PublishedChoice(
        "binomial up to 2 KiB, then Rabenseifner's",
        ("binomial", "rabenseifner"),
        lambda _ranks, size: "binomial" if size <= 2048 else "rabenseifner",
    ),
    "reduce_scatter": PublishedChoice(
        "halving below 512 KiB, then pairwise",
        ("halving", "pairwise"),
        lambda _ranks, size: "halving" if size < 524_288 else "pairwise",
    ),
}
"""By collective."""
