"""The series of a recording: the value of each phase of one test, between one pair of ranks, at one size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..formatting import size_text
from ..measure.overtime.settings import HIGHER_IS_BETTER, IDLE, TESTS

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

KEY = ("test", "rank", "peer", "size")


@dataclass(frozen=True, eq=False)
class Series:
    """One value a phase, in the order of the phases: seconds, or of bandwidth bytes per second."""

    test: str
    rank: int
    peer: int
    size: int
    run: npt.NDArray[np.int64]
    phase: npt.NDArray[np.int64]
    start_ns: npt.NDArray[np.int64]
    length_ns: npt.NDArray[np.int64]
    value: npt.NDArray[np.float64]

    @property
    def key(self) -> dict[str, str | int]:
        """The columns that say which series it is."""
        return {"test": self.test, "rank": self.rank, "peer": self.peer, "size": self.size}

    @property
    def name(self) -> str:
        """The series in words: "latency, 8 B, ranks 0 and 1"."""
        return series_name(self.test, self.rank, self.peer, self.size)

    @property
    def worse(self) -> int:
        """1 if larger values are worse, −1 if smaller ones are."""
        return -1 if self.test in HIGHER_IS_BETTER else 1


def series_name(test: str, rank: int, peer: int, size: int) -> str:
    """A series in words."""
    pair = "" if rank < 0 else f", ranks {rank} and {peer}"
    return f"{test}, {size_text(size)}{pair}"


def series_of(table: pd.DataFrame) -> list[Series]:
    """The series of the table of a recording, by test, size and pair. Phases without a usable value are left out."""
    import numpy as np

    usable = table[(table["test"] != IDLE) & np.isfinite(table["value"]) & (table["value"] > 0)]
    found = []
    for (test, rank, peer, size), rows in usable.groupby(list(KEY), sort=True):
        columns = {name: rows[name].to_numpy() for name in ("run", "phase", "start_ns", "length_ns", "value")}
        found.append(Series(str(test), int(rank), int(peer), int(size), **columns))
    return sorted(found, key=lambda one: (_place(one.test), one.size, one.rank, one.peer))


def _place(test: str) -> int:
    return TESTS.index(test) if test in TESTS else len(TESTS)
