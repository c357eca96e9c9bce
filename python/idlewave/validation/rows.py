"""The rows of a validation: what was measured, what was simulated, and how far they are apart."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    import pandas as pd


class Row(TypedDict):
    """A program that was traced on one network and simulated on one: medians over the runs, their range, and how far
    the median of the simulations is from that of the runs, relative. calls and messages are those of the first run.
    traced_ranks: fewer than ranks where copies of a trace predict a run on more. doubt: why they are not to be
    compared; "" if they are. A loop, such as "latency", is traced on no network (""), and has a simulated time without
    a range; its times are those of a repetition, with messages or vectors of `size` bytes. A program has the size 0.

    speed_ns: the time of a byte there and back on the machine that was simulated, ns, nan where it is not known. pilot,
    with its range: the same beside the runs, against the machine's. counted: the share of the samples at that speed,
    which alone count for a loop; 1 for a program."""

    program: str
    size: int
    ranks: int
    traced_ranks: int
    traced_on: str
    simulated_on: str
    runs: int
    calls: int
    messages: int
    measured_s: float
    measured_least_s: float
    measured_most_s: float
    simulated_s: float
    simulated_least_s: float
    simulated_most_s: float
    error: float
    doubt: str
    speed_ns: float
    pilot: float
    pilot_least: float
    pilot_most: float
    counted: float


COLUMNS = tuple(Row.__annotations__)


@dataclass(frozen=True)
class Times:
    """Times of the runs and of their simulations, s; and the time of a byte beside the runs, against the machine's."""

    measured: list[float]
    simulated: list[float]
    pilots: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Compared:
    """What is compared: the ranks of the runs and of the traces, the network of the traces and that of the simulations,
    and the time of a byte there and back on the simulated machine, ns."""

    ranks: tuple[int, int]
    networks: tuple[str, str]
    speed_ns: float = math.nan


@dataclass(frozen=True)
class Finished:
    """What is done next, and the rows that are there."""

    next: Callable[[str], object]
    on_row: Callable[[Row], object]
    rows: list[Row] = field(default_factory=list)

    def row(self, row: Row) -> None:
        """A row is there."""
        self.rows.append(row)
        self.on_row(row)


def row_of(
    name: str,
    times: Times,
    compared: Compared,
    *,
    size: int = 0,
    counts: tuple[int, int] = (0, 0),
    doubt: str = "",
    counted: float = 1.0,
) -> Row:
    """The row of a program, or of a loop with messages of `size` bytes. `counts`: calls, and messages."""
    middle = median(times.measured)
    pilots = [pilot for pilot in times.pilots if not math.isnan(pilot)] or [math.nan]
    return Row(
        program=name,
        size=size,
        ranks=compared.ranks[0],
        traced_ranks=compared.ranks[1],
        traced_on=compared.networks[0],
        simulated_on=compared.networks[1],
        runs=len(times.measured),
        calls=counts[0],
        messages=counts[1],
        measured_s=middle,
        measured_least_s=min(times.measured),
        measured_most_s=max(times.measured),
        simulated_s=median(times.simulated),
        simulated_least_s=min(times.simulated),
        simulated_most_s=max(times.simulated),
        error=median(times.simulated) / middle - 1 if middle > 0 else math.nan,
        doubt=doubt,
        speed_ns=compared.speed_ns,
        pilot=median(pilots),
        pilot_least=min(pilots),
        pilot_most=max(pilots),
        counted=counted,
    )


def table_of(rows: Sequence[Row]) -> pd.DataFrame:
    """The rows as `validate` returns them."""
    import pandas as pd

    return pd.DataFrame(rows, columns=list(COLUMNS))


def loops_in(table: pd.DataFrame) -> pd.Series:
    """Which rows of a validation are of loops."""
    return table["traced_on"] == ""


def copies_in(table: pd.DataFrame) -> pd.Series:
    """Which rows are predictions by copies of a trace of fewer ranks."""
    return table["traced_ranks"] < table["ranks"]


def replays_in(table: pd.DataFrame) -> pd.Series:
    """Which rows are of programs that are simulated on the network where they were traced, on as many ranks."""
    return (table["traced_on"] == table["simulated_on"]) & ~copies_in(table)
