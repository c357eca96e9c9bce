# Made by `make stubs` from the compiled core; tests/python/package/test_stubs.py compares. Not to be edited by hand.
# ruff: noqa
# fmt: off
# mypy: disable-error-code="type-arg"
"""
The compiled core of Idlewave: schedules, the simulator, and readers of traces.
"""

from collections.abc import Callable, Mapping, Sequence
import enum
import os
from typing import Annotated, overload

import numpy
import numpy.typing
from numpy.typing import NDArray


def version() -> str:
    """The core's version."""

class Phase(enum.Enum):
    """The phases of the ranks in the noise."""

    random = 0

    same = 1

    given = 2

class NoiseTrace:
    """Detours of one period, repeated for ever."""

    def __init__(self, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], lengths: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], period: int, phase: Phase, phases: Sequence[int]) -> None:
        """
        Times in ps. `phases` are the phases of the ranks where `phase` is given.
        """

    def finish(self, phase: int, start: int, work: int) -> int:
        """When `work`, begun at `start` by a rank of this phase, is done; ps."""

    def phase(self, seed: int, rank: int) -> int:
        """The phase of a rank under a seed; ps."""

class FixedLength:
    def __init__(self, length: int) -> None: ...

class ExponentialLength:
    def __init__(self, mean: float, min: float) -> None: ...

class UniformLength:
    def __init__(self, min: int, max: int) -> None: ...

class LognormalLength:
    def __init__(self, median: float, sigma: float) -> None: ...

class ParetoLength:
    def __init__(self, min: float, alpha: float) -> None: ...

class EmpiricalLength:
    def __init__(self, lengths: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class PoissonNoise:
    """Detours that come at random."""

    def __init__(self, sources: Sequence[tuple[float, FixedLength | ExponentialLength | UniformLength | LognormalLength | ParetoLength | EmpiricalLength]], phase: Phase) -> None:
        """Sources are (mean gap in ps of CPU time, length)."""

    def detours(self, seed: int, rank: int, until: int) -> tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64]]:
        """Starts and lengths of a rank's detours that begin before `until`; ps."""

class MixedNoise:
    """A trace's detours by the clock, and random ones in the time between."""

    def __init__(self, trace: NoiseTrace, random: PoissonNoise) -> None:
        """Both of the same phase, random or same."""

def plain_detours(text: bytes) -> tuple[bytes, bytes, int]:
    """
    The lines START,LENGTH at the beginning of `text`, up to the first that is not whole or has another form: starts and lengths in ps, as the bytes of int64, and the number of bytes read.
    """

class Level:
    """One level of the network."""

    def __init__(self, segments: Sequence[tuple[int, int, int, int, int, float, float, float, int, int]], eager_limit: int | None) -> None:
        """
        Segments are (from, L, o_s, o_r, g, G, O_s, O_r, c, o_p): bytes, ps, and ps per byte; None: always eager.
        """

class Variation:
    """Factors of L and G over time."""

    def __init__(self, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], L: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], G: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], period: int) -> None:
        """Starts in ps and the factors from there on; period 0: never repeated."""

    def arrival(self, departure: int, latency: int) -> int:
        """When a message with this L arrives that departs at `departure`; ps."""

class Machine:
    """A machine as the simulator sees it."""

    def __init__(self, network: Level, node: Level | None, node_ranks: int, shared_buffer: Level | None, one_sided: Level | None, cpu_progress: bool, noise: NoiseTrace | PoissonNoise | MixedNoise | None, noise_reach: tuple[bool, bool, bool, bool, bool], variation: Variation | None) -> None:
        """
        `cpu_progress`: whether a CPU of the target completes one-sided operations. `noise_reach`: whether noise reaches o_s, o_r, O, calc, reduction.
        """

    @property
    def lookahead(self) -> int:
        """Least time in which a rank reaches another; ps."""

class Costs:
    """The costs of messages by size, ps."""

    @property
    def o_s(self) -> numpy.typing.NDArray[numpy.int64]: ...

    @property
    def o_r(self) -> numpy.typing.NDArray[numpy.int64]: ...

    @property
    def L(self) -> numpy.typing.NDArray[numpy.int64]: ...

    @property
    def over_s(self) -> numpy.typing.NDArray[numpy.int64]: ...

    @property
    def over_r(self) -> numpy.typing.NDArray[numpy.int64]: ...

    @property
    def bytes(self) -> numpy.typing.NDArray[numpy.int64]: ...

    @property
    def gap(self) -> numpy.typing.NDArray[numpy.int64]: ...

