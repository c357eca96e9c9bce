"""The schemas of the JSON of the network's probes and of its fit, as far as it is used."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from ....cold_caches import problem_of
from ....escaping import found
from ....input.value_types import Amount, Closed, Number, Open, Whole, WholeFrom1
from ...environment_file import EnvironmentSchema
from ..fitting.fitted_ranges import Range
from ..transports import TraitsSchema

Size = Annotated[int, Meta(ge=0, le=2**50, description="a whole number from 0 on")]


class RankSchema(Open):
    """The place of one side of a measurement."""

    host: str | None = None


class PagesSchema(Open):
    """The position of messages in memory pages."""

    size: Annotated[int, Meta(ge=1, le=2**40, description="a whole number from 1 on")]
    start: Size


class LoggpSchema(Open):
    """The used part of loggp.json."""

    transport: str | None = None
    traits: TraitsSchema | None = None
    eager_limit: Size | None = None
    lost: Whole | None = None
    library: str | None = None
    fabric: str | None = None
    ended: str | None = None
    same_node: bool | None = None
    dropped_sizes: list[Size] | None = None
    core_sizes: list[Size] | None = None
    breaks: list[Size] | None = None
    blocking_from: list[Size] | None = None
    ranks: list[RankSchema] | None = None
    pages: PagesSchema | None = None
    foreign_load: dict[str, list[Amount | None]] | None = None

    def __post_init__(self) -> None:
        if self.transport is not None and self.traits is None:
            raise ValueError(f"traits: expected those of the transport {found(self.transport)}, found nothing")


class JobRank(Open):
    """The place of a rank of a job."""

    host: str


class TableSchema(Open):
    """A file of columns."""

    file: str
    columns: Annotated[list[str], Meta(min_length=1, max_length=64, description="a list of 1 to 64 texts")]

    def __post_init__(self) -> None:
        if len(set(self.columns)) < len(self.columns):
            raise ValueError(f"columns: expected different names, found {found(self.columns)}")


class JobSchema(Open):
    """The part that the summaries of all probes of a job have in common."""

    probe: str
    ranks: Annotated[list[JobRank], Meta(min_length=1, description="a list of at least one rank")]
    interrupted: bool = False


class PairsSchema(JobSchema, kw_only=True):
    """The used part of pairs.json."""

    file: str
    pairs: Whole = 0


class SamplesSchema(Open):
    """The table of patterns.json."""

    samples: TableSchema


class PatternsSchema(JobSchema, kw_only=True):
    """The used part of patterns.json."""

    tables: SamplesSchema
    shared_cpus: bool = False
    changes: tuple[int, ...] = ()
    late_ns: float = 0.0
    late_ns_per_byte: float = 0.0
    patterns: Annotated[list[str], Meta(min_length=1, description="a list of at least one name")]


class OneSidedSchema(JobSchema, kw_only=True):
    """The used part of one-sided.json."""

    tables: SamplesSchema
    shared_cpus: bool = False
    computing_ns: Annotated[int, Meta(ge=1, le=2**50, description="a whole number from 1 on")]
    back_ends: Annotated[list[str], Meta(min_length=1, description="a list of at least one name")]
    operations: Annotated[list[str], Meta(min_length=1, description="a list of at least one name")]


class ControlVariable(Open):
    """A control variable of the MPI library (MPI_T), and whether the environment sets it."""

    name: str
    value: str
    in_environment: bool = False


class CollectivesSchema(JobSchema, kw_only=True):
    """The used part of collectives.json."""

    tables: SamplesSchema
    collectives: Annotated[list[str], Meta(min_length=1, description="a list of at least one name")]
    before_barrier: tuple[str, ...] = ()
    control_variables: tuple[ControlVariable, ...] = ()


class BurstsSchema(Open):
    """The tables of clocks.json."""

    bursts: TableSchema


class ClocksSchema(JobSchema, kw_only=True):
    """The used part of clocks.json."""

    tables: BurstsSchema
    skewed: bool = False
    one_a_host: bool = False


class ParametersSchema(Open):
    """LogGOP parameters, ps and ps per byte."""

    L: Number
    o_s: Number
    o_r: Number
    g: Number
    G: Number
    O: Number  # noqa: E741 - the model's name


Interval = Annotated[tuple[Number, Number], Meta(description="two numbers in order")]


class IntervalsSchema(Open):
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


class RangeSchema(Closed):
    """Range (fitted_ranges.py), with its defaults for what an older file lacks."""

    first: Size
    rendezvous: bool
    parameters: ParametersSchema
    intervals: IntervalsSchema
    hidden: tuple[str, ...]
    tail: Number
    stall: Number
    scatter: dict[str, Number]
    onset: tuple[Size, Size] = Range.onset
    cause: str = Range.cause
    kept: tuple[str, ...] = Range.kept
    held: Number = Range.held
    failures: tuple[str, ...] = Range.failures


class MedianRow(Open):
    """A row of LogGP.medians; null stands for a value that is not finite."""

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


class FitSchema(Open):
    """LogGP (loggp.py)."""

    S: Size | None
    ranges: Annotated[list[RangeSchema], Meta(min_length=1, description="a list of at least one range")]
    repetitions: Whole
    steady: Whole
    notes: tuple[str, ...]
    medians: list[MedianRow]
    predictions: list[PredictionRow]
    S_bounds: tuple[Size, Size] | None = None
    seen_limit: Size | None = None
    failures: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        firsts = [r.first for r in self.ranges]
        if firsts[0] > 1:
            raise ValueError(f"ranges[0].first: expected 0 or 1, found {firsts[0]}")
        for number in range(1, len(firsts)):
            if firsts[number] <= firsts[number - 1]:
                where = f"ranges[{number}].first"
                raise ValueError(f"{where}: expected more than {firsts[number - 1]}, found {firsts[number]}")


Time = Annotated[int, Meta(ge=0, le=2**62, description="a whole number from 0 on, in ps")]
Cost = Annotated[float, Meta(ge=0, le=2.0**62, description="a number from 0 on, in ps per byte")]


class MachineParametersSchema(Open):
    """machine.Parameters."""

    L: Time
    o_s: Time
    o_r: Time
    g: Time
    G: Cost
    O_s: Cost
    O_r: Cost
    c: Time
    o_p: Time


class PatternRangeSchema(Open):
    """PatternRange (pattern_fit.py)."""

    first: Size
    parameters: MachineParametersSchema
    intervals: dict[str, Interval]


class PatternErrorRow(Open):
    """A row of PatternFit.table (pattern_assessment.py)."""

    pattern: str
    window: WholeFrom1
    size: Size
    delay_ns: Whole
    samples: WholeFrom1
    median_ps: Number
    low_ps: Number
    high_ps: Number
    simulated_ps: Number
    error: Number


class SpeedRow(Open):
    """A row of PatternFit.speeds."""

    pilot_ns: Number
    share: Amount
    reference_ns: Number | None = None


class ColdCachesSchema(Open):
    """ColdCacheFit (cold_cache_fit.py)."""

    calls: Annotated[tuple[tuple[Time, Time], ...], Meta(min_length=1, description="a list of at least one pair")]
    buffer_after: WholeFrom1
    buffers: Annotated[tuple[tuple[Size, Time], ...], Meta(min_length=1, description="a list of at least one pair")]
    intervals: dict[str, Interval]

    def __post_init__(self) -> None:
        if problem := problem_of(self.calls, self.buffers):
            raise ValueError(problem)


class PatternFitSchema(Open):
    """PatternFit (pattern_assessment.py)."""

    ranges: Annotated[list[PatternRangeSchema], Meta(min_length=1, description="a list of at least one range")]
    errors: Annotated[list[PatternErrorRow], Meta(min_length=1, description="a list of at least one row")]
    speeds: Annotated[list[SpeedRow], Meta(min_length=1, description="a list of at least one speed")]
    speed: Whole
    epochs: WholeFrom1
    notes: tuple[str, ...]
    S: Size | None = None
    cold_caches: ColdCachesSchema | None = None

    def __post_init__(self) -> None:
        firsts = [r.first for r in self.ranges]
        if firsts[0] != 0:
            raise ValueError(f"ranges[0].first: expected 0, found {firsts[0]}")
        if firsts != sorted(set(firsts)):
            raise ValueError(f"ranges: expected ascending first sizes, found {found(firsts)}")
        if self.speed >= len(self.speeds):
            raise ValueError(f"speed: expected less than {len(self.speeds)}, found {self.speed}")


class CollectiveErrorRow(Open):
    """A row of CollectiveFit.table (collective_rules.py)."""

    collective: str
    size: Size
    samples: WholeFrom1
    median_ps: Number
    low_ps: Number
    high_ps: Number
    algorithm: str
    simulated_ps: Number
    error: Number


class AlgorithmRuleSchema(Open):
    """What a measurement says of an AlgorithmRule (algorithm_rules.py)."""

    collective: str
    algorithm: str
    ranks: WholeFrom1
    bytes: Size
    segment: Size
    reduction_cost: Amount
    call_ns: Amount
    call_ns_per_byte: Amount
    residual: Amount | None = None
    of_library: bool = False


class CollectiveFitSchema(Open):
    """CollectiveFit (collective_rules.py)."""

    rules: list[AlgorithmRuleSchema]
    errors: Annotated[list[CollectiveErrorRow], Meta(min_length=1, description="a list of at least one row")]
    ranks: WholeFrom1
    notes: tuple[str, ...]
    shared_buffer: MachineParametersSchema | None = None


class NetworkSchema(Open):
    """A network's measurement without its samples."""

    fit: FitSchema
    probe: LoggpSchema
    environment: EnvironmentSchema
    attempts: WholeFrom1
    patterns: PatternFitSchema | None = None
    collectives: CollectiveFitSchema | None = None


class NetworkFile(Open):
    """network.json."""

    format: Literal[1]
    network: NetworkSchema


class CoreRow(Open):
    """The used part of a row of NoiseMeasurement.cores (noise/detour.py)."""

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
    core_wait_s: Amount | None = None
    throttled: Whole = 0


class InterruptRow(Open):
    """A row of NoiseMeasurement.interrupts."""

    core: Whole
    name: str
    meaning: str
    count: Amount


class NoiseSchema(Open):
    """A measured machine's noise without the detours."""

    cores: list[CoreRow]
    interrupts: list[InterruptRow]
    environment: EnvironmentSchema


class MeasurementFile(Open):
    """measurement.json."""

    format: Literal[1]
    name: str
    noise: NoiseSchema
    network: NetworkSchema
    node_network: NetworkSchema | None = None
    node_ranks: WholeFrom1 = 1
