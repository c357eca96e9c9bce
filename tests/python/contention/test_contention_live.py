"""The probe of contention writes at the asked rate, its victims compute right, and no fault loses what is there."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import time
from itertools import product
from pathlib import Path

import pytest
from command_runs import run_command
from idlewave import mpi
from idlewave.contention.columns import COLUMNS, LEVELS, VICTIMS
from idlewave.contention.impact import RUNNING, contention_impact, planned
from idlewave.contention.sampling import sample_probes
from idlewave.contention.table import complete_pairs
from idlewave.contention.table_folder import read_contention
from idlewave.contention.traffic import Traffic, make_traffic
from idlewave.contention.victim_run import Setting
from idlewave.errors import MeasurementError, OutputError, UsageError
from idlewave.native_files import package_data
from long_cases import most_long
from small_disks import small_disk_at

PROGRAM = package_data() / "bin" / "idlewave-contention"
TWO_CPUS = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="a writer needs a CPU beside the victim's")
SMALL = {"pairs": 2, "iterations": 2, "buffer": 1 << 20}


def probe(*words: str, seconds: float = 120) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(PROGRAM), *words], capture_output=True, text=True, timeout=seconds, check=False)


@pytest.mark.alone
@pytest.mark.parametrize(
    "asked",
    most_long(
        [
            (1e8, "sequential", "cached"),
            (1e6, "random", "nontemporal"),
            *product((1e6, 1e8), ("sequential", "random"), ("cached", "nontemporal")),
            *product((1e9,), ("sequential",), ("cached", "nontemporal")),
        ],
        2,
    ),
)
def test_what_is_written_is_the_asked_rate_within_one_percent(asked: tuple[float, str, str]) -> None:
    rate, pattern, stores = asked
    said = make_traffic(Traffic("writer", rate, pattern, stores, buffer_bytes=1 << 22), 3.0)
    assert said["achieved_rate"] == pytest.approx(rate, rel=0.01)
    assert said["reached"]
    assert said["written"] / said["traffic_seconds"] == pytest.approx(said["achieved_rate"])


@pytest.mark.alone
def test_two_writers_share_the_rate() -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("two writers need two CPUs")
    said = make_traffic(Traffic("writer", 2e8, cores=2), 3.0)
    assert said["achieved_rate"] == pytest.approx(2e8, rel=0.01)


def test_a_rate_that_no_core_reaches_is_said_with_what_was_reached() -> None:
    said = make_traffic(Traffic("writer", 1e13), 0.2)
    assert not said["reached"]
    assert 1e6 < said["achieved_rate"] < 1e12


@pytest.mark.parametrize("victim", VICTIMS)
def test_a_victims_results_are_right_and_the_same_each_time(victim: str, tmp_path: Path) -> None:
    done = probe("--victim", victim, "--iterations", "2", "--without-probes", "--output", str(tmp_path / "x.csv"))
    assert done.returncode == 0, done.stderr
    with (tmp_path / "x.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["iteration"] for row in rows] == ["0", "1"]
    assert all(float(row["seconds"]) > 0 for row in rows)
    assert all(row["probe.latency_l1_s"] == "" for row in rows)


@TWO_CPUS
def test_the_table_has_each_iteration_of_both_runs_of_each_pair(tmp_path: Path) -> None:
    table = contention_impact(["stencil"], [1e7], (1, 0), folder=tmp_path / "impact", **SMALL)
    assert list(table.columns) == [column.name for column in COLUMNS]
    assert len(table) == 2 * 2 * 2 * 2
    assert set(table.groupby("pair")["traffic"].nunique()) == {2}
    quiet = table[table["traffic"] == "none"]
    assert (quiet[["asked_rate_Bps", "achieved_rate_Bps", "traffic_bytes"]] == 0).all(axis=None)
    busy = table[table["traffic"] == "writer"]
    assert (busy["achieved_rate_Bps"] > 0).all()
    for level in LEVELS[:2]:
        assert (table[f"probe.latency_{level}_s"] > 0).all()
    assert read_contention(tmp_path / "impact").equals(table)


@TWO_CPUS
def test_the_order_is_random_and_given_by_the_seed() -> None:
    settings = [Setting(victim, Traffic(rate=rate)) for victim in VICTIMS for rate in (1e8, 1e9)]
    runs = planned(settings, 6, seed=3)
    assert runs == planned(settings, 6, seed=3)
    assert runs != planned(settings, 6, seed=4)
    firsts = [run.with_traffic for run in runs[::2]]
    assert 15 < sum(firsts) < 45
    assert all(a.with_traffic != b.with_traffic for a, b in zip(runs[::2], runs[1::2], strict=True))
    assert [run.setting for run in runs[::2]] != [setting for setting in settings for _ in range(6)]


@TWO_CPUS
def test_an_interrupted_measurement_is_continued_with_the_pairs_that_are_missing(tmp_path: Path) -> None:
    folder = tmp_path / "impact"
    whole = contention_impact(["stencil"], [1e7], folder=folder, **SMALL)
    removed = sorted((folder / "runs").iterdir())[-1]
    removed.unlink()
    (folder / RUNNING).write_text("what a killed run left")
    again = contention_impact(["stencil"], [1e7], folder=folder, **SMALL)
    assert len(again) == len(whole) + 2  # the other run of the pair is there twice
    assert set(again["run"]) == {0, 1}
    assert len(complete_pairs(again)) == len(whole)
    with pytest.raises(UsageError, match=r"has a measurement with other settings.*: iterations '2' there, '3' here"):
        contention_impact(["stencil"], [1e7], folder=folder, **(SMALL | {"iterations": 3}))
    with pytest.raises(UsageError, match="cannot be continued: other victims or traffic"):
        contention_impact(["stencil"], [2e7], folder=folder, **SMALL)


@TWO_CPUS
def test_a_probe_that_is_killed_is_said_and_leaves_what_there_was(tmp_path: Path) -> None:
    """The victim kills the process that writes and measures, in the second of the runs, each of which starts it three
    times."""
    count = f"echo >> {tmp_path}/starts; test $(wc -l < {tmp_path}/starts) -ge 6 && kill -9 $PPID; sleep 0.01"
    with pytest.raises(MeasurementError, match=r"the probe of contention failed \(exit status"):
        contention_impact(["command"], [1e7], command=["sh", "-c", count], folder=tmp_path / "impact", **SMALL)
    left = read_contention(tmp_path / "impact")
    assert left["pair"].tolist() == [0, 0, 0]  # the whole first run, and an iteration of the second
    assert left["iteration"].tolist() == [0, 1, 0]


@TWO_CPUS
def test_a_command_that_fails_is_said_with_its_exit_status(tmp_path: Path) -> None:
    with pytest.raises(MeasurementError, match="the command sh failed: its exit status is 3"):
        contention_impact(["command"], [1e7], command=["sh", "-c", "exit 3"], folder=tmp_path / "impact", **SMALL)


def test_a_signal_ends_a_run_with_the_rows_that_it_had(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    words = [str(PROGRAM), "--victim", "idle", "--interval", "0.05", "--iterations", "1000000", "--output", str(file)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as running:
        while not file.exists() or file.read_text().count("\n") < 3:
            time.sleep(0.05)
        running.send_signal(signal.SIGTERM)
        said = running.communicate(timeout=60)[0]
    assert running.returncode == 0
    assert '"interrupted": true' in said.splitlines()[-1]
    assert file.read_text().endswith("\n")


@TWO_CPUS
def test_a_full_disk_ends_a_measurement_and_leaves_the_runs_that_are_there(tmp_path: Path) -> None:
    with small_disk_at(tmp_path / "small", "100k") as small:
        with pytest.raises((OutputError, MeasurementError), match=r"cannot be written|No space"):
            contention_impact(["stencil"], [1e7], folder=small / "impact", **(SMALL | {"pairs": 30}))
        assert len(read_contention(small / "impact")) >= 2


@pytest.mark.mpi
@TWO_CPUS
def test_puts_of_an_mpi_rank_are_traffic_too(installed: mpi.Mpi) -> None:
    table = contention_impact(["stencil"], [1e7], traffic="mpi-put", mpi=installed, **SMALL)
    busy = table[table["traffic"] == "mpi-put"]
    assert (busy["traffic_bytes"] > 0).any()
    assert (busy["achieved_rate_Bps"] > 0).all()
    assert set(table["stores"]) == {"library"}


def test_probes_are_sampled_beside_a_job_until_they_are_closed() -> None:
    names = ["probe.latency_l1_s", "probe.bandwidth_dram_Bps", "counter.cycles"]
    samples = sample_probes(names, interval_s=0.01, pid=os.getpid())
    try:
        found = [next(samples) for _ in range(3)]
    finally:
        samples.close()
    assert all(list(values) == names for values in found)
    assert all(0 < values["probe.latency_l1_s"] < 1e-3 for values in found)
    with pytest.raises(UsageError, match="column"):
        sample_probes(["probe.latency_l9_s"], interval_s=0.1)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--victim", "sream", "--output", "x"], "--victim: expected one of stream"),
        (["--victim", "stream"], "--output: expected the file"),
        (["--victim", "command", "--output", "x"], "expected the command behind --"),
        (["--rate", "5"], "--rate: expected a number from 1000"),
        (["--rate", "1e6", "--pattern", "zigzag"], "--pattern: expected one of sequential, random"),
        ([], "--rate: expected the bytes per second to write"),
    ],
)
def test_the_probe_refuses_what_it_cannot_do(words: list[str], said: str) -> None:
    done = probe(*words)
    assert done.returncode == 2
    assert said in done.stderr


def test_what_cannot_be_measured_here_is_refused() -> None:
    with pytest.raises(UsageError, match="victim"):
        contention_impact(["linpack"], [1e9])
    with pytest.raises(UsageError, match="cores that write need one more for the victim"):
        contention_impact(["cg"], [1e9], (len(os.sched_getaffinity(0)),))
    with pytest.raises(UsageError, match="puts are made by one rank on one core"):
        contention_impact(["cg"], [1e9], (0,), traffic="mpi-put")
    with pytest.raises(UsageError, match="goes with a command behind --"):
        contention_impact(["command"], [1e9])


@TWO_CPUS
def test_the_command_shows_a_measurement_and_shows_it_again(tmp_path: Path) -> None:
    words = "contention measure --victims stencil --rates 10MB --pairs 2 --iterations 2 -o impact --plot x.png"
    done = run_command(words.split(), tmp_path)
    assert done.status == 0, done.complained
    assert "Impact of traffic into memory" in done.printed
    assert (tmp_path / "x.png").stat().st_size > 0
    assert (tmp_path / "x-correlations.png").stat().st_size > 0
    again = run_command(["contention", "measure", "--from", "impact"], tmp_path)
    assert again.printed == done.printed
