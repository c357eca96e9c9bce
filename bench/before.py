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
"""The median of all ratios lies between the second smallest and the second largest of nine, for 96 % of samples."""
HELP = "the Python of an environment with an earlier Idlewave: only compare with that, row by row, in turns"


@dataclass(frozen=True)
class Run:
    """How long a run took, and what it found."""

    seconds: float
    found: object


@dataclass(frozen=True)
class Row:
    """What is timed: its name, and how to run it with the Idlewave of a Python."""

    name: str
    run: Callable[[Path], Run]


def in_pairs(row: Row, before: Path, now: Path) -> tuple[list[Run], list[Run]]:
    """Runs a row with both in turns, after once each; which of both begins changes from pair to pair."""
    runs: dict[Path, list[Run]] = {before: [], now: []}
    for number in range(PAIRS + 1):
        for python in (before, now) if number % 2 == 0 else (now, before):
            runs[python].append(row.run(python))
    return runs[before][1:], runs[now][1:]


def show(console: Console, rows: Iterable[Row], before: Path, now: Path) -> None:
    """Runs all rows, and prints for each the medians of the seconds, and that of the ratios with its interval.

    Ends the program with status 1 if a row has another result than before.
    """
    table = Table("what", "before, seconds", "now, seconds", "now over before", "96 % interval", title="in pairs")
    for column in table.columns[1:]:
        column.justify = "right"
    medians, others = [], []
    for row in track(list(rows), description="in pairs", transient=True):
        earlier, later = in_pairs(row, before, now)
        ratios = sorted(y.seconds / x.seconds for x, y in zip(earlier, later, strict=True))
        medians.append(statistics.median(ratios))
        if any(run.found != earlier[0].found for run in (*earlier, *later)):
            others.append(row.name)
        table.add_row(
            row.name,
            f"{statistics.median(run.seconds for run in earlier):.4f}",
            f"{statistics.median(run.seconds for run in later):.4f}",
            f"{medians[-1]:.3f}",
            f"{ratios[SECOND]:.3f} to {ratios[-1 - SECOND]:.3f}",
        )
    console.print(table)
    console.print(f"medians of {PAIRS} pairs; now over before, all rows: {statistics.geometric_mean(medians):.3f}")
    if others:
        console.print(f"ERROR: another result than before: {'; '.join(others)}")
        raise SystemExit(1)
    console.print("all rows have the same result as before")
