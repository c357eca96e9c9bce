"""The commands keep their contract: output, exit status, errors that name the place."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import idlewave
import pandas as pd
import pytest
from click.testing import CliRunner
from command_examples import commands
from command_runs import run
from idlewave.cli import (
    COMMANDS,
    cli,
    measure_clocks_command,
    measure_collectives_command,
    measure_commands,
    measure_network_command,
    measure_noise_command,
    measure_one_sided_command,
    measure_overtime_command,
    measure_pairs_command,
    measure_patterns_command,
    progress,
    terminal,
)
from idlewave.cli.option_types import Count
from idlewave.errors import MeasurementError, UsageError
from rich.console import Console

PING = "num_ranks 2\nrank 0 {\na: send 8b to 1\n}\nrank 1 {\nb: recv 8b from 0\n}\n"


@pytest.fixture
def goal(tmp_path: Path) -> str:
    (tmp_path / "ping.goal").write_text(PING)
    return str(tmp_path / "ping.goal")


def test_simulate_prints_the_json_of_the_contract(goal: str) -> None:
    done = run("simulate", goal, "--machine", "odin", "--json")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert found["finish_ps"] == [2_307_000, 2_307_000 - 7_000 + 5_300_000 + 2_300_000 + 17_500]
    assert found["max_finish_ps"] == max(found["finish_ps"])
    assert found["messages"] == 1
    assert found["seconds"] >= 0
    assert found["peak_rss_bytes"] > 0


@pytest.mark.long
def test_simulate_says_that_one_thread_executed_the_windows_of_all() -> None:
    # Few ranks of a sweep have an event in a window, so sixteen threads with one rank each would wait most of the time.
    many = ["sweep", "--ranks", "16", "--machine", "odin", "--blocks", "20000", "--sweeps", "8"]
    many += ["--scheduler", "yawns", "--threads", "16"]
    assert "one of 16 threads executed" in run("simulate", *many).stdout
    assert json.loads(run("simulate", *many, "--json").stdout)["share_by_one_thread"] > 0.5
    assert "one of" not in run("simulate", "dissemination", "--ranks", "16", "--machine", "odin").stdout


def test_simulate_speaks_the_dialect_of_LogGOPSim(goal: str) -> None:
    # Odin's O is 1 ns, its G 2.5 ns: there a reception takes o and the longer of both, one after the other.
    done = run("simulate", goal, "--machine", "odin", "--dialect", "loggopsim", "--json")
    assert json.loads(done.stdout)["finish_ps"] == [2_307_000, 2_300_000 + 5_300_000 + 2_300_000 + 17_500]
    refused = run("simulate", goal, "--machine", "odin", "--dialect", "loggopsim", "--threads", "2")
    assert refused.returncode == 2
    assert "one thread" in refused.stderr


def test_a_pattern_needs_ranks_and_takes_bytes_and_an_algorithm() -> None:
    done = run(
        "simulate", "allreduce", "--ranks", "64", "--bytes", "1000", "--algorithm", "ring", "-m", "odin", "--json"
    )
    schedule = idlewave.Schedule.pattern("allreduce", ranks=64, bytes=1000, algorithm="ring")
    expected = idlewave.simulate(schedule, idlewave.Machine.preset("odin"))
    assert json.loads(done.stdout)["finish_ps"] == expected.finish.tolist()
    assert run("simulate", "allreduce", "-m", "odin").returncode == 2


def test_a_pattern_can_be_written_out_as_GOAL() -> None:
    done = run("schedule", "alltoall", "--ranks", "5", "--bytes", "9", "--algorithm", "bruck")
    assert done.stdout == idlewave.Schedule.pattern("alltoall", ranks=5, bytes=9, algorithm="bruck").to_goal()


@pytest.mark.parametrize(
    "line",
    [
        "simulate barrier --ranks 1e2 -m odin --threads 1e0",
        "explain barrier --ranks 1e2 -m odin --most-simulations 1e1",
        "study {goal} -m odin --ranks 2e0 --seeds 1e0 -o {folder}/study.csv",
        "schedule halo2d --ranks 1.6e1 --dims 4e0x4",
        "simulate barrier --ranks 4 -m odin --seed 18446744073709551615",
    ],
)
def test_numbers_of_things_may_be_written_with_an_exponent(line: str, goal: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, line.format(goal=goal, folder=tmp_path).split())
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    ("number", "said"),
    [
        ("x", "expected a whole number such as 1024 or 1e6, found 'x'"),
        ("1.5", "expected a whole number, found '1.5'"),
        ("1e-3", "expected a whole number, found '1e-3'"),
        ("nan", "expected a whole number such as 1024 or 1e6, found 'nan'"),
        ("0", "expected a whole number of at least 1, found '0'"),
        ("1e99", "expected a whole number of at most 4294967294, found '1e99'"),
        ("1e999999999", "expected a whole number such as 1024 or 1e6, found '1e999999999'"),
    ],
)
def test_a_number_of_things_that_is_none_is_told_what_was_expected(number: str, said: str) -> None:
    for command in ("simulate", "explain"):
        done = run(command, "barrier", "--ranks", number, "-m", "odin")
        assert done.returncode == 2
        assert said in done.stderr


def test_every_option_for_a_number_of_things_is_of_that_one_type() -> None:
    for name, command in commands():
        for option in command.params:
            assert isinstance(option.type, Count) or not isinstance(option.type, click.IntRange), (name, option.name)


def test_more_than_65536_ranks_are_not_listed() -> None:
    found = json.loads(run("simulate", "dissemination", "--ranks", "65537", "-m", "odin", "--json").stdout)
    assert "finish_ps" not in found
    assert found["max_finish_ps"] > 0


def test_a_deadlock_ends_with_status_3_and_says_who_waits(tmp_path: Path) -> None:
    (tmp_path / "d.goal").write_text("num_ranks 1\nrank 0 {\nx: recv 1b from 0\n}\n")
    done = run("simulate", str(tmp_path / "d.goal"), "-m", "odin")
    assert done.returncode == 3
    assert "rank 0, x: waits for a message from rank 0" in done.stderr


def test_an_unmatched_send_is_no_deadlock_and_ends_with_status_1(tmp_path: Path) -> None:
    (tmp_path / "u.goal").write_text("num_ranks 2\nrank 0 {\ns: send 1b to 1 tag 4\n}\nrank 1 {\n}\n")
    done = run("simulate", str(tmp_path / "u.goal"), "-m", "odin")
    assert done.returncode == 1
    assert "unmatched send" in done.stderr
    assert "rank 0, s: 1 byte to rank 1 with tag 4; rank 1 has no receive from rank 0" in done.stderr
    assert "deadlock" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["simulate", "nowhere.goal", "-m", "odin"], 1, "nowhere.goal: cannot be read"),
        (["simulate", "bcast", "--ranks", "4", "-m", "nowhere.toml"], 1, "nowhere.toml: cannot be read"),
        (["simulate", "bcast", "--ranks", "4", "-m", "titan"], 1, "titan: expected a file, a folder, or a preset"),
        (["simulate", "bcast", "--ranks", "4"], 2, "--machine"),
        (["simulate", "gossip", "--ranks", "4", "-m", "odin"], 1, "'gossip' is no file, no trace, and no pattern"),
        (["simulate", "bcast", "--ranks", "0", "-m", "odin"], 2, "ranks"),
        (["simulate", "bcast", "--ranks", "4", "-m", "odin", "--scheduler", "magic"], 2, "magic"),
        (["schedule", "nowhere"], 1, "'nowhere' is no file, no trace, and no pattern"),
        (["schedule", "nowhere.goal"], 1, "nowhere.goal: cannot be read"),
        (["schedule", "bcast", "--ranks", "4", "--root", "4"], 2, "root from 0 to 3"),
        (["simulate", "halo2d", "--ranks", "4", "--dims", "2by2", "-m", "odin"], 2, "whole numbers with 'x'"),
        (["simulate", ".", "--face-bytes", "8", "-m", "odin"], 2, "--face-bytes belongs to a pattern"),
        (["schedule", "/", "-o", "x.goal"], 1, "expected a trace, found no file"),
        (["timeline", "bcast", "--ranks", "4", "-m", "odin", "-o", "x.gif"], 2, ".pftrace (Perfetto)"),
        (["timeline", "bcast", "--ranks", "65", "-m", "odin", "-o", "x.png"], 2, "room for 64 ranks"),
        (["study", "nowhere.goal", "-m", "odin", "-o", "x.txt"], 2, "ends with .parquet, .csv"),
        (["report"], 2, "at least one of"),
        (["trace"], 2, "COMMAND"),
        (["trace", "--", "ls"], 2, "ls"),
        (["dance"], 2, "dance"),
    ],
)
def test_wrong_use_and_wrong_input_are_named(arguments: list[str], status: int, words: str) -> None:
    done = run(*arguments)
    assert done.returncode == status, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["simulate", "schedule", "study"])
@pytest.mark.parametrize(
    "option", [("--algorithm", "allreduce=ring"), ("--reduction-cost", "2"), ("--wildcards", "keep")]
)
def test_an_option_of_traces_is_refused_for_a_schedule_file(goal: str, command: str, option: tuple[str, str]) -> None:
    machine = [] if command == "schedule" else ["-m", "odin"]
    done = run(command, goal, *machine, *option)
    assert done.returncode == 2
    assert f"messages, not calls: {option[0]} has no meaning" in done.stderr


def test_a_missing_mpiexec_is_named(tmp_path: Path) -> None:
    done = run("measure", "network", IDLEWAVE_MPIEXEC=str(tmp_path / "mpiexec"))
    assert done.returncode == 1
    assert "mpiexec" in done.stderr
    assert "was not found" in done.stderr


def test_a_study_of_a_file_becomes_a_table(goal: str, tmp_path: Path) -> None:
    table = tmp_path / "study.csv"
    done = run("study", goal, "-m", "odin", "-o", str(table))
    assert done.returncode == 0, done.stderr
    assert pd.read_csv(table)["finish_ps"].tolist() == [9_917_500]


def test_when_ops_ran_can_be_written_down(goal: str, tmp_path: Path) -> None:
    file = tmp_path / "ops.parquet"
    assert run("simulate", goal, "-m", "odin", "--ops", str(file)).returncode == 0
    assert pd.read_parquet(file)["kind"].tolist() == ["send", "recv"]


def test_a_timeline_is_written_as_its_ending_says(goal: str, tmp_path: Path) -> None:
    pytest.importorskip("perfetto", reason="the package perfetto is not installed")
    begins = {"parquet": b"PAR1", "png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF", "pftrace": b"\n"}
    for ending, begin in begins.items():
        file = tmp_path / f"timeline.{ending}"
        done = run("timeline", goal, "-m", "odin", "-o", str(file))
        assert done.returncode == 0, done.stderr
        assert "2 ops of 2 ranks" in done.stdout
        assert file.read_bytes().startswith(begin)
    assert {file.suffix[1:] for file in tmp_path.iterdir()} == {*begins, "goal"}


def test_an_archive_of_a_timeline_is_a_folder_that_is_not_replaced(goal: str, tmp_path: Path) -> None:
    pytest.importorskip("otf2", reason="the package otf2 is not installed")
    folder = tmp_path / "timeline.otf2"
    assert run("timeline", goal, "-m", "odin", "-o", str(folder)).returncode == 0
    assert (folder / "traces.otf2").exists()
    again = run("timeline", goal, "-m", "odin", "-o", str(folder))
    assert again.returncode == 1
    assert "empty or not there yet" in again.stderr


def test_the_lists_show_what_there_is() -> None:
    assert "odin" in run("machines").stdout
    assert "recursive_doubling" in run("algorithms").stdout


def test_measure_noise_shows_every_core_it_measured() -> None:
    core = min(os.sched_getaffinity(0))
    done = run("measure", "noise", "--seconds", "0.1", "--core", str(core))
    assert done.returncode == 0, done.stderr
    assert "overhead" in done.stdout
    assert run("measure", "noise", "--seconds", "0.1", "--core", "100000").returncode == 2


def test_every_command_explains_itself() -> None:
    for command in (*COMMANDS, *(f"measure {name}" for name in measure_commands.COMMANDS)):
        done = CliRunner().invoke(cli, [*command.split(), "--help"], prog_name="idlewave")
        assert done.exit_code == 0
        assert f"idlewave {command}" in done.output


def test_the_installed_script_is_the_same_program() -> None:
    script = Path(sys.executable).parent / "idlewave"
    if not script.exists() and shutil.which("idlewave") is None:
        pytest.skip("the package's script is not installed beside this Python")
    done = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
    assert idlewave.__version__ in done.stdout


def test_progress_of_ranks_is_shown_once_it_has_taken_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(terminal, "errors", Console(file=shown, force_terminal=True, width=100))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr(progress, "PATIENCE", 3600.0)
    with progress.rank_progress("reading a.goal") as update:
        update(1, 4)
    assert shown.getvalue() == ""
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with progress.rank_progress("reading a.goal") as update:
        update(3, 4)
    assert "reading a.goal" in shown.getvalue()
    assert "3/4" in shown.getvalue()


def test_progress_goes_nowhere_but_to_a_terminal(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with progress.rank_progress("reading a.goal") as update:
        update(3, 4)
    monkeypatch.setattr("sys.stderr", None)  # as where it is closed
    with progress.rank_progress("reading a.goal") as update:
        update(3, 4)
    assert capfd.readouterr() == ("", "")


MEASURED = {
    "noise": (measure_noise_command, "record", "detour.json", "idlewave noise show --method detour"),
    "network": (measure_network_command, "assess_pair", "network-1/samples.csv", "idlewave measure network --from"),
    "pairs -n 2": (measure_pairs_command, "measure_pairs", "pairs.csv", "idlewave measure pairs --from"),
    "patterns": (
        measure_patterns_command,
        "measure_patterns",
        "epoch-1/patterns.i64",
        "idlewave measure patterns --from",
    ),
    "collectives -n 2 -m odin": (
        measure_collectives_command,
        "measure_collectives",
        "collectives.i64",
        "idlewave measure collectives --from",
    ),
    "one-sided": (
        measure_one_sided_command,
        "measure_one_sided",
        "epoch-1/one-sided.i64",
        "idlewave measure one-sided --from",
    ),
    "overtime": (measure_overtime_command, "measure_overtime", "overtime.json", "idlewave measure overtime --from"),
    "clocks -n 2": (measure_clocks_command, "measure_clocks", "clocks-bursts.i64", "idlewave measure clocks --from"),
}


ENDS = {
    "interrupt": KeyboardInterrupt(),
    "failed fit": MeasurementError("L is -38 ns"),
    "full disk": OSError("no space left on device"),
}


@pytest.mark.parametrize("command", MEASURED)
@pytest.mark.parametrize("output", [False, True])
@pytest.mark.parametrize("records", [False, True])
@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_a_measurement_that_was_interrupted_or_failed_keeps_what_was_recorded_and_says_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, output: bool, records: bool, end: BaseException
) -> None:
    module, function, file, shown_by = MEASURED[command]
    places = []

    def ended(*arguments: object, **options: object) -> None:
        folder = next(a for a in (*arguments, options.get("folder")) if isinstance(a, Path))
        places.append(folder if command in ("patterns", "one-sided") else (folder / file).parent)
        if records:
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text("recorded")
        raise end

    monkeypatch.setattr(module, function, ended)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    options = ["-o", str(tmp_path / "kept")] if output else []
    done = CliRunner().invoke(cli, ["measure", *command.split(), *options])
    assert done.exit_code != 0
    assert (f"kept: {places[0]}; to show it: {shown_by} {places[0]}\n" in done.stderr) == records
    assert [path.name for path in places[0].rglob(Path(file).name)] == ([Path(file).name] if records else [])
    if not output:
        assert any(tmp_path.iterdir()) == records


def test_only_what_this_run_recorded_is_said_to_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(measure_pairs_command, "measure_pairs", interrupted)
    (tmp_path / "pairs.csv").write_text("of another run")
    done = CliRunner().invoke(cli, ["measure", "pairs", "-n", "2", "-o", str(tmp_path)])
    assert "kept" not in done.stderr
    assert (tmp_path / "pairs.csv").exists()


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("--noise-seconds 60 -o x noise", "--noise-seconds, --output"),
        ("--name x --network-seconds 5 network", "--name, --network-seconds"),
        ("pairs --from x -o y --seconds 5 --visits 3", "--output, --seconds, --visits"),
        ("pairs --from x --pairs 3 --concurrent --seed 1", "--concurrent, --pairs, --seed"),
        ("clocks --from x -o y --bursts 9 --one-a-host", "--bursts, --one-a-host, --output"),
        ("patterns --from x -o y --max-size 64", "--max-size, --output"),
        ("collectives -m odin --from x -o y --seed 1", "--output, --seed"),
        ("network --name x --node . --node-ranks 2", "--name, --node, --node-ranks"),
    ],
)
def test_options_of_measure_that_would_be_dropped_are_refused_by_name(line: str, named: str) -> None:
    refused = CliRunner().invoke(cli, ["measure", *line.split()])
    assert isinstance(refused.exception, UsageError)
    assert f": {named} has no meaning beside it" in str(refused.exception)


@pytest.mark.parametrize("value", ["nan", "inf"])
def test_times_that_are_not_finite_are_refused(value: str) -> None:
    context = click.Context(cli)
    group = cli.get_command(context, "measure")
    assert isinstance(group, click.Group)
    asked = 0
    for name in ("", *group.list_commands(context)):
        command = group.get_command(context, name) if name else group
        assert command is not None
        for option in command.params:
            if isinstance(option.type, click.FloatRange):
                asked += 1
                refused = CliRunner().invoke(cli, ["measure", *name.split(), option.opts[0], value])
                assert refused.exit_code == 2
                assert f"'{option.opts[0]}': expected a finite number, found {value}" in refused.output
    assert asked == 13


@pytest.mark.parametrize("size", ["-5", "99999999999999999999999", "9EiB", "8589934592 GiB"])
def test_a_size_out_of_range_is_told_the_range_or_the_units(size: str) -> None:
    done = CliRunner().invoke(cli, ["simulate", "alltoall", "--ranks", "2", "--bytes", size, "-m", "odin"])
    assert done.exit_code == 2
    expected = "units: B, kB" if size == "9EiB" else "expected from 0 to 9223372036854775807 bytes, found"
    assert expected in done.output
