"""Runs the programs of a suite, simulates their traces, and compares the times."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, TypedDict

from ..formatting import plain, size_text
from ..machine import Machine
from ..report.findings import baseline_doubt
from ..schedule import Schedule
from ..simulation import simulate
from ..trace import Trace
from ..traced_run import find_mpi
from ..traced_run import trace as run_traced
from .loops import medians, run_loops, simulated_ps

if TYPE_CHECKING:
    import pandas as pd

    from .suite import LoopRun, Network, Program, Suite

COLUMNS = (
    "program",
    "ranks",
    "traced_ranks",
    "traced_on",
    "simulated_on",
    "runs",
    "calls",
    "messages",
    "measured_s",
    "measured_least_s",
    "measured_most_s",
    "simulated_s",
    "simulated_least_s",
    "simulated_most_s",
    "error",
    "doubt",
)


class Row(TypedDict):
    """A program that was traced on one network and simulated on one: medians over the runs, their range, and how far
    the median of the simulations is from that of the runs, relative. calls and messages are those of the first run.
    traced_ranks: fewer than ranks where copies of a trace predict a run on more. doubt: why they are not to be
    compared; "" if they are. A loop of a size, such as "latency, 1 KiB", is traced on no network (""), and has a
    simulated time without a range; its times are those of a repetition."""

    program: str
    ranks: int
    traced_ranks: int
    traced_on: str
    simulated_on: str
    runs: int
    calls: int
    messages: int
    measured_s: float
    measured_least_s: float
    measured_most_s: float
    simulated_s: float
    simulated_least_s: float
    simulated_most_s: float
    error: float
    doubt: str


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

    A trace holds the noise of its run, so it is simulated without that of the machine. Run times are from MPI_Init to
    MPI_Finalize. Traces go to `folder`, PROGRAM-NETWORK-RUN. The runs of a program on its networks take turns, so that
    a busy minute meets all. `output_to` is the number of an open file that gets the programs' output. `on_run` is
    called with what is done next, `on_row` with each row as soon as it is there.

    Returns a row for each program, network that it was traced on, and network that it was simulated on; one for each
    network of a program that copies predict; and one for each loop, size and network: `COLUMNS`, times in seconds.
    Raises what `trace`, `simulate` and `run_loops` raise.
    """
    machines = {network.name: Machine.named(network.machine) for network in suite.networks}
    done = _Done(on_run or (lambda _: None), on_row or (lambda _: None), [])
    traces: dict[str, dict[str, list[Trace]]] = {}
    for program in suite.programs:
        networks = suite.networks_of(program)
        own = traces[program.name] = {network.name: [] for network in networks}
        for run, network in itertools.product(range(runs), networks):
            done.next(f"{program.name} on {network.name}, run {run + 1} of {runs}")
            directory = folder / f"{program.name}-{network.name}-{run + 1}"
            run_traced(_command(program, network), directory, overwrite=True, output_to=output_to)
            own[network.name].append(Trace.load(directory))
        for traced_on, simulated_on in itertools.product(own, own):
            done.next(f"{program.name} simulated on {simulated_on}")
            done.row(_compared(program, traced_on, own[traced_on], simulated_on, own[simulated_on], machines))
        for name in own if program.copies_of else ():
            done.next(f"{program.name} predicted from {program.copies_of} on {name}")
            done.row(_compared(program, name, traces[program.copies_of][name], name, own[name], machines))
    if suite.loops is not None:
        _validate_loops(suite.loops, suite.networks_of(suite.loops), machines, runs, done)
    return table_of(done.rows)


def steps(suite: Suite, runs: int) -> int:
    """How often `validate` calls `on_run`."""
    found = 0
    for program in suite.programs:
        networks = len(suite.networks_of(program))
        found += networks * (runs + networks + bool(program.copies_of))
    return found + (len(suite.networks_of(suite.loops)) * (runs + 1) if suite.loops else 0)


