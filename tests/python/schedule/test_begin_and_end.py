"""A stretch of a traced run is used: from one point on, and up to another."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import idlewave
import pytest
from command_runs import run
from idlewave import Machine, Schedule, Trace, traced_run
from idlewave.errors import InputError, UsageError
from tracer_support import command_of, mpich, open_mpi, program

pytestmark = pytest.mark.mpi

RANKS, ROUNDS = 4, 10
START_UP = RANKS - 1 + RANKS - 1
"""The messages of the start-up: rank 0's to each rank, and those of a broadcast."""
RESULT = RANKS - 1


@pytest.fixture(scope="module", params=["open_mpi", "mpich"])
def phases(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A start-up, a ring and a result, with MPI_Pcontrol between them; nobody waits for the last round in its phase."""
    use = {"open_mpi": open_mpi, "mpich": mpich}[request.param]()
    folder = tmp_path_factory.mktemp("phases") / "trace"
    traced_run.trace(command_of(use, RANKS, program(use, "phases"), ROUNDS), folder)
    return folder


def messages(folder: Path, **points: str) -> int:
    """How many messages are simulated."""
    schedule = Schedule.from_trace(folder, algorithms={"bcast": "linear", "reduce": "linear"}, **points)
    return idlewave.simulate(schedule, Machine.preset("odin")).messages


def test_phases_that_the_program_marks_can_be_left_out(phases: Path) -> None:
    assert messages(phases) == START_UP + RANKS * ROUNDS + RESULT
    assert messages(phases, begin="pcontrol:1") == RANKS * ROUNDS + RESULT
    received = RANKS * (ROUNDS - 1)
    assert messages(phases, end="pcontrol:2") == START_UP + received
    assert messages(phases, begin="pcontrol:1", end="pcontrol:2") == received
    assert messages(phases, begin="pcontrol:2") == RESULT, "the last round was sent, and its receives posted, before"


def test_whatever_the_point_each_message_is_before_it_or_after_it_or_crosses_it(phases: Path) -> None:
    calls = int(Trace.load(phases).processes["calls"].min())
    whole = messages(phases)
    divided = 0
    for point in map(str, range(1, calls - 1)):
        with suppress(InputError):  # close to the end no consistent point follows
            before, after = messages(phases, end=point), messages(phases, begin=point)
            assert before + after <= whole, point
            divided += before > 0 and after > 0
    assert divided > ROUNDS


def test_the_command_says_what_is_used(phases: Path) -> None:
    done = run("simulate", str(phases), "-m", "odin", "--begin", "pcontrol:1", "--end", "3600s")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stderr.split())
    assert "calls, from the first consistent point after pcontrol:1 on" in said
    assert ", up to the last consistent point before 3600s" in said


@pytest.mark.parametrize("point", ["x", "-5", "pcontrol", "pcontrol:0", "5 calls", "-1s"])
def test_what_is_no_point_is_refused(phases: Path, point: str) -> None:
    with pytest.raises(UsageError, match="begin: expected a"):
        Schedule.from_trace(phases, begin=point)


def test_a_point_to_which_a_rank_does_not_come_is_refused(phases: Path) -> None:
    with pytest.raises(InputError, match=r"rank 0 calls MPI_Pcontrol 2 times: expected 3 at least"):
        Schedule.from_trace(phases, end="pcontrol:3")
