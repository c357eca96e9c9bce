"""What Idlewave starts ends as it would without us, and ends with us, whatever ends us."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest
from ending_support import await_true, pids_with, started
from idlewave import child_processes
from idlewave.child_processes import Child, run

FAMILY = "sleep 1000 & setsid sleep 1000 & (sleep 1000 &) ; touch ready; wait"
"""A command with a child, one in a session of its own, and one whose parent is gone."""
STUBBORN = f"trap '' INT TERM HUP; {FAMILY}"


@pytest.mark.parametrize("status", [0, 3, 255])
def test_an_exit_status_passes_unchanged(status: int) -> None:
    assert run(["sh", "-c", f"exit {status}"]).returncode == status


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV])
def test_who_is_ended_by_a_signal_is_seen_to_be(number: signal.Signals) -> None:
    assert run(["sh", "-c", f"kill -{number.value} $$"]).returncode == -number


def test_streams_and_environment_pass_through(tmp_path: Path) -> None:
    words = "read line; echo $line $WORD $PWD; echo complaint >&2"
    with Child.start(
        ["sh", "-c", words],
        environment=os.environ | {"WORD": "said"},
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as child:
        assert child._process.stdin is not None
        child._process.stdin.write(b"typed\n")
        child._process.stdin.close()
        assert child.communicate() == (f"typed said {tmp_path}\n".encode(), b"complaint\n")


def test_signals_have_their_default_action_in_the_command() -> None:
    found = run(["sh", "-c", "grep -E 'Sig(Blk|Ign)' /proc/self/status"]).stdout.split()
    assert int(found[1], 16) & 1 << signal.SIGTERM - 1 == 0
    assert int(found[3], 16) & 1 << signal.SIGTERM - 1 == 0


@pytest.mark.parametrize(
    ("command", "error"), [("/nowhere/at/all", FileNotFoundError), ("nowhere", FileNotFoundError), ("/etc", OSError)]
)
def test_what_cannot_be_started_is_an_error_that_names_it(command: str, error: type[OSError]) -> None:
    with pytest.raises(error) as raised:
        run([command])
    assert raised.value.filename == command


def test_a_tool_that_takes_too_long_is_ended() -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        run(["sleep", "1000"], seconds=0.1)


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    monkeypatch.setenv("IDLEWAVE_TEST_MARK", str(tmp_path))
    return str(tmp_path)


@pytest.mark.parametrize("words", [FAMILY, STUBBORN])
def test_all_that_a_command_has_started_ends_with_the_block(tmp_path: Path, mark: str, words: str) -> None:
    with Child.start(["sh", "-c", words], grace=0.2, cwd=tmp_path) as child:
        await_true((tmp_path / "ready").exists)
        assert len(pids_with(mark)) >= 6
    assert pids_with(mark) == []
    assert child.wait() == (-signal.SIGTERM if words == FAMILY else -signal.SIGKILL)


def test_all_output_is_read_whatever_its_size() -> None:
    done = run(["sh", "-c", "head -c 3000000 /dev/zero | tee /dev/stderr"])
    assert (len(done.stdout), len(done.stderr), done.returncode) == (3_000_000, 3_000_000, 0)


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert run(["printf", r"a\377b"]).stdout == "a\ufffdb"


def test_what_a_command_leaves_when_it_ends_by_itself_ends_too(tmp_path: Path, mark: str) -> None:
    words = "(trap '' TERM; exec setsid sleep 1000) & exit 5"
    with Child.start(["sh", "-c", words], cwd=tmp_path) as child:
        assert child.wait() == 5
        assert pids_with(mark) == []


def test_a_command_that_is_told_to_end_has_its_time(tmp_path: Path) -> None:
    words = "trap 'sleep 0.3; echo kept; exit 0' TERM; touch ready; while :; do sleep 0.01; done"
    with Child.start(["sh", "-c", words], cwd=tmp_path, stdout=(tmp_path / "said").open("w")) as child:
        await_true((tmp_path / "ready").exists)
        assert child.end() == 0
    assert (tmp_path / "said").read_text() == "kept\n"


def test_a_second_interrupt_kills_what_takes_its_time(tmp_path: Path, mark: str) -> None:
    def end() -> None:
        with Child.start(["sh", "-c", STUBBORN], grace=1000, cwd=tmp_path):
            await_true((tmp_path / "ready").exists)
            signal.setitimer(signal.ITIMER_REAL, 0.2)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            end()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert pids_with(mark) == []


class InterruptAt:
    """A trace function that raises KeyboardInterrupt before instruction number `left` of the wait for a child."""

    def __init__(self, left: int) -> None:
        self.left = left

    def __call__(self, frame: FrameType, event: str, _: object) -> InterruptAt | None:
        if frame.f_code.co_filename not in (child_processes.__file__, subprocess.__file__):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode" and self.left > 0:
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self


@pytest.mark.parametrize("wait", [lambda child: child.wait(0.001), lambda child: child.communicate(0.001)])
@pytest.mark.parametrize("streams", [{}, {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}])
def test_an_interrupt_at_any_instruction_of_a_wait_ends_the_child(
    wait: Callable[[Child], object], streams: dict[str, int], mark: str
) -> None:
    def too_late(*_: object) -> None:
        raise TimeoutError(f"an interrupt at instruction {last} keeps the child from ending")

    before = signal.signal(signal.SIGALRM, too_late)
    try:
        for last in itertools.count(1):
            signal.setitimer(signal.ITIMER_REAL, 20, 1)
            interrupt = InterruptAt(last)
            with (
                contextlib.suppress(KeyboardInterrupt, subprocess.TimeoutExpired),
                Child.start(["sleep", "1000"], **streams) as child,
            ):
                sys.settrace(interrupt)
                try:
                    wait(child)
                finally:
                    sys.settrace(None)
            assert child.wait() == -signal.SIGTERM
            if interrupt.left > 0:
                break
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert last > 20
    assert pids_with(mark) == []


IGNORES = """
import signal
from idlewave import child_processes, termination_signals

