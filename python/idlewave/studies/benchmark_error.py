"""How wrong the usual ways to time a collective operation are: what they report, against one operation simulated alone.

docs/studies/benchmark-error.md describes the four ways. Every one is simulated as a benchmark runs it, without noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ..errors import UsageError
from ..formatting import unknown_name
from ..jobs import Job, Operation
from ..machine import Machine
from ..noise_models import REACHES, Noise, as_times
from ..schedule import Schedule, algorithms
from ..simulation import simulate
from ..timeline import Recording, Timeline
from .case_study import CaseStudy, Row
from .stopping import check_stop

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from ..report.study_page import StudyPage

METHODS = ("loop", "rotating", "barrier", "window")
"""The ways to time: a loop; a loop with rotating roots; started by a barrier; started at an agreed time."""
ROOTED = ("bcast", "reduce", "gather", "scatter")
"""The collectives that have a root, which can rotate."""
BARRIER = "dissemination"
"""The algorithm of the barriers between operations."""
MACHINE = "odin"
RANKS = (2, 4, 8, 16, 32, 64, 128, 256)
REPETITIONS = 5
"""As in the published example."""
CLOCK_ERROR_NS = 500
MOST_CLOCK_ERROR_NS = 10**9
_NEVER = 1 << 61
"""ps: the period of a delay that comes once."""


@dataclass(frozen=True)
class BenchmarkCase:
    """One benchmark: a collective, by an algorithm, timed in one way.

    `clock_error_ns`: the clocks of ranks that start at an agreed time are up to that early or late, as drawn from
    `seed`; 0 for the other methods.
    """

    machine: Machine
    collective: str
    algorithm: str
    bytes: int
    ranks: int
    repetitions: int
    method: str
    clock_error_ns: int = 0
    seed: int = 0


def benchmark_cases(
    machine: Machine,
    collectives: Sequence[str] = ("bcast",),
    ranks: Sequence[int] = RANKS,
    sizes: Sequence[int] = (1,),
    repetitions: int = REPETITIONS,
    clock_error_ns: int = CLOCK_ERROR_NS,
    seed: int = 0,
) -> list[BenchmarkCase]:
    """A case for each collective, algorithm, size, number of ranks and method. Raises UsageError."""
    known = algorithms()
    for name in collectives:
        if name not in set(known["collective"]):
            raise UsageError(unknown_name("collective", name, sorted(set(known["collective"]))))
    _check(ranks, sizes, repetitions, clock_error_ns, seed)
    quiet = machine.with_noise(None)
    found = []
    for count in sorted(ranks):
        for collective in collectives:
            methods = [method for method in METHODS if _has_method(collective, method)]
            for algorithm in known.loc[known["collective"] == collective, "name"]:
                for size in sizes:
                    operation = (quiet, collective, str(algorithm), size, count, repetitions)
                    clocks = {"window": (clock_error_ns, seed)}
                    found += [BenchmarkCase(*operation, method, *clocks.get(method, ())) for method in methods]
    return found


def _has_method(collective: str, method: str) -> bool:
    """Only roots can rotate; and a barrier that is started by barriers is a loop of barriers."""
    return {"rotating": collective in ROOTED, "barrier": collective != "barrier"}.get(method, True)


def benchmark_row(case: BenchmarkCase) -> Row:
    """What the benchmark reports, and the time of one operation alone, ps.

    `measured_ps` is what the slowest rank reports, `root_ps` what rank 0 does; `true_ps` is the time of one operation
    that all ranks begin at the same moment, until the last has ended. `error` is measured / true − 1, and
    None where one operation takes no time.
    """
    true = _finish(case, [_operation(case, times=1)]).max()
    reported = _METHODS[case.method](case)
    measured = float(reported.max())
    return {
        "true_ps": float(true),
        "measured_ps": measured,
        "root_ps": float(reported[0]),
        "error": measured / float(true) - 1 if true else None,
    }


def _page(table: pd.DataFrame) -> StudyPage:
    from ..report.benchmark_error_page import benchmark_error_page

    return benchmark_error_page(table)


BENCHMARK_ERROR = CaseStudy("benchmark-error", 1, benchmark_row, _page)
"""The study: its table has the columns of `BenchmarkCase`, and those of `benchmark_row`."""


def _loop(case: BenchmarkCase) -> npt.NDArray[np.float64]:
    """The time of all operations, one after another, divided by their number: what each rank reports."""
    return _finish(case, [_operation(case, times=case.repetitions)]) / case.repetitions


def _rotating(case: BenchmarkCase) -> npt.NDArray[np.float64]:
    """The same, with another root each time."""
    return _finish(case, [_operation(case, times=case.repetitions, rotating=True)]) / case.repetitions


def _after_barriers(case: BenchmarkCase) -> npt.NDArray[np.float64]:
    """The mean time from the end of a barrier on a rank to the end of the operation on it.

    The ends are recorded in one simulation of the whole, because a message of the next barrier may come so early that
    handling it delays a rank which is in the operation still.
    """
    import numpy as np

    barrier = Operation("barrier", algorithm=BARRIER)
    columns = _simulated(case, [barrier, _operation(case, times=1)], case.repetitions, Recording()).columns
    rank, end = columns["rank"].astype(np.int64), columns["end_ps"]
    in_barrier = columns["call"] == columns["call"][0]  # every rank begins with a barrier
    ops_of_barriers = np.cumsum(in_barrier)  # of the ranks one after another, all with as many
    iteration = (ops_of_barriers - 1) // (2 * math.ceil(math.log2(case.ranks))) - rank * case.repetitions
    left, done = (np.zeros((case.ranks, case.repetitions), np.int64) for _ in range(2))
    np.maximum.at(left, (rank[in_barrier], iteration[in_barrier]), end[in_barrier])
    np.maximum.at(done, (rank, iteration), end)
    return np.asarray((done - left).mean(axis=1))


def _in_windows(case: BenchmarkCase) -> npt.NDArray[np.float64]:
    """The mean time from the agreed start, by the rank's clock, to the end of the operation on it.

    Windows are so long that each operation ends in its own. A rank whose clock is early begins early, and reads its end
    from the same clock.
    """
    import numpy as np

    error = 1000 * case.clock_error_ns
    operation = [_operation(case, times=1)]
    if error == 0:
        return _finish(case, operation).astype(float)
    total = np.zeros(case.ranks)
    for number in range(case.repetitions):
        ahead = np.random.default_rng([case.seed, case.ranks, number]).integers(-error, error + 1, case.ranks)
        late = error - ahead  # after the earliest possible start, which is time 0 of the simulation
        total += _finish(case, operation, late=late) - error + ahead
    return total / case.repetitions


_METHODS = {"loop": _loop, "rotating": _rotating, "barrier": _after_barriers, "window": _in_windows}


def _operation(case: BenchmarkCase, times: int, rotating: bool = False) -> Operation:
    return Operation(case.collective, bytes=case.bytes, algorithm=case.algorithm, times=times, rotating_root=rotating)


def _finish(
    case: BenchmarkCase, operations: Sequence[Operation], late: npt.NDArray[np.int64] | None = None
) -> npt.NDArray[np.int64]:
    """When each rank has done the operations, one after another; each rank begins as much later as `late` says.

    A delayed start is a detour that a rank is in at time 0, and that comes once.
    """
    machine = case.machine
    if late is not None:
        longest = max(int(late.max()), 1)
        phases = tuple(longest - int(delay) for delay in late)
        delays = Noise(as_times([0]), as_times([longest]), _NEVER, phases)
        machine = machine.with_noise(delays).with_noise_reaches(REACHES)
    return _simulated(case, operations, machine=machine).finish


def _simulated(
    case: BenchmarkCase,
    operations: Sequence[Operation],
    times: int = 1,
    record: Recording | Literal[False] = False,
    machine: Machine | None = None,
) -> Timeline:
    """The operations, `times` times one after another."""
    schedule = Schedule.compose([Job(case.ranks, operations, repetitions=times)], rules=case.machine.algorithm_rules)
    return simulate(schedule, machine or case.machine, record=record, progress=check_stop)


def _check(ranks: Sequence[int], sizes: Sequence[int], repetitions: int, clock_error_ns: int, seed: int) -> None:
    for what, number, least in (
        *(("number of ranks", count, 2) for count in ranks),
        *(("size", size, 0) for size in sizes),
        ("number of repetitions", repetitions, 1),
        ("error of clocks", clock_error_ns, 0),
        ("seed", seed, 0),
    ):
        if number < least:
            raise UsageError(f"expected a {what} from {least} on, found {number}")
    if clock_error_ns > MOST_CLOCK_ERROR_NS:
        raise UsageError(f"expected an error of clocks up to a second, found {clock_error_ns} ns")
