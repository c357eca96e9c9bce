"""The model of one's own in examples/kernel is built by the command beside it, and gives one answer."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from places import ROOT

README = ROOT / "examples/kernel/README.md"


def compiler() -> str:
    """That of CXX, or the first that there is."""
    for name in (os.environ.get("CXX"), "g++", "c++", "clang++"):
        if name and shutil.which(name):
            return name
    pytest.skip("no C++ compiler is installed")


def commands() -> str:
    """What the page says to type, with the compiler that is here."""
    found = re.findall(r"^```sh\n(.*?)^```$", README.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert len(found) == 1
    assert found[0].count("g++ ") == 1
    return str(found[0]).replace("g++ ", f"{compiler()} ")


def test_the_command_of_the_page_builds_a_program_whose_two_runs_agree(tmp_path: Path) -> None:
    for folder in ("core", "examples"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    done = subprocess.run(
        ["sh", "-e", "-c", commands()], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    line = r"(\w+): digest ([0-9a-f]{16}), ([0-9.]+) million events a second, stations busy for ([0-9.]+) of the time"
    runs = [re.fullmatch(line, text) for text in done.stdout.splitlines()]
    assert [run and run[1] for run in runs] == ["sequential", "timewarp"]
    (digest, busy), other = ((run[2], float(run[4])) for run in runs if run)
    assert other == (digest, busy)
    assert abs(busy - (3 - 5**0.5) / 2) < 0.01
