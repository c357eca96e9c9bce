"""Models on the kernel give one answer, however they are run, and what cannot be run is said."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from idlewave import mpi, pdes
from idlewave.errors import InputError, MpiError, UsageError
from tracer_support import open_mpi

SMALL: dict[str, Any] = {"lps": 300, "end": 8.0, "remote": 0.3}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "import idlewave.cli; idlewave.cli.main()", "pdes", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def outcome(found: pdes.EventRun) -> tuple[int, int]:
    return found.digest, found.committed


def test_the_schedulers_and_threads_give_one_answer() -> None:
    alone = outcome(pdes.phold(**SMALL))
    for scheduler in ("yawns", "timewarp"):
        for threads in (1, 2, 3):
            assert outcome(pdes.phold(**SMALL, scheduler=scheduler, threads=threads)) == alone
    assert outcome(pdes.phold(**SMALL, scheduler="timewarp", threads=2, lazy=True)) == alone
    assert outcome(pdes.phold(**SMALL, scheduler="check")) == alone


def test_without_a_lookahead_sequential_and_time_warp_give_one_answer() -> None:
    alone = outcome(pdes.phold(**SMALL, lookahead=0))
    assert outcome(pdes.phold(**SMALL, lookahead=0, scheduler="timewarp", threads=2)) == alone
    assert outcome(pdes.phold(**SMALL, lookahead=0, scheduler="check")) == alone
    with pytest.raises(InputError, match="yawns needs a lookahead"):
        pdes.phold(**SMALL, lookahead=0, scheduler="yawns")


def test_another_seed_is_another_run() -> None:
    assert pdes.phold(**SMALL).digest != pdes.phold(**SMALL, seed=2).digest


def test_events_are_as_many_as_their_delays_say() -> None:
    # Each of 16 events of an LP comes once in a mean delay of 1, from a first one that takes as long.
    found = pdes.phold(lps=2000, end=40.0)
    expected = 2000 * 16 * 40
    assert abs(found.committed - expected) < 6 * expected**0.5


@pytest.mark.parametrize(("processes", "threads"), [(2, 1), (3, 1), (2, 2)])
@pytest.mark.parametrize("scheduler", ["yawns", "timewarp"])
def test_processes_give_the_answer_of_one(processes: int, threads: int, scheduler: str) -> None:
    open_mpi()
    shared = pdes.phold(**SMALL, scheduler=scheduler, threads=threads, processes=processes)
    assert outcome(shared) == outcome(pdes.phold(**SMALL))
    assert shared.told_elsewhere > 0


def test_processes_need_no_lookahead() -> None:
    open_mpi()
    shared = pdes.phold(**SMALL, lookahead=0, scheduler="timewarp", processes=2)
    assert outcome(shared) == outcome(pdes.phold(**SMALL, lookahead=0))


def test_a_process_that_dies_ends_the_run_with_an_error(tmp_path: Path) -> None:
    site = open_mpi()
    job = tmp_path / "job.json"
    job.write_text(json.dumps({"function": "phold", "arguments": SMALL | {"end": 1e6, "scheduler": "timewarp"}}))
    program = "import os, sys; open(sys.argv[4] + str(os.getpid()), 'w'); from idlewave import processes; "
    program += "from pathlib import Path; processes.main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])"
    wire = mpi.build(site, "wire")
    command = [
        site.mpiexec,
        "-n",
        "2",
        sys.executable,
        "-c",
        program,
        job,
        tmp_path / "answer",
        wire,
        f"{tmp_path}/pid-",
    ]
    running = subprocess.Popen(command, env=site.environment(), stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while len(pids := list(tmp_path.glob("pid-*"))) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    time.sleep(1)
    os.kill(int(pids[0].name.removeprefix("pid-")), signal.SIGKILL)
    assert running.wait(timeout=60) != 0
    assert not (tmp_path / "answer").exists()


def test_what_a_process_cannot_do_is_said_by_the_run() -> None:
    open_mpi()
    with pytest.raises(MpiError, match="yawns needs a lookahead"):
        pdes.phold(**SMALL, lookahead=0, scheduler="yawns", processes=2)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"lps": 0}, "expected 1 to 4294967294 LPs, found 0"),
        ({"remote": 1.5}, "expected a remote share from 0 to 1, found 1.5"),
        ({"remote": float("nan")}, "expected a remote share from 0 to 1, found nan"),
        ({"mean": -1.0}, "expected mean from 0"),
        ({"end": float("inf")}, "expected end from 0"),
        ({"mean": 0.0, "lookahead": 0.0}, "or more: else time never passes"),
        ({"scheduler": "optimistic"}, "no scheduler is called 'optimistic'"),
        ({"threads": 2}, "sequential runs on one thread"),
        ({"processes": 2}, "sequential runs in one process"),
        ({"start_events": -1}, "events at the start of each LP, found -1"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: dict[str, Any], expected: str) -> None:
    with pytest.raises(UsageError) as caught:
        pdes.phold(**arguments)
    assert expected in str(caught.value)


def test_the_command_prints_the_json_of_the_contract() -> None:
    arguments = ("--lps", "1e3", "--start-events", "16", "--remote", "0.1", "--mean", "0.9", "--lookahead", "0.1")
    done = run("phold", *arguments, "--end", "5", "--scheduler", "timewarp", "--threads", "2", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {"committed", "rolled_back", "seconds", "init_seconds", "digest", "peak_rss_bytes"} <= found.keys()
    assert found["digest"] == pdes.phold(lps=1000, end=5.0).digest


def test_the_command_shows_people_a_table() -> None:
    done = run("phold", "--lps", "100", "--end", "2")
    assert done.returncode == 0, done.stderr
    assert "events committed" in done.stdout
    assert "efficiency (1 - rolled back / committed)" in done.stdout


@pytest.mark.parametrize("lps", ["1.5", "many", "nan"])
def test_the_command_refuses_what_is_no_number_of_lps(lps: str) -> None:
    done = run("phold", "--lps", lps)
    assert done.returncode == 2
    assert "--lps" in done.stderr
