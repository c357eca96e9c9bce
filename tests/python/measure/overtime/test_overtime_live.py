"""The probe of overtime on real MPIs. What it measures is hardly looked at, so load does no harm."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from idlewave import mpi
from idlewave.errors import MeasurementError
from idlewave.measure import measure_overtime
from tracer_support import mpich, open_mpi

pytestmark = [pytest.mark.mpi, pytest.mark.slow]
ROUND = ["latency", "idle", "bandwidth", "idle", "allreduce", "idle"]


@pytest.mark.parametrize("find", [open_mpi, mpich])
def test_each_test_is_followed_by_an_idle_phase_as_long_in_which_the_ranks_sleep(find, tmp_path: Path) -> None:
    found = measure_overtime(tmp_path, find(), seconds=0.9, phase=0.1, counters=["net", "tcp"])
    table = found.table
    assert table["test"].tolist() == (ROUND * len(table))[: len(table)]
    assert len(table) >= len(ROUND)
    active, idle = table.iloc[::2], table.iloc[1::2]
    assert (active["length_ns"] >= 100_000_000).all()
    shares = idle["length_ns"].to_numpy() / active["length_ns"].to_numpy()
    assert (shares >= 1).all()
    ends = table["start_ns"] + table["length_ns"]
    assert (table["start_ns"].to_numpy()[1:] >= ends.to_numpy()[:-1]).all()
    assert (active["samples"] > 0).all()
    times = active[["least_s", "median_s", "most_s"]].to_numpy()
    assert (times[:, 0] > 0).all()
    assert (times[:, 0] <= times[:, 1]).all()
    assert (times[:, 1] <= times[:, 2]).all()
    latency, bandwidth, allreduce = (active[active["test"] == test] for test in ROUND[::2])
    assert (latency["value"] == latency["median_s"]).all()
    assert (allreduce["value"] == allreduce["mean_s"]).all()
    assert (bandwidth["value"] * bandwidth["mean_s"]).tolist() == pytest.approx([2**20] * len(bandwidth))
    assert idle["value"].isna().all()
    assert set(zip(latency["rank"], latency["peer"], strict=True)) == {(0, 1)}
    assert set(zip(allreduce["rank"], allreduce["peer"], strict=True)) == {(-1, -1)}
    load = found.said["load"]
    assert 0 < load["active"] <= 1.1
    assert load["idle"] < 0.1 * load["active"]
    assert "counter.net.lo.rx_bytes" in found.counters
    assert found.said["runs"][-1]["ended"] == "time"
    assert found.said["library"]


def test_the_last_ranks_exchange_with_rank_0_in_turn(tmp_path: Path) -> None:
    found = measure_overtime(
        tmp_path, open_mpi(), ranks=4, peers=2, seconds=1.5, phase=0.02, idle=0.5, sizes=(0, 64, 16), counters=[]
    )
    latency = found.table[found.table["test"] == "latency"]
    assert len(latency) >= 2
    assert latency["peer"].tolist() == ([2, 3] * len(latency))[: len(latency)]
    assert found.counters == ()
    assert set(found.table["size"]) == {0, 64, 16}


def test_without_idle_phases_there_are_none(tmp_path: Path) -> None:
    found = measure_overtime(tmp_path, open_mpi(), seconds=0.1, phase=0.01, idle=0.0, counters=[])
    assert found.table["test"].tolist()[:3] == ROUND[::2]
    assert "idle" not in set(found.table["test"])


def test_a_dead_rank_ends_the_run_with_an_error_and_the_phases_stay(tmp_path: Path) -> None:
    found = open_mpi()
    program = mpi.build(found, "overtime")
    killer = tmp_path / "killer"
    killer.write_text(
        f'#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" = 1 ] && (sleep 3; kill -KILL $$) &\nexec {program} "$@"\n'
    )
    killer.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mpi, "build", lambda *_: killer)
        with pytest.raises(MeasurementError, match="failed"):
            measure_overtime(tmp_path / "recording", found, seconds=600.0, phase=0.02, counters=[])
    continued = measure_overtime(tmp_path / "recording", found, seconds=0.1, phase=0.02, counters=[])
    assert continued.said["interrupted"] == 1
    assert continued.table["run"].max() == 1
    assert continued.table["phase"].tolist() == list(range(len(continued.table)))


@pytest.mark.parametrize("options", [["--sizes", "1,2"], ["--sizes", "8,8,12"], ["--peers", "2"], ["--phase", "0"]])
def test_the_probe_refuses_what_it_cannot_measure(options: list[str]) -> None:
    found = open_mpi()
    command = [str(found.mpiexec), "-n", "2", str(mpi.build(found, "overtime")), *options]
    done = subprocess.run(command, env=found.environment(), capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode != 0
    assert f"{options[0]}: expected" in done.stderr


def test_the_probe_ends_at_a_signal_and_says_so() -> None:
    found = open_mpi()
    command = [str(found.mpiexec), "-n", "2", str(mpi.build(found, "overtime")), "--seconds", "600", "--phase", "0.02"]
    with subprocess.Popen(command, env=found.environment(), stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        said = []
        for line in running.stdout:
            said.append(json.loads(line))
            if len(said) == 4:
                for child in children_named("idlewave-overtime"[:15]):
                    os.kill(child, 15)
        status = running.wait()
    assert said[0]["line"] == "begin"
    assert said[-1] == {"line": "end", "reason": "signal"}
    assert status == 0


def children_named(name: str) -> list[int]:
    """Descendants of this process with that name."""
    parents = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "stat").read_text().rpartition(")")
            parents[int(place.name)] = (int(words[2].split()[1]), words[0].partition("(")[2])
        except (OSError, ValueError, IndexError):
            continue
    found = []
    for number, (parent, own) in parents.items():
        while parent not in (0, os.getpid()):
            parent = parents.get(parent, (0, ""))[0]
        if parent == os.getpid() and own == name:
            found.append(number)
    return found
