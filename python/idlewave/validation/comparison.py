"""Compares the times of runs with those of simulations of traces."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from ..errors import Deadlock
from ..formatting import percent_text, plural
from ..machine import Machine
from ..report.findings import baseline_doubt
from ..schedule import Schedule
from ..simulation import simulate
from ..trace import Trace
from .rows import Row, RowKey, Times, row_of
from .runs import Run
from .speeds import MachineAtSpeed, nearest

if TYPE_CHECKING:
    from .suite import Program


@dataclass(frozen=True)
class Pair:
    """Traced runs on one network, and the runs on another, or on the same, that they predict: the first predicts the
    first."""

    networks: tuple[str, str]
    traced: list[Run]
    measured: list[Run]


@dataclass(frozen=True)
class ComparableRuns:
    """The runs of a pair that had their cores, traced and measured, and how many had not; or all, with the doubt, if
    none had."""

    pairs: list[tuple[Run, Run]]
    left_out: int
    doubt: str


MOST_WITHOUT_CORE = 0.02
"""A run whose ranks waited for a core for a larger share of their time is not compared: its simulation has no such
waits."""


def _had_cores(run: Run) -> bool:
    """Whether the ranks had cores of their own, as far as is known."""
    share = run.trace.share_without_core
    return share is None or share <= MOST_WITHOUT_CORE


def _comparable(pair: Pair) -> ComparableRuns:
    every = list(zip(pair.traced, pair.measured, strict=True))
    own = [(traced, measured) for traced, measured in every if _had_cores(traced) and _had_cores(measured)]
    without = "" if own else f"in each run ranks waited for a core for more than {percent_text(MOST_WITHOUT_CORE)}"
    doubts = (baseline_doubt(run.trace, None) for runs in own or every for run in runs)
    return ComparableRuns(own or every, len(every) - len(own or every), next(filter(None, (*doubts, without)), ""))


def row_of_runs(program: Program, pair: Pair, machines: Sequence[MachineAtSpeed]) -> Row:
    """The row of the runs that had their cores. If some of their traces cannot end on another network than their own,
    no time was simulated, and the doubt says so. Raises Deadlock if one cannot end on its own."""
    runs = _comparable(pair)
    at = [nearest(machines, measured.pilot_ns) for _, measured in runs.pairs]
    simulated, messages, endless = _simulated_runs(program, pair, runs, at)
    ratios = [
        pilot / own.pilot_ns for own, (_, measured) in zip(at, runs.pairs, strict=True) for pilot in measured.pilots_ns
    ]
    return row_of(
        program.name,
        Times(
            [measured.trace.measured_s for _, measured in runs.pairs],
            simulated,
            [measured.computation_s for _, measured in runs.pairs],
            [traced.computation_s for traced, _ in runs.pairs],
            ratios,
        ),
        RowKey(
            program.ranks,
            len(pair.traced[0].trace.processes),
            *pair.networks,
            median(own.pilot_ns for own in at),
        ),
        counts=(int(pair.traced[0].trace.processes["calls"].sum()), messages),
        doubt="; ".join(filter(None, (runs.doubt, endless))),
        left_out=runs.left_out,
    )


def _simulated_runs(
    program: Program, pair: Pair, runs: ComparableRuns, at: Sequence[MachineAtSpeed]
) -> tuple[list[float], int, str]:
    """The times of the traces, each on its machine, s; the messages of the first; and which cannot end there, "" if all
    can: else the only time is nan."""
    simulated: list[tuple[float, int]] = []
    endless: list[Deadlock] = []
    for (traced, _), own in zip(runs.pairs, at, strict=True):
        try:
            simulated.append(_simulated(program, traced.trace, own.machine))
        except Deadlock as error:
            if pair.networks[0] == pair.networks[1]:
                raise
            endless.append(error)
    if endless:
        first = str(endless[0]).splitlines()[0]
        of = f"{len(endless)} of {plural(len(runs.pairs), 'trace')}"
        return [math.nan], 0, f"on {pair.networks[1]} {of} cannot end: {first}"
    return [time for time, _ in simulated], simulated[0][1], ""


def row_beside_copies(program: Program, pair: Pair) -> Row:
    """The row of a program of one rank that ran beside copies of itself: it exchanges nothing, so that its time is
    predicted by what each rank of a larger program computes."""
    runs = _comparable(pair)
    measured = [measured.trace.measured_s for _, measured in runs.pairs]
    return row_of(
        program.name,
        Times(measured, [traced.computation_s for traced, _ in runs.pairs]),
        RowKey(program.ranks, len(pair.traced[0].trace.processes), *pair.networks),
        counts=(int(pair.measured[0].trace.processes["calls"].sum()), 0),
        doubt=runs.doubt,
        left_out=runs.left_out,
    )


def _simulated(program: Program, trace: Trace, machine: Machine) -> tuple[float, int]:
    """The time of a trace on a machine, continued to the ranks of the program, s; and its messages."""
    schedule = Schedule.from_trace(trace, rules=machine.algorithm_rules, cold_caches=machine.cold_caches)
    if schedule.ranks < program.ranks:
        schedule = schedule.extrapolate(program.ranks)
    timeline = simulate(schedule, machine, noise=None)
    return timeline.max_finish / 1e12, int(timeline.messages)
