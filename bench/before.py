"""Rows of a benchmark, each in turns with an earlier Idlewave, for ``--before PYTHON``."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table

PAIRS = 9
SECOND = 1
"""Of nine ratios, the median of all lies between the second smallest and the second largest with 96 %."""
HELP = "the Python of an environment with an earlier Idlewave: only compare with that, row by row, in turns"


@dataclass(frozen=True)
class Row:
    """What is timed: its name, and how long it takes with the Idlewave of a Python."""

    name: str
    seconds: Callable[[Path], float]


@dataclass(frozen=True)
class Pairs:
    """Seconds of a row, of both in turns."""

    before: list[float]
    now: list[float]

    @property
    def ratios(self) -> list[float]:
        """How many times as long it takes now, from the smallest on."""
        return sorted(now / before for before, now in zip(self.before, self.now, strict=True))


def in_pairs(row: Row, before: Path, now: Path) -> Pairs:
    """Runs a row in turns; which of both begins changes from pair to pair."""
    pairs = Pairs([], [])
    for number in range(PAIRS):
        both = [(pairs.before, before), (pairs.now, now)]
        for seconds, python in both if number % 2 == 0 else reversed(both):
            seconds.append(row.seconds(python))
    return pairs


def show(console: Console, rows: Iterable[Row], before: Path, now: Path) -> None:
    """Runs all rows, and prints the median of each row's ratios with its interval of 96 %."""
    table = Table("what", "before, seconds", "now, seconds", "now over before", "96 % interval", title="in pairs")
    for column in table.columns[1:]:
        column.justify = "right"
    medians = []
    for row in track(list(rows), description="in pairs", transient=True):
        pairs = in_pairs(row, before, now)
        ratios = pairs.ratios
        medians.append(statistics.median(ratios))
        table.add_row(
            row.name,
            f"{min(pairs.before):.4f}",
            f"{min(pairs.now):.4f}",
            f"{medians[-1]:.3f}",
            f"{ratios[SECOND]:.3f} to {ratios[-1 - SECOND]:.3f}",
        )
    console.print(table)
    console.print(
        f"{PAIRS} pairs a row; now over before: {statistics.geometric_mean(medians):.3f} on the average of rows"
    )
