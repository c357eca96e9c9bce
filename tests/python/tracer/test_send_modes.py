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
def test_send_modes_and_cancelled_receives_are_simulated_as_the_mpi_has_them(tmp_path: Path, vendor: str) -> None:
    use = open_mpi() if vendor == "Open MPI" else mpich()
    traced_run.trace(command_of(use, 2, program(use, "send_modes")), tmp_path / "trace")
    schedule = Schedule.from_trace(tmp_path / "trace")
    assert schedule.to_goal().count(" synchronous\n") == 2
    assert not re.search(r"recv \d+b from -1", schedule.to_goal()), "the receives that were cancelled are left out"
    assert len(re.findall(r"recv 8b from \d tag 5", schedule.to_goal())) == 2, "but not those that had a message"
    for machine in ("odin", "bluegene-p"):  # with eager messages of any size, and with rendezvous
        idlewave.simulate(schedule, idlewave.Machine.preset(machine))
