"""One simulation several times in one process, whose memory is then its own; prints JSON.

    python bench/repeat.py MACHINE TIMES THREADS (FILE | PATTERN RANKS [ALGORITHM])

``seconds``: of every time, simulation with generation of the schedule; of a file, with reading it. ``memory``: bytes,
of the whole process at its most.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

from idlewave import Machine, Schedule, Timeline, simulate


def run(machine: Machine, threads: int, work: list[str]) -> tuple[Timeline, float]:
    """What a simulation gives, and the seconds that it took."""
    begin = time.perf_counter()
    if len(work) == 1:
        schedule = Schedule.load(Path(work[0]))
    else:
        schedule = Schedule.pattern(work[0], ranks=int(work[1]), algorithm=(work[2:] or [""])[0])
    timeline = simulate(schedule, machine, scheduler="yawns" if threads > 1 else "sequential", threads=threads)
    return timeline, time.perf_counter() - begin


def main() -> None:
    """Simulate, and print."""
    machine_file, times, threads, *work = sys.argv[1:]
    machine = Machine.load(machine_file)
    seconds = []
    for _ in range(int(times)):
        timeline, took = run(machine, int(threads), work)
        seconds.append(took)
        messages, last = timeline.messages, timeline.max_finish
        del timeline
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"messages": messages, "seconds": seconds, "memory": memory, "max_finish_ps": last}))


if __name__ == "__main__":
    main()
