"""How long the simulator takes per message, and how much memory: a table. ``python bench/simulate.py``.

Each row is a process of its own, so that memory is its own. "seconds" is simulation with generation of the schedule,
without start-up; a row is run three times, and the fastest is shown. With ``--large`` also 16,777,216 ranks.
"""

from __future__ import annotations

import json
import random
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
NOISE = '\n[noise]\nkind = "trace"\nfile = "noise.csv"\nperiod = "1s"\n'
NETWORK = 'name = "bench"\n[network]\nL = "2.5us"\no = "1.5us"\ng = "1us"\nG = "6ns"\nO = "0ns"\nS = "inf"\n'
DETOURS = 10_000


@dataclass(frozen=True)
class Work:
    """One row: a pattern of 1-byte messages, on some threads, with or without noise."""

    pattern: str
    ranks: int
    algorithm: str = ""
    threads: int = 1
    noise: bool = False

    def command(self, machines: Path) -> list[str | Path]:
        """What runs it."""
        command: list[str | Path] = [IDLEWAVE, "simulate", self.pattern, "--ranks", str(self.ranks), "--json"]
        command += ["--machine", machines / ("noisy.toml" if self.noise else "quiet.toml")]
        if self.algorithm:
            command += ["--algorithm", self.algorithm]
        if self.threads > 1:
            command += ["--scheduler", "yawns", "--threads", str(self.threads)]
        return command


WORKS = [
    *(Work("dissemination", 2**power) for power in (10, 14, 17, 20)),
    Work("dissemination", 2**20, threads=2),
    Work("dissemination", 2**20, noise=True),
    Work("bcast", 2**20),
    Work("gather", 2**16),
    Work("scatter", 2**16),
    Work("alltoall", 2**12, algorithm="pairwise"),
]
LARGE = [Work("dissemination", 2**24), Work("dissemination", 2**24, threads=2)]


def write_machines(folder: Path) -> None:
    """A quiet machine, and one with a recording of many short detours and few long ones."""
    dice = random.Random(1)
    starts = sorted(dice.sample(range(0, 1_000_000_000, 100_000), DETOURS))
    lengths = [dice.choice((2_000, 3_000, 5_000, 20_000)) for _ in starts]
    rows = "".join(f"{start},{length}\n" for start, length in zip(starts, lengths, strict=True))
    (folder / "noise.csv").write_text("start_ns,length_ns\n" + rows, encoding="utf-8")
    (folder / "quiet.toml").write_text(NETWORK, encoding="utf-8")
    (folder / "noisy.toml").write_text(NETWORK + NOISE, encoding="utf-8")


def run(work: Work, machines: Path) -> dict[str, float]:
    """What the fastest run says of itself."""
    command = work.command(machines)
    answers = [
        json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        for _ in range(REPETITIONS)
    ]
    return min(answers, key=lambda answer: answer["seconds"])


def main() -> None:
    """Run all rows, and show them."""
    works = WORKS + (LARGE if "--large" in sys.argv[1:] else [])
    table = Table("pattern", "ranks", "threads", "noise", "messages", "seconds", "ns a message", "memory, MiB")
    for column in table.columns[1:]:
        column.justify = "right"
    with TemporaryDirectory() as folder:
        write_machines(Path(folder))
        for work in track(works, description="simulating", transient=True):
            answer = run(work, Path(folder))
            table.add_row(
                work.pattern,
                f"{work.ranks:,}",
                str(work.threads),
                "on" if work.noise else "off",
                f"{answer['messages']:,}",
                f"{answer['seconds']:.3f}",
                f"{answer['seconds'] / answer['messages'] * 1e9:.0f}",
                f"{answer['peak_rss_bytes'] / 2**20:.0f}",
            )
    Console().print(table)


if __name__ == "__main__":
    main()
