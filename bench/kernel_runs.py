"""Runs of PHOLD on the kernel and of its floor: each run is a process of its own, or two with mpiexec."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from rich.progress import track

IDLEWAVE = Path(sys.executable).parent / "idlewave"
REPETITIONS = 3
DRAWN_REPETITIONS = 5
SHORTEST = 3.0
"""Shortest simulated time: until events have their steady-state distribution over time."""


@dataclass(frozen=True)
class Way:
    """A run configuration: its name, options, ROSS's value of --synch, and number of cores."""

    name: str
    options: tuple[str, ...]
    synch: int
    cores: int


SEQUENTIAL = Way("sequential", ("--scheduler", "sequential"), 1, 1)
CONSERVATIVE = Way("conservative, 2 threads", ("--scheduler", "yawns", "--threads", "2"), 2, 2)
OPTIMISTIC = Way("optimistic, 2 threads", ("--scheduler", "timewarp", "--threads", "2"), 3, 2)
CONSERVATIVE_MPI = Way("conservative, 2 processes", ("--scheduler", "yawns", "--processes", "2"), 2, 2)
OPTIMISTIC_MPI = Way("optimistic, 2 processes", ("--scheduler", "timewarp", "--processes", "2"), 3, 2)


@dataclass(frozen=True)
class Work:
    """Parameters of PHOLD. The mean delay is 1: the lookahead and an exponential time."""

    lps: int
    events: int = 20_000_000
    """Approximate number of events that are handled."""
    remote: float = 0.1
    lookahead: float = 0.1
    start_events: int = 16
    """Events at the start of each LP."""

    @property
    def end(self) -> float:
        """End of simulated time: after about `events` events, but not before the steady state."""
        return max(SHORTEST, self.events / (self.lps * self.start_events))

    def options(self) -> list[str]:
        """Options of the command line."""
        named = {
            "lps": self.lps,
            "start-events": self.start_events,
            "remote": self.remote,
            "mean": 1 - self.lookahead,
            "lookahead": self.lookahead,
            "end": self.end,
        }
        return [f"--{name}={value:.9g}" for name, value in named.items()]


@dataclass(frozen=True)
class Answer:
    """Counts and times of a run."""

    committed: int
    seconds: float
    init_seconds: float = 0.0
    memory: int = 0  # bytes
    efficiency: float = 1.0
    primary_rollbacks: int = 0
    secondary_rollbacks: int = 0
    digest: int = 0

    @property
    def rate(self) -> float:
        """Committed events per second."""
        return self.committed / self.seconds

    @property
    def nanoseconds(self) -> float:
        """Time of a committed event."""
        return 1e9 / self.rate


Answers = dict[tuple[Way, Work], list[Answer]]


def said_by(command: Sequence[str | Path]) -> dict[str, Any]:
    """The JSON that a program prints."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{done.stderr[-500:]}")
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def simulated(way: Way, work: Work, idlewave: Path = IDLEWAVE) -> Answer:
    """One run."""
    said = said_by([str(idlewave), "pdes", "phold", "--json", *work.options(), *way.options])
    names = ("committed", "seconds", "init_seconds", "efficiency", "primary_rollbacks", "secondary_rollbacks", "digest")
    return Answer(memory=said["peak_rss_bytes"], **{name: said[name] for name in names})


def repeated(wanted: Iterable[tuple[Way, Work]], times: int = REPETITIONS) -> Answers:
    """Several runs of each key. The keys alternate, because a shared machine changes its speed."""
    answers: Answers = {key: [] for key in wanted}
    for _, key in track(list(product(range(times), answers)), description="simulating", transient=True):
        answers[key].append(simulated(*key))
    return answers


def all_alike(answers: Answers) -> bool:
    """Whether all configurations have the same counts and digests for the same work."""
    found: dict[Work, set[tuple[int, int]]] = {}
    for (_, work), runs in answers.items():
        found.setdefault(work, set()).update((run.committed, run.digest) for run in runs)
    return all(len(digests) == 1 for digests in found.values())


def floor(program: Path, work: Work, times: int = REPETITIONS) -> list[Answer]:
    """Runs of bench/kernel_floor.cpp, whose remote share and lookahead are fixed at 0.1."""
    command = [str(program), str(work.lps), str(work.start_events), f"{work.end:.9g}", str(times)]
    said = said_by(command)
    return [Answer(said["events"], seconds) for seconds in said["seconds"]]
