"""All members of a communicator give it the same id, and no other communicator has it."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest
from trace_reader import RankFile
from tracer_support import SELF, WORLD, mpich, open_mpi, program, trace_of

pytestmark = pytest.mark.mpi

INTERCOMMUNICATORS = (12, 14)


@pytest.fixture(scope="module", params=["Open MPI, 4 ranks", "Open MPI, 6 ranks", "MPICH, 2 ranks"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    """The ranks' files, and {number: {rank: members}} as the program saw it."""
    use = mpich() if "MPICH" in request.param else open_mpi()
    n = int(request.param.split()[-2])
    folder = tmp_path_factory.mktemp("comms")
    ranks = trace_of(folder / "trace", use, n, program(use, "comms"), folder)
    members = _members(folder)
    assert sorted(members) == list(range(1, 16))
    return ranks, members


def _members(folder: Path) -> dict[int, dict[int, list[int]]]:
    found: dict[int, dict[int, list[int]]] = defaultdict(dict)
    for file in folder.glob("members-*"):
        for line in file.read_text().splitlines():
            head, _, members = line.partition(":")
            number, rank = map(int, head.split())
            found[number][rank] = [int(member) for member in members.split()]
    return found


def ids_by_number(ranks: list[RankFile]) -> dict[int, dict[int, int]]:
    """{number: {rank: id}}, by the Allreduce of `number` ints on each communicator."""
    found: dict[int, dict[int, int]] = defaultdict(dict)
    for rank in ranks:
        for record in rank.named("Allreduce"):
            found[record.words[2] // 4][rank.header["rank"]] = record.words[0]
    return found


def definitions(rank: RankFile) -> dict[int, tuple]:
    """{id: (parent, size, my rank, listed members or None, intercommunicator)} of one rank."""
    found = {}
    for record in rank.named("CommDef"):
        size, mine = record.pair(2)
        members = [member for i in range(3, len(record.words)) for member in record.pair(i)][:size]
        listed = members if record.info & 1 else None
        found[record.words[0]] = (record.words[1], size, mine, listed, bool(record.info & 2))
    return found


def test_members_agree_on_the_id(run) -> None:
    ranks, members = run
    ids = ids_by_number(ranks)
    for number, by_rank in members.items():
        assert set(ids[number]) == set(by_rank)
        for rank, group in by_rank.items():
            assert {ids[number][other] for other in group} == {ids[number][rank]}, number


def test_different_communicators_have_different_ids(run) -> None:
    ranks, members = run
    ids = ids_by_number(ranks)
    owners: dict[int, set] = defaultdict(set)
    for number, by_rank in members.items():
        for rank, group in by_rank.items():
            both = group if number not in INTERCOMMUNICATORS else range(len(ranks))
            owners[ids[number][rank]].add((number, tuple(both) if number != 15 else (rank,)))
    # MPI_COMM_SELF's duplicates (15) are each a rank's own, as is everything else that is used here.
    assert all(len(owner) == 1 for owner in owners.values())
    assert not {WORLD, SELF, 0, -1} & set(owners)


def test_rank_0_of_each_communicator_lists_its_members(run) -> None:
    ranks, members = run
    ids = ids_by_number(ranks)
    for number, by_rank in members.items():
        for rank, group in by_rank.items():
            _, size, mine, listed, inter = definitions(ranks[rank])[ids[number][rank]]
            assert size == len(group)
            assert inter == (number in INTERCOMMUNICATORS)
            assert listed == (group if mine == 0 else None)
            if not inter:
                assert group[mine] == rank


def test_a_rank_that_is_no_member_records_the_null_communicator(run) -> None:
    ranks, _ = run
    null = [record for record in ranks[0].named("CommDef") if record.words[0] == 0]
    assert [(record.words[1], record.pair(2)) for record in null] == [(WORLD, (0, -3))]


def test_parents_are_known(run) -> None:
    ranks, _ = run
    for rank in ranks:
        known = {WORLD, SELF}
        for record in rank.named("CommDef"):
            assert record.words[1] in known
            known.add(record.words[0])


def test_cartesian_communicators_have_their_grid(run) -> None:
    ranks, _ = run
    ids = ids_by_number(ranks)
    n = len(ranks)
    for number, rank in enumerate(ranks):
        grids = {record.words[0]: record for record in rank.named("Cart")}
        whole, row = grids[ids[10][number]], grids[ids[11][number]]
        assert (whole.words[1], whole.pair(2), whole.pair(3)) == (2, (n // 2, 1), (2, 0))
        assert (row.words[1], row.pair(2)) == (1, (n // 2, 1))


def test_every_communicator_that_was_made_is_freed_under_its_id(run) -> None:
    ranks, _ = run
    for rank in ranks:
        made = [record.words[0] for record in rank.named("CommDef") if record.words[0] != 0]
        assert sorted(made) == sorted(record.words[0] for record in rank.named("CommFree"))
