"""Runs the programs of a suite, simulates their traces, and compares the times."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from ..formatting import percent_text
from ..machine import Machine
from ..report.findings import baseline_doubt
from ..schedule import Schedule
from ..simulation import simulate
from ..trace import Trace
from ..traced_run import find_mpi
from ..traced_run import trace as run_traced
from .beside import running_beside
from .loop_validation import validate_loops
from .rows import Compared, Progress, Row, Times, row_of, table_of
from .speeds import MachineAtSpeed, machines_at_speeds, nearest, pilot_ns

if TYPE_CHECKING:
    import pandas as pd

    from .suite import Network, Program, Suite


def validate(
    suite: Suite,
    folder: Path,
    *,
    runs: int = 5,
    output_to: int | None = None,
    on_run: Callable[[str], object] | None = None,
    on_row: Callable[[Row], object] | None = None,
) -> pd.DataFrame:
    """Run each program of `suite` `runs` times on each of its networks, traced, and simulate each trace on each of
    their machines; run the loops, untraced, and simulate them on each machine.

    A trace holds the noise of its run, so it is simulated without that of the machine. Copies of a trace are of runs
    side by side, so that caches and memory are shared as by the larger program. Run times are from MPI_Init to
    MPI_Finalize. Traces go to `folder`, PROGRAM-NETWORK-RUN. The runs of a program on its networks take turns, so that
    a busy minute meets all. A run in which something else had the ranks' cores for more than 2 % of the time is left
    out: it stays in the folder. A machine that was measured at several speeds is simulated at the speed of the run.
    `output_to` is the number of an open file that gets the programs' output. `on_run` is
    called with what is done next, `on_row` with each row as soon as it is there.

    Returns a row for each program, network that it was traced on, and network that it was simulated on; one for each
    network of a program that copies predict, and of the program of one rank that it is made of, predicted by what each
    rank of the larger one computes; and one for each loop, size, network and speed: `COLUMNS`, times in
    seconds. Raises what `trace`, `simulate` and `run_loops` raise.
    """
    machines = {network.name: machines_at_speeds(network.machines) for network in suite.networks}
    progress = Progress(on_run or (lambda _: None), on_row or (lambda _: None))
    for program in suite.programs:
        networks = suite.networks_of(program)
        own: dict[str, list[_Run]] = {network.name: [] for network in networks}
        for run, network in itertools.product(range(runs), networks):
            progress.next(f"{program.name} on {network.name}, run {run + 1} of {runs}")
            directory = folder / f"{program.name}-{network.name}-{run + 1}"
            own[network.name].append(_run(program, network, machines[network.name], directory, output_to))
        for traced_on, simulated_on in itertools.product(own, own):
            progress.next(f"{program.name} simulated on {simulated_on}")
            pair = _Pair((traced_on, simulated_on), own[traced_on], own[simulated_on])
            progress.row(_compared(program, pair, machines[simulated_on]))
        if program.copies_of:
            smaller = next(earlier for earlier in suite.programs if earlier.name == program.copies_of)
            for name, found in _side_by_side(
                program, smaller, networks, _Runs(folder, runs, output_to), progress
            ).items():
                progress.next(f"{program.name} predicted from {smaller.name} on {name}")
                progress.row(_compared(program, _Pair((name, name), found, own[name]), machines[name]))
                if smaller.ranks == 1:
                    progress.row(_alone(smaller, _Pair((name, name), own[name], found)))
    if suite.loops is not None:
        validate_loops(suite.loops, suite.networks_of(suite.loops), machines, runs, progress)
    return table_of(progress.rows)


def steps(suite: Suite, runs: int) -> int:
    """How often `validate` calls `on_run`."""
    found = 0
    for program in suite.programs:
        networks = len(suite.networks_of(program))
        found += networks * (runs + networks + (runs + 1) * bool(program.copies_of))
    return found + (len(suite.networks_of(suite.loops)) * (runs + 1) if suite.loops else 0)


@dataclass(frozen=True)
class _Run:
    """A traced run, and the times of a byte there and back before and behind it, ns; none where they are not known."""

    trace: Trace
    pilots_ns: tuple[float, ...] = ()

    @property
    def computation_s(self) -> float:
        """The time of a rank outside MPI, in the mean of the ranks."""
        time = self.trace.time()
        return float(time.loc[time["category"] == "computation", "seconds"].mean())

    @property
    def pilot_ns(self) -> float:
        """Their geometric mean, nan if there is none."""
        return math.exp(math.fsum(map(math.log, self.pilots_ns)) / len(self.pilots_ns)) if self.pilots_ns else math.nan


def _run(
    program: Program, network: Network, machines: Sequence[MachineAtSpeed], directory: Path, output_to: int | None
) -> _Run:
    """A run of `program`, between two of the pilot, where it has messages and a machine's speed is known."""
    found = find_mpi(network.launch)
    compares = program.ranks > 1 and any(machine.speed is not None for machine in machines)
    pilots = [pilot_ns(found, network.launch)] if compares else []
    run_traced(
        [*network.launch, "-n", str(program.ranks), *program.command], directory, overwrite=True, output_to=output_to
    )
    if compares:
        pilots.append(pilot_ns(found, network.launch))
    return _Run(Trace.load(directory), tuple(pilots))


