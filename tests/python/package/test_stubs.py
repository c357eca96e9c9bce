"""What type checkers are told of the compiled core is what the compiled core is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT


def test_the_stubs_in_the_repository_are_those_of_the_compiled_core(tmp_path: Path) -> None:
    pytest.importorskip("nanobind.stubgen", reason="stubs are made by nanobind")
    made = tmp_path / "_core.pyi"
    command = [sys.executable, ROOT / "scripts/stubs.py", made]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    kept = ROOT / "python/idlewave/_core.pyi"
    assert made.read_text(encoding="utf-8") == kept.read_text(encoding="utf-8"), "run `make stubs`"
