"""What the network's probes and its fit say in JSON, as it must be where it is used."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from ...escaping import found
from ...input.value_types import Amount, Closed, Number, Open, Whole, WholeFrom1
from ..environment_file import EnvironmentSaid
from .transports import EMULATED, TRANSPORTS

_TRANSPORTS = ", ".join((*TRANSPORTS, EMULATED))

Size = Annotated[int, Meta(ge=0, le=2**50, description="a whole number from 0 on")]


class Rank(Open):
    """Where one side of a measurement ran."""

    host: str | None = None


class PagesSaid(Open):
    """How messages lie in memory."""

    size: Annotated[int, Meta(ge=1, le=2**40, description="a whole number from 1 on")]
    start: Size


class LoggpSaid(Open):
    """What is used of loggp.json."""

    transport: str | None = None
    eager_limit: Size | None = None
    lost: Whole | None = None
    library: str | None = None
    fabric: str | None = None
    ended: str | None = None
    same_node: bool | None = None
    dropped_sizes: list[Size] | None = None
    ranks: list[Rank] | None = None
    pages: PagesSaid | None = None
    foreign_load: dict[str, list[Amount | None]] | None = None

    def __post_init__(self) -> None:
        if self.transport is not None and self.transport not in (*TRANSPORTS, EMULATED):
            raise ValueError(f"transport: expected one of {_TRANSPORTS}, found {found(self.transport)}")


class JobRank(Open):
    """Where a rank of a job ran."""

    host: str


class Table(Open):
    """A file of columns."""

    file: str
    columns: Annotated[list[str], Meta(min_length=1, max_length=64, description="a list of 1 to 64 texts")]

    def __post_init__(self) -> None:
        if len(set(self.columns)) < len(self.columns):
            raise ValueError(f"columns: expected different names, found {found(self.columns)}")


class JobSaid(Open):
    """What all probes of a job say."""

    probe: str
    ranks: Annotated[list[JobRank], Meta(min_length=1, description="a list of at least one rank")]
    interrupted: bool = False


class PairsSaid(JobSaid, kw_only=True):
    """What is used of pairs.json."""

    file: str
    pairs: Whole = 0


class BurstsSaid(Open):
    """The tables of clocks.json."""

    bursts: Table


class ClocksSaid(JobSaid, kw_only=True):
    """What is used of clocks.json."""

    tables: BurstsSaid
    skewed: bool = False
    one_a_host: bool = False


class ParametersSaid(Open):
    """LogGOP parameters, ps and ps per byte."""

    L: Number
    o_s: Number
    o_r: Number
    g: Number
    G: Number
    O: Number  # noqa: E741 - the model's name


Interval = Annotated[tuple[Number, Number], Meta(description="two numbers in order")]


class IntervalsSaid(Open):
    """Their 95 % intervals."""

    L: Interval
    o_s: Interval
    o_r: Interval
    g: Interval
    G: Interval
    O: Interval  # noqa: E741 - the model's name

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            low, high = getattr(self, name)
            if low > high:
                raise ValueError(f"{name}: expected two numbers in order, found {found([low, high])}")


class RangeSaid(Closed):
    """Range (ranges.py)."""

    first: Size
    rendezvous: bool
    parameters: ParametersSaid
    intervals: IntervalsSaid
    hidden: tuple[str, ...]
    tail: Number
    stall: Number
    scatter: dict[str, Number]
    onset: tuple[Size, Size] = (1, 1)
    cause: str = "start"
    kept: tuple[str, ...] = ()
    held: Number = 0.0


class MedianRow(Open):
    """A row of LogGP.medians; what is not finite is null."""

    size: Size
    curve: str
    median_ps: Number | None
    low_ps: Number | None
    high_ps: Number | None
    n: Whole


class PredictionRow(Open):
    """A row of LogGP.predictions."""

    size: Size
    series: str
    n: Whole
    measured_ps: Number | None
    predicted_ps: Number | None
    residual: Number | None


class FitSaid(Open):
    """LogGP (loggp.py)."""

    S: Size | None
    ranges: Annotated[list[RangeSaid], Meta(min_length=1, description="a list of at least one range")]
    repetitions: Whole
    steady: Whole
    notes: tuple[str, ...]
    medians: list[MedianRow]
    predictions: list[PredictionRow]
    S_bounds: tuple[Size, Size] | None = None

    def __post_init__(self) -> None:
        firsts = [r.first for r in self.ranges]
        if firsts[0] > 1:
            raise ValueError(f"ranges[0].first: expected 0 or 1, found {firsts[0]}")
        for number in range(1, len(firsts)):
            if firsts[number] <= firsts[number - 1]:
                where = f"ranges[{number}].first"
                raise ValueError(f"{where}: expected more than {firsts[number - 1]}, found {firsts[number]}")


class NetworkSaid(Open):
    """A network's measurement but for its samples."""

    fit: FitSaid
    probe: LoggpSaid
    environment: EnvironmentSaid
    attempts: WholeFrom1


class NetworkFile(Open):
    """network.json."""

    format: Literal[1]
    network: NetworkSaid


class CoreRow(Open):
    """A row of NoiseMeasurement.cores (noise/detour.py), as far as it is used."""

    core: Whole
    duration_ps: WholeFrom1
    resolution_ps: Whole
    overhead: Number
    overhead_ps: Whole
    rate_per_s: Number
    dropped: Whole
    p50_ps: Number
    p99_ps: Number
    longest_ps: Whole
    foreign_load: Number
    steal_s: Number
    interrupted: bool
    throttled: Whole = 0


class InterruptRow(Open):
    """A row of NoiseMeasurement.interrupts."""

    core: Whole
    name: str
    meaning: str
    count: Amount


class NoiseSaid(Open):
    """A measured machine's noise but for the detours."""

    cores: list[CoreRow]
    interrupts: list[InterruptRow]
    environment: EnvironmentSaid


class MeasurementFile(Open):
    """measurement.json."""

    format: Literal[1]
    name: str
    noise: NoiseSaid
    network: NetworkSaid
    node_network: NetworkSaid | None = None
    node_ranks: WholeFrom1 = 1
