"""What MPI 3 and 4 have added, and collectives between two groups: recorded, converted, and simulated."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import idlewave
import pytest
from trace_reader import RankFile, read_trace
from tracer_support import ANY, UNKNOWN, WORLD, decoded, mpich, open_mpi, program, trace_of

pytestmark = pytest.mark.mpi

NO_ROOT = (UNKNOWN, 0)
ROUNDS = 3


@pytest.fixture(scope="module", params=["Open MPI", "MPICH"])
def trace(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    use = open_mpi() if "Open" in request.param else mpich()
    folder = tmp_path_factory.mktemp("later") / "trace"
    trace_of(folder, use, 4, program(use, "mpi4"), ROUNDS)
    return folder


@pytest.fixture(scope="module")
def ranks(trace: Path) -> list[RankFile]:
    return read_trace(trace)


def test_an_exchange_without_blocking_has_both_messages(ranks: list[RankFile]) -> None:
    for rank in ranks:
        me = rank.header["rank"]
        after, before = (me + 1) % 4, (me - 1) % 4
        found = [record for record in decoded(rank) if record[0] == "Isendrecv"]
        assert [record[1:6] for record in found] == [
            (WORLD, (after, 3), 300, (ANY, 3), 400),
            (WORLD, (before, 4), 200, (after, 4), 200),
        ]


def test_a_persistent_collective_is_recorded_once_and_begun_at_each_start(ranks: list[RankFile]) -> None:
    for rank in ranks:
        (reduced,) = rank.named("AllreduceInit")
        (broadcast,) = rank.named("BcastInit")
        assert (reduced.words[0], reduced.pair(1), *reduced.words[3:]) == (WORLD, NO_ROOT, 64, 64)
        assert (broadcast.words[0], broadcast.pair(1), *broadcast.words[3:]) == (WORLD, (1, 0), 500, 500)
        starts = [record.words[0] for record in rank.named("Start")]
        assert starts.count(reduced.words[2]) >= ROUNDS  # its handle may be that of another request later
        completed = [record.words[0::3] for record in rank.named("Waitall")]
        assert (reduced.words[2], broadcast.words[2]) in completed


def test_a_partitioned_message_says_when_its_partitions_are_ready(ranks: list[RankFile]) -> None:
    for rank in ranks:
        partner = rank.header["rank"] ^ 1
        for name in ("PsendInit", "PrecvInit"):
            found = [(made.words[0], made.pair(1), made.words[2], made.words[4]) for made in rank.named(name)]
            assert found == [(WORLD, (partner, 5), 400, 4), (WORLD, (partner, 5), 800, 4)]
        assert [record.words[1] for record in rank.named("Pready")] == [2, 1, 1] * (2 * ROUNDS)


def test_a_graph_has_its_neighbours_and_a_grid_its_extents(ranks: list[RankFile]) -> None:
    for rank in ranks:
        me = rank.header["rank"]
        (neighbors,) = rank.named("Neighbors")
        assert (neighbors.pair(1), neighbors.pair(2)) == ((1, 1), ((me - 1) % 4, (me + 1) % 4))
        (grid,) = rank.named("Cart")
        assert (grid.words[1], grid.pair(2), grid.pair(3)) == (2, (2, 0), (2, 1))
        exchanges = rank.named("Neighbor")
        assert [record.words[2:] for record in exchanges] == [
            (200, 200),
            (10 + me, 10 + (me - 1) % 4, 10 + me, 10 + (me - 1) % 4),
        ]


def sent(trace: Path) -> list[Counter[tuple[int, int]]]:
    """Of each rank, how often it sends so many bytes to whom."""
    found: list[Counter[tuple[int, int]]] = []
    for line in idlewave.Schedule.from_trace(trace).to_goal().splitlines():
        if line.startswith("rank "):
            found.append(Counter())
        if match := re.search(r"send (\d+)b to (\d+)", line):
            found[-1][int(match[1]), int(match[2])] += 1
    return found


def test_the_schedule_has_the_messages_of_the_program(trace: Path) -> None:
    for me, messages in enumerate(sent(trace)):
        after, before, partner = (me + 1) % 4, (me - 1) % 4, me ^ 1
        assert messages[300, after] == 1
        assert messages[200, before] == 1
        assert (messages[400, partner], messages[800, partner]) == (ROUNDS, ROUNDS)
        assert messages[10 + me, after] == 1
        below_or_above = (me + 2) % 4  # on the grid of 2 x 2, whose second dimension is periodic
        assert (messages[50, below_or_above], messages[50, partner]) == (1, 2)
        assert (messages[60, below_or_above], messages[60, partner]) == (1, 2)
        others = {rank for rank in range(4) if (rank > 0) != (me > 0)}
        for size in (80, 90):
            assert {to for (found, to), n in messages.items() if found == size and n == 1} == others


def test_the_program_ends_in_the_simulation(trace: Path) -> None:
    schedule = idlewave.Schedule.from_trace(trace)
    timeline = idlewave.simulate(schedule, idlewave.Machine.preset("odin"))
    assert timeline.messages == sum(sum(messages.values()) for messages in sent(trace))
