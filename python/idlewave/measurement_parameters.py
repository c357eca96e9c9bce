"""The parameters of measurements, for the functions that measure and for the commands.

They are beside the package `measure`, which takes long to load: a command shows its help without it. The largest values
are those of the probes; a network is measured up to three times, the last time for three times as long.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, TypedDict

from .parameters import Parameter

NOISE_SECONDS = Parameter(3.0, "Seconds on each core", least=0.01, most=86_400)
NETWORK_SECONDS = Parameter(
    3.0,
    "Seconds of PRTT; over a transport without patterns a fit that fails is measured again, for twice and three times "
    "as long",
    least=0.5,
    most=28_800,
)
MAX_SIZE = Parameter(256 * 1024, "Largest message", unit="bytes", least=64, most=2**30)
LARGEST = Parameter(
    None,
    "Largest message",
    unit="bytes",
    least=64,
    most=2**30,
    default_text="256 KiB for PRTT, 4 MiB for patterns",
)
PATTERN_SECONDS = Parameter(
    5.0,
    "Seconds of measuring patterns of messages, in all epochs, each of which has at least one round; collectives take "
    "four tenths of that beside it",
    least=0.01,
    most=864_000,
)
PATTERN_SIZE = Parameter(4 * 2**20, "Largest message", unit="bytes", least=1, most=2**30)
EPOCHS = Parameter(
    3,
    "Starts of the ranks, among which the time is divided: what differs between them is in the intervals",
    least=1,
    most=100,
)

_JOB_SECONDS = Parameter(10.0, "Seconds of measuring, at most", least=0.01, most=864_000)
_SEED = Parameter(1, "Seed of every random order", least=0, most=10**15)


class PairsParameters(TypedDict, total=False):
    """How the paths between the ranks of a job are measured."""

    seconds: Annotated[float, _JOB_SECONDS]
    pairs: Annotated[
        int | None,
        Parameter(
            None,
            "Size of a random sample of pairs, which connects all ranks (at least ranks - 1)",
            least=1,
            most=10**9,
            default_text="all pairs",
        ),
    ]
    concurrent: Annotated[bool, Parameter(False, "Measure all pairs of a round at once, instead of one after another")]
    visits: Annotated[int, Parameter(4, "Number of visits of each pair", least=1, most=10_000)]
    seed: Annotated[int, _SEED]


class PatternsParameters(TypedDict, total=False):
    """How patterns of messages are measured."""

    ranks: Annotated[
        int | None,
        Parameter(
            None,
            "Number of ranks: two for the patterns between two, and more for several peers at once; ranks share CPUs "
            "where there are too few",
            least=2,
            most=1024,
            default_text="as many as CPUs, up to 5",
        ),
    ]
    seconds: Annotated[float, replace(PATTERN_SECONDS, default=10.0)]
    max_size: Annotated[int, PATTERN_SIZE]
    epochs: Annotated[int, EPOCHS]
    seed: Annotated[int, _SEED]


class CollectivesParameters(TypedDict, total=False):
    """How the collectives of a job are measured."""

    seconds: Annotated[
        float,
        replace(
            _JOB_SECONDS, default=5.0, help="Seconds of measuring; each collective and size is measured at least once"
        ),
    ]
    max_size: Annotated[
        int, Parameter(4 * 2**20, "Largest vector, or largest block of a rank", unit="bytes", least=4, most=2**28)
    ]
    seed: Annotated[int, _SEED]


class ClocksParameters(TypedDict, total=False):
    """How the clocks of the ranks of a job are measured."""

    seconds: Annotated[float, _JOB_SECONDS]
    bursts: Annotated[int, Parameter(40, "Number of bursts of exchanges with each rank", least=3, most=1_000_000)]
    one_a_host: Annotated[
        bool, Parameter(False, "Measure one rank of each host only, because ranks of a host read one clock")
    ]
    seed: Annotated[int, _SEED]


class OneSidedParameters(TypedDict, total=False):
    """How one-sided communication is measured against two-sided."""

    ranks: Annotated[
        int | None,
        Parameter(
            None,
            "Number of ranks: two, and one more for each further link of floods; "
            "ranks share CPUs where there are too few",
            least=2,
            most=1024,
            default_text="as many as CPUs, up to 5",
        ),
    ]
    seconds: Annotated[
        float,
        replace(
            _JOB_SECONDS,
            default=12.0,
            help="Seconds of measuring, in all epochs, each of which has at least one round",
        ),
    ]
    max_size: Annotated[int, replace(PATTERN_SIZE, help="Largest transfer")]
    epochs: Annotated[int, EPOCHS]
    seed: Annotated[int, _SEED]


OVERTIME_SIZES = (8, 2**20, 8)
"""Bytes of latency, bandwidth and allreduce."""


class OvertimeParameters(TypedDict, total=False):
    """How a network is measured over time."""

    ranks: Annotated[int, Parameter(2, "Number of ranks", least=2, most=10**7)]
    seconds: Annotated[
        float, Parameter(60.0, "Seconds of measuring; each test is made once at least", least=0.001, most=1e9)
    ]
    phase: Annotated[float, Parameter(1.0, "Length of a test", unit="seconds", least=0.001, most=300)]
    idle: Annotated[
        float,
        Parameter(1.0, "Length of the idle phase after each test, in lengths of the test", least=0, most=1000),
    ]
    sizes: Annotated[
        Sequence[int],
        Parameter(
            OVERTIME_SIZES,
            "Bytes of a message of latency and of bandwidth, and of an allreduce (in eights)",
            unit="bytes",
            default_text="8,1MiB,8",
        ),
    ]
    peers: Annotated[
        int,
        Parameter(
            1, "Number of ranks, the last ones, with which rank 0 exchanges in turn, a round each", least=1, most=10**7
        ),
    ]
    seed: Annotated[int, replace(_SEED, help="Seed of the random samples of which medians are taken")]


class ContentionParameters(TypedDict, total=False):
    """How contention in memory is made and measured."""

    pattern: Annotated[
        str, Parameter("sequential", "Order in which the traffic writes lines", choices=("sequential", "random"))
    ]
    stores: Annotated[
        str,
        Parameter(
            "cached",
            "How a writer stores: through the caches, or past them; puts are stored as the MPI library does",
            choices=("cached", "nontemporal"),
        ),
    ]
    buffer: Annotated[
        int,
        Parameter(64 * 2**20, "Memory that each writer writes again and again", unit="bytes", least=4096, most=2**40),
    ]
    iterations: Annotated[int, Parameter(20, "Iterations of a victim in each run", least=2, most=100_000)]
    pairs: Annotated[
        int,
        Parameter(
            6, "Pairs of runs, without and with traffic, of each victim, rate and number of cores", least=2, most=10_000
        ),
    ]
    seed: Annotated[int, replace(_SEED, help="Seed of the order of the runs, and of random lines")]
