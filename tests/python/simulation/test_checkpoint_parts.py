"""Several runs with checkpoints: derivatives, the latency tolerance, and `explain`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import idlewave.tolerance
import numpy as np
import pytest
from click.testing import CliRunner
from idlewave import InputError, Machine, Schedule, latency_tolerance, sensitivities
from idlewave.checkpoint_parts import SAMPLES
from idlewave.cli import cli
from idlewave.kernel import RunConfiguration

BY_PARTITIONS: dict[str, Any] = {"scheduler": "timewarp", "threads": 2, "checkpoint_every": 0}
EXPLAIN = ["explain", "allreduce", "--ranks", "32", "--bytes", "20000", "--algorithm", "ring", "-m", "bigred", "--json"]


class CutError(Exception):
    """Ends a run."""


@pytest.fixture
def machine() -> Machine:
    return Machine.preset("bigred")


def explained(*more: str | Path) -> dict[str, Any]:
    done = CliRunner().invoke(cli, [*EXPLAIN, *map(str, more)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return {name: value for name, value in found.items() if name != "provenance"}


def test_derivatives_go_on_from_the_last_checkpoint(machine: Machine, tmp_path: Path) -> None:
    schedule = Schedule.pattern("allreduce", ranks=50, bytes=50_000, algorithm="ring")
    alone = sensitivities(schedule, machine)
    kept = sensitivities(schedule, machine, checkpoint=tmp_path, **BY_PARTITIONS)
    assert (tmp_path / "latest").exists()
    rest = sensitivities(schedule, machine, checkpoint=tmp_path, restart=True, scheduler="yawns", threads=3)
    for found in (kept, rest):
        assert (found.time, found.network, found.computation) == (alone.time, alone.network, alone.computation)
        assert np.array_equal(found.finish, alone.finish)
        for name, slopes in alone.slopes.items():
            assert np.array_equal(found.slopes[name], slopes)


def test_a_tolerance_that_is_cut_goes_on_and_repeats_no_simulation(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schedule = Schedule.pattern("allreduce", ranks=16, bytes=20_000, algorithm="ring")
    alone = latency_tolerance(schedule, machine)
    ways: dict[str, Any] = {"checkpoint": tmp_path, **BY_PARTITIONS}
    simulated: list[int] = []
    differentiate = idlewave.tolerance.differentiate

    def noted(schedule: Schedule, machine: Machine, *more: Any) -> dict[str, Any]:
        simulated.append(machine.network.parameters.L)
        if len(simulated) == 5:
            raise CutError
        return differentiate(schedule, machine, *more)

    monkeypatch.setattr(idlewave.tolerance, "differentiate", noted)
    with pytest.raises(CutError):
        latency_tolerance(schedule, machine, **ways)
    with pytest.raises(InputError, match="there is a checkpoint already"):
        latency_tolerance(schedule, machine, **ways)
    assert latency_tolerance(schedule, machine, restart=True, **ways) == alone
    assert len(simulated) == alone.simulations + 1, "the one that was cut is made twice"
    assert [file.name for file in tmp_path.iterdir()] == [SAMPLES], "finished simulations need no checkpoints"
    assert latency_tolerance(schedule, machine, restart=True, **ways) == alone
    assert len(simulated) == alone.simulations + 1


def test_a_simulation_of_a_tolerance_goes_on_from_its_own_checkpoint(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schedule = Schedule.pattern("allreduce", ranks=50, bytes=50_000, algorithm="ring")
    ways: dict[str, Any] = {"checkpoint": tmp_path, "most_simulations": 3, **BY_PARTITIONS}
    restarted: list[bool] = []
    differentiate = idlewave.tolerance.differentiate

    def cut(schedule: Schedule, machine: Machine, seed: int, configuration: RunConfiguration, *more: Any) -> Any:
        restarted.append(configuration.options["restart"])
        found = differentiate(schedule, machine, seed, configuration, *more)
        if len(restarted) == 1:
            raise CutError  # after the last checkpoint, before the end is noted
        return found

    monkeypatch.setattr(idlewave.tolerance, "differentiate", cut)
    with pytest.raises(CutError):
        latency_tolerance(schedule, machine, **ways)
    assert (tmp_path / "latency-0" / "latest").exists()
    rest = latency_tolerance(schedule, machine, restart=True, **ways)
    assert restarted == [False, True, False, False], "the first from its checkpoint, the others anew"
    monkeypatch.undo()
    assert rest == latency_tolerance(schedule, machine, most_simulations=3)


def test_checkpoints_of_another_tolerance_and_damaged_ones_are_refused(machine: Machine, tmp_path: Path) -> None:
    schedule = Schedule.pattern("dissemination", ranks=8)
    with pytest.raises(InputError, match="there is no checkpoint to go on from"):
        latency_tolerance(schedule, machine, checkpoint=tmp_path, restart=True)
    latency_tolerance(schedule, machine, checkpoint=tmp_path)
    with pytest.raises(InputError, match=r"expected this search, .seed 1.*, found .seed 0"):
        latency_tolerance(schedule, machine, seed=1, checkpoint=tmp_path, restart=True)
    (tmp_path / SAMPLES).write_text('{"description": "", "samples": [{"added": -1}]}')
    with pytest.raises(InputError, match="added: expected a whole number from 0 on, found -1"):
        latency_tolerance(schedule, machine, checkpoint=tmp_path, restart=True)


@pytest.mark.long
def test_explain_goes_on_from_the_checkpoints_of_its_runs(tmp_path: Path) -> None:
    alone = explained()
    ways = ["--checkpoint", tmp_path / "all", "--checkpoint-every", "0", "--scheduler", "timewarp", "--threads", "2"]
    found = explained("--no-tolerance", *ways)
    assert found == {name: value for name, value in alone.items() if name != "latency_tolerance"}
    assert {file.name for file in (tmp_path / "all").iterdir()} == {"recording", "derivatives"}
    assert explained("--restart", *ways) == alone
    refused = CliRunner().invoke(cli, [*EXPLAIN, *map(str, ways)])
    assert isinstance(refused.exception, InputError)
    assert "there is a checkpoint already" in str(refused.exception)
    nowhere = CliRunner().invoke(cli, [*EXPLAIN, "--restart", "--checkpoint", str(tmp_path / "none")])
    assert isinstance(nowhere.exception, InputError)
    assert "there is no checkpoint to go on from" in str(nowhere.exception)
