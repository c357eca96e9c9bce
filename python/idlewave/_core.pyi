# Made by `make stubs` from the compiled core; tests/python/package/test_stubs.py compares. Not to be edited by hand.
# ruff: noqa
# fmt: off
# mypy: disable-error-code="type-arg"
"""
The compiled core of Idlewave: schedules, the simulator, and readers of traces.
"""

from collections.abc import Mapping, Sequence
import os
from typing import Annotated, overload

import numpy
import numpy.typing
from numpy.typing import NDArray


def version() -> str:
    """The core's version."""

class NoiseTrace:
    """Detours of one period, repeated for ever."""

    def __init__(self, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], lengths: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], period: int, phase: str, phases: Sequence[int]) -> None:
        """
        Times in ps. `phase` is random, same or given (then `phases` is the list).
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

    def __init__(self, sources: Sequence[tuple[float, FixedLength | ExponentialLength | UniformLength | LognormalLength | ParetoLength | EmpiricalLength]], phase: str) -> None:
        """
        Sources are (mean gap in ps of CPU time, length); `phase` is random or same.
        """

    def detours(self, seed: int, rank: int, until: int) -> tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64]]:
        """Starts and lengths of a rank's detours that begin before `until`; ps."""

class MixedNoise:
    """A trace's detours by the clock, and random ones in the time between."""

    def __init__(self, trace: NoiseTrace, random: PoissonNoise) -> None:
        """Both of the same phase, random or same."""

class Level:
    """One level of the network."""

    def __init__(self, segments: Sequence[tuple[int, int, int, int, int, float, float]], eager_limit: int | None) -> None:
        """
        Segments are (from, L, o_s, o_r, g, G, O): bytes, ps, and ps per byte; None: always eager.
        """

class Machine:
    """A machine as the simulator sees it."""

    def __init__(self, network: Level, node: Level | None, node_ranks: int, noise: NoiseTrace | PoissonNoise | MixedNoise | None, noise_reach: tuple[bool, bool, bool, bool, bool]) -> None:
        """`noise_reach`: whether noise reaches o_s, o_r, O, calc, reduction."""

    @property
    def lookahead(self) -> int:
        """Least time in which a rank reaches another; ps."""

class Trace:
    """The files of a traced run, read and checked."""

    @staticmethod
    def read(directory: str | os.PathLike) -> Trace: ...

    @property
    def ranks(self) -> int: ...

    @property
    def duration_ns(self) -> int: ...

    def headers(self) -> list:
        """One dict a rank."""

    def calls(self) -> dict:
        """Columns of all calls (docs/trace-format.md); times on rank 0's clock."""

def call_name(call: int) -> str:
    """The MPI function that a call number stands for."""

class Graph:
    """A schedule in memory."""

    @property
    def ranks(self) -> int: ...

    def to_goal(self) -> str:
        """The schedule as GOAL text."""

    def save(self, path: str | os.PathLike, format: str, progress: object | None, origin: str) -> None:
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

def convert_schedule(source: str | os.PathLike, target: str | os.PathLike, format: str, progress: object | None, origin: str) -> None:
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

    def save(self, path: str | os.PathLike, format: str, progress: object | None, origin: str) -> None:
        """
        Write the schedule: goal, loggopsim or idg. `progress` is called with ranks done and all; `origin` is a line for GOAL's comment, empty: none.
        """

    def copies(self, copies: int) -> Program:
        """The same program, extrapolated to `copies` of its traced ranks."""

    @property
    def base_ranks(self) -> int:
        """How many ranks were traced."""

    @property
    def least_ops(self) -> int:
        """How many ops all ranks have at least."""

def convert(trace: Trace, algorithms: Mapping[str, str], reduction_cost: float) -> Program:
    """The program that a trace is a run of."""

class Composition:
    """Operations of jobs, whose ops are made on demand."""

    @property
    def ranks(self) -> int: ...

    def to_goal(self) -> str:
        """The schedule as GOAL text."""

    def save(self, path: str | os.PathLike, format: str, progress: object | None, origin: str) -> None:
        """
        Write the schedule: goal, loggopsim or idg. `progress` is called with ranks done and all; `origin` is a line for GOAL's comment, empty: none.
        """

