"""All that is found in a recording, each part computed when it is first needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from .changes import levels, stability, summary
from .correlation import correlations
from .defaults import LAGS, TOLERANCE
from .idle_counters import IdleCounters, idle_counters
from .prediction import LEARN, errors, predictions
from .series import Series, series_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from ..measure.overtime.recording import OvertimeRecording


@dataclass(frozen=True, eq=False)
class Analysis:
    """The tables of a recording. `counters`: the columns of counters that are looked at, by default all.

    Raises InputError if the recording has no phase.
    """

    recording: OvertimeRecording
    counters: Sequence[str] = field(default=())
    lags: int = LAGS
    tolerance: float = TOLERANCE
    seed: int = 1

    def __post_init__(self) -> None:
        self.recording.check_phases()

    @cached_property
    def series(self) -> list[Series]:
        """The series of the recording."""
        return series_of(self.recording.table)

    @cached_property
    def levels(self) -> pd.DataFrame:
        """See `changes.levels`."""
        return levels(self.series)

    @cached_property
    def stability(self) -> pd.DataFrame:
        """See `changes.stability`."""
        return stability(self.levels)

    @cached_property
    def summary(self) -> pd.DataFrame:
        """See `changes.summary`."""
        return summary(self.series, self.levels)

    @cached_property
    def correlations(self) -> pd.DataFrame:
        """See `correlation.correlations`."""
        table = self.recording.table
        return correlations(table, self.series, self.chosen_counters, lags=self.lags, seed=self.seed)

    @cached_property
    def predictions(self) -> pd.DataFrame:
        """See `prediction.predictions`."""
        return predictions(self.recording.table, self.series, self.chosen_counters)

    @cached_property
    def idle_counters(self) -> IdleCounters:
        """Which counters of idle phases predict, and why others do not."""
        return idle_counters(self.recording.table, self.chosen_counters, least=LEARN // 2)

    @cached_property
    def errors(self) -> pd.DataFrame:
        """See `prediction.errors`."""
        return errors(self.predictions, tolerance=self.tolerance)

    @cached_property
    def strongest_counters(self) -> list[str]:
        """The columns of counters, that with the strongest correlation first."""
        from ..measure.overtime.recording import COUNTER

        found = self.correlations
        strength = found.assign(strength=found["correlation"].abs()).groupby("counter")["strength"].max().dropna()
        return [f"{COUNTER}{name}" for name in strength.sort_values(ascending=False, kind="stable").index]

    @property
    def chosen_counters(self) -> Sequence[str]:
        """The columns of counters that are looked at."""
        return self.counters or self.recording.counters
