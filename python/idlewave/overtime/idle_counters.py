"""Which counters of idle phases can predict performance, and why others, or all of them, cannot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..formatting import percent_text, plural
from ..measure.overtime.settings import IDLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

MOST_MISSING = 0.2
"""A counter that is missing in a larger share of the idle phases in which any counter is known is left out."""


@dataclass(frozen=True)
class IdleCounters:
    """The columns of counters that predict, and of those that do not: `missing` were read too seldom in idle phases,
    `unchanged` grew by nothing there. `absent` says why none predicts; it is empty if some do."""

    used: tuple[str, ...]
    missing: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    absent: str = ""

    @property
    def sentences(self) -> list[str]:
        """What readers of predictions have to know of the counters."""
        if self.absent:
            return [f"Counters of idle phases predict nothing: {self.absent}."]
        if not self.missing:
            return []
        share = percent_text(MOST_MISSING)
        verb = "is" if len(self.missing) == 1 else "are"
        counters = plural(len(self.missing), "counter")
        return [f"{counters} {verb} missing in more than {share} of the idle phases, and {verb} not used to predict."]


def idle_counters(table: pd.DataFrame, counters: Sequence[str], *, least: int) -> IdleCounters:
    """The counters of a recording's idle phases. `least`: fewer idle phases with counters teach nothing."""
    import numpy as np

    if not counters:
        return IdleCounters((), absent="the recording has no counters")
    idle = table.loc[table["test"] == IDLE, list(counters)]
    if not len(idle):
        return IdleCounters((), absent="the recording has no idle phases")
    known = np.isfinite(idle.to_numpy(dtype=np.float64))
    read = known.any(axis=1)
    if read.sum() < least:
        which = "no idle phase" if not read.any() else f"only {plural(int(read.sum()), 'idle phase')}"
        return IdleCounters((), absent=f"in {which} could counters be read")
    absent = 1 - known[read].mean(axis=0)
    grew = (np.nan_to_num(idle.to_numpy(dtype=np.float64)) != 0).any(axis=0)
    missing = tuple(name for name, share in zip(counters, absent, strict=True) if share > MOST_MISSING)
    unchanged = tuple(
        name for name, share, moved in zip(counters, absent, grew, strict=True) if share <= MOST_MISSING and not moved
    )
    used = tuple(name for name in counters if name not in {*missing, *unchanged})
    if used:
        return IdleCounters(used, missing, unchanged)
    if not missing:
        return IdleCounters((), missing, unchanged, "no counter grew in any idle phase")
    seldom = f"missing in more than {percent_text(MOST_MISSING)} of the idle phases"
    why = f"{len(missing)} of {plural(len(counters), 'counter')} {'is' if len(missing) == 1 else 'are'} {seldom}"
    return IdleCounters((), missing, unchanged, f"{why}, and the others never grew")
