"""Runs of ROSS's phold with the parameters of this kernel's runs: https://github.com/ROSS-org/ROSS."""

from __future__ import annotations

import re
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from idlewave import mpi
from kernel_runs import Way, Work

EVENTS_PER_CORE = 1_000_000
"""Approximate number of events of a run: ROSS is slower than this kernel."""
SHORTEST = 1.0
"""Shortest simulated time. Not more, since many LPs take long; not less, since ROSS's queue is up to three times as
fast until time 0.5."""
MOST_RUNS = 10
LONG_ENOUGH = 20.0
"""Seconds after which runs are no longer repeated. The best of many runs counts, because ranks that poll suffer most
when other programs use the processor."""
LONGEST = 400.0
"""Longest time of a run with its initialisation, seconds."""
BATCH, GVT_INTERVAL = 8, 512  # as P. D. Barnes and others, Warp speed, PADS 2013
SPARE = 1.1
"""Event memory, as a multiple of the events that all LPs start."""
MORE_EVENTS = 2**16
"""Further event memory: for events that may be rolled back, or are in transit."""
EVENT_BYTES, LP_BYTES = 352, 900


@dataclass(frozen=True)
class Beside:
    """The result of a run of ROSS, or the reason why there is none."""

    rate: float = 0.0
    """Committed events per second."""
    init_seconds: float = 0.0
    reason: str = ""
    details: str = ""


@dataclass
class Ross:
    """A build of ROSS in a directory. Configurations of this kernel that differ in threads and processes only share a
    run."""

    directory: Path
    found: dict[tuple[int, Work], Beside] = field(default_factory=dict)

    @property
    def program(self) -> Path:
        """The path of ROSS's phold."""
        return self.directory / "models/phold/phold"

    def beside(self, way: Way, work: Work) -> Beside:
        """The best of some runs, in which ROSS is configured like `way`."""
        key = (way.synch, work)
        if key not in self.found:
            self.found[key] = self._best(way, work)
        return self.found[key]

    def _best(self, way: Way, work: Work) -> Beside:
        free, needed = available_memory(), memory_of(work, way.cores)
        if needed > free:
            return Beside(reason=f"{needed / 2**30:.0f} GiB", details="needs more memory than there is")
        begin = time.perf_counter()
        best = Beside()
        for _ in range(MOST_RUNS):
            run = self._run(way, work)
            if run.reason:
                return best if best.rate > 0 else run
            best = max(best, run, key=lambda found: found.rate)
            if time.perf_counter() - begin > LONG_ENOUGH:
                break
        return best

    def _run(self, way: Way, work: Work) -> Beside:
        site = mpi.find()
        command = [str(self.program.resolve()), *options_of(way, work)]
        if way.cores > 1:
            command = [str(site.mpiexec), "-n", str(way.cores), *command]
        with TemporaryDirectory() as folder:  # ROSS leaves files in its working directory
            process = subprocess.Popen(
                command, cwd=folder, env=site.environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            )
            try:
                text, _ = process.communicate(timeout=LONGEST)
            except subprocess.TimeoutExpired:
                process.terminate()  # mpiexec then ends its ranks; after a kill they would continue
                process.communicate()
                return Beside(reason=f"> {LONGEST:.0f} s", details="takes too long")
        return understood(text, process.returncode)


def options_of(way: Way, work: Work) -> list[str]:
    """The options of ROSS's phold, which subtracts the lookahead from the mean."""
    lps = work.lps // way.cores
    named: dict[str, float] = {
        "synch": way.synch,
        "nlp": lps,
        "start-events": work.start_events,
        "remote": work.remote,
        "mean": 1,
        "lookahead": work.lookahead,
        "end": max(SHORTEST, EVENTS_PER_CORE / (lps * work.start_events)),
        "mult": SPARE,
        "extramem": MORE_EVENTS,
        "batch": BATCH,
        "gvt-interval": GVT_INTERVAL,
    }
    return [f"--{name}={value:.9g}" for name, value in named.items()]


def understood(text: str, status: int) -> Beside:
    """Parses the output of ROSS.

    ROSS prints the time of its initialisation, with MPI's, in cycles only. It prints the time of the run in cycles and
    in seconds, from which the length of a cycle follows.
    """
    rate = number_after(r"Event Rate \(events/sec\)", text)
    if status != 0 or not rate:
        errors = [line.strip() for line in text.splitlines() if "rror" in line]
        return Beside(reason="fails", details=f"status {status}: {(errors or ['no event rate'])[0]}")
    cycles, total_cycles = number_after("Initialization", text), number_after(r"Total Time \(.*\)", text)
    seconds = number_after("Running Time =", text)
    return Beside(rate, cycles * seconds / total_cycles if total_cycles > 0 else 0.0)


def number_after(pattern: str, text: str) -> float:
    """The first number after `pattern`; 0 if there is none."""
    found = re.search(rf"{pattern}\s+([\d.]+)", text)
    return float(found[1]) if found else 0.0


def memory_of(work: Work, cores: int) -> float:
    """Approximate memory of ROSS, bytes."""
    return SPARE * work.lps * work.start_events * EVENT_BYTES + work.lps * LP_BYTES + cores * MORE_EVENTS * EVENT_BYTES


def available_memory() -> float:
    """Available memory, bytes; infinite if the system does not report it."""
    try:
        found = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(encoding="ascii"))
    except OSError:
        return float("inf")
    return float(found[1]) * 1024 if found else float("inf")
