"""Schedules in files: three forms, told by content, written whole or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import idlewave
import pytest
from click.testing import CliRunner
from idlewave import InputError, Machine, Schedule, UsageError, simulate
from idlewave.cli import cli
from idlewave.schedule import EXTENSIONS, FORMATS

GOAL = "num_ranks 2\nrank 0 {\na: calc 7\nb: send 9b to 1 tag 3\nb requires a\n}\nrank 1 {\nrecv 9b from 0 tag 3\n}\n"


@pytest.fixture
def goal(tmp_path: Path) -> Path:
    file = tmp_path / "in.goal"
    file.write_text(GOAL)
    return file


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_a_schedule_is_told_by_its_content_whatever_its_name(extension: str, machine: Machine, tmp_path: Path) -> None:
    schedule = Schedule.pattern("allreduce", ranks=12, bytes=1000)
    written, renamed = tmp_path / f"x{extension}", tmp_path / "schedule"
    schedule.save(written)
    written.rename(renamed)
    again = Schedule.load(renamed)
    assert again.to_goal() == schedule.to_goal()
    assert simulate(again, machine).finish.tolist() == simulate(schedule, machine).finish.tolist()


@pytest.mark.parametrize("through", FORMATS)
def test_converting_there_and_back_changes_nothing(through: str, goal: Path, tmp_path: Path) -> None:
    idlewave.convert(goal, tmp_path / "first.bin")
    idlewave.convert(tmp_path / "first.bin", tmp_path / "between", to=through)
    idlewave.convert(tmp_path / "between", tmp_path / "last.bin")
    assert (tmp_path / "last.bin").read_bytes() == (tmp_path / "first.bin").read_bytes()


def test_an_extension_that_tells_no_form_is_a_usage_error(goal: Path, tmp_path: Path) -> None:
    for call in (
        lambda: Schedule.load(goal).save(tmp_path / "x.dat"),
        lambda: idlewave.convert(goal, tmp_path / "x"),
        lambda: idlewave.convert(goal, tmp_path / "x", to="punchcards"),
    ):
        with pytest.raises(UsageError, match="loggopsim"):
            call()
    assert list(tmp_path.iterdir()) == [goal]


def test_what_cannot_be_converted_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    source, target = tmp_path / "in.goal", tmp_path / "out.idg"
    source.write_text(GOAL.replace("to 1", "to 7"))
    target.write_text("old")
    with pytest.raises(InputError, match=r"in\.goal:4:15: expected a rank below num_ranks, which is 2, found '7'"):
        idlewave.convert(source, target)
    assert target.read_text() == "old"
    assert sorted(tmp_path.iterdir()) == [source, target]


def test_a_damaged_binary_is_named_with_byte_and_rank(goal: Path, tmp_path: Path) -> None:
    file = tmp_path / "x.idg"
    idlewave.convert(goal, file)
    damaged = bytearray(file.read_bytes())
    damaged[30] ^= 1
    file.write_bytes(damaged)
    with pytest.raises(InputError, match=r"x\.idg: byte 16: expected rank 0 with the checksum \d+, found \d+"):
        Schedule.load(file)
    file.write_bytes(damaged[:-5])
    with pytest.raises(InputError, match="it is cut off"):
        Schedule.load(file)


def test_progress_is_told_and_can_end_the_work(tmp_path: Path) -> None:
    class Enough(Exception):  # noqa: N818
        pass

    def stop(done: int, ranks: int) -> None:
        assert 0 < done <= ranks == 50_000
        raise Enough

    schedule = Schedule.pattern("dissemination", ranks=50_000)
    with pytest.raises(Enough):
        schedule.save(tmp_path / "x.goal", progress=stop)
    assert list(tmp_path.iterdir()) == []


def test_the_command_converts(goal: Path, tmp_path: Path) -> None:
    target = tmp_path / "x.idg"
    done = CliRunner().invoke(cli, ["convert", str(goal), str(target)], catch_exceptions=False)
    assert done.exit_code == 0
    assert Schedule.load(target).ranks == 2
    done = CliRunner().invoke(cli, ["schedule", str(target), "-o", str(tmp_path / "x"), "--to", "loggopsim"])
    assert done.exit_code == 0
    assert (tmp_path / "x").read_bytes()[:8] == (4223).to_bytes(8, "little")


def test_the_command_names_what_it_cannot_do(goal: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from idlewave.cli import main; main()", "convert"]

    def run(*arguments: str) -> tuple[int, str]:
        done = subprocess.run(
            [*command, *arguments], capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "500"}
        )
        return done.returncode, done.stderr

    status, said = run(str(goal), str(tmp_path / "x.dat"))
    assert (status, "expected an extension of a known format" in said) == (2, True)
    status, said = run("nowhere.goal", str(tmp_path / "x.idg"))
    assert (status, "nowhere.goal: cannot be read as a schedule: No such file" in said) == (1, True)
    status, said = run(str(goal), str(goal / "x.idg"))
    assert (status, f"x.idg: cannot be written: {goal} is not a directory" in said) == (1, True)
    status, said = run(str(goal), str(tmp_path / "made" / "x.idg"))
    assert (status, (tmp_path / "made" / "x.idg").is_file()) == (0, True)
