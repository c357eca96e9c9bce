"""Derivatives on the kernel's partitions are those of one loop."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from idlewave import Machine, latency_tolerance, sensitivities
from idlewave.cli import cli
from partition_ways import WAYS, noisy_machine, runs_of, schedules
from tracer_support import open_mpi

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def machine() -> Machine:
    return noisy_machine()


@pytest.mark.parametrize(("way", "number"), runs_of(WAYS))
def test_every_way_has_the_same_derivatives(machine: Machine, way: dict[str, Any], number: int) -> None:
    open_mpi()
    schedule = schedules()[number]
    found = sensitivities(schedule, machine, seed=3, **way)
    alone = sensitivities(schedule, machine, seed=3)
    assert (found.time, found.network, found.node, found.computation, found.messages) == (
        alone.time,
        alone.network,
        alone.node,
        alone.computation,
        alone.messages,
    )
    assert np.array_equal(found.finish, alone.finish)
    assert found.slopes.keys() == alone.slopes.keys()
    for name in alone.slopes:
        assert np.array_equal(found.slopes[name], alone.slopes[name]), name


def test_derivatives_come_with_the_statistics_of_their_run(machine: Machine) -> None:
    schedule = schedules()[0]
    for way in ({"scheduler": "check"}, {"scheduler": "timewarp", "threads": 2}):
        found = sensitivities(schedule, machine, **way)
        assert found.run is not None
        assert found.run.committed == found.messages
    assert sensitivities(schedule, machine).run is None


def test_explain_writes_the_statistics_of_the_run_with_derivatives(tmp_path: Path) -> None:
    open_mpi()
    file = tmp_path / "run.json"
    run = ["explain", "dissemination", "--ranks", "40", "-m", "bigred", "--no-tolerance", "--statistics", str(file)]
    for way in (["timewarp", "--threads", "2"], ["yawns", "--processes", "2"]):
        done = CliRunner().invoke(cli, [*run, "--scheduler", *way])
        assert done.exit_code == 0, done.output
        counts = json.loads(file.read_text())
        assert counts["committed"] == 40 * 6
        assert len(counts["series"]["gvt"]) > 0


def test_the_latency_tolerance_is_the_same_under_time_warp(machine: Machine) -> None:
    schedule = schedules()[2]
    assert latency_tolerance(schedule, machine, scheduler="timewarp", threads=2) == latency_tolerance(schedule, machine)
