"""Buffered and synchronous sends of a real program, and receives that it cancels."""

from __future__ import annotations

import re
from pathlib import Path

import idlewave
import pytest
from idlewave import Schedule, traced_run
from tracer_support import command_of, mpich, open_mpi, program


@pytest.mark.mpi
@pytest.mark.slow
@pytest.mark.parametrize("vendor", ["Open MPI", "MPICH"])
def test_buffered_sends_wait_for_no_receive_and_cancelled_receives_take_no_message(tmp_path: Path, vendor: str) -> None:
    use = open_mpi() if vendor == "Open MPI" else mpich()
    traced_run.trace(command_of(use, 2, program(use, "send_modes")), tmp_path / "trace")
    schedule = Schedule.from_trace(tmp_path / "trace")
    assert schedule.to_goal().count(" synchronous\n") == 2
    assert not re.search(r"recv \d+b from -1", schedule.to_goal()), "the receives that were cancelled are left out"
    for machine in ("odin", "bluegene-p"):  # with eager messages of any size, and with rendezvous
        idlewave.simulate(schedule, idlewave.Machine.preset(machine))
