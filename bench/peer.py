"""LogGOPSim beside the simulator: both read the same schedules from the same binary files."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kernel_runs import said_by
from repeat import several
from rich.progress import track
from rich.table import Table
from simulations import LARGE_REPETITIONS, REPETITIONS, Answer, Work, repeated
from traces import write_sweep

IDLEWAVE = Path(sys.executable).parent / "idlewave"
LOGGOPSIM_NETWORK = ["-L", "2500", "-o", "1500", "-g", "1000", "-G", "6", "-O", "0", "-S", "1000000000"]
STARTER = """
import json, os, subprocess, sys, time
begin = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
text = process.stdout.read()
_, status, used = os.wait4(process.pid, 0)
seconds = time.perf_counter() - begin
print(json.dumps({"text": text, "status": status, "seconds": seconds, "memory": used.ru_maxrss * 1024}))
"""
PEER_WORKS = [
    Work("dissemination", 2**17),
    Work("bcast", 2**17),
    Work("gather", 2**12),
    Work("alltoall", 2**9, algorithm="pairwise"),
]
SEED = 1
TRACED = "traced sweep"
TRACED_COLUMNS = 10


@dataclass(frozen=True)
class GeneralWork:
    """A schedule as real programs have it, by bench/schedules.cpp; both simulators read it from one file. Of a traced
    sweep, Idlewave reads the trace and converts it, and LogGOPSim reads what it was converted to."""

    pattern: str
    ranks: int
    steps: int
    noise: str = ""


GENERAL_WORKS = [
    GeneralWork("random", 2**12, 200),
    GeneralWork("halo", 2**10, 50),
    GeneralWork(TRACED, 80, 75),
]
LARGE_GENERAL_WORKS = [GeneralWork("halo", 2**14, 50)]


def write_schedule(work: Work | GeneralWork, floors: Path, file: Path) -> Path:
    """The schedule of a row, as LogGOPSim's binary file. Returns what Idlewave simulates."""
    made_from = file
    if work.pattern == TRACED and isinstance(work, GeneralWork):
        made_from = file.with_suffix(".trace")
        write_sweep(made_from, work.ranks // TRACED_COLUMNS, TRACED_COLUMNS, work.steps, SEED)
        command: list[str | Path] = [IDLEWAVE, "schedule", made_from, "-o", file]
    elif isinstance(work, GeneralWork):
        numbers = map(str, (work.ranks, work.steps, SEED))
        command = [floors / "schedules", work.pattern, *numbers, file]
    else:
        command = [IDLEWAVE, "schedule", *work.pattern_arguments(), "-o", file]
    subprocess.run(command, capture_output=True, check=True)
    return made_from


def beside_peer(peer: Path, machines: Path, folder: Path, floors: Path, *, large: bool) -> Table:
    """The same schedules by both simulators, from the same binary files."""
    headings = ("LogGOPSim", "MiB", "read, run", "times as fast", "process", "times as fast", "MiB", "same answer")
    table = Table("pattern", "ranks", *headings)
    for column in table.columns[1:]:
        column.justify = "right"
    quiet = machines / "quiet.toml"
    works: list[Work | GeneralWork] = [*PEER_WORKS, *GENERAL_WORKS, *(LARGE_GENERAL_WORKS if large else [])]
    for work in track(works, description="beside LogGOPSim", transient=True):
        file = folder / f"{work.pattern}.bin"
        ours = write_schedule(work, floors, file)
        theirs = min(several(LARGE_REPETITIONS, run_peer, peer, file), key=lambda answer: answer.seconds)
        dialect = said_by([IDLEWAVE, "simulate", file, "--dialect", "loggopsim", "--json", "--machine", quiet])
        last = dialect["max_finish_ps"]
        command: list[str | Path] = [IDLEWAVE, "simulate", ours, "--json", "--machine", quiet]
        whole = min((run[0] for run in several(REPETITIONS, measured, command)), key=lambda answer: answer.seconds)
        within = repeated(quiet, REPETITIONS, 1, ours)
        table.add_row(
            work.pattern,
            f"{work.ranks:,}",
            f"{theirs.seconds:.2f}",
            f"{theirs.memory / 2**20:.0f}",
            f"{within.seconds:.2f}",
            f"{theirs.seconds / within.seconds:.1f}",
            f"{whole.seconds:.2f}",
            f"{theirs.seconds / whole.seconds:.1f}",
            f"{whole.memory / 2**20:.0f}",
            "yes" if theirs.last == last else f"{theirs.last} and {last} ps",
        )
    return table


def measured(command: Sequence[str | Path]) -> tuple[Answer, str]:
    """A whole process, start-up and reading included, and what it printed.

    It is started by a small one: a process counts as its own the memory of the one that it comes from.
    """
    starter = [sys.executable, "-S", "-c", STARTER, *map(str, command)]
    said = said_by(starter)
    if said["status"] != 0:
        raise SystemExit(f"{command[0]} failed: {said['text']}")
    return Answer(0, said["seconds"], said["memory"]), said["text"]


def run_peer(peer: Path, file: Path) -> Answer:
    """LogGOPSim on a file."""
    answer, text = measured([peer / "loggopsim", *LOGGOPSIM_NETWORK, "--batchmode", "-f", file])
    last = re.search(r"finishing time at host \d+: (\d+)", text)
    if last is None:
        raise SystemExit(f"{peer / 'loggopsim'} does not say when its last rank finished")
    return replace(answer, last=int(last[1]) * 1000)
