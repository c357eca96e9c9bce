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
    left_out: further runs that are not compared, because something else had the ranks' cores.
    traced_ranks: fewer than ranks where copies of a trace predict a run on more; more than ranks where what a rank of a
    larger program computes predicts one rank beside copies. doubt: why they are not to be compared; "" if they are.
    Simulated times are nan where a trace cannot end on another network: a deadlock. A loop, such as "latency", is
    traced on no network (""), and has a simulated time without a range; its times are those of a repetition, with
    messages or vectors of `size` bytes. A program has the size 0.

    repeat_error: how far a run is from the median of the other ones, relative, in the median; nan of a single run.
    measured_computation_s and simulated_computation_s: the time of a rank outside MPI without waits for a core, in the
    mean of the ranks, in the runs and in the traces that were simulated; nan for a loop, for ranks with several
    threads, and for one rank beside copies. What these differ by is a part of the error that is none of the simulation.

    machine_round_trip_ns: of a byte on the machine that was simulated, nan where it is not known. round_trip_ratio,
    with its range: the same beside the runs, over the machine's. share_at_speed: the share of the samples of a loop at
    that speed, which alone count; 1 for a program."""

    program: str
    size: int
    ranks: int
    traced_ranks: int
    traced_on: str
    simulated_on: str
    runs: int
    left_out: int
    calls: int
    messages: int
    measured_s: float
    measured_least_s: float
    measured_most_s: float
    simulated_s: float
    simulated_least_s: float
    simulated_most_s: float
    error: float
    repeat_error: float
    measured_computation_s: float
    simulated_computation_s: float
    doubt: str
    machine_round_trip_ns: float
    round_trip_ratio: float
    round_trip_ratio_least: float
    round_trip_ratio_most: float
    share_at_speed: float


COLUMNS = tuple(Row.__annotations__)


@dataclass(frozen=True)
class Times:
    """Times of the runs and of their simulations, s; the computation of a rank in both; and round trips of a byte
    beside the runs, over the machine's."""

    measured: list[float]
    simulated: list[float]
    measured_computation: list[float] = field(default_factory=list)
    simulated_computation: list[float] = field(default_factory=list)
    round_trip_ratios: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class RowKey:
    """Which runs and simulations a row compares: as the columns of `Row`."""

    ranks: int
    traced_ranks: int
    traced_on: str
    simulated_on: str
    machine_round_trip_ns: float = math.nan


@dataclass(frozen=True)
class Progress:
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
    compared: RowKey,
    *,
    size: int = 0,
    counts: tuple[int, int] = (0, 0),
    doubt: str = "",
    left_out: int = 0,
    share_at_speed: float = 1.0,
) -> Row:
    """The row of a program, or of a loop with messages of `size` bytes. `counts`: calls, and messages."""
    middle = median(times.measured)
    ratios = [ratio for ratio in times.round_trip_ratios if not math.isnan(ratio)] or [math.nan]
    return Row(
        program=name,
        size=size,
        ranks=compared.ranks,
        traced_ranks=compared.traced_ranks,
        traced_on=compared.traced_on,
        simulated_on=compared.simulated_on,
        runs=len(times.measured),
        left_out=left_out,
        calls=counts[0],
        messages=counts[1],
        measured_s=middle,
        measured_least_s=min(times.measured),
        measured_most_s=max(times.measured),
        simulated_s=median(times.simulated),
        simulated_least_s=min(times.simulated),
        simulated_most_s=max(times.simulated),
        error=median(times.simulated) / middle - 1 if middle > 0 else math.nan,
        repeat_error=repeat_error(times.measured),
        measured_computation_s=median(times.measured_computation or [math.nan]),
        simulated_computation_s=median(times.simulated_computation or [math.nan]),
        doubt=doubt,
        machine_round_trip_ns=compared.machine_round_trip_ns,
        round_trip_ratio=median(ratios),
        round_trip_ratio_least=min(ratios),
        round_trip_ratio_most=max(ratios),
        share_at_speed=share_at_speed,
    )


def repeat_error(times: Sequence[float]) -> float:
    """How far one of `times` is from the median of the other ones, relative, in the median; nan of one."""
    others = [median([*times[:run], *times[run + 1 :]]) for run in range(len(times))] if len(times) > 1 else []
    errors = [abs(time / other - 1) for time, other in zip(times, others, strict=False) if other > 0]
    return median(errors) if errors else math.nan


def computation_errors(table: pd.DataFrame) -> pd.Series:
    """The part of each row's error that computation explains: what it differs by, relative to the time of the runs; nan
    where that is not known."""
    difference = table["simulated_computation_s"] - table["measured_computation_s"]
    return difference / table["measured_s"].where(table["measured_s"] > 0)


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


def beside_copies_in(table: pd.DataFrame) -> pd.Series:
    """Which rows are of programs of one rank beside copies of themselves, predicted by traces of more ranks."""
    return table["traced_ranks"] > table["ranks"]


def replays_in(table: pd.DataFrame) -> pd.Series:
    """Which rows are of programs that are simulated on the network where they were traced, on as many ranks."""
    return (table["traced_on"] == table["simulated_on"]) & (table["traced_ranks"] == table["ranks"])


def other_networks_in(table: pd.DataFrame) -> pd.Series:
    """Which rows are of programs that are simulated on another network than the traced one."""
    return (table["traced_on"] != table["simulated_on"]) & ~loops_in(table)
