"""The configuration of a run on the kernel, and its statistics."""

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
SERIAL = ("sequential", "check")
"""The schedulers that run on one thread of one process."""
MIGRATE_AFTER = 2**20
"""Events a partition, after which LPs migrate if one partition has executed far more events than the others."""


class DistributionOptions(TypedDict, total=False):
    """How a run is distributed and kept, as keywords; `RunConfiguration` says what each means and its default."""

    processes: int
    lazy: bool
    placement: str | Sequence[int]
    pin: bool
    migrate: bool
    checkpoint: str | Path | None
    checkpoint_every: float
    restart: bool


class RunOptions(DistributionOptions, total=False):
    """A whole run configuration as keywords; `RunConfiguration` says what each means and its default."""

    scheduler: str
    threads: int
    progress: Callable[[float], None] | None


@dataclass(frozen=True)
class RunConfiguration:
    """How a run is made. The results are the same for every configuration.

    scheduler: `sequential`; `yawns`, conservative in windows of the lookahead, and `timewarp`, optimistic, both on
        `threads` threads; or `check`, sequential, which executes, undoes and compares each execution of an LP.
    threads: of each process. A thread simulates one partition of the LPs.
    lazy: lazy cancellation: Time Warp cancels an event only when the event is not sent again after a rollback.
    processes: started by mpiexec, each with `threads` threads.
    placement: `block` gives a partition neighbouring LPs, `cyclic` every n-th LP. `graph` begins with `block`, counts
        which LPs send events to which, and lets METIS partition that graph. A sequence has the partition of each LP,
        counted over all processes.
    pin: each thread stays on a processor of its own.
    migrate: LPs migrate to other partitions when one executes far more events than the others.
    checkpoint: directory in which the run is written every `checkpoint_every` seconds.
    restart: begin with the last checkpoint in that directory, on any number of threads and processes.
    progress: called a few times a second with the share of simulated time that is committed.
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
        """Raises UsageError if the configuration is not possible."""
        if self.scheduler not in SCHEDULERS:
            raise UsageError(f"no scheduler is called {quote(self.scheduler)}; there are {', '.join(SCHEDULERS)}")
        if isinstance(self.placement, str) and self.placement not in PLACEMENTS:
            raise UsageError(f"no placement is called {quote(self.placement)}; there are {', '.join(PLACEMENTS)}")
        if not 1 <= self.threads <= 1024:
            raise UsageError(f"expected 1 to 1024 threads, found {self.threads}")
        if not 1 <= self.processes <= 2**20:
            raise UsageError(f"expected 1 to {2**20} processes, found {self.processes}")
        if self.scheduler in SERIAL and self.threads != 1:
            raise UsageError(
                f"{self.scheduler} runs on one thread, not on {self.threads}; yawns and timewarp run on several"
            )
        if self.scheduler in SERIAL and self.processes != 1:
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
        """Whether the run needs the kernel's partitions."""
        asked = ("processes", "lazy", "placement", "pin", "migrate", "checkpoint", "restart")
        return self.scheduler in ("timewarp", "check") or any(
            getattr(self, name) != getattr(RunConfiguration, name) for name in asked
        )

    def core(self, run: str) -> dict[str, Any]:
        """The configuration for the compiled core; `run` names the model and its parameters in one line."""
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
    """The statistics of a run, summed over all processes.

    committed: events executed and not rolled back.
    rolled_back: events executed and rolled back.
    primary_rollbacks: rollbacks of an LP by a straggler.
    secondary_rollbacks: rollbacks of an LP by an anti-message.
    cancelled: anti-messages sent.
    resent: events that were sent again unchanged after a rollback (lazy cancellation).
    remote_events: events and anti-messages sent to another partition, in `message_batches` batches.
    gvt_rounds: rounds in which GVT was found.
    ties: events that an LP received for the same time as another event.
    log_bytes: largest memory of the undo logs.
    segments: one more than the pauses for a checkpoint or for migration.
    efficiency: 1 - rolled_back / committed (ROSS's event efficiency).
    init_seconds: time to make the LPs and their first events; `seconds` is the rest.
    digest: of the states of all LPs at the end; the same for every configuration.
    peak_rss_bytes: sum over the processes of the largest memory that each had.
    series: progress after rounds of GVT, by column: `seconds` since the run began, `gvt` in ticks, `committed` and
        `rolled_back` events so far, and `log_bytes`.
    """

    committed: int
    rolled_back: int
    primary_rollbacks: int
    secondary_rollbacks: int
    cancelled: int
    resent: int
    remote_events: int
    message_batches: int
    gvt_rounds: int
    ties: int
    log_bytes: int
    segments: int
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
        """Remote events and anti-messages by committed event."""
        return self.remote_events / self.committed if self.committed > 0 else 0.0

    def series_to_pandas(self) -> pd.DataFrame:
        """The series as a data frame: a row for each sampled round of GVT."""
        import pandas as pd

        return pd.DataFrame(self.series)
