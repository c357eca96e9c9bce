"""The main job, end to end and in small: a real program, really measured, really run, and a report."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import idlewave
import pandas as pd
import pytest
from click.testing import CliRunner
from idlewave import mpi
from idlewave.cli import cli, report_command
from idlewave.measure import Measurement
from idlewave.report import Report
from idlewave.report.figures import report_figures

pytestmark = [pytest.mark.alone, pytest.mark.mpi, pytest.mark.slow]


@pytest.fixture(scope="module", params=["halo2d", pytest.param("cg", marks=pytest.mark.long)])
def demo(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The demo's folder, and what it printed."""
    try:
        mpi.find()
    except idlewave.MpiError as error:
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("demo") / "out"
    command = [sys.executable, "-c", "import idlewave.cli; idlewave.cli.main()", "demo", "--small"]
    done = subprocess.run(
        [*command, "--program", request.param, "-o", str(folder)],
        capture_output=True,
        text=True,
        timeout=400,
        env=os.environ | {"COLUMNS": "160"},
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder, done.stdout


def test_all_seven_steps_are_done_in_order(demo: tuple[Path, str]) -> None:
    _, said = demo
    steps = re.findall(r"^(\d)\. (.*?):", said, flags=re.MULTILINE)
    names = ["measure noise", "measure network", "trace", "schedule", "simulate", "extrapolate", "report"]
    assert steps == [(str(i), name) for i, name in enumerate(names, 1)]
    assert re.search(r"measured .* s, predicted .* s: [+-]\d+(\.\d+)? %", said)


def test_the_machine_is_the_one_that_was_measured(demo: tuple[Path, str]) -> None:
    folder, _ = demo
    machine = idlewave.Machine.load(folder / "machine" / "machine.toml")
    measured = Measurement.load(folder / "machine")
    assert measured.network.patterns is not None
    assert machine.network == measured.machine().network
    assert machine.noise is not None
    assert machine.noise.overhead == pytest.approx(measured.noise.overhead, rel=1e-6)
    assert len(measured.noise.detours) == len(machine.noise.starts)
    files = {"noise-samples.parquet", "network-samples.parquet", "network-patterns.parquet"}
    assert files <= {f.name for f in (folder / "machine").iterdir()}


def test_the_network_between_nodes_is_named_in_the_text_and_in_the_report(demo: tuple[Path, str]) -> None:
    folder, said = demo
    machine = idlewave.Machine.load(folder / "machine" / "machine.toml")
    node = max(4, os.cpu_count() or 1)
    assert (machine.measured, machine.node_ranks) == ("within a node", os.cpu_count())
    assert f"between nodes of {node} ranks lies that of infiniband-hdr: HDR InfiniBand" in said
    page = (folder / "report.html").read_text(encoding="utf-8").replace("\u202f", " ")
    latency = r"L = [\d.,]+ [nµ]s of latency"
    if machine.network.parameters.L == 0:
        latency = "no measurable latency L"
    assert re.search(rf"{latency} within one node \(shared memory\)", page)
    if node < 64:
        within = rf"messages within a node of {node} ranks have L = "
        assert re.search(within + ".*those between nodes L = 1.31 µs of infiniband-hdr", page)


def test_the_trace_is_of_four_ranks_that_ended(demo: tuple[Path, str]) -> None:
    folder, _ = demo
    trace = idlewave.Trace.load(folder / "trace")
    trace.check_complete()
    assert trace.ranks == 4
    communication = trace.communication()
    assert len(communication) >= 4
    assert (communication["source"] != communication["destination"]).all()
    total = trace.time().groupby("rank")["seconds"].sum()
    assert total.to_numpy() == pytest.approx(trace.run_times()["seconds"].to_numpy(), rel=1e-3)


def test_the_written_schedule_simulates_as_the_trace_does(demo: tuple[Path, str]) -> None:
    folder, _ = demo
    machine = idlewave.Machine.load(folder / "machine" / "machine.toml")
    written = idlewave.Schedule.load(next(folder.glob("*.goal")))
    direct = idlewave.Schedule.from_trace(
        folder / "trace", rules=machine.algorithm_rules, cold_caches=machine.cold_caches
    )
    for seed in range(3):
        expected = idlewave.simulate(direct, machine, seed=seed).finish.tolist()
        assert idlewave.simulate(written, machine, seed=seed).finish.tolist() == expected


def test_the_study_has_every_scale_with_and_without_noise(demo: tuple[Path, str]) -> None:
    folder, _ = demo
    table = pd.read_parquet(folder / "study.parquet")
    counts = table.groupby(["ranks", "noise"]).size()
    assert counts.to_dict() == {(n, noisy): 4 if noisy else 1 for n in (4, 16, 64) for noisy in (False, True)}
    quiet = table[~table["noise"]].set_index("ranks")["finish_ps"]
    noisy = table[table["noise"]]
    # A delay may let something else go first, and so save a little elsewhere; it never saves much.
    assert (noisy["finish_ps"].to_numpy() >= 0.99 * quiet[noisy["ranks"]].to_numpy()).all()


def test_other_algorithms_for_collectives_change_the_prediction(demo: tuple[Path, str]) -> None:
    folder, _ = demo
    machine = idlewave.Machine.load(folder / "machine" / "machine.toml")
    default = idlewave.Schedule.from_trace(folder / "trace")
    ring = idlewave.Schedule.from_trace(folder / "trace", algorithms={"allreduce": "ring"})
    times = [idlewave.simulate(s.extrapolate(64), machine, noise=None).max_finish for s in (default, ring)]
    assert times[0] != times[1]


def test_the_report_can_be_made_again_from_the_files_alone(
    demo: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, said = demo
    made: list[Report] = []

    def keeps(report: Report, target: Path) -> Path:
        """Without its figures, which are drawn from the same parts once more."""
        made.append(report)
        return target

    monkeypatch.setattr(report_command, "build", keeps)
    parts = ["-m", str(folder / "machine"), "-t", str(folder / "trace"), "-s", str(folder / "study.parquet")]
    done = CliRunner().invoke(cli, ["report", *parts, "-o", str(tmp_path)], env={"COLUMNS": "160"})
    assert done.exit_code == 0, done.output
    first = [line for line in said.splitlines() if line.startswith("• ")]
    assert [line for line in done.output.splitlines() if line.startswith("• ")] == first
    assert len(first) == 3
    figures = {f"{figure.name}.svg" for figure in report_figures(made[0])}
    assert figures == {file.name for file in (folder / "figures").glob("*.svg")}


def test_the_report_opens_offline_in_a_browser_and_shows_something(
    demo: tuple[Path, str], chromium: str, tmp_path: Path
) -> None:
    folder, _ = demo
    page = folder / "report.html"
    text = page.read_text(encoding="utf-8")
    assert not re.findall(r"""(?:src|href)=["'](?!#|data:)[^"']+""", text)
    picture = tmp_path / "page.png"
    flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        f"--user-data-dir={tmp_path / 'profile'}",
    ]
    done = subprocess.run(
        [chromium, *flags, "--window-size=1200,5000", f"--screenshot={picture}", page.as_uri()],
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0
    assert distinct_bytes(picture) > 1000
    assert len(list((folder / "figures").glob("*.svg"))) == len(list((folder / "figures").glob("*.png"))) >= 7


def distinct_bytes(png: Path) -> int:
    """How many different rows of pixels a PNG has: a blank page has one."""
    data, rows = png.read_bytes(), b""
    width, height = struct.unpack(">II", data[16:24])
    at = 8
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        rows += data[at + 8 : at + 8 + length] if kind == b"IDAT" else b""
        at += 12 + length
    raw = zlib.decompress(rows)
    stride = len(raw) // height
    assert width * 3 < stride + 8
    return len({raw[i * stride : (i + 1) * stride] for i in range(height)})
