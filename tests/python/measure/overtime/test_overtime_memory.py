"""A recording takes no more memory the longer it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from idlewave.measure.overtime.recorder import PART_ROWS

PROGRAM = """
import sys
sys.path.insert(0, {support!r})
from pathlib import Path
from fake_overtime import Fake
from idlewave.measure.overtime import recorder
from overtime_runs import record

def resident():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS"))

sizes = []
finish = recorder.Recorder._finish_part
def finish_and_look(self):
    finish(self)
    sizes.append(resident())
recorder.Recorder._finish_part = finish_and_look
record(Path({folder!r}), Fake({phases}))
print(*sizes)
"""
WARM = 5
"""Parts after which all that is loaded and pooled is there."""
MOST_KIB = 6 * 1024


def resident_at_parts(folder: Path, phases: int) -> list[int]:
    """KiB that a process had in memory after each part of a recording."""
    support = str(Path(__file__).parents[2] / "support")
    program = PROGRAM.format(support=support, folder=str(folder), phases=phases)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=3000)
    assert done.returncode == 0, done.stderr
    return [int(word) for word in done.stdout.split()]


def memory_stays(folder: Path, phases: int) -> None:
    sizes = resident_at_parts(folder, phases)
    assert len(sizes) == phases // PART_ROWS
    assert max(sizes[WARM:]) - sizes[WARM] < MOST_KIB, sizes


def test_memory_does_not_grow_with_the_phases(tmp_path: Path) -> None:
    memory_stays(tmp_path, 60_000)


@pytest.mark.long
@pytest.mark.timeout(3000)
def test_memory_does_not_grow_over_a_million_phases(tmp_path: Path) -> None:
    memory_stays(tmp_path, 1_000_000)
