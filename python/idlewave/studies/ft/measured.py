"""FT as it runs here, examples/ft, and what the simulation of the measured machine predicts for it."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from ... import mpi
from ...child_processes import run
from ...errors import ProgramError
from ...ft_pattern import FT_DOMAINS, FtCosts, ft_job, ft_shape
from ...machine import Machine
from ...schedule import Schedule
from ...simulation import simulate

if TYPE_CHECKING:
    import pandas as pd

CLASSES = ("S", "W", "A")
RANKS = (2,)
RUNS = 5
COMPUTATIONS = ("evolve", "FFT x", "FFT y", "FFT z")
PHASES = ("initial values", *COMPUTATIONS, "exchange 1", "exchange 2", "checksum")
"""The phases of examples/ft, whose times add up to that of a rank."""
REFERENCE = "alltoall"
"""The exchange from whose runs the costs of the transforms are taken: nothing is under way while it computes."""
MEASURED_KEY = ("mpi", "problem", "ranks", "exchange", "run")


@dataclass(frozen=True)
class Program:
    """examples/ft, compiled for an MPI."""

    use: mpi.Mpi
    file: str

    @classmethod
    def built(cls, mpiexec: str | None = None) -> Program:
        """The program for the site's MPI. Raises MpiError."""
        found = mpi.find(mpiexec)
        return cls(found, str(mpi.build(found, "ft")))

    @property
    def mpi(self) -> str:
        """The MPI and its version."""
        return f"{self.use.vendor} {self.use.version}"

    def row(self, problem: str, ranks: int, exchange: str, number: int) -> dict[str, object]:
        """A run, which verifies its numbers: MEASURED_KEY, load (the processes that wanted to run in the minute
        before, in the mean), seconds, and each phase in the mean of the ranks.

        Raises ProgramError if it fails.
        """
        shape = ft_shape(problem, ranks)
        grid = f"{shape.ty}x{shape.tz}"
        words = ["--class", problem, "--grid", grid, "--exchange", exchange, "--json"]
        load = os.getloadavg()[0]
        command: list[str | Path] = [self.use.mpiexec, "-n", str(ranks), self.file, *words]
        done = run(command, environment=self.use.environment())
        if done.returncode != 0:
            raise ProgramError(f"FT class {problem} by {exchange} ended with {done.returncode}: {done.stderr.strip()}")
        said = json.loads(done.stdout)
        return {
            **dict(zip(MEASURED_KEY, (self.mpi, problem, ranks, exchange, number), strict=True)),
            "load": load,
            "seconds": said["seconds"],
            **{name: said["phases"][name]["mean"] for name in PHASES},
        }


def runs_to_make(
    have: Iterable[tuple[object, ...]],
    classes: Sequence[str],
    ranks: Sequence[int],
    exchanges: Sequence[str],
    runs: int,
) -> list[tuple[str, int, str, int]]:
    """The runs that are still missing: class, ranks, exchange and number.

    The exchanges alternate, so that none has the machine's quiet hour to itself.
    """
    known = set(have)
    wanted = ((p, n, e, i) for p in classes for n in ranks for i in range(runs) for e in exchanges)
    return [key for key in wanted if key not in known]


def costs_of(table: pd.DataFrame, problem: str, ranks: int) -> FtCosts:
    """What a rank computed in the runs by REFERENCE, in their median, in ns per point and binary logarithm."""
    domain = FT_DOMAINS[problem]
    rows = table[(table["problem"] == problem) & (table["ranks"] == ranks) & (table["exchange"] == REFERENCE)]
    points = domain.nx * domain.ny * domain.nz / ranks
    transforms = (1 + domain.iterations) * points

    def per_point(phase: str, length: int) -> float:
        return float(rows[phase].median()) * 1e9 / transforms / math.log2(length)

    evolution = float(rows["evolve"].median()) * 1e9 / (domain.iterations * points)
    return FtCosts(
        per_point("FFT x", domain.nx), per_point("FFT y", domain.ny), per_point("FFT z", domain.nz), evolution
    )


def predicted_s(machine: Machine, problem: str, ranks: int, exchange: str, costs: FtCosts) -> float:
    """The time of the whole run without the initial values, s, on the machine without noise."""
    job = ft_job(ft_shape(problem, ranks), exchange, 0, costs)
    schedule = Schedule.compose([job], name=f"FT class {problem}", rules=machine.algorithm_rules)
    return simulate(schedule, machine.with_noise(None)).max_finish / 1e12


def comparison(table: pd.DataFrame, machine: Machine, on_row: Callable[[], None] = lambda: None) -> pd.DataFrame:
    """A row for each class, number of ranks and exchange that ran: predicted and measured, s.

    `measured_s` is the median of the runs without the initial values, `least_s` and `most_s` their range;
    `computation_s` and `exchange_s` the medians of those phases, `expected_exchange_s` what the simulation adds to the
    computation.
    """
    import pandas as pd

    rows = []
    for (problem, ranks), group in table.groupby(["problem", "ranks"], sort=False):
        case = str(problem), int(str(ranks))
        costs = costs_of(table, *case)
        for exchange, runs in group.groupby("exchange", sort=False):
            times = runs["seconds"] - runs["initial values"]
            computing = runs[[*COMPUTATIONS]].sum(axis=1)
            predicted = predicted_s(machine, *case, str(exchange), costs)
            rows.append(
                {
                    "problem": problem,
                    "ranks": ranks,
                    "exchange": exchange,
                    "runs": len(runs),
                    "predicted_s": predicted,
                    "measured_s": times.median(),
                    "least_s": times.min(),
                    "most_s": times.max(),
                    "computation_s": computing.median(),
                    "exchange_s": (runs["exchange 1"] + runs["exchange 2"]).median(),
                    "error": predicted / times.median() - 1,
                }
            )
            on_row()
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class Disagreement:
    """Two exchanges of which the measured runs are apart, and the other one is faster in the simulation.

    `more_exchange_s` and `more_computation_s`: by how much the slower one's phases are longer in the runs.
    """

    problem: str
    ranks: int
    faster: str
    slower: str
    measured: float
    predicted: float
    more_exchange_s: float
    more_computation_s: float


def disagreements(compared: pd.DataFrame) -> tuple[int, list[Disagreement]]:
    """How many pairs of exchanges differ by more than the spread of their runs, and those of another order in the
    simulation.

    Two exchanges differ by more than their spread if every run of one was faster than every run of the other.
    """
    apart = 0
    found = []
    for (problem, ranks), group in compared.groupby(["problem", "ranks"], sort=False):
        ordered = sorted(group.to_dict("records"), key=lambda row: float(row["measured_s"]))
        for fast, slow in combinations(ordered, 2):
            if fast["most_s"] >= slow["least_s"]:
                continue
            apart += 1
            if fast["predicted_s"] < slow["predicted_s"]:
                continue
            found.append(
                Disagreement(
                    str(problem),
                    int(str(ranks)),
                    str(fast["exchange"]),
                    str(slow["exchange"]),
                    slow["measured_s"] / fast["measured_s"] - 1,
                    slow["predicted_s"] / fast["predicted_s"] - 1,
                    slow["exchange_s"] - fast["exchange_s"],
                    slow["computation_s"] - fast["computation_s"],
                )
            )
    return apart, found
