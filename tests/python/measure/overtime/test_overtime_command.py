"""The command `measure overtime`: it shows recordings, refuses what cannot be, and loses nothing at a signal."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from command_runs import run_command
from ending_support import ENDING, await_true, idlewave, started
from fake_overtime import Fake
from idlewave.cli import cli
from idlewave.cli.option_types import Lasting
from idlewave.formatting import plain
from idlewave.measure import read_overtime
from overtime_runs import record


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("500ms", 0.5), ("90s", 90), ("30m", 1800), ("1.5min", 90), ("12h", 43_200), ("2d", 172_800), ("20us", 2e-5)],
)
def test_times_have_units_from_microseconds_to_days(text: str, seconds: float) -> None:
    assert Lasting(0, 1e9).convert(text, None, None) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--for", "30"], "expected a time with a unit"),
        (["--for", "xh"], "expected a time with a unit"),
        (["--for", "0s"], "expected from 0.001 s"),
        (["--phase", "10m"], "expected from 0.001 s to 300 s"),
        (["--sizes", "8,16"], "expected three sizes, of latency, bandwidth and allreduce, found 2"),
        (["--sizes", "8,16,12"], "expected a size of allreduce of whole numbers of 8 bytes, found 12"),
        (["--peers", "2"], "expected fewer peers than the 2 ranks, found 2"),
        (["--counters", "netz"], "netz"),
        (["--from", ".", "--for", "1h"], "--from measures nothing"),
    ],
)
def test_what_cannot_be_measured_is_refused_with_status_2(words: list[str], said: str, tmp_path: Path) -> None:
    ended = run_command(["measure", "overtime", *words], tmp_path)
    assert ended.status == 2, ended.complained
    assert said in ended.complained
    assert list(tmp_path.iterdir()) == []


def test_a_recording_is_shown_with_its_tests_counters_and_load(tmp_path: Path) -> None:
    record(tmp_path, Fake(6000))
    shown = CliRunner().invoke(cli, ["measure", "overtime", "--from", str(tmp_path)])
    assert shown.exit_code == 0, shown.output
    text = plain(shown.output)
    assert "latency" in text
    assert "0 and 1" in text
    assert "10GB/s" in text
    assert "6000 phases of 6000 s in 1 run" in text.replace(",", "")
    assert "90 % of a CPU in active phases, 0.10 % in idle ones" in text


def test_json_has_the_tests_and_what_was_recorded(tmp_path: Path) -> None:
    record(tmp_path, Fake(12))
    shown = CliRunner().invoke(cli, ["measure", "overtime", "--from", str(tmp_path), "--json"])
    said = json.loads(shown.stdout)
    assert [row["test"] for row in said["tests"]] == ["latency", "bandwidth", "allreduce"]
    assert said["phases"] == 12
    assert said["recording"]["schema"] == 1


def test_a_folder_without_a_recording_is_refused(tmp_path: Path) -> None:
    ended = run_command(["measure", "overtime", "--from", str(tmp_path)], tmp_path)
    assert ended.status == 1
    assert "overtime.json: cannot be read as a recording over time" in ended.complained


MADE = """
import sys
sys.path.insert(0, {support!r})
from pathlib import Path
from idlewave.exit_status import run
from overtime_runs import record
from fake_overtime import Fake
run(lambda: record(Path({folder!r}), Fake({phases}, end="hang")))
"""


@pytest.mark.parametrize("number", ENDING)
def test_a_signal_ends_the_run_and_the_probe_and_loses_no_phase(tmp_path: Path, number: int) -> None:
    folder = tmp_path / "recording"
    support = str(Path(__file__).parents[2] / "support")
    program = MADE.format(support=support, folder=str(folder), phases=100)
    with started([sys.executable, "-c", program], tmp_path) as running:
        await_true(
            lambda: (folder / "tail.jsonl").exists() and len((folder / "tail.jsonl").read_bytes().splitlines()) == 100
        )
        status, said = running.end_by(number)
        assert status == 128 + number
        assert said.strip().endswith(f"interrupted by {signal.Signals(number).name}")
        assert running.left() == []
    found = read_overtime(folder)
    assert len(found.table) == 100
    assert found.said["runs"][0]["ended"] == f"interrupted by {signal.Signals(number).name}"
    record(folder, Fake(6))
    assert read_overtime(folder).table["run"].tolist() == [0] * 100 + [1] * 6


@pytest.mark.mpi
@pytest.mark.slow
def test_the_command_continues_after_a_signal_what_it_recorded(tmp_path: Path) -> None:
    words = ["measure", "overtime", "-o", "recording", "--phase", "20ms", "--counters", "net"]
    folder = tmp_path / "recording"
    with started([*idlewave(), *words, "--for", "10m"], tmp_path) as running:
        await_true(lambda: (folder / "tail.jsonl").exists() and (folder / "tail.jsonl").stat().st_size > 0)
        status, said = running.end_by(signal.SIGTERM)
        assert status == 143
        assert "to show it: idlewave measure overtime --from recording" in said
        assert running.left() == []
    before = len(read_overtime(folder).table)
    assert before > 0
    ended = run_command([*words, "--for", "100ms"], tmp_path)
    assert ended.status == 0, ended.complained
    found = read_overtime(folder)
    assert len(found.table) > before
    assert found.table["phase"].tolist() == list(range(len(found.table)))
    assert found.said["interrupted"] == found.said["continued"] == 1
    ended = run_command([*words[:-4], "--phase", "30ms", "--for", "100ms"], tmp_path)
    assert ended.status == 2
    assert "phase 0.02 there, 0.03 here" in ended.complained