signal.signal(signal.SIGCHLD, signal.SIG_IGN)
{first}
print(child_processes.run(["sh", "-c", "exit 3"]).returncode)
"""


@pytest.mark.parametrize(("first", "status"), [("termination_signals.answer_signals()", 3), ("", child_processes.LOST)])
def test_where_the_end_of_children_is_ignored_a_command_learns_it_and_a_library_says_that_it_is_lost(
    first: str, status: int
) -> None:
    done = subprocess.run([sys.executable, "-c", IGNORES.format(first=first)], capture_output=True, timeout=60)
    assert done.stdout.decode().split() == [str(status)]


HOLDER = f"""
from idlewave.child_processes import Child
with Child.start(["sh", "-c", {STUBBORN!r}], grace=1000) as child:
    child.wait()
"""


@pytest.mark.parametrize("group", [False, True])
def test_it_ends_within_a_second_of_who_started_it_being_killed(tmp_path: Path, group: bool) -> None:
    with started([sys.executable, "-c", HOLDER], tmp_path) as running:
        await_true((tmp_path / "ready").exists)
        (os.killpg if group else os.kill)(running.process.pid, signal.SIGKILL)
        running.process.wait()
        await_true(lambda: running.left() == [])


def test_a_signal_to_the_whole_group_reaches_the_command_once(tmp_path: Path) -> None:
    counts = "trap 'echo told >> told' TERM; touch ready; while [ ! -e told ]; do sleep 0.01; done; sleep 1"
    program = (
        f"from idlewave.child_processes import Child\nwith Child.start(['sh', '-c', {counts!r}]) as child: child.wait()"
    )
    with started(
        [sys.executable, "-c", f"from idlewave.termination_signals import *\nanswer_signals()\n{program}"], tmp_path
    ) as running:
        await_true((tmp_path / "ready").exists)
        os.killpg(running.process.pid, signal.SIGTERM)
        running.process.communicate(timeout=30)
    assert (tmp_path / "told").read_text() == "told\n"


def test_an_installation_without_the_guard_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(child_processes, "package_data", lambda: tmp_path)
    with pytest.raises(child_processes.IdlewaveError, match=r"this installation of idlewave lacks .*idlewave-guard"):
        run(["true"])
