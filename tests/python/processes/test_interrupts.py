"""A signal ends every command, at any time, with its own exit status and a line; never with a traceback."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time
from pathlib import Path

import pytest
from ending_support import ENDING, await_true, idlewave, launcher, started
from idlewave.termination_signals import Interrupted, ended_by_signals, shielded
from long_cases import most_long

pytestmark = pytest.mark.slow

DELAYS_MS = (1, 5, 10, 20, 50, 100, 200)
BIG = ["simulate", "dissemination", "--ranks", "16000000", "-m", "odin"]
EARLY = {
    "simulate": BIG,
    "study": ["study", "big.goal", "-m", "odin", "--seeds", "100000"],
    "report": ["report", "-s", "study.csv"],
    "schedule": ["schedule", "alltoall", "--ranks", "10000", "-o", "out.goal"],
    "convert": ["convert", "big.goal", "big.idg"],
    "timeline": ["timeline", "alltoall", "--ranks", "1000", "-m", "odin", "-o", "out.parquet"],
    "explain": ["explain", "dissemination", "--ranks", "1000000", "-m", "odin"],
    "pdes": ["pdes", "phold", "--lps", "1e6", "--end", "1e6"],
    "noise": ["noise", "show", "."],
    "machines": ["machines"],
    "measure": ["measure", "noise", "--seconds", "100"],
    "trace": ["trace", "--", "mpiexec", "-n", "2", "sleep", "100"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    ops = "".join(f"op{i}: calc 1000\n" for i in range(1000))
    (tmp_path / "big.goal").write_text(f"num_ranks 200\n{''.join(f'rank {r} {{{ops}}}' for r in range(200))}\n")
    (tmp_path / "study.csv").write_text("ranks,noise,seed,finish_ps,messages,seconds\n4,False,0,1000000,3,0.1\n")
    return tmp_path


def ends_well(command: list[str], folder: Path, number: int, delay_ms: int) -> None:
    """Before Python can answer it, a signal ends the program as it ends any; a command may also be done by then."""
    with started(command, folder) as running:
        time.sleep(delay_ms / 1000)
        status, said = running.end_by(number)
        assert "Traceback" not in said, (delay_ms, said)
        assert "Exception" not in said, (delay_ms, said)
        assert status in (0, 1, 2, -number, 128 + number), (delay_ms, said)
        if status == 128 + number:
            assert said.splitlines()[-1].startswith(f"interrupted by {signal.Signals(number).name}")
        assert running.left() == []


@pytest.mark.parametrize("number", most_long(reversed(ENDING), 1))
def test_no_signal_is_too_early_to_be_answered(folder: Path, number: signal.Signals) -> None:
    program = str(launcher())
    for delay in DELAYS_MS:
        ends_well([program, *BIG], folder, number, delay)


def test_nor_for_the_program_that_becomes_a_probe(tmp_path: Path) -> None:
    program = str(launcher("idlewave-probe"))
    for delay in DELAYS_MS:
        ends_well([program, "detour", "--seconds", "100"], tmp_path, signal.SIGTERM, delay)


@pytest.mark.long
@pytest.mark.parametrize("number", ENDING)
@pytest.mark.parametrize("command", EARLY)
def test_whatever_the_command(folder: Path, command: str, number: signal.Signals) -> None:
    program = str(launcher())
    for delay in (*DELAYS_MS, 300, 400, 600, 800, 1200, 2000):
        ends_well([program, *EARLY[command]], folder, number, delay)
    assert not list(folder.glob("*.part"))


def last_line(said: str) -> str:
    """The only line, but for the notice that a busy machine is slow."""
    lines = [line for line in said.splitlines() if line != "simulating …"]
    assert len(lines) == 1
    return lines[0]


@pytest.mark.parametrize("number", most_long(ENDING, 1))
def test_a_long_simulation_ends_with_the_status_of_its_signal_and_a_line(tmp_path: Path, number: int) -> None:
    with started([*idlewave(), *BIG], tmp_path) as running:
        await_true(lambda: "idlewave.cli" in Path(f"/proc/{running.process.pid}/cmdline").read_text())
        time.sleep(0.5)
        status, said = running.end_by(number)
        assert (status, last_line(said)) == (128 + number, f"interrupted by {signal.Signals(number).name}")


def test_two_signals_in_a_row_are_one_wish(tmp_path: Path) -> None:
    with started([*idlewave(), *BIG], tmp_path) as running:
        time.sleep(0.5)
        for _ in range(20):
            running.process.send_signal(signal.SIGTERM)
            time.sleep(0.002)
        status, said = running.end_by(signal.SIGTERM)
        assert (status, last_line(said)) == (143, "interrupted by SIGTERM")


LAST = """
import os, signal, sys, threading, time, types
from idlewave.exit_status import run

