"""How a run on the kernel is made: on threads, in processes, in legs between checkpoints; and what it counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from .errors import UsageError
from .escaping import quote

if TYPE_CHECKING:
    import pandas as pd

SCHEDULERS = ("sequential", "yawns", "timewarp", "check")
PLACEMENTS = ("block", "cyclic", "graph")
ALONE = ("sequential", "check")
"""Those that run on one thread of one process."""
MIGRATE_AFTER = 2**20
"""Events a partition, before it is looked at whether one has far more than others."""


class Legs(TypedDict, total=False):
    """How a run is shared and kept; what is not given is as in Manner, which says what each means."""

    processes: int
    lazy: bool
    placement: str | Sequence[int]
    pin: bool
    migrate: bool
    checkpoint: str | Path | None
    checkpoint_every: float
    restart: bool


class How(Legs, total=False):
    """How to run a model: the answer is the same in all ways.

    `progress` is called a few times a second with the share of simulated time that is certain; for the rest see Manner.
    """

    scheduler: str
    threads: int
    progress: Callable[[float], None] | None


@dataclass(frozen=True)
class Manner:
    """How to run a model: the answer is the same in all.

    `scheduler` is sequential, yawns (conservative windows) or timewarp (optimistic), the latter two on `threads`
    threads; or check, which is sequential, and undoes and compares all that an LP does before it counts. `lazy`: Time
    Warp takes back what was sent only once it is not sent again. `processes` started by mpiexec share the run, each
    with so many threads. `placement` gives a thread LPs that lie side by side (block), or every n-th (cyclic); or those
    that tell each other most (graph): after a while METIS cuts the graph of who tells whom, and LPs move; or it has the
    number of a thread, counted over all processes, for every LP. `pin`: each thread stays on a processor of its
    own. `migrate`: LPs move to other threads where one has far more events than the others. The run is kept in the
    directory `checkpoint` every so many seconds; with `restart` it goes on from what is there, on as many threads and
    processes as it now has.
    """

    scheduler: str = "sequential"
    threads: int = 1
    lazy: bool = False
    processes: int = 1
    placement: str | Sequence[int] = "block"
    pin: bool = False
    migrate: bool = False
    checkpoint: str | Path | None = None
    checkpoint_every: float = 600.0
    restart: bool = False
    progress: Callable[[float], None] | None = field(default=None, compare=False)

    def check(self) -> None:
        """Raises UsageError if there is no such way."""
        if self.scheduler not in SCHEDULERS:
            raise UsageError(f"no scheduler is called {quote(self.scheduler)}; there are {', '.join(SCHEDULERS)}")
        if isinstance(self.placement, str) and self.placement not in PLACEMENTS:
            raise UsageError(f"no placement is called {quote(self.placement)}; there are {', '.join(PLACEMENTS)}")
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
        if not isinstance(self.placement, str):
            for lp, partition in enumerate(self.placement):
                if not 0 <= partition < self.threads * self.processes or partition != int(partition):
                    raise UsageError(
                        f"the placement puts LP {lp} on partition {partition}, and there are "
                        f"{self.threads * self.processes}"
                    )
        if self._by_graph:
            from .placing import metis_library

            metis_library()
        if self.lazy and self.scheduler != "timewarp":
            raise UsageError("cancellation is lazy, or not, under timewarp alone")
        if self.checkpoint is None and self.restart:
            raise UsageError("a restart needs the directory in which the checkpoint is")
        if not self.checkpoint_every >= 0:
            raise UsageError(f"expected 0 s or more between checkpoints, found {self.checkpoint_every}")

    @property
    def _by_graph(self) -> bool:
        return isinstance(self.placement, str) and self.placement == "graph"

    @property
    def in_partitions(self) -> bool:
        """Whether it asks for what partitions of the kernel alone can do."""
        asked = ("processes", "lazy", "placement", "pin", "migrate", "checkpoint", "restart")
        return self.scheduler in ("timewarp", "check") or any(
            getattr(self, name) != getattr(Manner, name) for name in asked
        )

    def core(self, run: str) -> dict[str, Any]:
        """As the compiled core takes it; `run` says in a line which model runs, and with what."""
        by_graph = self._by_graph
        return {
            "scheduler": self.scheduler,
            "threads": self.threads,
            "lazy": self.lazy,
            "placement": self.placement if isinstance(self.placement, str) else [int(i) for i in self.placement],
            "by_graph": by_graph,
            "pin": self.pin,
            "migrate_after": MIGRATE_AFTER if self.migrate or by_graph else 0,
            "checkpoint": "" if self.checkpoint is None else str(self.checkpoint),
            "checkpoint_every": float(self.checkpoint_every),
            "restart": self.restart,
            "run": run,
        }


def checked_seed(seed: int) -> int:
    """The seed. Raises UsageError if it is none."""
    if not 0 <= seed < 2**64:
        raise UsageError(f"expected a seed from 0 to 2^64 - 1, found {seed}")
    return seed


@dataclass(frozen=True)
class EventRun:
    """What a run of a model counted, in all processes, and how long it took.

    `committed` events were handled for good; `rolled_back` ones were handled and then undone. `primary_rollbacks` of an
    LP came of events told late, `secondary_rollbacks` of events taken back, of which there were `taken_back`;
    `sent_again` were found to be right after all (lazy cancellation). `told_elsewhere` is what partitions told each
    other, in `mails` pieces. `ties` came to an LP at the time of another event. `log_bytes` is the most memory that
    undo took, `digest` one of all LPs' states at the end: the same on every scheduler and number of threads. `legs`
    are one more than the pauses, for a checkpoint or for LPs to move. `init_seconds` made the LPs and their first
    events; `seconds` is the rest. `peak_rss_bytes` is the most memory that the processes had, all together.

    `series` is how far the run was after rounds of GVT, by column: `seconds` since it began, `gvt` in ticks (before
    it all is certain), `committed` and `rolled_back` events so far, and `log_bytes`.
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
    legs: int
    efficiency: float
    init_seconds: float
    seconds: float
    digest: int
    peak_rss_bytes: int
    series: dict[str, list[float]] = field(repr=False, default_factory=dict)

    @property
    def rate(self) -> float:
        """Committed events per second."""
        return self.committed / self.seconds if self.seconds > 0 else math.inf

    @property
    def warp(self) -> float:
        """The rate's logarithm to base 10, less 9 (Barnes, Carothers, Jefferson, LaPre, PADS 2013)."""
        return math.log10(self.rate) - 9 if self.committed > 0 else -math.inf

    @property
    def remote(self) -> float:
        """What partitions told each other, by committed event."""
        return self.told_elsewhere / self.committed if self.committed > 0 else 0.0

    def series_to_pandas(self) -> pd.DataFrame:
        """A row for each round of GVT of which there is a sample."""
        import pandas as pd

        return pd.DataFrame(self.series)
