"""One simulation several times in one process, whose memory is then its own; prints JSON.

    python bench/repeat.py MACHINE LEAST[-MOST] THREADS|slopes|seeds (FILE | PATTERN RANKS [ALGORITHM])

It is run LEAST times, and more often if that takes less than fifteen seconds, MOST times at most, which is thirty
unless it is given. ``slopes``: with derivatives; ``seeds``: with 64 seeds, one after the other; both of a schedule
that is in memory already.
``seconds``: of every time, simulation with generation of the schedule; of a file, with reading it. ``memory``: bytes,
of the whole process at its most; not with ``slopes`` and ``seeds``.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

from idlewave import Machine, Schedule, sensitivities, simulate
from idlewave.cli.simulate_command import peak_memory

Given = ParamSpec("Given")
Outcome = TypeVar("Outcome")
MOST_RUNS = 30
LONG_ENOUGH = 15.0
"""Seconds."""
SEEDS = 64


def several(least: int, run: Callable[Given, Outcome], *arguments: Given.args, **named: Given.kwargs) -> list[Outcome]:
    """What some runs give: on a machine that others use too, the fastest of many says most."""
    return between(least, MOST_RUNS, lambda: run(*arguments, **named))


def between(least: int, most: int, run: Callable[[], Outcome]) -> list[Outcome]:
    """What the least number of runs gives, or more within fifteen seconds, the most at most."""
    begin = time.perf_counter()
    outcomes: list[Outcome] = []
    while len(outcomes) < least or (len(outcomes) < most and time.perf_counter() - begin < LONG_ENOUGH):
        outcomes.append(run())
    return outcomes


def schedule_of(work: list[str]) -> Schedule:
    """The schedule of a file or trace, or a pattern."""
    if len(work) == 1:
        place = Path(work[0])
        return Schedule.from_trace(place) if place.is_dir() else Schedule.load(place)
    return Schedule.pattern(work[0], ranks=int(work[1]), algorithm=(work[2:] or [""])[0])


def simulated(machine: Machine, threads: int, work: list[str]) -> dict[str, float]:
    """What a simulation said, and the seconds that it took."""
    begin = time.perf_counter()
    schedule = schedule_of(work)
    timeline = simulate(schedule, machine, scheduler="yawns" if threads > 1 else "sequential", threads=threads)
    seconds = time.perf_counter() - begin
    return {"seconds": seconds, "messages": timeline.messages, "max_finish_ps": timeline.max_finish}


def analysed(what: str, machine: Machine, schedule: Schedule) -> dict[str, float]:
    """What derivatives, or all seeds of a schedule, said, and the seconds that they took."""
    begin = time.perf_counter()
    if what == "slopes":
        found = sensitivities(schedule, machine)
        return {"seconds": time.perf_counter() - begin, "time": found.time, **found.network}
    last = sum(simulate(schedule, machine, seed=seed).max_finish for seed in range(SEEDS))
    return {"seconds": time.perf_counter() - begin, "max_finish_ps": last}


def main() -> None:
    """Simulate, and print."""
    machine_file, times, what, *work = sys.argv[1:]
    machine = Machine.load(machine_file)
    least, _, most = times.partition("-")
    runs = int(least), int(most or MOST_RUNS)
    if what in ("slopes", "seeds"):
        schedule = schedule_of(work)
        answers = between(*runs, lambda: analysed(what, machine, schedule))
    else:
        answers = between(*runs, lambda: simulated(machine, int(what), work))
    seconds = [answer.pop("seconds") for answer in answers]
    if any(answer != answers[0] for answer in answers):
        raise SystemExit(f"one simulation, several answers: {answers}")
    memory = {} if what in ("slopes", "seeds") else {"memory": peak_memory()}
    print(json.dumps({**answers[0], "seconds": seconds, **memory}))


if __name__ == "__main__":
    main()