class Late:
    def __del__(self, kill=os.kill, pid=os.getpid()):
        for number in (15, 1, 2, 15):
            kill(pid, number)

def work():
    threading.Thread(target=time.sleep, args=(100,), daemon=True).start()
    module = sys.modules["late"] = types.ModuleType("late")
    module.late = Late()
    signal.raise_signal(signal.SIGTERM)

run(work)
"""


def test_signals_while_python_takes_itself_down_do_not_change_the_status(tmp_path: Path) -> None:
    for _ in range(5):
        with started([sys.executable, "-c", LAST], tmp_path) as running:
            _, said = running.process.communicate(timeout=30)
            assert (running.process.returncode, said) == (143, "interrupted by SIGTERM\n")


@pytest.mark.parametrize("program", ["pass", "raise SystemExit(3)", "signal.raise_signal(15)"])
def test_no_signal_at_the_end_of_a_command_gives_death_by_signal(program: str, tmp_path: Path) -> None:
    work = f"def work():\n os.write(1, b'.')\n {program}\n"
    code = f"import os, signal\nfrom idlewave.exit_status import run\n{work}run(work)"
    for delay_us in (0, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000):
        with started([sys.executable, "-c", code], tmp_path) as running:
            assert running.process.stdout is not None
            assert running.process.stdout.read(1) == "."
            for _ in range(3):
                time.sleep(delay_us / 1e6)
                running.process.send_signal(signal.SIGTERM)
            _, said = running.process.communicate(timeout=30)
            assert running.process.returncode in (0, 3, 143), (delay_us, said)
            assert said in ("", "interrupted by SIGTERM\n")


def test_what_is_ignored_stays_so_as_under_nohup(tmp_path: Path) -> None:
    program = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n" + idlewave()[-1]
    with started([sys.executable, "-c", program, *BIG], tmp_path) as running:
        time.sleep(0.5)
        running.process.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        assert running.process.poll() is None
        assert running.end_by(signal.SIGTERM)[0] == 143


def test_loading_the_package_answers_no_signals(tmp_path: Path) -> None:
    program = "import signal, idlewave, idlewave.cli\nprint([signal.getsignal(n) for n in (2, 15, 1)])"
    with started([sys.executable, "-c", program], tmp_path) as running:
        said, _ = running.process.communicate(timeout=30)
    assert said.count("SIG_DFL") == 2
    assert said.count("default_int_handler") == 1


@pytest.fixture
def _plain() -> object:
    before = {number: signal.signal(number, signal.SIG_DFL) for number in ENDING}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("_plain")
@pytest.mark.parametrize("number", ENDING)
def test_in_a_library_signals_raise_only_while_it_has_something_to_end(number: signal.Signals) -> None:
    with pytest.raises(Interrupted, match=f"interrupted by {number.name}"), ended_by_signals():
        os.kill(os.getpid(), number)
    assert all(signal.getsignal(n) is signal.SIG_DFL for n in ENDING)


@pytest.mark.usefixtures("_plain")
def test_who_handles_a_signal_keeps_their_handler() -> None:
    seen = []
    signal.signal(signal.SIGTERM, lambda *_: seen.append("own"))
    with ended_by_signals():
        os.kill(os.getpid(), signal.SIGTERM)
    assert seen == ["own"]


@pytest.mark.usefixtures("_plain")
def test_what_is_shielded_is_done_before_the_signal_is_answered() -> None:
    done = []

    def work() -> None:
        with ended_by_signals(), shielded():
            os.kill(os.getpid(), signal.SIGTERM)
            done.append("whole")

    with pytest.raises(Interrupted):
        work()
    assert done == ["whole"]


def test_a_signal_amidst_what_python_cannot_pass_on_is_answered_all_the_same(tmp_path: Path) -> None:
    program = (
        "import gc, os, time\nfrom idlewave.exit_status import run\n"
        "class Last:\n    def __del__(self):\n        os.kill(os.getpid(), 15); time.sleep(0.05)\n"
        "def work():\n    x = Last(); del x; time.sleep(30)\n"
        "run(work)"
    )
    with started([sys.executable, "-c", program], tmp_path) as running:
        _, said = running.process.communicate(timeout=20)
    assert (running.process.returncode, said) == (143, "interrupted by SIGTERM\n")


LOSES = """
import signal
try:
    signal.raise_signal(15)
