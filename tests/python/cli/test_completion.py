"""The shell offers what there is: machines, patterns, algorithms."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


def offered(*words: str) -> list[str]:
    program = "import sys; sys.argv[0] = 'idlewave'; from idlewave.cli import main; main()"
    asked = {
        "_IDLEWAVE_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(["idlewave", *words]),
        "COMP_CWORD": str(len(words)),
    }
    done = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | asked, capture_output=True, text=True, timeout=60, check=False
    )
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["simu"], ["simulate"]),
        (["simulate", "bcast", "-m", "od"], ["odin"]),
        (["simulate", "halo"], ["halo1d", "halo2d", "halo3d"]),
        (["simulate", "scan", "-a", "scan=l"], ["scan=linear"]),
        (["measure", "network", "--transport", "un"], ["unix"]),
    ],
)
def test_a_word_that_was_begun_is_completed(words: list[str], expected: list[str]) -> None:
    assert offered(*words) == expected


def test_where_a_file_may_stand_the_shell_offers_files_too() -> None:
    assert offered("simulate", "bcast", "-m", "./x") == ["./x"]
