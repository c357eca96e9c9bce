"""Simulations that a benchmark repeats: the machines, the patterns, and what a row, a process of its own, said."""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kernel_runs import said_by

REPEAT = Path(__file__).parent / "repeat.py"
REPETITIONS = 5
LARGE_REPETITIONS = 3
LARGE_RANKS = 2**24
LARGEST_RANKS = 2**27
NETWORK = 'name = "bench"\n[network]\nL = "2.5us"\no = "1.5us"\ng = "1us"\nG = "6ns"\nO = "0ns"\nS = "inf"\n'
DETOURS = 10_000
DETOUR_LENGTHS = (2_000, 3_000, 5_000, 20_000)
"""ns, each as likely."""
PERIODS = {"7.5%": 1, "0.3%": 25}
"""Seconds over which the detours are strewn, by their share of the time: far more than a machine should have, and what
a timer and a few daemons take."""


@dataclass(frozen=True)
class Work:
    """One row: a pattern of 1-byte messages, on some threads, with or without noise."""

    pattern: str
    ranks: int
    algorithm: str = ""
    threads: int = 1
    noise: str = ""
    """Of PERIODS."""

    def pattern_arguments(self) -> list[str]:
        """The pattern, for the command line."""
        chosen = ["--algorithm", self.algorithm] if self.algorithm else []
        return [self.pattern, "--ranks", str(self.ranks), *chosen]


def machine_file(noise: str) -> str:
    """The machine with that share of noise, or with none."""
    return f"noise-{noise.rstrip('%')}.toml" if noise else "quiet.toml"


def recording_arguments(machines: Path, noise: str) -> list[str | Path]:
    """That share of noise for a floor's program: the file of detours, and the period in seconds; nothing without."""
    return [machines / f"{machine_file(noise)}.csv", str(PERIODS[noise])] if noise else []


@dataclass(frozen=True)
class Answer:
    """What a process said of itself, or was seen to need."""

    messages: int
    seconds: float
    memory: int = 0  # bytes
    first: float = 0.0
    """Seconds that the first of several runs took."""
    last: int = 0
    """When the last rank finishes, ps."""

    @property
    def nanoseconds(self) -> float:
        """A message."""
        return self.seconds / self.messages * 1e9


def write_machines(folder: Path) -> None:
    """A quiet machine, and for each share of noise one with a recording of many short detours and few long ones."""
    (folder / "quiet.toml").write_text(NETWORK, encoding="utf-8")
    for noise, seconds in PERIODS.items():
        dice = random.Random(1)
        starts = sorted(dice.sample(range(0, seconds * 1_000_000_000, 100_000), DETOURS))
        rows = "".join(f"{start},{dice.choice(DETOUR_LENGTHS)}\n" for start in starts)
        file = machine_file(noise)
        (folder / f"{file}.csv").write_text("start_ns,length_ns\n" + rows, encoding="utf-8")
        table = f'\n[noise]\nkind = "trace"\nfile = "{file}.csv"\nperiod = "{seconds}s"\n'
        (folder / file).write_text(NETWORK + table, encoding="utf-8")


def fastest(command: Sequence[str | Path]) -> Answer:
    """The fastest of the runs of a program that repeats them itself."""
    said = said_by(command)
    seconds = said["seconds"]
    return Answer(said["messages"], min(seconds), said.get("memory", 0), seconds[0], said["max_finish_ps"])


def repeated(machine: Path, times: int, threads: int, *work: str | Path) -> Answer:
    """Simulations in one process."""
    return fastest([sys.executable, REPEAT, machine, str(times), str(threads), *work])


def simulated(work: Work, machines: Path) -> Answer:
    """A row."""
    arguments = [work.pattern, str(work.ranks), *([work.algorithm] if work.algorithm else [])]
    return repeated(machines / machine_file(work.noise), repetitions(work.ranks), work.threads, *arguments)


def repetitions(ranks: int) -> int:
    """How often a row is run."""
    if ranks >= LARGEST_RANKS:
        return 1
    return LARGE_REPETITIONS if ranks >= LARGE_RANKS else REPETITIONS
