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
    compared; "" if they are. A loop of a size, such as "latency, 1 KiB", is traced on no network (""), and has a
    simulated time without a range; its times are those of a repetition.

    speed_ns: the time of a byte there and back on the machine that was simulated, ns, nan where it is not known. pilot,
    with its range: the same beside the runs, against the machine's. counted: the share of the samples at that speed,
    which alone count for a loop; 1 for a program."""

    program: str
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
    *,
    ranks: tuple[int, int],
    networks: tuple[str, str],
    counts: tuple[int, int] = (0, 0),
    doubt: str = "",
    speed_ns: float = math.nan,
    counted: float = 1.0,
) -> Row:
    """`ranks`: of runs and of traces. `networks`: traced on, and simulated on. `counts`: calls, and messages."""
    middle = median(times.measured)
    pilots = [pilot for pilot in times.pilots if not math.isnan(pilot)] or [math.nan]
    return Row(
        program=name,
        ranks=ranks[0],
        traced_ranks=ranks[1],
        traced_on=networks[0],
        simulated_on=networks[1],
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
        speed_ns=speed_ns,
        pilot=median(pilots),
        pilot_least=min(pilots),
        pilot_most=max(pilots),
        counted=counted,
    )


def table_of(rows: Sequence[Row]) -> pd.DataFrame:
    """The rows as `validate` returns them."""
    import pandas as pd

    return pd.DataFrame(rows, columns=list(COLUMNS))
