"""The totals of all ranks, as Score-P counts them, give the sizes of a collective's call."""

from __future__ import annotations

import pytest
from idlewave.export.collective_bytes import Place, total_bytes
from idlewave.importing.otf2_collectives import BY_RANK, CallsByRank, Sizes, Totals, equal_sizes, sizes_by_rank
from idlewave.trace_format import COUNTS_RECEIVED, COUNTS_SENT, IS_ROOT, NOT_KNOWN, PROC_NULL, Collective

PARTS = (4, 8, 0, 12, 16)
RANKS, ROOT, SUM = len(PARTS), 3, sum(PARTS)
ROOTED = ("BCAST", "REDUCE", "GATHER", "GATHERV", "SCATTER", "SCATTERV")


def _traced(kind: str, rank: int) -> tuple[int, int]:
    """The sizes that a trace has for a call (docs/trace-format.md)."""
    at_root = rank == ROOT
    return {
        "GATHERV": (PARTS[rank], SUM if at_root else 0),
        "SCATTERV": (SUM if at_root else 0, PARTS[rank]),
        "ALLGATHERV": (PARTS[rank], SUM),
        "REDUCE_SCATTER": (SUM, PARTS[rank]),
        "REDUCE_SCATTER_BLOCK": (24 * RANKS, 24),
    }.get(kind, (24, 24))


def _exported(kind: str) -> list[Totals]:
    """The totals that an exported archive has for the calls of all ranks."""
    root = ROOT if kind in ROOTED else NOT_KNOWN
    calls = []
    for rank in range(RANKS):
        totals = total_bytes(Collective[kind], Place(rank, RANKS, root), *_traced(kind, rank))
        assert totals is not None
        calls.append(Totals(kind, rank, RANKS, root, *totals))
    return calls


@pytest.mark.parametrize("kind", ["GATHERV", "SCATTERV", "ALLGATHERV", "REDUCE_SCATTER"])
def test_sizes_by_rank_are_those_of_the_exported_calls(kind: str) -> None:
    for rank, found in enumerate(sizes_by_rank(_exported(kind))):
        assert found is not None
        assert (found.collective, found.sent, found.received) == (Collective[kind], *_traced(kind, rank))
        listed = kind in ("ALLGATHERV", "REDUCE_SCATTER") or rank == ROOT
        assert found.counts == (PARTS if listed else ())
        assert found.info == (COUNTS_SENT if kind == "SCATTERV" else COUNTS_RECEIVED if listed else 0) * listed


@pytest.mark.parametrize("kind", sorted({kind.name for kind in Collective} - {*BY_RANK, "BARRIER", "NEIGHBOR"}))
def test_equal_sizes_are_those_of_the_exported_calls(kind: str) -> None:
    for rank, call in enumerate(_exported(kind)):
        found = equal_sizes(call)
        assert found is not None
        assert (found.collective, found.sent, found.received) == (Collective[kind], *_traced(kind, rank))


@pytest.mark.parametrize(
    ("kind", "totals", "sent"),
    [
        ("ALLREDUCE", [(4 * 13, 4 * 13)] * 5, [13] * 5),
        ("ALLGATHER", [(4 * 13, 4 * 13)] * 5, [13] * 5),
        ("ALLTOALL", [(4 * 13, 4 * 13)] * 5, [13] * 5),
        ("REDUCE_SCATTER_BLOCK", [(4 * 13, 4 * 13)] * 5, [5 * 13] * 5),
        ("REDUCE", [(13, 0)] * 3 + [(0, 4 * 13), (13, 0)], [13] * 5),
        ("GATHER", [(13, 0)] * 3 + [(0, 4 * 13), (13, 0)], [13] * 5),
        ("SCATTER", [(0, 13)] * 3 + [(4 * 13, 0), (0, 13)], [13] * 5),
        ("SCAN", [(13 * (4 - rank), 13 * rank) for rank in (0, 1, 3, 4)], [13] * 4),
    ],
)
def test_a_call_in_place_has_the_sizes_that_it_means(kind: str, totals: list[tuple[int, int]], sent: list[int]) -> None:
    ranks = (0, 1, 3, 4) if kind == "SCAN" else range(RANKS)  # of the middle one OTF2 does not say it
    calls = [Totals(kind, rank, RANKS, ROOT, *both) for rank, both in zip(ranks, totals, strict=True)]
    assert [sizes.sent for call in calls if (sizes := equal_sizes(call))] == sent


