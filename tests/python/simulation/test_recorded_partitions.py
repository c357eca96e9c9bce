"""Recordings on the kernel's partitions are those of one loop: the same tables and files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from idlewave import Machine, Recording, Schedule, Timeline, kernel, simulate
from idlewave.cli import cli
from idlewave.errors import InputError
from partition_ways import WAYS, noisy_machine, runs_of, schedules
from tracer_support import open_mpi

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def machine() -> Machine:
    return noisy_machine()


def tables(timeline: Timeline) -> dict[str, Any]:
    found = {"finish": timeline.finish, "messages": timeline.messages}
    for group in ("columns", "path", "queues"):
        found |= {f"{group} {name}": column for name, column in getattr(timeline, group).items()}
    return found


def assert_same(found: Timeline, alone: Timeline) -> None:
    expected = tables(alone)
    assert tables(found).keys() == expected.keys()
    for name, column in tables(found).items():
        assert np.array_equal(column, expected[name]), name
        assert np.asarray(column).dtype == np.asarray(expected[name]).dtype


@pytest.mark.parametrize(("way", "number"), runs_of(WAYS))
def test_every_way_records_the_same(
    machine: Machine, way: dict[str, Any], number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_mpi()
    monkeypatch.setattr(kernel, "MIGRATE_AFTER", 100)
    schedule = schedules()[number]
    found = simulate(schedule, machine, seed=3, record=True, **way)
    assert_same(found, simulate(schedule, machine, seed=3, record=True))
    assert found.columns["start_ps"].flags.writeable is False
    if way.get("placement") == "graph":
        assert found.run is not None
        assert found.run.segments > 1, "ranks have moved"


def test_a_part_is_recorded_in_several_processes(machine: Machine) -> None:
    open_mpi()
    schedule, part = schedules()[2], Recording(ranks=(3, 20), since_ps=10_000, until_ps=60_000_000)
    alone = simulate(schedule, machine, record=part)
    assert len(alone.columns["rank"]) > 0
    assert_same(simulate(schedule, machine, record=part, scheduler="timewarp", processes=2), alone)
    with pytest.raises(InputError, match="the record needs more than 50000 bytes"):
        simulate(schedule, machine, record=Recording(most_bytes=50_000), scheduler="yawns", processes=2)


def test_a_recording_goes_on_from_its_last_checkpoint(machine: Machine, tmp_path: Path) -> None:
    open_mpi()
    schedule = Schedule.pattern("allreduce", ranks=50, bytes=50_000, algorithm="ring")
    alone = simulate(schedule, machine, seed=1, record=True)
    ways: dict[str, Any] = {"seed": 1, "record": True, "checkpoint": tmp_path}
    kept = simulate(schedule, machine, scheduler="timewarp", threads=2, checkpoint_every=0, **ways)
    assert kept.run is not None
    assert kept.run.segments > 2
    assert_same(kept, alone)
    assert_same(simulate(schedule, machine, scheduler="yawns", processes=2, restart=True, **ways), alone)
    for other in (False, Recording(ranks=(0, 1))):
        with pytest.raises(InputError, match="it is of another run"):
            simulate(schedule, machine, **(ways | {"record": other}), restart=True)
    assert_same(simulate(schedule, machine, scheduler="check", restart=True, **ways), alone)


def test_the_commands_write_the_same(tmp_path: Path) -> None:
    run = ["dissemination", "--ranks", "40", "-m", "bigred", "--json"]
    files, said = [], []
    for number, way in enumerate(([], ["--scheduler", "timewarp", "--threads", "2"])):
        file = tmp_path / f"{number}.pftrace"
        done = CliRunner().invoke(cli, ["timeline", *run, *way, "-o", str(file)])
        assert done.exit_code == 0, done.output
        files.append(re.sub(rb'"time": "[^"]*"', b"", file.read_bytes()))  # of the provenance
        done = CliRunner().invoke(cli, ["explain", *run, *way, "--no-tolerance"])
        assert done.exit_code == 0, done.output
        said.append(done.output.split('"provenance"')[0])
    assert files[0] == files[1]
    assert said[0] == said[1]
    statistics = tmp_path / "run.json"
    done = CliRunner().invoke(
        cli, ["timeline", *run, "--scheduler", "timewarp", "-o", str(file), "--statistics", str(statistics)]
    )
    assert done.exit_code == 0, done.output
    assert statistics.exists()
