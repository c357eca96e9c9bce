"""Runs the programs of a suite, simulates their traces, and compares the times."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from ..machine import Machine
from ..report.findings import baseline_doubt
from ..schedule import Schedule
from ..simulation import simulate
from ..trace import Trace
from ..traced_run import trace as run_traced

if TYPE_CHECKING:
    import pandas as pd

    from .suite import Network, Program, Suite

COLUMNS = (
    "program",
    "ranks",
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
    doubt: why they are not to be compared; "" if they are."""

    program: str
    ranks: int
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
    """Run each program of `suite` `runs` times on each network, traced, and simulate each trace on each machine.

    A trace holds the noise of its run, so it is simulated without that of the machine. Run times are from MPI_Init to
    MPI_Finalize. Traces go to `folder`, PROGRAM-NETWORK-RUN. The runs of a program on its networks take turns, so that
    a busy minute meets all. `output_to` is the number of an open file that gets the programs' output. `on_run` is
    called with what is done next, `on_row` with each row as soon as it is there.

    Returns a row for each program, network that it was traced on, and network that it was simulated on: `COLUMNS`,
    times in seconds. Raises what `trace` and `simulate` raise.
    """
    machines = {network.name: Machine.named(network.machine) for network in suite.networks}
    rows: list[Row] = []
    for program in suite.programs:
        traces: dict[str, list[Trace]] = {network.name: [] for network in suite.networks}
        for run, network in itertools.product(range(runs), suite.networks):
            if on_run is not None:
                on_run(f"{program.name} on {network.name}, run {run + 1} of {runs}")
            directory = folder / f"{program.name}-{network.name}-{run + 1}"
            run_traced(_command(program, network), directory, overwrite=True, output_to=output_to)
            traces[network.name].append(Trace.load(directory))
        for traced_on, network in itertools.product(suite.networks, suite.networks):
            if on_run is not None:
                on_run(f"{program.name} simulated on {network.name}")
            rows.append(
                _compared(program, traced_on.name, traces[traced_on.name], network.name, traces[network.name], machines)
            )
            if on_row is not None:
                on_row(rows[-1])
    return table_of(rows)


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
        timeline = simulate(schedule, machine, noise=None)
        simulated.append(timeline.max_finish / 1e12)
        messages = messages or int(timeline.messages)
    for trace in (*traces, *measured):
        doubt = doubt or baseline_doubt(trace, None)
    times = sorted(trace.measured_s for trace in measured)
    simulated.sort()
    middle = _median(times)
    return Row(
        program=program.name,
        ranks=program.ranks,
        traced_on=traced_on,
        simulated_on=network,
        runs=len(times),
        calls=int(traces[0].processes["calls"].sum()),
        messages=messages,
        measured_s=middle,
        measured_least_s=times[0],
        measured_most_s=times[-1],
        simulated_s=_median(simulated),
        simulated_least_s=simulated[0],
        simulated_most_s=simulated[-1],
        error=_median(simulated) / middle - 1 if middle > 0 else float("nan"),
        doubt=doubt,
    )


def _median(times: list[float]) -> float:
    middle = len(times) // 2
    return times[middle] if len(times) % 2 else (times[middle - 1] + times[middle]) / 2
