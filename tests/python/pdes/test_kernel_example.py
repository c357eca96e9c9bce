"""The model of one's own in examples/kernel is built by the command beside it, and gives one answer.

The command compiles two folders of the core, which takes as long as all else here together. The package build has
compiled the same files, so the command gets its libraries instead; `make test-long` has the command as it stands.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from kernel_example import RUN, commands_of_the_page
from places import BUILD, ROOT


def compiler() -> str:
    """That of CXX, or the first that there is."""
    for name in (os.environ.get("CXX"), "g++", "c++", "clang++"):
        if name and shutil.which(name):
            return name
    pytest.skip("no C++ compiler is installed")


SOURCES = {"core/base/*.cpp": "core/libidlewave_base.a", "core/pdes/*.cpp": "core/libidlewave_pdes.a"}
"""What the command compiles, and where the package build has it compiled."""


def commands(compiled: bool) -> str:
    """What the page says to type, with the compiler that is here; with what is `compiled` instead of its sources."""
    found = commands_of_the_page("ring.cpp")
    assert found.count("g++ ") == 1
    assert all(found.count(sources) == 1 for sources in SOURCES)
    if compiled:
        # A library comes behind those that use it.
        found = found.replace(
            " ".join(SOURCES), " ".join(str(BUILD / library) for library in reversed(SOURCES.values()))
        )
    return found.replace("g++ ", f"{compiler()} ")


# Each run of the tests compiles the same model on an installed core (test_core_libraries.py).
@pytest.mark.long
@pytest.mark.parametrize("compiled", [True, False])
def test_the_command_of_the_page_builds_a_program_whose_two_runs_agree(tmp_path: Path, compiled: bool) -> None:
    if compiled and not all((BUILD / library).is_file() for library in SOURCES.values()):
        pytest.skip("the package was not built in this checkout")
    for folder in ("core", "examples"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    done = subprocess.run(
        ["sh", "-e", "-c", commands(compiled)], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    runs = [re.fullmatch(RUN, text) for text in done.stdout.splitlines()]
    assert [run and run[1] for run in runs] == ["sequential", "timewarp"]
    (digest, busy), other = ((run[2], float(run[4])) for run in runs if run)
    assert other == (digest, busy)
    assert abs(busy - (3 - 5**0.5) / 2) < 0.01
