"""How a model is run, and what the kernel counts meanwhile."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from .. import _core
from ..errors import UsageError

SCHEDULERS = ("sequential", "yawns", "timewarp", "check")
PLACEMENTS = ("block", "cyclic")
ALONE = ("sequential", "check")
"""Those that run on one thread of one process."""
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


@dataclass(frozen=True)
class Manner:
    """How to run a model: the answer is the same in all.

    `scheduler` is sequential, yawns (conservative windows) or timewarp (optimistic), the latter two on `threads`
    threads; or check, which is sequential, and undoes and compares all that an LP does before it counts. `lazy`: Time
    Warp takes back what was sent only once it is not sent again. `processes` started by mpiexec share the run, each
    with so many threads. `placement` gives a thread LPs that lie side by side (block), or every n-th (cyclic).
    """

    scheduler: str = "sequential"
    threads: int = 1
    lazy: bool = False
    processes: int = 1
    placement: str = "block"

    def check(self) -> None:
        """Raises UsageError if there is no such way."""
        if self.scheduler not in SCHEDULERS:
            raise UsageError(f"no scheduler is called '{self.scheduler}'; there are {', '.join(SCHEDULERS)}")
        if self.placement not in PLACEMENTS:
            raise UsageError(f"no placement is called '{self.placement}'; there are {', '.join(PLACEMENTS)}")
        if not 1 <= self.threads <= 1024:
            raise UsageError(f"expected 1 to 1024 threads, found {self.threads}")
        if not 1 <= self.processes <= 2**20:
            raise UsageError(f"expected 1 to {2**20} processes, found {self.processes}")
        if self.scheduler in ALONE and self.threads != 1:
            raise UsageError(
                f"{self.scheduler} runs on one thread, not on {self.threads}; yawns and timewarp run on several"
            )
        if self.scheduler in ALONE and self.processes != 1:
            raise UsageError(
                f"{self.scheduler} runs in one process, not in {self.processes}; yawns and timewarp run in several"
            )


def run_model(
    name: str,
    parameters: dict[str, Any],
    manner: Manner,
    end: int,
    progress: Callable[[float], None] | None,
) -> dict[str, Any]:
    """What the core answers of a model, in this process or in several.

    `end`: of simulated time, in the core's ticks. `progress` is called a few times a second with the share of simulated
    time that is certain; not where several processes run. Raises UsageError, InputError, MpiError.
    """
    manner.check()
    if manner.processes > 1:
        from ..processes import run

        shared = {name: value for name, value in asdict(manner).items() if name != "processes"}
        return run(name, parameters, shared, manner.processes)

    def share(now: int) -> None:
        if progress is not None:
            progress(min(1.0, now / end) if end > 0 else 1.0)

    model = getattr(_core, name)
    answer: dict[str, Any] = model(
        parameters,
        manner.scheduler,
        manner.threads,
        manner.placement,
        manner.lazy,
        None if progress is None else share,
        None,
    )
    return answer


def checked_seed(seed: int) -> int:
    """The seed. Raises UsageError if it is none."""
    if not 0 <= seed < 2**64:
        raise UsageError(f"expected a seed from 0 to 2^64 - 1, found {seed}")
    return seed


def whole(what: str, value: float, most: float, unit: float = 1.0, least: float = 0.0) -> int:
    """A quantity in ticks of `unit`; raises UsageError unless it is from `least` to `most`."""
    if not least <= value <= most:
        raise UsageError(f"expected {what} from {least:g} to {most:g}, found {value:g}")
    return round(value / unit)
