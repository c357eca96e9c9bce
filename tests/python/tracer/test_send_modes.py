"""Buffered and synchronous sends of a real program, and receives that it cancels."""

from __future__ import annotations

import re
from pathlib import Path

import idlewave
import pytest
from command_runs import run
from idlewave import Schedule, Trace, traced_run
from tracer_support import command_of, mpich, open_mpi, program


@pytest.mark.mpi
@pytest.mark.slow
@pytest.mark.parametrize("vendor", ["Open MPI", "MPICH"])
def test_buffered_sends_wait_for_no_receive_and_cancelled_receives_take_no_message(tmp_path: Path, vendor: str) -> None:
    use = open_mpi() if vendor == "Open MPI" else mpich()
    traced_run.trace(command_of(use, 2, program(use, "send_modes")), tmp_path / "trace")
    assert Trace.load(tmp_path / "trace").synchronous_sends == 2
    schedule = Schedule.from_trace(tmp_path / "trace")
    assert schedule.synchronous_sends == 2
    assert not re.search(r"recv \d+b from -1", schedule.to_goal()), "the receives that were cancelled are left out"
    for machine in ("odin", "bluegene-p"):  # with eager messages of any size, and with rendezvous
        idlewave.simulate(schedule, idlewave.Machine.preset(machine))
    said = " ".join(run("simulate", str(tmp_path / "trace"), "-m", "odin").stderr.split())
    assert "2 synchronous sends (MPI_Ssend) are simulated as standard ones, which may end before" in said
