"""The simulator on the kernel's partitions gives the answer that it gives alone."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from idlewave import Machine, Schedule, kernel, simulate
from idlewave.cli import cli
from idlewave.errors import Deadlock, InputError, UsageError
from partition_ways import noisy_machine, one_sided_schedule, runs_of
from tracer_support import open_mpi

pytestmark = pytest.mark.slow

WAYS: tuple[dict[str, Any], ...] = (
    {"scheduler": "check"},
    {"scheduler": "timewarp"},
    {"scheduler": "timewarp", "threads": 3, "lazy": True},
    {"scheduler": "timewarp", "threads": 2, "placement": "cyclic", "migrate": True, "pin": True},
    {"scheduler": "yawns", "processes": 2, "placement": "graph"},
    {"scheduler": "yawns", "threads": 2, "processes": 2},
    {"scheduler": "timewarp", "processes": 3},
)


SCHEDULES = (
    Schedule.pattern("dissemination", ranks=300),
    Schedule.pattern("alltoall", ranks=20, bytes=100_000),
    Schedule.pattern("halo2d", ranks=64, bytes=1000, compute_ns=5000),
    one_sided_schedule(),
)


@pytest.fixture(scope="module")
def machine() -> Machine:
    return noisy_machine()


@pytest.mark.parametrize(("way", "number"), runs_of(WAYS))
def test_every_way_gives_the_same_finish_times(
    machine: Machine, way: dict[str, Any], number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_mpi()
    monkeypatch.setattr(kernel, "MIGRATE_AFTER", 100)
    schedule = SCHEDULES[number]
    alone = simulate(schedule, machine, seed=3)
    found = simulate(schedule, machine, seed=3, **way)
    assert np.array_equal(found.finish, alone.finish)
    assert found.messages == alone.messages
    assert found.run is not None
    assert found.run.committed == alone.messages
    if way.get("placement") == "graph":
        assert found.run.segments > 1, "ranks have moved"


def test_schedules_go_to_other_processes_as_what_they_were_made_of(tmp_path: Path) -> None:
    goal = Schedule.from_goal("num_ranks 2\nrank 0 {\nl1: send 8b to 1\n}\nrank 1 {\nl1: recv 8b from 0\n}\n")
    goal.save(tmp_path / "a.idg")
    for schedule in (goal, Schedule.load(tmp_path / "a.idg"), Schedule.pattern("bcast", ranks=7, bytes=9)):
        again = pickle.loads(pickle.dumps(schedule))
        assert again.to_goal() == schedule.to_goal()
        assert again.identity() == schedule.identity()


@pytest.mark.parametrize("processes", [1, 2])
def test_a_deadlock_names_what_waits_in_all_processes(machine: Machine, processes: int) -> None:
    open_mpi()
    ops = "l1: recv 8b from {}\nl2: send 8b to {}\nl2 requires l1\nl3: recv 8b from -1 tag 9"
    text = "num_ranks 3\n" + "".join(f"rank {r} {{\n{ops.format((r + 1) % 3, (r + 2) % 3)}\n}}\n" for r in range(3))
    schedule = Schedule.from_goal(text)
    with pytest.raises(Deadlock) as alone:
        simulate(schedule, machine)
    with pytest.raises(Deadlock) as found:
        simulate(schedule, machine, scheduler="yawns", processes=processes, pin=True)
    assert len(found.value.cycle) == 3
    assert found.value.__reduce__() == alone.value.__reduce__()


def test_a_simulation_goes_on_from_its_last_checkpoint(machine: Machine, tmp_path: Path) -> None:
    open_mpi()
    schedule = Schedule.pattern("allreduce", ranks=100, bytes=50_000, algorithm="ring")
    alone = simulate(schedule, machine, seed=1)
    kept = simulate(schedule, machine, seed=1, scheduler="timewarp", threads=2, checkpoint=tmp_path, checkpoint_every=0)
    assert kept.run is not None
    assert kept.run.segments > 2
    rest = simulate(schedule, machine, seed=1, scheduler="yawns", processes=2, checkpoint=tmp_path, restart=True)
    for found in (kept, rest):
        assert np.array_equal(found.finish, alone.finish)
        assert found.messages == alone.messages
    with pytest.raises(InputError, match="it is of another run"):
        simulate(schedule, machine, seed=2, scheduler="yawns", checkpoint=tmp_path, restart=True)


def test_what_partitions_cannot_do_is_said() -> None:
    schedule = Schedule.pattern("dissemination", ranks=8)
    machine = Machine.preset("bigred")
    with pytest.raises(UsageError, match="no placement is called 'random'"):
        simulate(schedule, machine, scheduler="timewarp", placement="random")
    free = Machine.from_toml('[network]\nL = "0s"\no = "0s"\ng = "1ns"\nG = "0s"\nO = "0s"\nS = "inf"\n')
    with pytest.raises(InputError, match="only a machine with o_s"):
        simulate(schedule, free, scheduler="timewarp")


def test_the_command_says_what_the_kernel_counted(tmp_path: Path) -> None:
    open_mpi()
    command = ["simulate", "dissemination", "--ranks", "1000", "-m", "bigred", "--scheduler", "timewarp"]
    done = CliRunner().invoke(cli, [*command, "--processes", "2", "--statistics", str(tmp_path / "a.json")])
    assert done.exit_code == 0, done.output
    assert "1000 ranks finish after" in done.output
    assert "messages committed" in done.output
    counts = json.loads((tmp_path / "a.json").read_text())
    assert counts["committed"] == 10_000
    assert counts["segments"] == 1
    refused = CliRunner().invoke(cli, [*command[:-2], "--statistics", str(tmp_path / "b.json")])
    assert isinstance(refused.exception, UsageError)