@pytest.mark.parametrize("kind", ["BCAST", "REDUCE", "GATHER", "SCATTER", "ALLREDUCE", "ALLGATHER", "ALLTOALL"])
@pytest.mark.parametrize("root", [IS_ROOT, PROC_NULL, 2])
def test_between_two_groups_only_the_root_and_the_other_group_take_part(kind: str, root: int) -> None:
    totals = total_bytes(Collective[kind], Place(1, RANKS, root, between=True), 24, 24)
    assert totals is not None
    found = equal_sizes(Totals(kind, 1, RANKS, root, *totals, between=True))
    size = 0 if kind in ROOTED and root == PROC_NULL else 24
    assert found == Sizes(Collective[kind], root if kind in ROOTED else NOT_KNOWN, size, size)


def test_in_place_the_root_of_a_gather_has_no_part_of_its_own() -> None:
    own = [0 if rank == ROOT else part for rank, part in enumerate(PARTS)]
    calls = [Totals("GATHERV", rank, RANKS, ROOT, part, 0) for rank, part in enumerate(own)]
    calls[ROOT] = Totals("GATHERV", ROOT, RANKS, ROOT, 0, sum(own))
    found = sizes_by_rank(calls)[ROOT]
    assert found == Sizes(Collective.GATHERV, ROOT, 0, sum(own), COUNTS_RECEIVED, tuple(own))


@pytest.mark.parametrize("kind", ["ALLGATHERV", "REDUCE_SCATTER"])
def test_in_place_all_ranks_have_their_parts(kind: str) -> None:
    totals = [((RANKS - 1) * part, SUM - part) for part in PARTS]
    if kind == "REDUCE_SCATTER":
        totals = [(received, sent) for sent, received in totals]
    calls = [Totals(kind, rank, RANKS, NOT_KNOWN, *both) for rank, both in enumerate(totals)]
    for rank, found in enumerate(sizes_by_rank(calls)):
        assert found is not None
        assert (found.sent, found.received, found.counts) == (*_traced(kind, rank), PARTS)


def test_an_all_to_all_keeps_what_each_rank_sends_and_receives() -> None:
    sent, received = [60, 0, 20, 20], [50, 10, 40, 0]
    calls = [Totals("ALLTOALLV", rank, 4, NOT_KNOWN, sent[rank], received[rank]) for rank in range(4)]
    found = [sizes for sizes in sizes_by_rank(calls) if sizes is not None]
    assert [sizes.counts[:4] for sizes in found] == [(30, 6, 24, 0), (0, 0, 0, 0), (10, 2, 8, 0), (10, 2, 8, 0)]
    for rank, sizes in enumerate(found):
        assert (sizes.sent, sizes.received) == (sent[rank], received[rank])
        assert sizes.counts[4:] == tuple(other.counts[rank] for other in found)


def test_totals_that_do_not_fit_together_are_divided_into_equal_parts() -> None:
    calls = _exported("ALLGATHERV")
    calls[2] = Totals("ALLGATHERV", 2, RANKS, NOT_KNOWN, 0, SUM + 4)
    found = [sizes for sizes in sizes_by_rank(calls) if sizes is not None]
    assert [sizes.collective for sizes in found] == [Collective.ALLGATHER] * RANKS
    assert found[0].sent == SUM // RANKS


def test_calls_of_a_communicator_belong_together_in_their_order() -> None:
    calls, found = CallsByRank(), []
    for rank in (0, 1):
        for size in (8, 16):
            totals = Totals("GATHERV", rank, 2, 0, size, 0 if rank else 2 * size)
            calls.add("pair", totals, lambda sizes, rank=rank: found.append((rank, sizes and sizes.sent)))
    assert found == [(0, 8), (1, 8), (0, 16), (1, 16)]
    calls.add("pair", Totals("GATHERV", 0, 2, 0, 4, 8), lambda sizes: found.append((0, sizes and sizes.collective)))
    calls.close()
    assert found[-1] == (0, Collective.GATHER)