def costs(level: Level, sizes: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Costs:
    """
    The costs of messages of these sizes in bytes: `over_s` is kO_s, `over_r` kO_r, `bytes` kG, `gap` g + kG.
    """

class Trace:
    """The files of a traced run, read and checked."""

    @staticmethod
    def read(directory: str | os.PathLike) -> Trace: ...

    @property
    def ranks(self) -> int: ...

    @property
    def duration_ns(self) -> int: ...

    @property
    def one_sided_calls(self) -> int:
        """The number of puts, gets and accumulates."""

    @property
    def file_calls(self) -> int: ...

    def headers(self) -> list:
        """One dict a rank."""

    def each_records(self, rank: int, use: Callable) -> None:
        """
        Call `use` with the columns of a rank's records, some thousands at a time, in order: thread, call, info, begin_ns and end_ns (on rank 0's clock), the number of the first of its words, with one more at the end, and the words of all (docs/trace-format.md).
        """

    def communicators(self) -> list:
        """
        Communicators but MPI_COMM_SELF: id, whether it is an intercommunicator, and the members of its groups, each as ranks of MPI_COMM_WORLD.
        """

    def calls(self) -> dict:
        """Columns of all calls (docs/trace-format.md); times on rank 0's clock."""

    def computations(self, wall: bool) -> dict:
        """
        Columns of all computations: rank, number of the site, position in its cycle from 0 on, ns. The sites are dicts: id, level of the last MPI_Pcontrol or None, (number of the call, communicator) of the call and the five before it, length of the cycle, and the least and most bytes. `wall`: with the waits for a core.
        """

def recorded_calls(file: str | os.PathLike) -> int:
    """The number of calls in the file of a rank."""

def call_name(call: int) -> str:
    """The MPI function that a call number stands for."""

class ScheduleFormat(enum.Enum):
    """The format of a schedule's file."""

    goal = 0

    loggopsim = 1

    idg = 2

class Graph:
    """A schedule in memory."""

    @property
    def ranks(self) -> int: ...

    def to_goal(self) -> str:
        """The schedule as GOAL text."""

    def save(self, path: str | os.PathLike, format: ScheduleFormat, progress: object | None, origin: str) -> None:
        """
        Write the schedule: goal, loggopsim or idg. `progress` is called with ranks done and all; `origin` is a line for GOAL's comment, empty: none.
        """

    @property
    def ops(self) -> int:
        """How many ops it has."""

    @property
    def memory(self) -> int:
        """How many bytes its ops, dependencies and labels take."""

def read_goal(text: str, name: str) -> Graph:
    """Read GOAL text; `name` is what messages call it."""

def read_schedule(path: str | os.PathLike, progress: object | None) -> Graph:
    """
    Read a schedule of any format, told by its content. `progress` is called with ranks done and all.
    """

def convert_schedule(source: str | os.PathLike, target: str | os.PathLike, format: ScheduleFormat, progress: object | None, origin: str) -> None:
    """
    Write a schedule's file in another format, rank by rank: goal, loggopsim or idg. `origin` as in `save`.
    """

def crc32c(bytes: bytes, before: int) -> int:
    """
    The CRC-32C of bytes that follow others with the CRC `before`, 0: none.
    """

class Program:
    """Ranks' programs, whose ops are made on demand."""

    @property
    def ranks(self) -> int: ...

    def to_goal(self) -> str:
        """The schedule as GOAL text."""

    def save(self, path: str | os.PathLike, format: ScheduleFormat, progress: object | None, origin: str) -> None:
        """
        Write the schedule: goal, loggopsim or idg. `progress` is called with ranks done and all; `origin` is a line for GOAL's comment, empty: none.
        """

    def copies(self, copies: int) -> Program:
        """The same program, extrapolated to `copies` of its traced ranks."""

    @property
    def base_ranks(self) -> int:
        """How many ranks the program has without copies."""

    @property
    def wildcard_receives(self) -> int:
        """How many receives of the traced run named no source, in all copies."""

    @property
    def unknown_receives(self) -> int:
        """
        How many receives without a source there are whose message the trace does not have, in all copies.
        """

    @property
    def one_sided(self) -> tuple[int, int, float]:
        """
        Puts, gets and accumulates of the traced run: their number, bytes, and ns of all ranks, in all copies.
        """

    @property
    def files(self) -> tuple[int, int, float]:
        """The same of calls of files."""

    @property
    def cut(self) -> tuple[int, int]:
        """
        How many calls of the traced ranks the program has, and how many were recorded.
        """

    def collective_uses(self) -> list[tuple[str, str, int]]:
        """
        How many collectives follow which algorithm: collective, algorithm, calls.
        """

    @property
    def least_ops(self) -> int:
        """How many ops all ranks have at least."""

class ThreadedProgram:
    """The same of ranks with several threads."""

    @property
    def ranks(self) -> int: ...

    def to_goal(self) -> str:
        """The schedule as GOAL text."""

    def save(self, path: str | os.PathLike, format: ScheduleFormat, progress: object | None, origin: str) -> None:
        """
        Write the schedule: goal, loggopsim or idg. `progress` is called with ranks done and all; `origin` is a line for GOAL's comment, empty: none.
        """

    def copies(self, copies: int) -> ThreadedProgram:
        """The same program, extrapolated to `copies` of its traced ranks."""

    @property
    def base_ranks(self) -> int:
        """How many ranks the program has without copies."""

    @property
    def wildcard_receives(self) -> int:
        """How many receives of the traced run named no source, in all copies."""

    @property
    def unknown_receives(self) -> int:
        """
        How many receives without a source there are whose message the trace does not have, in all copies.
        """

    @property
    def one_sided(self) -> tuple[int, int, float]:
        """
        Puts, gets and accumulates of the traced run: their number, bytes, and ns of all ranks, in all copies.
        """

    @property
    def files(self) -> tuple[int, int, float]:
        """The same of calls of files."""

    @property
    def cut(self) -> tuple[int, int]:
        """
        How many calls of the traced ranks the program has, and how many were recorded.
        """

    def collective_uses(self) -> list[tuple[str, str, int]]:
        """
        How many collectives follow which algorithm: collective, algorithm, calls.
        """

    @property
    def least_ops(self) -> int:
        """How many ops all ranks have at least."""

    @property
    def first_threaded_rank(self) -> int:
        """The first rank that has several threads."""

class ColdCaches:
    """The extra CPU time of messages after a computation."""

    def __init__(self, calls: Sequence[tuple[int, int]], buffer_after: int, buffers: Sequence[tuple[int, int]]) -> None:
        """
        `calls`: (ns of computation, ps), by length; `buffer_after` in ns; `buffers`: (bytes, ps), by size.
        """

    def exchange(self, computed: int, size: int) -> int:
        """
        The extra time of a call that sends and receives `size` bytes after `computed` ns of computation, in ns.
        """

class TracePoint(enum.Enum):
    """The kinds of points in a run (core/trace/convert.hpp)."""

    none = 0

    calls = 1

    time = 2

    pcontrol = 3

class ComputationOptions:
    """How long computations take (core/trace/computation_times.hpp)."""

    def __init__(self) -> None: ...

    @property
    def drawn(self) -> bool: ...

    @drawn.setter
    def drawn(self, arg: bool, /) -> None: ...

    @property
    def seed(self) -> int: ...

    @seed.setter
    def seed(self, arg: int, /) -> None: ...

    @property
    def factor(self) -> float: ...

    @factor.setter
    def factor(self, arg: float, /) -> None: ...

    @property
    def factors_by_phase(self) -> dict[int | None, float]: ...

    @factors_by_phase.setter
    def factors_by_phase(self, arg: Mapping[int | None, float], /) -> None: ...

    @property
    def factors_by_site(self) -> dict[int, float]: ...

    @factors_by_site.setter
    def factors_by_site(self, arg: Mapping[int, float], /) -> None: ...

    @property
    def noise(self) -> float: ...

    @noise.setter
    def noise(self, arg: float, /) -> None: ...

def convert(trace: Trace, algorithms: Mapping[str, str], reduction_cost: float, rules: AlgorithmRules, cold_caches: ColdCaches, resolve_wildcards: bool = True, wall_gaps: bool = False, cut: bool = False, from_point: tuple[TracePoint, int] = (TracePoint.none, 0), to_point: tuple[TracePoint, int] = (TracePoint.none, 0), computation: ComputationOptions = ...) -> Program | ThreadedProgram:
    """The program that a trace is a run of."""

class Composition:
    """Operations of jobs, whose ops are made on demand."""

    @property
    def ranks(self) -> int: ...

    def to_goal(self) -> str:
        """The schedule as GOAL text."""

    def save(self, path: str | os.PathLike, format: ScheduleFormat, progress: object | None, origin: str) -> None:
        """
        Write the schedule: goal, loggopsim or idg. `progress` is called with ranks done and all; `origin` is a line for GOAL's comment, empty: none.
        """

class AlgorithmRules:
    """Which algorithms an MPI library uses, by size."""

    def __init__(self, rows: Sequence[tuple[str, int, int, str, int, float, float, float, bool, bool]]) -> None:
        """
        Rows of collective, ranks, bytes, algorithm, segment, reduction_cost, call_ns, call_ns_per_byte, of_all_ranks, fallback.
        """

    def algorithm(self, collective: str, ranks: int, bytes: int) -> str | None:
        """The algorithm of the rule for this size, if there is one."""

class GroupKind(enum.Enum):
    """Which ranks of a job take part together."""

    all = 0

    blocks = 1

    strided = 2

class GridShape:
    """The process grid of a halo exchange or a sweep."""

    def __init__(self) -> None: ...

    @property
    def dims(self) -> list[int]: ...

    @dims.setter
    def dims(self, arg: Sequence[int], /) -> None: ...

    @property
    def face_bytes(self) -> list[int]: ...

    @face_bytes.setter
    def face_bytes(self, arg: Sequence[int], /) -> None: ...

    @property
    def compute_ns(self) -> int: ...

    @compute_ns.setter
    def compute_ns(self, arg: int, /) -> None: ...

    @property
    def blocks(self) -> int: ...

    @blocks.setter
    def blocks(self, arg: int, /) -> None: ...

    @property
    def sweeps(self) -> int: ...

    @sweeps.setter
    def sweeps(self, arg: int, /) -> None: ...

    @property
    def periodic(self) -> bool: ...

    @periodic.setter
    def periodic(self, arg: bool, /) -> None: ...

class PatternCall:
    """The arguments of an operation of a pattern."""

    def __init__(self) -> None: ...

    @property
    def bytes(self) -> int: ...

    @bytes.setter
    def bytes(self, arg: int, /) -> None: ...

    @property
    def reduction_cost(self) -> float: ...

    @reduction_cost.setter
    def reduction_cost(self, arg: float, /) -> None: ...

    @property
    def root(self) -> int: ...

    @root.setter
    def root(self, arg: int, /) -> None: ...

    @property
    def segment(self) -> int: ...

    @segment.setter
    def segment(self, arg: int, /) -> None: ...

    @property
    def ways(self) -> int: ...

    @ways.setter
    def ways(self, arg: int, /) -> None: ...

    @property
    def send_counts(self) -> list[int]: ...

    @send_counts.setter
    def send_counts(self, arg: Sequence[int], /) -> None: ...

    @property
    def recv_counts(self) -> list[int]: ...

    @recv_counts.setter
    def recv_counts(self, arg: Sequence[int], /) -> None: ...

    @property
    def shape(self) -> GridShape: ...

    @shape.setter
    def shape(self, arg: GridShape, /) -> None: ...

class Stage:
    """An operation of all ranks of a job."""

    def __init__(self, name: str, algorithm: str, ranks: int, call: PatternCall, rules: AlgorithmRules) -> None:
        """`ranks` is the number of ranks that take part together."""

    def set(self, times: int, rotating_root: bool, group: GroupKind, group_size: int, tag: int) -> None:
        """How often the operation is executed, and by which groups."""

class Job:
    """Ranks that do the same stages, one after the other."""

    def __init__(self, ranks: int, stages: Sequence[Stage], repetitions: int, first: int, stride: int, table: Sequence[int]) -> None:
        """Rank i is the machine's rank first + i * stride, or table[i]."""

def compose(jobs: Sequence[Job], ranks: int) -> Composition:
    """
    Jobs beside each other on a machine of `ranks` ranks, 0: as many as they need.
    """

def patterns() -> list[tuple[str, str, str]]:
    """
    All patterns that are no collectives: (name, what it does, what it follows).
    """

def algorithms() -> list[tuple[str, str, str]]:
    """
    All algorithms: (collective, name, the paper or MPI that it follows); the first of each is the default.
    """

class Continued:
    """A traced program on more ranks, and what it was continued by."""

    @property
    def program(self) -> Program: ...

    @property
    def grid(self) -> list[int]:
        """How many ranks lie along each dimension."""

    @property
    def traced(self) -> list[list[int]]:
        """The same of the traced runs, the smallest first."""

    @property
    def kind(self) -> str:
        """Which ranks make which calls: uniform, neighbours, tree or star."""

    @property
    def peers(self) -> list[str]:
        """The rules of peers, in words."""

    @property
    def sizes(self) -> list[tuple[str, list[tuple[int, float]], str, float, float, str]]:
        """
        Of bytes: what, (ranks, value) of the runs, the law, its largest relative error, the new value, another law that fits.
        """

    @property
    def times(self) -> list[tuple[str, list[tuple[int, float]], str, float, float, str]]:
        """The same of computation in ns."""

    @property
    def one_sided_dimensions(self) -> list[int]:
        """Dimensions along which no traced rank has neighbours on both sides."""

    @property
    def other_structure(self) -> str:
        """
        Another structure that the traced runs may have as well, in words; empty: none.
        """

def extrapolate(runs: Sequence[Program], ranks: int, grid: Sequence[int], fitted_times: bool) -> Continued:
    """
    Continue the program of traced runs on more ranks. `grid`: its extents; the first one 0: found.
    """

def peak_memory() -> int:
    """The largest memory that this process has had, in bytes."""

class Transport:
    """The transport to the other processes of a run, over MPI."""

    def __init__(self, library: str) -> None:
        """Initialises MPI, with the library that was built with the site's MPI."""

    @property
    def process(self) -> int:
        """The number of this process."""

    @property
    def processes(self) -> int:
        """The number of processes."""

    def close(self) -> None:
        """Finalises MPI, together with all processes."""

    def abort(self, status: int) -> None:
        """Ends all processes at once."""

class Scheduler:
    """A scheduler of the kernel, and which runs it makes."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def one_thread(self) -> bool: ...

    @property
    def needs_lookahead(self) -> bool: ...

    @property
    def rolls_back(self) -> bool: ...

def schedulers() -> list[Scheduler]:
    """The schedulers of the kernel."""

class PlacementKind(enum.Enum):
    """How LPs are placed on partitions."""

    block = 0

    cyclic = 1

class CheckpointOptions:
    """Where and when a run writes checkpoints."""

    def __init__(self) -> None: ...

    @property
    def directory(self) -> str: ...

    @directory.setter
    def directory(self, arg: str, /) -> None: ...

    @property
    def description(self) -> str: ...

    @description.setter
    def description(self, arg: str, /) -> None: ...

    @property
    def interval(self) -> float: ...

    @interval.setter
    def interval(self, arg: float, /) -> None: ...

    @property
    def restart(self) -> bool: ...

    @restart.setter
    def restart(self, arg: bool, /) -> None: ...

class RunConfiguration:
    """How a run is made."""

    def __init__(self) -> None: ...

    @property
    def scheduler(self) -> str: ...

    @scheduler.setter
    def scheduler(self, arg: str, /) -> None: ...

    @property
    def threads(self) -> int: ...

    @threads.setter
    def threads(self, arg: int, /) -> None: ...

    @property
    def placement_kind(self) -> PlacementKind: ...

    @placement_kind.setter
    def placement_kind(self, arg: PlacementKind, /) -> None: ...

    @property
    def placement(self) -> list[int]:
        """The partition of each LP; empty: by the kind."""

    @placement.setter
    def placement(self, arg: Sequence[int], /) -> None: ...

    @property
    def pin(self) -> bool: ...

    @pin.setter
    def pin(self, arg: bool, /) -> None: ...

    @property
    def lazy_cancellation(self) -> bool: ...

    @lazy_cancellation.setter
    def lazy_cancellation(self, arg: bool, /) -> None: ...

    @property
    def migrate_after(self) -> int: ...

    @migrate_after.setter
    def migrate_after(self, arg: int, /) -> None: ...

    @property
    def checkpoint(self) -> CheckpointOptions: ...

    @checkpoint.setter
    def checkpoint(self, arg: CheckpointOptions, /) -> None: ...

    def place_by_graph(self) -> None:
        """
        Let METIS place the LPs when they migrate, by the graph of who sends events to whom.
        """

class ProgressSample:
    """The progress of a run after a round of GVT."""

    @property
    def seconds(self) -> float: ...

    @property
    def gvt(self) -> int: ...

    @property
    def committed(self) -> int: ...

    @property
    def rolled_back(self) -> int: ...

    @property
    def log_bytes(self) -> int: ...

class RunReport:
    """The statistics of a run, summed over all processes."""

    @property
    def committed(self) -> int: ...

    @property
    def rolled_back(self) -> int: ...

    @property
    def primary_rollbacks(self) -> int: ...

    @property
    def secondary_rollbacks(self) -> int: ...

    @property
    def cancelled(self) -> int: ...

    @property
    def resent(self) -> int: ...

    @property
    def remote_events(self) -> int: ...

    @property
    def message_batches(self) -> int: ...

    @property
    def gvt_rounds(self) -> int: ...

    @property
    def ties(self) -> int: ...

    @property
    def log_bytes(self) -> int: ...

    @property
    def by_one_thread(self) -> int: ...

    @property
    def segments(self) -> int: ...

    @property
    def efficiency(self) -> float: ...

    @property
    def init_seconds(self) -> float: ...

    @property
    def seconds(self) -> float: ...

    @property
    def digest(self) -> int: ...

    @property
    def peak_rss_bytes(self) -> int: ...

    @property
    def time_unit(self) -> str: ...

    @property
    def series(self) -> list[ProgressSample]: ...

@overload
def simulate(schedule: Graph, machine: Machine, seed: int, threads: int, progress: object | None) -> dict:
    """
    Simulate a schedule; the answer has the finish times in the result's own memory.
    """

@overload
def simulate(schedule: Composition, machine: Machine, seed: int, threads: int, progress: object | None) -> dict:
    """Simulate jobs beside each other."""

@overload
def simulate(schedule: Program, machine: Machine, seed: int, threads: int, progress: object | None) -> dict:
    """Simulate a traced program."""

@overload
def simulate(schedule: ThreadedProgram, machine: Machine, seed: int, threads: int, progress: object | None) -> dict:
    """Simulate a traced program whose ranks have several threads."""

@overload
def simulate_partitioned(schedule: Graph, machine: Machine, seed: int, configuration: RunConfiguration, progress: object | None, transport: Transport | None) -> dict:
    """
    Simulate a schedule; the answer has the finish times in the result's own memory.
    """

@overload
def simulate_partitioned(schedule: Composition, machine: Machine, seed: int, configuration: RunConfiguration, progress: object | None, transport: Transport | None) -> dict:
    """Simulate jobs beside each other."""

@overload
def simulate_partitioned(schedule: Program, machine: Machine, seed: int, configuration: RunConfiguration, progress: object | None, transport: Transport | None) -> dict:
    """Simulate a traced program."""

@overload
def simulate_partitioned(schedule: ThreadedProgram, machine: Machine, seed: int, configuration: RunConfiguration, progress: object | None, transport: Transport | None) -> dict:
    """Simulate a traced program whose ranks have several threads."""

class Recording:
    """
    Which ops of a simulation are recorded, and how much memory they may take.
    """

    def __init__(self) -> None: ...

    @property
    def first(self) -> int:
        """The first rank."""

    @first.setter
    def first(self, arg: int, /) -> None: ...

    @property
    def last(self) -> int:
        """The last rank."""

    @last.setter
    def last(self, arg: int, /) -> None: ...

    @property
    def from_ps(self) -> int:
        """The earliest start of an op, in ps."""

    @from_ps.setter
    def from_ps(self, arg: int, /) -> None: ...

    @property
    def until_ps(self) -> int:
        """Ops start before this time, in ps."""

    @until_ps.setter
    def until_ps(self, arg: int, /) -> None: ...

    @property
    def most_bytes(self) -> int: ...

    @most_bytes.setter
    def most_bytes(self, arg: int, /) -> None: ...

@overload
def record(schedule: Graph, machine: Machine, seed: int, threads: int, progress: object | None, recording: Recording) -> dict:
    """
    Simulate a schedule and record ops, critical path and matching queues, as columns.
    """

@overload
def record(schedule: Composition, machine: Machine, seed: int, threads: int, progress: object | None, recording: Recording) -> dict:
    """Simulate jobs beside each other and record them."""

@overload
def record(schedule: Program, machine: Machine, seed: int, threads: int, progress: object | None, recording: Recording) -> dict:
    """Simulate a traced program and record it."""

@overload
def record(schedule: ThreadedProgram, machine: Machine, seed: int, threads: int, progress: object | None, recording: Recording) -> dict:
    """The same of a program whose ranks have several threads."""

@overload
def record_partitioned(schedule: Graph, machine: Machine, seed: int, configuration: RunConfiguration, progress: object | None, transport: Transport | None, recording: Recording) -> dict:
    """Simulate a schedule in partitions and record the same."""

@overload
def record_partitioned(schedule: Composition, machine: Machine, seed: int, configuration: RunConfiguration, progress: object | None, transport: Transport | None, recording: Recording) -> dict: ...

@overload
def record_partitioned(schedule: Program, machine: Machine, seed: int, configuration: RunConfiguration, progress: object | None, transport: Transport | None, recording: Recording) -> dict: ...

@overload
def record_partitioned(schedule: ThreadedProgram, machine: Machine, seed: int, configuration: RunConfiguration, progress: object | None, transport: Transport | None, recording: Recording) -> dict:
    """The same in partitions."""

def call_names() -> list:
    """
    Of each number of `call`: operation, algorithm, and whether it is a collective.
    """

@overload
def differentiate(schedule: Graph, machine: Machine, seed: int, threads: int, progress: object | None) -> dict:
    """Simulate a schedule with the derivatives of every rank's finish time."""

@overload
def differentiate(schedule: Composition, machine: Machine, seed: int, threads: int, progress: object | None) -> dict:
    """Simulate jobs beside each other with these derivatives."""

@overload
def differentiate(schedule: Program, machine: Machine, seed: int, threads: int, progress: object | None) -> dict:
    """Simulate a traced program with these derivatives."""

@overload
def differentiate(schedule: ThreadedProgram, machine: Machine, seed: int, threads: int, progress: object | None) -> dict:
    """The same of a program whose ranks have several threads."""

@overload
def differentiate_partitioned(schedule: Graph, machine: Machine, seed: int, configuration: RunConfiguration, progress: object | None, transport: Transport | None) -> dict:
    """Simulate a schedule in partitions with the same derivatives."""

@overload
def differentiate_partitioned(schedule: Composition, machine: Machine, seed: int, configuration: RunConfiguration, progress: object | None, transport: Transport | None) -> dict: ...

@overload
def differentiate_partitioned(schedule: Program, machine: Machine, seed: int, configuration: RunConfiguration, progress: object | None, transport: Transport | None) -> dict: ...

@overload
def differentiate_partitioned(schedule: ThreadedProgram, machine: Machine, seed: int, configuration: RunConfiguration, progress: object | None, transport: Transport | None) -> dict:
    """The same in partitions."""

@overload
def simulate_loggopsim(schedule: Graph, machine: Machine, progress: object | None) -> dict:
    """
    Simulate a schedule by LogGOPSim's rules; a program is written out in memory first.
    """

@overload
def simulate_loggopsim(schedule: Composition, machine: Machine, progress: object | None) -> dict: ...

@overload
def simulate_loggopsim(schedule: Program, machine: Machine, progress: object | None) -> dict: ...

@overload
def simulate_loggopsim(schedule: ThreadedProgram, machine: Machine, progress: object | None) -> dict: ...

class PholdParameters:
    """The parameters of PHOLD; times in millionths of a unit."""

    def __init__(self) -> None: ...

    @property
    def lps(self) -> int: ...

    @lps.setter
    def lps(self, arg: int, /) -> None: ...

    @property
    def start_events(self) -> int: ...

    @start_events.setter
    def start_events(self, arg: int, /) -> None: ...

    @property
    def remote(self) -> float: ...

    @remote.setter
    def remote(self, arg: float, /) -> None: ...

    @property
    def mean(self) -> int: ...

    @mean.setter
    def mean(self, arg: int, /) -> None: ...

    @property
    def lookahead(self) -> int: ...

    @lookahead.setter
    def lookahead(self, arg: int, /) -> None: ...

    @property
    def end(self) -> int: ...

    @end.setter
    def end(self, arg: int, /) -> None: ...

    @property
    def seed(self) -> int: ...

    @seed.setter
    def seed(self, arg: int, /) -> None: ...

    @property
    def conservative(self) -> float: ...

    @conservative.setter
    def conservative(self, arg: float, /) -> None: ...

def phold(parameters: PholdParameters, configuration: RunConfiguration, progress: object | None, transport: Transport | None) -> RunReport:
    """Run PHOLD."""

class CityParameters:
    """The size of a city."""

    def __init__(self) -> None: ...

    @property
    def persons(self) -> int: ...

    @persons.setter
    def persons(self, arg: int, /) -> None: ...

    @property
    def districts(self) -> int: ...

    @districts.setter
    def districts(self, arg: int, /) -> None: ...

class Interventions:
    """Interventions against an epidemic; times in s."""

    def __init__(self) -> None: ...

    @property
    def vaccinated(self) -> float: ...

    @vaccinated.setter
    def vaccinated(self, arg: float, /) -> None: ...

    @property
    def isolated(self) -> float: ...

    @isolated.setter
    def isolated(self, arg: float, /) -> None: ...

    @property
    def isolated_after(self) -> int: ...

    @isolated_after.setter
    def isolated_after(self, arg: int, /) -> None: ...

    @property
    def workplaces_close(self) -> int: ...

    @workplaces_close.setter
    def workplaces_close(self, arg: int, /) -> None: ...

    @property
    def workplaces_reopen(self) -> int: ...

    @workplaces_reopen.setter
    def workplaces_reopen(self, arg: int, /) -> None: ...

class EpidemicParameters:
    """The parameters of an epidemic; times in s."""

    def __init__(self) -> None: ...

    @property
    def home_contacts(self) -> float: ...

    @home_contacts.setter
    def home_contacts(self, arg: float, /) -> None: ...

    @property
    def work_contacts(self) -> float: ...

    @work_contacts.setter
    def work_contacts(self, arg: float, /) -> None: ...

    @property
    def travel_contacts(self) -> float: ...

    @travel_contacts.setter
    def travel_contacts(self, arg: float, /) -> None: ...

    @property
    def transmission(self) -> float: ...

    @transmission.setter
    def transmission(self, arg: float, /) -> None: ...

    @property
    def latent(self) -> int: ...

    @latent.setter
    def latent(self, arg: int, /) -> None: ...

    @property
    def infectious(self) -> int: ...

    @infectious.setter
    def infectious(self, arg: int, /) -> None: ...

    @property
    def contact(self) -> int: ...

    @contact.setter
    def contact(self, arg: int, /) -> None: ...

    @property
    def first_infectious(self) -> int: ...

    @first_infectious.setter
    def first_infectious(self, arg: int, /) -> None: ...

    @property
    def end(self) -> int: ...

    @end.setter
    def end(self, arg: int, /) -> None: ...

    @property
    def seed(self) -> int: ...

    @seed.setter
    def seed(self, arg: int, /) -> None: ...

    @property
    def city(self) -> CityParameters: ...

    @city.setter
    def city(self, arg: CityParameters, /) -> None: ...

    @property
    def interventions(self) -> Interventions: ...

    @interventions.setter
    def interventions(self, arg: Interventions, /) -> None: ...

class EpidemicDay:
    """The number of persons in each state when a day begins."""

    @property
    def susceptible(self) -> int: ...

    @property
    def exposed(self) -> int: ...

    @property
    def infectious(self) -> int: ...

    @property
    def recovered(self) -> int: ...

    @property
    def immune(self) -> int: ...

class EpidemicResult:
    """The days of an epidemic, and the statistics of the run."""

    @property
    def run(self) -> RunReport: ...

    @property
    def days(self) -> list[EpidemicDay]: ...

def epidemic(parameters: EpidemicParameters, configuration: RunConfiguration, progress: object | None, transport: Transport | None) -> EpidemicResult:
    """Run an epidemic."""

class Service(enum.Enum):
    """The distribution of a packet's time on a link."""

    fixed = 0

    exponential = 1

class FloodParameters:
    """The parameters of a flood; times in ps."""

    def __init__(self) -> None: ...

    @property
    def routers(self) -> int: ...

    @routers.setter
    def routers(self, arg: int, /) -> None: ...

    @property
    def hosts(self) -> int: ...

    @hosts.setter
    def hosts(self, arg: int, /) -> None: ...

    @property
    def bots(self) -> int: ...

    @bots.setter
    def bots(self, arg: int, /) -> None: ...

    @property
    def link_delay(self) -> int: ...

    @link_delay.setter
    def link_delay(self, arg: int, /) -> None: ...

    @property
    def legitimate_gap(self) -> int: ...

    @legitimate_gap.setter
    def legitimate_gap(self, arg: int, /) -> None: ...

    @property
    def attack_gap(self) -> int: ...

    @attack_gap.setter
    def attack_gap(self, arg: int, /) -> None: ...

    @property
    def attack_from(self) -> int: ...

    @attack_from.setter
    def attack_from(self, arg: int, /) -> None: ...

    @property
    def attack_until(self) -> int: ...

    @attack_until.setter
    def attack_until(self, arg: int, /) -> None: ...

    @property
    def attack_size(self) -> float: ...

    @attack_size.setter
    def attack_size(self, arg: float, /) -> None: ...

    @property
    def access_utilization(self) -> float: ...

    @access_utilization.setter
    def access_utilization(self, arg: float, /) -> None: ...

    @property
    def utilization(self) -> float: ...

    @utilization.setter
    def utilization(self, arg: float, /) -> None: ...

    @property
    def service(self) -> Service: ...

    @service.setter
    def service(self, arg: Service, /) -> None: ...

    @property
    def buffer(self) -> int: ...

    @buffer.setter
    def buffer(self, arg: int, /) -> None: ...

    @property
    def measured_from(self) -> int: ...

    @measured_from.setter
    def measured_from(self, arg: int, /) -> None: ...

    @property
    def end(self) -> int: ...

    @end.setter
    def end(self, arg: int, /) -> None: ...

    @property
    def seed(self) -> int: ...

    @seed.setter
    def seed(self, arg: int, /) -> None: ...

class FloodTotals:
    """Packets of a class in all; times in ps."""

    @property
    def sent(self) -> int: ...

    @property
    def delivered(self) -> int: ...

    @property
    def lost(self) -> int: ...

    @property
    def waited(self) -> int: ...

    @property
    def delay(self) -> int: ...

class FloodResult:
    """The packets of each class, and the statistics of the run."""

    @property
    def run(self) -> RunReport: ...

    @property
    def legitimate(self) -> FloodTotals: ...

    @property
    def attack(self) -> FloodTotals: ...

def flood(parameters: FloodParameters, configuration: RunConfiguration, progress: object | None, transport: Transport | None) -> FloodResult:
    """Run a flood."""
