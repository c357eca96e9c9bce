"""Loops as benchmarks have them (probes/loops), and their times by the simulation of a measured machine.

Nothing of a run of them is in the simulation: what the loops do is known, and the machine gives the times.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .. import mpi
from ..child_processes import run
from ..errors import MeasurementError
from ..escaping import quote
from ..jobs import Job, Operation
from ..schedule import Schedule
from ..simulation import simulate

if TYPE_CHECKING:
    import pandas as pd

    from ..machine import Machine

WINDOW = 64
POINT_TO_POINT = {
    "latency": ("ping-pong", 1),
    "bandwidth": ("stream", WINDOW),
    "bidirectional bandwidth": ("both ways", WINDOW),
}
"""Loops between two ranks: the pattern that the simulator has for them, and the messages on the way at once."""
COLLECTIVES = ("barrier", "bcast", "reduce", "allreduce", "alltoall")
ROOTED = ("bcast", "reduce")
"""Those that a barrier follows."""
NAMES = (*POINT_TO_POINT, *COLLECTIVES)
FEW, MANY = 8, 24
"""Repetitions of two simulations of a collective: the difference leaves out what only the first ones have."""
PATIENCE = 300.0
"""Seconds for which the loops may take longer than they were given, as for the start of the ranks."""
POINT = ["loop", "size"]


def run_loops(
    found: mpi.Mpi, launch: Sequence[str], ranks: int, seconds: float, max_size: int, seed: int
) -> pd.DataFrame:
    """The samples of one start of the loops by `launch`: loop, size, time_ps of one repetition, and what shows the
    speed before and after it: pilot_, barrier_ and reference_before_ns and _after_ns.

    Raises MpiError if they do not compile, MeasurementError if they fail.
    """
    import pandas as pd

    program = mpi.build(found, "loops")
    with tempfile.TemporaryDirectory(prefix="idlewave-") as folder:
        file = Path(folder) / "samples.csv"
        words = [*launch, "-n", str(ranks), str(program), str(file), str(seconds), str(max_size), str(seed)]
        try:
            done = run(words, environment=found.environment(), seconds=seconds + PATIENCE)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise MeasurementError(f"the loops could not be run: {error}") from error
        if done.returncode != 0 or not file.exists():
            raise MeasurementError(f"the loops failed: {quote((done.stderr + done.stdout).strip())}")
        samples = pd.read_csv(file)
    return samples.assign(time_ps=1000 * samples["elapsed_ns"] / samples["repetitions"])


def simulated_ps(machine: Machine, ranks: int, loop: str, size: int) -> float:
    """The time of one repetition of a loop on a machine without its noise, of rank 0, in ps."""
    from ..measure.network.fitting.pattern_times import PatternItem, pattern_time

    if loop in POINT_TO_POINT:
        return pattern_time(machine, PatternItem(*POINT_TO_POINT[loop], size))
    operations = [Operation(loop, bytes=size), *([Operation("barrier")] if loop in ROOTED else [])]
    times = []
    for repetitions in (FEW, MANY):
        job = Job(ranks, operations, repetitions=repetitions)
        schedule = Schedule.compose([job], rules=machine.algorithm_rules)
        times.append(float(simulate(schedule, machine, noise=None).finish[0]))
    return (times[1] - times[0]) / (MANY - FEW)


def medians(samples: pd.DataFrame) -> dict[tuple[str, int], float]:
    """The median time_ps of each loop and size."""
    found = samples.groupby(POINT, as_index=False)["time_ps"].median()
    return {(str(loop), int(size)): float(time) for loop, size, time in found.itertuples(index=False)}
