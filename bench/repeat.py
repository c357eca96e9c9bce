"""One simulation several times in one process, whose memory is then its own; prints JSON.

    python bench/repeat.py MACHINE LEAST THREADS (FILE | PATTERN RANKS [ALGORITHM])

It is run LEAST times, and more often if that takes less than fifteen seconds, thirty times at most.
``seconds``: of every time, simulation with generation of the schedule; of a file, with reading it. ``memory``: bytes,
of the whole process at its most.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

from idlewave import Machine, Schedule, simulate
from idlewave.cli.simulate_command import peak_memory

Given = ParamSpec("Given")
Outcome = TypeVar("Outcome")
MOST_RUNS = 30
LONG_ENOUGH = 15.0
"""Seconds."""


def several(least: int, run: Callable[Given, Outcome], *arguments: Given.args, **named: Given.kwargs) -> list[Outcome]:
    """What some runs give: on a machine that others use too, the fastest of many says most."""
    begin = time.perf_counter()
    outcomes: list[Outcome] = []
    while len(outcomes) < least or (len(outcomes) < MOST_RUNS and time.perf_counter() - begin < LONG_ENOUGH):
        outcomes.append(run(*arguments, **named))
    return outcomes


def simulated(machine: Machine, threads: int, work: list[str]) -> dict[str, float]:
    """What a simulation said, and the seconds that it took."""
    begin = time.perf_counter()
    if len(work) == 1:
        schedule = Schedule.load(Path(work[0]))
    else:
        schedule = Schedule.pattern(work[0], ranks=int(work[1]), algorithm=(work[2:] or [""])[0])
    timeline = simulate(schedule, machine, scheduler="yawns" if threads > 1 else "sequential", threads=threads)
    seconds = time.perf_counter() - begin
    return {"seconds": seconds, "messages": timeline.messages, "max_finish_ps": timeline.max_finish}


def main() -> None:
    """Simulate, and print."""
    machine_file, least, threads, *work = sys.argv[1:]
    machine = Machine.load(machine_file)
    answers = several(int(least), simulated, machine, int(threads), work)
    seconds = [answer.pop("seconds") for answer in answers]
    if any(answer != answers[0] for answer in answers):
        raise SystemExit(f"one simulation, several answers: {answers}")
    print(json.dumps({**answers[0], "seconds": seconds, "memory": peak_memory()}))


if __name__ == "__main__":
    main()
