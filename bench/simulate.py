"""How long the simulator takes per message, and how much memory: a table. ``python bench/simulate.py``.

Each row is a process of its own, so that memory is its own. "seconds" is simulation with generation of the schedule,
without start-up; a row is run three times, and the fastest is shown.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.progress import track
from rich.table import Table

IDLEWAVE = Path(sys.executable).parent / "idlewave"
REPETITIONS = 3
NOISE = '\n[noise]\nkind = "periodic"\nperiod = "1ms"\nlength = "25us"\n'
NETWORK = 'name = "bench"\n[network]\nL = "5.3us"\no = "2.3us"\ng = "2us"\nG = "2.5ns"\nO = "1ns"\nS = "inf"\n'


@dataclass(frozen=True)
class Work:
    """One row: a pattern of 1-byte messages, with or without noise."""

    pattern: str
    ranks: int
    noise: bool = False


WORKS = [
    *(Work("dissemination", 2**power) for power in (10, 14, 17, 20)),
    Work("dissemination", 2**20, noise=True),
    Work("bcast", 2**20),
    Work("gather", 2**16),
    Work("alltoall", 2**10),
]


def run(work: Work, machines: Path) -> dict[str, float]:
    """What the fastest run says of itself."""
    machine = machines / ("noisy.toml" if work.noise else "quiet.toml")
    command: list[str | Path] = [
        IDLEWAVE,
        "simulate",
        work.pattern,
        "--ranks",
        str(work.ranks),
        "--machine",
        machine,
        "--json",
    ]
    answers = [
        json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        for _ in range(REPETITIONS)
    ]
    return min(answers, key=lambda answer: answer["seconds"])


def main() -> None:
    """Run all rows, and show them."""
    table = Table("pattern", "ranks", "noise", "messages", "seconds", "ns a message", "memory, MiB")
    for column in table.columns[1:]:
        column.justify = "right"
    with TemporaryDirectory() as folder:
        (Path(folder) / "quiet.toml").write_text(NETWORK, encoding="utf-8")
        (Path(folder) / "noisy.toml").write_text(NETWORK + NOISE, encoding="utf-8")
        for work in track(WORKS, description="simulating", transient=True):
            answer = run(work, Path(folder))
            table.add_row(
                work.pattern,
                f"{work.ranks:,}",
                "on" if work.noise else "off",
                f"{answer['messages']:,}",
                f"{answer['seconds']:.3f}",
                f"{answer['seconds'] / answer['messages'] * 1e9:.0f}",
                f"{answer['peak_rss_bytes'] / 2**20:.0f}",
            )
    Console().print(table)


if __name__ == "__main__":
    main()