except BaseException:
    pass
"""
IMPORTS = """
import sys, time
from idlewave.exit_status import run
from idlewave.termination_signals import work_begins

def work():
    if {begun}:
        work_begins()
    try:
        import loses
        time.sleep(100)
    finally:
        print("cleaned up", file=sys.stderr)

run(work)
"""


@pytest.mark.parametrize(("begun", "expected"), [(True, "cleaned up\n"), (False, "")])
def test_a_signal_is_not_lost_in_a_module_that_is_being_imported(tmp_path: Path, begun: bool, expected: str) -> None:
    (tmp_path / "loses.py").write_text(LOSES)
    with started([sys.executable, "-c", IMPORTS.format(begun=begun)], tmp_path) as running:
        _, said = running.process.communicate(timeout=20)
    assert (running.process.returncode, said) == (143, f"{expected}interrupted by SIGTERM\n")


@pytest.mark.usefixtures("_plain")
def test_a_signal_that_is_answered_early_leaves_no_timer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a timer ended the process by SIGALRM when Python had removed its handlers."""
    (tmp_path / "raises_early.py").write_text("import signal\nsignal.raise_signal(15)\n")
    monkeypatch.syspath_prepend(tmp_path)
    left = []

    def work() -> None:
        try:
            with shielded():
                __import__("raises_early")
        finally:
            left.append(signal.getitimer(signal.ITIMER_REAL)[0])

    before = signal.signal(signal.SIGALRM, signal.SIG_DFL)
    try:
        with pytest.raises(Interrupted), ended_by_signals():
            work()
    finally:
        signal.signal(signal.SIGALRM, before)
        sys.modules.pop("raises_early")
    assert left == [0]


@pytest.mark.usefixtures("_plain")
@pytest.mark.parametrize("timer_is_used", [True, False])
def test_in_a_library_the_timer_of_its_user_stays(timer_is_used: bool, tmp_path: Path) -> None:
    (tmp_path / "raises.py").write_text("import signal\nsignal.raise_signal(15)\nloaded = True\n")
    handler = (lambda *_: None) if timer_is_used else signal.SIG_DFL
    before = signal.signal(signal.SIGALRM, handler)
    sys.path.insert(0, str(tmp_path))
    try:
        with pytest.raises(Interrupted), ended_by_signals():
            __import__("raises")
        assert ("raises" in sys.modules) == (not timer_is_used)
        assert signal.getsignal(signal.SIGALRM) is handler
    finally:
        signal.signal(signal.SIGALRM, before)
        sys.path.remove(str(tmp_path))
        sys.modules.pop("raises", None)


def test_an_interrupt_says_what_is_kept_also_after_a_journey() -> None:
    end = pickle.loads(pickle.dumps(Interrupted(signal.SIGTERM, "two rows are kept in x")))
    assert str(end) == "interrupted by SIGTERM; two rows are kept in x"
    assert end.exit_status == 143
    assert str(Interrupted.by(KeyboardInterrupt())) == "interrupted by SIGINT"
