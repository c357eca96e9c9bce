"""Copies of a program run beside a traced run for as long as that takes."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from idlewave.errors import MeasurementError
from idlewave.validation import Network, Program
from idlewave.validation.beside import running_beside

NETWORK = Network("net", ("odin",), ("mpiexec",))


def count(file: Path) -> int:
    return len(file.read_text()) if file.exists() else 0


def test_a_copy_is_started_again_until_the_block_ends(tmp_path: Path) -> None:
    file = tmp_path / "starts"
    program = Program("touch", ("sh", "-c", f"printf x >> {file}; sleep 0.01"), ranks=1)
    with running_beside(program, NETWORK, 2):
        while count(file) < 6:
            time.sleep(0.01)
    ended = count(file)
    time.sleep(0.1)
    assert count(file) == ended


def test_a_copy_that_fails_is_an_error() -> None:
    def run() -> None:
        with running_beside(Program("false", ("false",), ranks=1), NETWORK, 1):
            time.sleep(0.5)

    with pytest.raises(MeasurementError, match="'false' failed beside the traced run of 'false'"):
        run()
