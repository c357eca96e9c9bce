"""Whoever is killed, a rank, the launcher or what records, and when the disk is full: the recording stays readable, has
every whole row, and is continued by the same command."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from command_runs import run_command
from ending_support import Running, await_true, idlewave, pids_with, started, words_of
from idlewave.measure import read_overtime
from long_cases import most_long
from small_disks import small_disk_at

pytestmark = [pytest.mark.mpi, pytest.mark.slow]
WORDS = ["measure", "overtime", "-o", "recording", "--phase", "20ms", "--counters", "none"]
VICTIMS = ("recorder", "rank 1", "rank 0", "launcher")
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
CASES = [(victim, number) for number in SIGNALS for victim in VICTIMS]
ENOUGH = 12
"""Rows before somebody is killed: two rounds."""


def pid_of(victim: str, running: Running) -> int:
    if victim == "recorder":
        return running.process.pid
    ranks = {rank_of(number): number for number in pids_with(running.mark)}
    if victim != "launcher":
        return ranks[victim]
    return int(Path(f"/proc/{ranks['rank 0']}/stat").read_text().rpartition(")")[2].split()[1])  # its parent


def rank_of(number: int) -> str:
    """Such as "rank 0", or nothing for a process that is no rank."""
    if Path(words_of(number)[0]).name != "idlewave-overtime":
        return ""
    variables = Path(f"/proc/{number}/environ").read_text().split("\0")
    return next(f"rank {v.partition('=')[2]}" for v in variables if v.startswith("OMPI_COMM_WORLD_RANK="))


def rows_in(folder: Path) -> int:
    tail = folder / "tail.jsonl"
    return tail.read_bytes().count(b"\n") if tail.exists() else 0


@pytest.mark.parametrize("case", most_long(CASES, 1))
def test_whoever_is_ended_the_recording_is_readable_and_continued(
    case: tuple[str, signal.Signals], tmp_path: Path
) -> None:
    victim, number = case
    folder = tmp_path / "recording"
    with started([*idlewave(), *WORDS, "--for", "10m"], tmp_path) as running:
        await_true(lambda: rows_in(folder) >= ENOUGH)
        os.kill(pid_of(victim, running), number)
        _, said = running.process.communicate(timeout=60)
        assert running.process.returncode != 0
        if (victim, number) != ("recorder", signal.SIGKILL):
            assert said.strip()
        await_true(lambda: not running.left())
    first = read_overtime(folder)
    assert len(first.table) >= ENOUGH
    assert first.table["phase"].tolist() == list(range(len(first.table)))
    assert first.notes  # that it was interrupted, or does not say how it ended
    ended = run_command([*WORDS, "--for", "100ms"], tmp_path)
    assert ended.status == 0, ended.complained
    found = read_overtime(folder)
    assert len(found.table) > len(first.table)
    assert found.table["phase"].tolist() == list(range(len(found.table)))
    assert (found.said["interrupted"], found.said["continued"]) == (1, 1)
    assert found.said["runs"][1]["ended"] == "time"


@pytest.mark.long
def test_a_disk_that_fills_up_ends_the_run_and_with_room_it_is_continued(tmp_path: Path) -> None:
    with small_disk_at(tmp_path / "small", "64k") as disk:
        folder = disk / "recording"
        ballast = disk / "ballast"
        ballast.write_bytes(bytes(36 << 10))
        with started([*idlewave(), *WORDS, "--for", "10m"], disk) as running:
            _, said = running.process.communicate(timeout=120)
            assert running.process.returncode == 1
            assert "No space left on device" in said
            await_true(lambda: not running.left())
        first = read_overtime(folder).table
        assert len(first) > 0
        assert first["phase"].tolist() == list(range(len(first)))
        ballast.unlink()
        ended = run_command([*WORDS, "--for", "100ms"], disk)
        assert ended.status == 0, ended.complained
        found = read_overtime(folder)
        assert found.table["phase"].tolist() == list(range(len(found.table)))
        assert found.table["run"].max() == 1