@dataclass(frozen=True)
class _Done:
    """What is done next, and the rows that are there."""

    next: Callable[[str], object]
    on_row: Callable[[Row], object]
    rows: list[Row]

    def row(self, row: Row) -> None:
        """A row is there."""
        self.rows.append(row)
        self.on_row(row)


def _validate_loops(
    loops: LoopRun, networks: Sequence[Network], machines: dict[str, Machine], runs: int, done: _Done
) -> None:
    """The runs on the networks take turns, as those of programs do."""
    times: dict[str, dict[tuple[str, int], list[float]]] = {network.name: {} for network in networks}
    for run, network in itertools.product(range(runs), networks):
        done.next(f"loops on {network.name}, run {run + 1} of {runs}")
        found = find_mpi(network.launch)
        samples = run_loops(found, network.launch, loops.ranks, loops.seconds, loops.max_size, run + 1)
        for point, time in medians(samples).items():
            if point[0] in loops.names:
                times[network.name].setdefault(point, []).append(time / 1e12)
    for network in networks:
        done.next(f"loops simulated on {network.name}")
        points = times[network.name]
        for loop, size in sorted(points, key=lambda point: (loops.names.index(point[0]), point[1])):
            simulated = simulated_ps(machines[network.name], loops.ranks, loop, size) / 1e12
            done.row(_loop_row(loops.ranks, network.name, loop, size, points[loop, size], simulated))


def _loop_row(ranks: int, network: str, loop: str, size: int, measured: list[float], simulated: float) -> Row:
    name = plain(f"{loop}, {size_text(size)}") if size else loop
    return _row(name, (ranks, ranks), ("", network), (0, 0), measured, [simulated], "")


def table_of(rows: Sequence[Row]) -> pd.DataFrame:
    """The rows as `validate` returns them."""
    import pandas as pd

    return pd.DataFrame(rows, columns=list(COLUMNS))


def _command(program: Program, network: Network) -> list[str]:
    return [*network.launch, "-n", str(program.ranks), *program.command]


def _compared(
    program: Program,
    traced_on: str,
    traces: list[Trace],
    network: str,
    measured: list[Trace],
    machines: dict[str, Machine],
) -> Row:
    machine = machines[network]
    simulated: list[float] = []
    messages = 0
    doubt = ""
    for trace in traces:
        schedule = Schedule.from_trace(trace, rules=machine.algorithm_rules, cold_caches=machine.cold_caches)
        if schedule.ranks < program.ranks:
            schedule = schedule.extrapolate(program.ranks)
        timeline = simulate(schedule, machine, noise=None)
        simulated.append(timeline.max_finish / 1e12)
        messages = messages or int(timeline.messages)
    for trace in (*traces, *measured):
        doubt = doubt or baseline_doubt(trace, None)
    ranks = (program.ranks, len(traces[0].processes))
    counts = (int(traces[0].processes["calls"].sum()), messages)
    times = [trace.measured_s for trace in measured]
    return _row(program.name, ranks, (traced_on, network), counts, times, simulated, doubt)


def _row(
    name: str,
    ranks: tuple[int, int],
    networks: tuple[str, str],
    counts: tuple[int, int],
    measured: list[float],
    simulated: list[float],
    doubt: str,
) -> Row:
    """`ranks`: of runs and of traces. `networks`: traced on, and simulated on. `counts`: calls, and messages."""
    middle = median(measured)
    return Row(
        program=name,
        ranks=ranks[0],
        traced_ranks=ranks[1],
        traced_on=networks[0],
        simulated_on=networks[1],
        runs=len(measured),
        calls=counts[0],
        messages=counts[1],
        measured_s=middle,
        measured_least_s=min(measured),
        measured_most_s=max(measured),
        simulated_s=median(simulated),
        simulated_least_s=min(simulated),
        simulated_most_s=max(simulated),
        error=median(simulated) / middle - 1 if middle > 0 else float("nan"),
        doubt=doubt,
    )
