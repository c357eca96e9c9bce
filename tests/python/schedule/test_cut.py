"""A trace of a run that ended early is used up to its last consistent point, on request."""

from __future__ import annotations

from pathlib import Path

import idlewave
import pytest
from command_runs import run
from idlewave import Machine, Schedule, traced_run
from idlewave.errors import InputError, ProgramError
from tracer_support import command_of, open_mpi, program

pytestmark = pytest.mark.mpi

RANKS, ROUNDS = 4, 10


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ring of exchanges whose rank 2 is killed after ten."""
    use = open_mpi()
    folder = tmp_path_factory.mktemp("killed") / "trace"
    with pytest.raises(ProgramError):
        traced_run.trace(command_of(use, RANKS, program(use, "dies"), "kill", 2), folder)
    return folder


def test_it_is_refused_with_a_word_on_the_cut(killed: Path) -> None:
    with pytest.raises(
        InputError, match=r"never reached MPI_Finalize .* \(with --cut it is used up to its last consistent point"
    ):
        Schedule.from_trace(killed)


def test_the_schedule_has_the_messages_that_all_ranks_have_recorded(killed: Path) -> None:
    schedule = Schedule.from_trace(killed, cut=True)
    assert schedule.cut is not None
    used, recorded = schedule.cut
    assert RANKS * ROUNDS <= used <= recorded
    timeline = idlewave.simulate(schedule, Machine.preset("odin"))
    assert timeline.messages == RANKS * ROUNDS
    assert schedule.provenance.options["cut"] is True


def test_a_whole_trace_is_not_cut(tmp_path: Path) -> None:
    use = open_mpi()
    traced_run.trace(command_of(use, 2, program(use, "shares")), tmp_path / "trace")
    schedule = Schedule.from_trace(tmp_path / "trace", cut=True)
    assert schedule.cut is None
    assert schedule.to_goal() == Schedule.from_trace(tmp_path / "trace").to_goal()


def test_the_command_says_how_much_is_used(killed: Path) -> None:
    done = run("simulate", str(killed), "--cut", "--machine", "odin")
    assert done.returncode == 0, done.stderr
    assert "note: the run ended early; used:" in " ".join(done.stderr.split())
    refused = run("simulate", str(killed), "--machine", "odin")
    assert refused.returncode == 1
    assert "with --cut it is used" in " ".join(refused.stderr.split())