@dataclass(frozen=True)
class _Runs:
    """Where traces go, how many runs there are, and where the programs' output goes."""

    folder: Path
    count: int
    output_to: int | None


def _side_by_side(
    program: Program, smaller: Program, networks: Sequence[Network], runs: _Runs, progress: Progress
) -> dict[str, list[_Run]]:
    """By network, traced runs of `smaller` beside as many more as have the ranks of `program` together."""
    found: dict[str, list[_Run]] = {network.name: [] for network in networks}
    for run, network in itertools.product(range(runs.count), networks):
        progress.next(f"{smaller.name} beside itself on {network.name}, run {run + 1} of {runs.count}")
        directory = runs.folder / f"{smaller.name}-beside-{network.name}-{run + 1}"
        environment = find_mpi(network.launch).environment()
        with running_beside(smaller, network, program.ranks // smaller.ranks - 1, environment):
            found[network.name].append(_run(smaller, network, (), directory, runs.output_to))
    return found


@dataclass(frozen=True)
class _Pair:
    """Traced runs on one network, and the runs on another, or on the same, that they predict: the first predicts the
    first."""

    networks: tuple[str, str]
    traced: list[_Run]
    measured: list[_Run]


@dataclass(frozen=True)
class _Chosen:
    """The runs of a pair that had their cores, traced and measured, and how many had not; or all, with the doubt, if
    none had."""

    chosen: list[tuple[_Run, _Run]]
    left_out: int
    doubt: str


MOST_WITHOUT_CORE = 0.02
"""A run whose ranks waited for a core for a larger share of their time is not compared: its simulation has no such
waits."""


def _had_cores(run: _Run) -> bool:
    """Whether the ranks had cores of their own, as far as is known."""
    share = run.trace.share_without_core
    return share is None or share <= MOST_WITHOUT_CORE


def _chosen(pair: _Pair) -> _Chosen:
    every = list(zip(pair.traced, pair.measured, strict=True))
    own = [(traced, measured) for traced, measured in every if _had_cores(traced) and _had_cores(measured)]
    without = "" if own else f"in each run ranks waited for a core for more than {percent_text(MOST_WITHOUT_CORE)}"
    doubts = (baseline_doubt(run.trace, None) for runs in own or every for run in runs)
    return _Chosen(own or every, len(every) - len(own or every), next(filter(None, (*doubts, without)), ""))


def _compared(program: Program, pair: _Pair, machines: Sequence[MachineAtSpeed]) -> Row:
    """The row of the runs that had their cores."""
    runs = _chosen(pair)
    simulated: list[float] = []
    ratios: list[float] = []
    round_trips_ns: list[float] = []
    messages = 0
    for traced, measured in runs.chosen:
        at = nearest(machines, measured.pilot_ns)
        time, sent = _simulated(program, traced.trace, at.machine)
        simulated.append(time)
        messages = messages or sent
        ratios += [pilot / at.pilot_ns for pilot in measured.pilots_ns]
        round_trips_ns.append(at.pilot_ns)
    ranks = len(pair.traced[0].trace.processes)
    return row_of(
        program.name,
        Times(
            [measured.trace.measured_s for _, measured in runs.chosen],
            simulated,
            [measured.computation_s for _, measured in runs.chosen],
            [traced.computation_s for traced, _ in runs.chosen],
            ratios,
        ),
        Compared(program.ranks, ranks, *pair.networks, median(round_trips_ns)),
        counts=(int(pair.traced[0].trace.processes["calls"].sum()), messages),
        doubt=runs.doubt,
        left_out=runs.left_out,
    )


def _alone(program: Program, pair: _Pair) -> Row:
    """The row of a program of one rank beside others: it exchanges nothing, so that its time is what each rank of a
    larger program computes."""
    runs = _chosen(pair)
    computed = [traced.computation_s for traced, _ in runs.chosen]
    return row_of(
        program.name,
        Times(
            [measured.trace.measured_s for _, measured in runs.chosen],
            computed,
            [measured.computation_s for _, measured in runs.chosen],
            computed,
        ),
        Compared(program.ranks, len(pair.traced[0].trace.processes), *pair.networks),
        counts=(int(pair.traced[0].trace.processes["calls"].sum()), 0),
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