class Stage:
    """Something that all ranks of a job do."""

    def __init__(self, name: str, algorithm: str, ranks: int, bytes: int, reduction_cost: float, root: int, segment: int, ways: int, send_counts: Sequence[int], recv_counts: Sequence[int], dims: Sequence[int], face_bytes: Sequence[int], periodic: bool, compute_ns: int, blocks: int, sweeps: int) -> None:
        """`ranks` are those that take part together."""

    def set(self, times: int, rotating_root: bool, group: str, group_size: int, tag: int) -> None:
        """How often it is done, and by which groups: all, blocks, strided."""

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
def simulate_partitioned(schedule: Graph, machine: Machine, seed: int, configuration: dict, progress: object | None, transport: Transport | None) -> dict:
    """
    Simulate a schedule; the answer has the finish times in the result's own memory.
    """

@overload
def simulate_partitioned(schedule: Composition, machine: Machine, seed: int, configuration: dict, progress: object | None, transport: Transport | None) -> dict:
    """Simulate jobs beside each other."""

@overload
def simulate_partitioned(schedule: Program, machine: Machine, seed: int, configuration: dict, progress: object | None, transport: Transport | None) -> dict:
    """Simulate a traced program."""

@overload
def record(schedule: Graph, machine: Machine, seed: int, threads: int, progress: object | None, ranks: tuple[int, int], times: tuple[int, int], most_bytes: int) -> dict:
    """
    Simulate a schedule and keep all that happens: ops, critical path, queues, as columns.
    """

@overload
def record(schedule: Composition, machine: Machine, seed: int, threads: int, progress: object | None, ranks: tuple[int, int], times: tuple[int, int], most_bytes: int) -> dict: ...

@overload
def record(schedule: Program, machine: Machine, seed: int, threads: int, progress: object | None, ranks: tuple[int, int], times: tuple[int, int], most_bytes: int) -> dict: ...

def call_names() -> list:
    """
    Of each number of `call`: operation, algorithm, and whether it is a collective.
    """

@overload
def differentiate(schedule: Graph, machine: Machine, seed: int, threads: int, progress: object | None) -> dict:
    """Simulate a schedule with the derivatives of every rank's finish time."""

@overload
def differentiate(schedule: Composition, machine: Machine, seed: int, threads: int, progress: object | None) -> dict: ...

@overload
def differentiate(schedule: Program, machine: Machine, seed: int, threads: int, progress: object | None) -> dict: ...

@overload
def simulate_loggopsim(schedule: Graph, machine: Machine, progress: object | None) -> dict:
    """
    Simulate a schedule by LogGOPSim's rules; a program is written out in memory first.
    """

@overload
def simulate_loggopsim(schedule: Composition, machine: Machine, progress: object | None) -> dict: ...

@overload
def simulate_loggopsim(schedule: Program, machine: Machine, progress: object | None) -> dict: ...

def peak_memory() -> int:
    """The most memory that this process has had, bytes."""

class Transport:
    """The transport to the other processes of a run, over MPI."""

    def __init__(self, library: str) -> None:
        """Initialises MPI, with the library that was built with the site's MPI."""

    @property
    def process(self) -> int:
        """The number of this process."""

    @property
    def processes(self) -> int:
        """How many there are."""

    def close(self) -> None:
        """Finalises MPI, together with all processes."""

    def abort(self, status: int) -> None:
        """Ends all processes at once."""

def phold(parameters: dict, configuration: dict, progress: object | None, transport: Transport | None) -> dict:
    """Run PHOLD; times in ps. `run` of the answer has what was counted."""

def epidemic(parameters: dict, configuration: dict, progress: object | None, transport: Transport | None) -> dict:
    """Run an epidemic; times in s. `days` has how many are what each day."""

def flood(parameters: dict, configuration: dict, progress: object | None, transport: Transport | None) -> dict:
    """Run a flood; times in ps. `packets` has legitimate and attack ones."""
