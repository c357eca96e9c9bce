"""The statistics of a run on the kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from . import _core

if TYPE_CHECKING:
    import pandas as pd

SERIES = ("seconds", "gvt", "committed", "rolled_back", "log_bytes")
"""The columns of the progress of a run."""


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
    by_one_thread: events that one thread executed for all, where they would have waited for each other longer than a
        further one saves.
    segments: one more than the pauses for a checkpoint or for migration.
    efficiency: 1 - rolled_back / committed (ROSS's event efficiency).
    init_seconds: time to make the LPs and their first events; `seconds` is the rest.
    digest: of the states of all LPs at the end; the same for every configuration.
    peak_rss_bytes: sum over the processes of the largest memory that each had.
    time_unit: the unit of the model's times.
    series: progress after rounds of GVT, by column: `seconds` since the run began, `gvt` in `time_unit`, `committed`
        and `rolled_back` events so far, and `log_bytes`.
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
    by_one_thread: int
    segments: int
    efficiency: float
    init_seconds: float
    seconds: float
    digest: int
    peak_rss_bytes: int
    time_unit: str
    series: dict[str, list[float]] = field(repr=False, default_factory=dict)

    @classmethod
    def of(cls, report: _core.RunReport) -> EventRun:
        """The same statistics as the core reports them."""
        values = {each.name: getattr(report, each.name) for each in fields(cls) if each.name != "series"}
        return cls(**values, series={name: [getattr(sample, name) for sample in report.series] for name in SERIES})

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
