"""Models that run on the kernel of the simulator, to measure it and to begin with (docs/kernel.md)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from . import _core
from .errors import UsageError

SCHEDULERS = ("sequential", "yawns", "timewarp", "check")
ALONE = ("sequential", "check")
"""Those that run on one thread of one process."""
UNIT = 1_000_000
"""Kernel ticks (ps) in a unit of a model's time that has no unit of its own."""
MOST_LPS = 2**32 - 2


@dataclass(frozen=True)
class EventRun:
    """What a run of a model counted, and how long it took.

    `committed` events were handled for good; `rolled_back` ones were handled and then undone. `primary_rollbacks` of an
    LP came of events told late, `secondary_rollbacks` of events taken back, of which there were `taken_back`;
    `sent_again` were found to be right after all (lazy cancellation). `told_elsewhere` is what partitions told each
    other, in `mails` pieces. `ties` came to an LP at the time of another event. `log_bytes` is the most memory that
    undo took, `digest` one of all LPs' states at the end: the same on every scheduler and number of threads.
    `init_seconds` made the LPs and their first events; `seconds` is the rest.
    """

    committed: int
    rolled_back: int
    primary_rollbacks: int
    secondary_rollbacks: int
    taken_back: int
    sent_again: int
    told_elsewhere: int
    mails: int
    gvt_rounds: int
    ties: int
    log_bytes: int
    efficiency: float
    init_seconds: float
    seconds: float
    digest: int

    @property
    def rate(self) -> float:
        """Committed events per second."""
        return self.committed / self.seconds if self.seconds > 0 else math.inf

    @property
    def warp(self) -> float:
        """The rate's logarithm to base 10, less 9 (Barnes, Carothers, Jefferson, LaPre, PADS 2013)."""
        return math.log10(self.rate) - 9 if self.committed > 0 else -math.inf


def phold(
    *,
    lps: int = 1024,
    start_events: int = 16,
    remote: float = 0.1,
    mean: float = 0.9,
    lookahead: float = 0.1,
    end: float = 10.0,
    seed: int = 1,
    scheduler: str = "sequential",
    threads: int = 1,
    lazy: bool = False,
    processes: int = 1,
    progress: Callable[[float], None] | None = None,
    wire: _core.Wire | None = None,
) -> EventRun:
    """PHOLD: events that are passed on, each to a random LP with probability `remote`, else to the same one.

    An event takes `lookahead` and an exponential time of that `mean` more, in units of simulated time, of which the
    run lasts `end`; `start_events` are begun by each of `lps` LPs. `scheduler` is sequential, yawns (conservative
    windows) or timewarp (optimistic), the latter two on `threads` threads; or check, which is sequential, and undoes
    and compares all that an LP does before it counts. `lazy`: Time Warp takes back what was sent only once it is not
    sent again. `processes` started by mpiexec share the run, each with so many threads. `progress` is called a few
    times a second with the share of simulated time that is certain. `wire`: to the other processes, in one of them.

    Raises UsageError for what makes no sense, InputError if yawns has no lookahead, MpiError if processes cannot be
    started or one of them dies.
    """
    arguments = {name: value for name, value in locals().items() if name not in ("processes", "progress", "wire")}
    _check_run(scheduler, threads, seed, processes)
    if not 1 <= lps <= MOST_LPS:
        raise UsageError(f"expected 1 to {MOST_LPS} LPs, found {lps}")
    if not 0 <= start_events < 2**20:
        raise UsageError(f"expected 0 to {2**20 - 1} events at the start of each LP, found {start_events}")
    if not 0 <= remote <= 1:
        raise UsageError(f"expected a remote share from 0 to 1, found {remote}")
    ticks_mean, ticks_lookahead, ticks_end = _ticks("mean", mean), _ticks("lookahead", lookahead), _ticks("end", end)
    if ticks_mean + ticks_lookahead == 0:
        raise UsageError(f"expected a mean delay or a lookahead of {1 / UNIT} or more: else time never passes")

    if processes > 1:
        from .processes import run

        return EventRun(**run("phold", arguments, processes))

    def share(now: int) -> None:
        if progress is not None:
            progress(min(1.0, now / ticks_end) if ticks_end > 0 else 1.0)

    answer = _core.phold(
        lps,
        start_events,
        remote,
        ticks_mean,
        ticks_lookahead,
        ticks_end,
        seed,
        scheduler,
        threads,
        lazy,
        0,
        None if progress is None else share,
        wire,
    )
    return EventRun(**answer)


def _check_run(scheduler: str, threads: int, seed: int, processes: int) -> None:
    if scheduler not in SCHEDULERS:
        raise UsageError(f"no scheduler is called '{scheduler}'; there are {', '.join(SCHEDULERS)}")
    if not 1 <= threads <= 1024:
        raise UsageError(f"expected 1 to 1024 threads, found {threads}")
    if scheduler in ALONE and threads != 1:
        raise UsageError(f"{scheduler} runs on one thread, not on {threads}; yawns and timewarp run on several")
    if not 1 <= processes <= 2**20:
        raise UsageError(f"expected 1 to {2**20} processes, found {processes}")
    if scheduler in ALONE and processes != 1:
        raise UsageError(f"{scheduler} runs in one process, not in {processes}; yawns and timewarp run in several")
    if not 0 <= seed < 2**64:
        raise UsageError(f"expected a seed from 0 to 2^64 - 1, found {seed}")


def _ticks(what: str, units: float) -> int:
    """Units of a model's time in ticks of the kernel."""
    most = 2**62 / UNIT
    if not 0 <= units <= most:
        raise UsageError(f"expected {what} from 0 to {most:.0f}, found {units}")
    return round(units * UNIT)
