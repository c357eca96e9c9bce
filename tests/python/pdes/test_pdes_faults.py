"""Processes of a run of the kernel die or are interrupted, and the run ends with an error; checkpoints restart it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from long_cases import most_long
from pdes_support import LONG, run
from tracer_support import open_mpi

pytestmark = pytest.mark.slow


def children_of(folder_word: str) -> list[int]:
    """Processes of a run that others started: those whose command says so."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_text(encoding="utf-8", errors="replace").split("\0")
        except OSError:
            continue
        if words[1:3] == ["-m", "idlewave.processes"] and folder_word in (entry / "environ").read_text(
            errors="replace"
        ):
            found.append(int(entry.name))
    return found


def start(*arguments: str, word: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", "import idlewave.cli; idlewave.cli.main()", "pdes", *arguments]
    return subprocess.Popen(
        command,
        env=os.environ | {"IDLEWAVE_TEST": word, "PYTHONFAULTHANDLER": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Who starts tests in the background may ignore interrupts, and so would all below.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def await_file(path: Path, running: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)


def await_the_end_of_children(word: str) -> None:
    deadline = time.monotonic() + 20
    while children_of(word):
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.long
@pytest.mark.parametrize("scheduler", most_long(["timewarp", "yawns"], 1))
def test_a_process_that_dies_ends_the_run_with_an_error_and_the_last_checkpoint_restarts_it(
    scheduler: str, tmp_path: Path
) -> None:
    open_mpi()
    arguments = [*LONG, "--end", "100", "--checkpoint", str(tmp_path / "kept")]
    shared = ["--scheduler", scheduler, "--processes", "2", "--checkpoint-every", "0"]
    running = start(*arguments, *shared, word=str(tmp_path))
    await_file(tmp_path / "kept" / "latest", running)
    os.kill(children_of(str(tmp_path))[0], signal.SIGKILL)
    said = running.communicate(timeout=60)[1]
    assert running.returncode == 1
    assert "a run of 2 processes failed" in said
    await_the_end_of_children(str(tmp_path))
    whole = json.loads(run(*LONG, "--end", "100").stdout)
    for other in (["--scheduler", "yawns"], ["--scheduler", "timewarp", "--processes", "3"]):
        rest = json.loads(run(*arguments, *other, "--restart").stdout)
        assert (rest["digest"], rest["committed"]) == (whole["digest"], whole["committed"])
        assert rest["seconds"] > 0


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_all_processes(how: signal.Signals, tmp_path: Path) -> None:
    open_mpi()
    arguments = [*LONG, "--end", "1e6", "--checkpoint", str(tmp_path / "kept"), "--checkpoint-every", "0.2"]
    running = start(*arguments, "--scheduler", "yawns", "--processes", "2", word=str(tmp_path))
    await_file(tmp_path / "kept" / "latest", running)
    running.send_signal(how)
    try:
        running.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        running.send_signal(signal.SIGABRT)  # which makes Python print where each of its threads is
        pytest.fail(f"it has not ended after 60 s:\n{running.communicate(timeout=60)[1]}")
    finally:
        running.kill()
    assert running.returncode == 128 + how
    await_the_end_of_children(str(tmp_path))
