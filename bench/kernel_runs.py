"""PHOLD on the kernel, and by its floor: each run a process of its own, or two with mpiexec."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from rich.progress import track

IDLEWAVE = Path(sys.executable).parent / "idlewave"
REPETITIONS = 3
DRAWN_REPETITIONS = 5
SHORTEST = 3.0
"""Of simulated time: until events are spread as they stay."""


@dataclass(frozen=True)
class Way:
    """A way of running: its name, the options that say so, ROSS's option, and on how many cores."""

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
    """PHOLD with a mean delay of 1, of which the lookahead is a part and the rest exponential."""

    lps: int
    events: int = 20_000_000
    """Handled, about."""
    remote: float = 0.1
    lookahead: float = 0.1
    start_events: int = 16
    """Of each LP."""

    @property
    def end(self) -> float:
        """Until when about so many events are handled, or more if events would not have spread by then."""
        return max(SHORTEST, self.events / (self.lps * self.start_events))

    def options(self) -> list[str]:
        """For the command line."""
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
    """What a run counted and took."""

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
        """Committed events a second."""
        return self.committed / self.seconds

    @property
    def nanoseconds(self) -> float:
        """A committed event."""
        return 1e9 / self.rate


Answers = dict[tuple[Way, Work], list[Answer]]


def said_by(command: list[str]) -> dict[str, Any]:
    """The JSON that a program prints."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr[-500:]}")
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def simulated(way: Way, work: Work) -> Answer:
    """One run."""
    said = said_by([str(IDLEWAVE), "pdes", "phold", "--json", *work.options(), *way.options])
    names = ("committed", "seconds", "init_seconds", "efficiency", "primary_rollbacks", "secondary_rollbacks", "digest")
    return Answer(memory=said["peak_rss_bytes"], **{name: said[name] for name in names})


def repeated(wanted: Iterable[tuple[Way, Work]], times: int = REPETITIONS) -> Answers:
    """Several runs of each, in turns: a machine that others use changes its speed."""
    answers: Answers = {key: [] for key in wanted}
    for _, key in track(list(product(range(times), answers)), description="simulating", transient=True):
        answers[key].append(simulated(*key))
    return answers


def all_alike(answers: Answers) -> bool:
    """Whether all ways find the same of the same work."""
    found: dict[Work, set[tuple[int, int]]] = {}
    for (_, work), runs in answers.items():
        found.setdefault(work, set()).update((run.committed, run.digest) for run in runs)
    return all(len(digests) == 1 for digests in found.values())


def floor(program: Path, work: Work, times: int = REPETITIONS) -> list[Answer]:
    """Runs of bench/kernel_floor.cpp, which knows a tenth of the events remote and a lookahead of a tenth."""
    command = [str(program), str(work.lps), str(work.start_events), f"{work.end:.9g}", str(times)]
    said = said_by(command)
    return [Answer(said["events"], seconds) for seconds in said["seconds"]]
