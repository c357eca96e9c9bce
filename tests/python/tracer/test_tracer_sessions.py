"""Programs of the sessions model, which never call MPI_Init, are traced as others are."""

from __future__ import annotations

from pathlib import Path

import idlewave
import pytest
from idlewave import Machine, Schedule
from trace_reader import read_trace
from tracer_support import WORLD, mpich, open_mpi, program, trace_of

pytestmark = pytest.mark.mpi

RANKS = 3


@pytest.fixture(scope="module", params=["Open MPI", "MPICH"])
def trace(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    use = open_mpi() if request.param == "Open MPI" else mpich()
    folder = tmp_path_factory.mktemp("sessions") / "trace"
    trace_of(folder, use, RANKS, program(use, "sessions"))
    return folder


def test_communicators_of_one_group_have_ids_by_their_texts(trace: Path) -> None:
    ranks = read_trace(trace)
    made = [[record.words[0] for record in rank.named("CommDef")] for rank in ranks]
    assert all(ids == made[0] for ids in made)
    first, second = made[0]
    assert first != second
    assert WORLD not in made[0]
    for rank in ranks:
        assert rank.header["state"] == 1
        assert [record.words[0] for record in rank.named("Allreduce")] == [first, second]
        (exchange,) = rank.named("Sendrecv")
        assert (exchange.words[0], exchange.pair(1)) == (second, ((rank.header["rank"] + 1) % RANKS, 3))


def test_the_program_is_simulated(trace: Path) -> None:
    timeline = idlewave.simulate(Schedule.from_trace(trace), Machine.preset("odin"))
    assert timeline.messages > RANKS
