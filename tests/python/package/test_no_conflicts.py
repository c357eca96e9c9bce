"""No file has the marks that a merge leaves where it cannot decide."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
MARKS = re.compile(rb"^(<{7}|>{7}) ", re.MULTILINE)


def test_no_file_has_the_marks_of_a_merge() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    files = [ROOT / name.decode() for name in listed.split(b"\0") if name]
    assert len(files) > 500
    assert [str(file) for file in files if file.is_file() and MARKS.search(file.read_bytes())] == []
