"""Copies of a program run beside a traced run for as long as that takes."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest
from idlewave.errors import MeasurementError
from idlewave.validation import Network, Program
from idlewave.validation.beside import running_beside

NETWORK = Network("net", ("odin",), ("sh", "-c", 'shift 2; exec "$@"', "sh"))
"""Its launcher takes "-n N" and a program, and starts that once."""


def count(file: Path) -> int:
    return len(file.read_text()) if file.exists() else 0


def test_copies_start_when_the_block_says_so_and_are_started_again_until_it_ends(tmp_path: Path) -> None:
    file = tmp_path / "starts"
    program = Program("touch", ("sh", "-c", f"printf x >> {file}; sleep 0.01"), ranks=1)
    with running_beside(program, NETWORK, 2) as start:
        time.sleep(0.1)
        assert count(file) == 0, "copies wait for the traced run"
        start()
        while count(file) < 6:
            time.sleep(0.01)
    ended = count(file)
    time.sleep(0.1)
    assert count(file) == ended


def test_each_copy_has_a_cpu_of_its_own_and_the_first_one_is_left_to_the_traced_run(tmp_path: Path) -> None:
    write = f"import os; open(f'{tmp_path}/{{os.getpid()}}', 'w').write(str(sorted(os.sched_getaffinity(0))))"
    program = Program("where", (sys.executable, "-c", write), ranks=1)
    cpus = sorted(os.sched_getaffinity(0))

    def seen() -> set[str]:
        return {file.read_text() for file in tmp_path.iterdir()} - {""}

    with running_beside(program, NETWORK, len(cpus)) as start:
        start()
        while len(seen()) < len(cpus):
            time.sleep(0.01)
    assert seen() == {f"[{cpu}]" for cpu in cpus}, "the last copy has the first CPU, as there are no more"


def test_a_copy_that_fails_is_an_error() -> None:
    def run() -> None:
        with running_beside(Program("false", ("false",), ranks=1), NETWORK, 1) as start:
            start()
            time.sleep(0.5)

    with pytest.raises(MeasurementError, match="'false' failed beside the traced run of 'false'"):
        run()
