"""The model of one's own in examples/kernel is built by the command beside it, and gives one answer."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from kernel_example import RUN, commands_of_the_page
from places import ROOT


def compiler() -> str:
    """That of CXX, or the first that there is."""
    for name in (os.environ.get("CXX"), "g++", "c++", "clang++"):
        if name and shutil.which(name):
            return name
    pytest.skip("no C++ compiler is installed")


def commands() -> str:
    """What the page says to type, with the compiler that is here."""
    found = commands_of_the_page("ring.cpp")
    assert found.count("g++ ") == 1
    return found.replace("g++ ", f"{compiler()} ")


def test_the_command_of_the_page_builds_a_program_whose_two_runs_agree(tmp_path: Path) -> None:
    for folder in ("core", "examples"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    done = subprocess.run(
        ["sh", "-e", "-c", commands()], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    runs = [re.fullmatch(RUN, text) for text in done.stdout.splitlines()]
    assert [run and run[1] for run in runs] == ["sequential", "timewarp"]
    (digest, busy), other = ((run[2], float(run[4])) for run in runs if run)
    assert other == (digest, busy)
    assert abs(busy - (3 - 5**0.5) / 2) < 0.01
