"""Whatever happens in a command becomes one line and an exit status, and never a bare traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from ending_support import idlewave


def ended(program: str, *, shell: str = "", folder: Path | None = None, **environment: str) -> tuple[int, str, str]:
    """What a command that does `program` ends with: its status, its output, its errors; `shell`: redirections."""
    loads = "import errno, os, sys\nfrom idlewave.errors import *\nfrom idlewave.exit_status import run"
    code = f"{loads}\ndef work():\n {program}\nrun(work)"
    command = ["sh", "-c", f'exec "$@" {shell}', "sh", sys.executable, "-c", code]
    env = {k: v for k, v in os.environ.items() if k != "IDLEWAVE_DEBUG"} | environment
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=env, cwd=folder)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("program", "status", "line"),
    [
        ("raise InputError('x.goal:3: expected a rank')", 1, "x.goal:3: expected a rank"),
        ("raise UsageError('no such thing')", 2, "no such thing"),
        ("raise Deadlock('nothing can happen', [])", 3, "nothing can happen"),
        ("open('/nowhere/at/all')", 1, "/nowhere/at/all: No such file or directory"),
        ("os.rename('/nowhere', '/there')", 1, "/nowhere and /there: No such file or directory"),
        ("raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))", 1, "No space left on device (at the start)"),
        ("raise MemoryError('std::bad_alloc')", 1, "memory ran out (at the start)"),
    ],
)
def test_an_error_is_one_line_and_its_own_status(program: str, status: int, line: str) -> None:
    assert ended(program) == (status, "", f"error: {line}\n")


def test_a_bug_is_said_to_be_one_with_its_traceback_in_a_file(tmp_path: Path) -> None:
    status, _, said = ended("{}['ranks\\nof all']", TMPDIR=str(tmp_path))
    assert status == 70
    (file,) = tmp_path.iterdir()
    assert said.count("\n") == 1
    assert said.startswith("error: this is a bug in Idlewave: KeyError: ")
    assert said.endswith(f"please report it with the file {file}\n")
    assert "Traceback" in file.read_text()


def test_who_wants_to_mend_it_sees_the_traceback_at_once(tmp_path: Path) -> None:
    for program, status in (("1 / 0", 70), ("raise InputError('x')", 1)):
        found, _, said = ended(program, TMPDIR=str(tmp_path), IDLEWAVE_DEBUG="1")
        assert found == status
        assert said.startswith("Traceback")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("shell", "reason"), [(">/dev/full", "No space left on device"), (">&-", "it is closed")])
def test_an_output_that_takes_nothing_is_an_error(shell: str, reason: str) -> None:
    assert ended("print('found')", shell=shell) == (1, "", f"error: standard output: cannot be written: {reason}\n")


def test_who_prints_nothing_does_not_care() -> None:
    assert ended("pass", shell=">&-") == (0, "", "")


def test_what_went_wrong_before_goes_first() -> None:
    status, _, said = ended("print('x'); raise UsageError('no such thing')", shell=">/dev/full")
    assert (status, said) == (2, "error: no such thing\n")


@pytest.mark.parametrize(("program", "status"), [("pass", 0), ("sys.stderr.write('note')", 1)])
def test_notes_that_nobody_gets_show_in_the_status_and_end_no_work(program: str, status: int) -> None:
    assert ended(f"{program}; print('found')", shell="2>/dev/full") == (status, "found\n", "")


def test_a_reader_who_has_enough_ends_it_quietly() -> None:
    status, _, said = ended("[print('x' * 1000) for _ in range(10000)]", shell="| head -c 1 > /dev/null")
    assert said == ""
    assert status == 0  # that of head


def test_a_file_never_takes_the_place_of_a_closed_stream(tmp_path: Path) -> None:
    program = "file = open('kept', 'w'); os.write(1, b'x') if False else file.write('kept'); print('stray')"
    assert ended(program, shell=">&-", folder=tmp_path)[0] == 1
    assert (tmp_path / "kept").read_text() == "kept"


@pytest.mark.parametrize("arguments", [["machines"], ["algorithms"], ["--help"], ["schedule", "bcast", "--ranks", "4"]])
def test_the_commands_end_so(arguments: list[str]) -> None:
    command = ["sh", "-c", 'exec "$@" >/dev/full', "sh", *idlewave(), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (
        1,
        "error: standard output: cannot be written: No space left on device\n",
    )


@pytest.mark.parametrize("arguments", [["dance"], ["simulate", "bcast", "--fast"], ["trace"]])
def test_wrong_use_is_one_line_that_says_where_to_look(arguments: list[str]) -> None:
    done = subprocess.run([*idlewave(), *arguments], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert done.stderr.endswith("--help)\n")
    assert done.stderr.count("\n") == 1
