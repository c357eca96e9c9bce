"""How long each collective takes by each algorithm, on how many ranks, for which size; without noise and with it.

docs/studies/algorithms.md describes the study. `decision_tables` makes of its table which algorithm to choose when.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import UsageError
from ..formatting import unknown_name
from ..jobs import Job, Operation
from ..machine import Machine
from ..noise_models import AnyNoise
from ..noise_presets import OWN, noise_named
from ..open_mpi_rules import SEGMENTED
from ..pattern_bounds import MOST_BYTES, MOST_RANKS
from ..pattern_options import PatternOptions
from ..schedule import Schedule, algorithms
from ..simulation import simulate
from .case_study import CaseStudy, Row
from .decision_tables import Variant, decision_files, holding
from .stopping import check_stop

if TYPE_CHECKING:
    import pandas as pd

    from ..report.study_page import StudyPage

MACHINE = "infiniband-hdr"
COLLECTIVES = (
    "allgather",
    "allreduce",
    "alltoall",
    "barrier",
    "bcast",
    "gather",
    "reduce",
    "reduce_scatter",
    "scatter",
)
"""Those that MPI libraries have several algorithms for, and choose by size."""
RANKS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
SIZES = (8, 64, 512, 4096, 32_768, 262_144, 2_097_152)
SEGMENTS = (8192, 65_536)
"""Sizes of segments that are tried beside whole messages."""
SEEDS = 50
NOISE = "1000Hz:16us"
"""The noise for a machine that has none, the mildest that Beckman and others injected at that rate."""
_UNSUITED = frozenset({("allreduce", "dissemination")})
"""Algorithms that are no choice for all calls: the sum of this one is right on powers of two only."""
_BUFFERED = "release_gather"
"""The algorithm for ranks that share a buffer."""
LOW, HIGH = 0.05, 0.95
"""The quantiles of the times with noise."""


@dataclass(frozen=True)
class AlgorithmCase:
    """One call of a collective, which all ranks begin at the same moment.

    `bytes` are those of the vector, or of one rank's block, as `Schedule.pattern` counts them; `segment` 0: whole
    messages. The noise of `machine` is drawn with `seeds` seeds from `seed` on. `own_choice` says whether the machine's
    own rules choose this algorithm; None if they choose none. It is part of the case, since what identifies a machine
    is only what its times depend on.
    """

    machine: Machine
    collective: str
    algorithm: str
    segment: int
    ranks: int
    bytes: int
    reduction_cost: float
    seeds: int
    seed: int
    own_choice: bool | None = None


@dataclass(frozen=True)
class AlgorithmPlan:
    """Which calls the study times: every algorithm of these collectives, on these ranks, with these sizes."""

    collectives: Sequence[str] = COLLECTIVES
    ranks: Sequence[int] = RANKS
    sizes: Sequence[int] = SIZES
    segments: Sequence[int] = SEGMENTS
    reduction_cost: float = 0.0
    seeds: int = SEEDS
    seed: int = 0


def noise_for(machine: Machine, name: str | None = None) -> AnyNoise:
    """The noise of that name; None: that of the machine, or NOISE if it has none. Raises UsageError."""
    return noise_named(name or (OWN if machine.noise is not None else NOISE), machine)


def algorithm_cases(machine: Machine, plan: AlgorithmPlan, noise: AnyNoise | None = None) -> list[AlgorithmCase]:
    """A case for each collective, algorithm, segment, number of ranks and size. Raises UsageError.

    `noise` stands for that of the machine; without it there is one simulation a case.
    """
    _check(plan)
    noisy = machine.with_noise(noise, machine.noise_origin if noise is machine.noise else None)
    seeds = 0 if noise is None else plan.seeds
    found = []
    for ranks in sorted(plan.ranks):
        for collective in plan.collectives:
            for size in _sizes_of(collective, plan.sizes):
                own = machine_choice(machine, collective, ranks, size)
                for algorithm in algorithms_of(collective, noisy, ranks):
                    for segment in _segments_of(collective, algorithm, size, plan.segments):
                        call = (noisy, collective, algorithm, segment, ranks, size)
                        choice = None if own is None else own == Variant(algorithm, segment)
                        seed = plan.seed if seeds else 0
                        found.append(AlgorithmCase(*call, plan.reduction_cost, seeds, seed, choice))
    return found


def algorithms_of(collective: str, machine: Machine, ranks: int) -> list[str]:
    """The algorithms that so many ranks may choose from."""
    known = algorithms()
    buffered = machine.shared_buffer is not None and ranks <= machine.node_ranks
    names = known.loc[known["collective"] == collective, "name"]
    return [str(name) for name in names if (collective, name) not in _UNSUITED and (name != _BUFFERED or buffered)]


def _sizes_of(collective: str, sizes: Sequence[int]) -> list[int]:
    return [0] if collective == "barrier" else sorted(sizes)


def _segments_of(collective: str, algorithm: str, size: int, segments: Sequence[int]) -> list[int]:
    """0, for whole messages, and the segments that a message of this size has several of."""
    own = segments if (collective, algorithm) in SEGMENTED else ()
    return [0, *(segment for segment in sorted(own) if segment < size)]


def algorithm_row(case: AlgorithmCase) -> Row:
    """The time from the common beginning until the last rank has ended, ps.

    `time_ps` is the time without noise. With noise: the mean over the seeds, its standard error, the median, and the
    quantiles LOW and HIGH; None without noise.
    """
    import numpy as np

    operation = Operation(
        case.collective,
        bytes=case.bytes,
        algorithm=case.algorithm,
        reduction_cost=case.reduction_cost,
        options=PatternOptions(segment=case.segment),
    )
    schedule = Schedule.compose([Job(case.ranks, [operation])])
    quiet = simulate(schedule, case.machine, noise=None, progress=check_stop)
    row: Row = {"messages": quiet.messages, "time_ps": float(quiet.max_finish)}
    names = ("mean_ps", "error_ps", "low_ps", "median_ps", "high_ps")
    if not case.seeds:
        return row | dict.fromkeys(names)
    seeds = range(case.seed, case.seed + case.seeds)
    times = np.array(
        [float(simulate(schedule, case.machine, seed=seed, progress=check_stop).max_finish) for seed in seeds]
    )
    error = float(times.std(ddof=1)) / math.sqrt(case.seeds)
    values = (float(times.mean()), error, *map(float, np.quantile(times, [LOW, 0.5, HIGH])))
    return row | dict(zip(names, values, strict=True))


def machine_choice(machine: Machine, collective: str, ranks: int, size: int) -> Variant | None:
    """What the machine's own rules choose for a call; None if they choose nothing, or count bytes in another way."""
    rules = [rule for rule in machine.algorithm_rules if rule.collective == collective]
    if not rules or any(rule.fallback or rule.of_all_ranks or not rule.algorithm for rule in rules):
        return None
    rule = holding(rules, ranks, size)
    if rule is None:
        return None
    in_segments = (collective, rule.algorithm) in SEGMENTED and rule.segment < size
    return Variant(rule.algorithm, rule.segment if in_segments else 0)


def _page(table: pd.DataFrame) -> StudyPage:
    from ..report.algorithms_page import algorithms_page

    return algorithms_page(table)


def _files(table: pd.DataFrame) -> Mapping[str, str]:
    return decision_files(table)


ALGORITHMS = CaseStudy("algorithms", 2, algorithm_row, _page, files=_files)
"""The study: its table has the columns of `AlgorithmCase`, and those of `algorithm_row`."""


def _check(plan: AlgorithmPlan) -> None:
    known = sorted(set(algorithms()["collective"]))
    for name in plan.collectives:
        if name not in known:
            raise UsageError(unknown_name("collective", name, known))
    for what, number, least, most in (
        *(("number of ranks", count, 2, MOST_RANKS) for count in plan.ranks),
        *(("size", size, 0, MOST_BYTES) for size in plan.sizes),
        *(("segment", segment, 1, MOST_BYTES) for segment in plan.segments),
        ("number of seeds", plan.seeds, 2, 2**32),
        ("seed", plan.seed, 0, 2**63),
    ):
        if not least <= number <= most:
            raise UsageError(f"expected a {what} from {least} to {most}, found {number}")
