"""Runs the programs of a suite, simulates their traces, and compares the times."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from .comparison import Pair, row_beside_copies, row_of_runs
from .loop_validation import validate_loops
from .rows import Progress, Row, table_of
from .runs import RunPlan, runs_in_turns
from .speeds import machines_at_speeds

if TYPE_CHECKING:
    import pandas as pd

    from .suite import Suite


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
    MPI_Finalize. Traces go to `folder`, PROGRAM-NETWORK-RUN. The runs of a program on its networks, and those side by
    side, take turns, so that a busy minute meets all. A run in which something else had the ranks' cores for more than
    2 % of the time is left out: it stays in the folder. A machine that was measured at several speeds is simulated at
    the speed of the run. `output_to` is the number of an open file that gets the programs' output. `on_run` is called
    with what is done next, `on_row` with each row as soon as it is there.

    Returns a row for each program, network that it was traced on, and network that it was simulated on; one for each
    network of a program that copies predict, and of the program of one rank that it is made of, beside copies of
    itself, predicted by what each rank of the larger one computes; and one for each loop, size, network and speed:
    `COLUMNS`, times in seconds. Raises what `trace`, `simulate` and `run_loops` raise.
    """
    machines = {network.name: machines_at_speeds(network.machines) for network in suite.networks}
    progress = Progress(on_run or (lambda _: None), on_row or (lambda _: None))
    plan = RunPlan(folder, runs, output_to)
    for program in suite.programs:
        smaller = None
        if program.copies_of:
            smaller = next(earlier for earlier in suite.programs if earlier.name == program.copies_of)
        own, beside = runs_in_turns(program, smaller, suite.networks_of(program), machines, plan, progress)
        for traced_on, simulated_on in itertools.product(own, own):
            progress.next(f"{program.name} simulated on {simulated_on}")
            pair = Pair((traced_on, simulated_on), own[traced_on], own[simulated_on])
            progress.row(row_of_runs(program, pair, machines[simulated_on]))
        if smaller is not None:
            for name, found in beside.items():
                progress.next(f"{program.name} predicted from {smaller.name} on {name}")
                progress.row(row_of_runs(program, Pair((name, name), found, own[name]), machines[name]))
                if smaller.ranks == 1:
                    progress.row(row_beside_copies(smaller, Pair((name, name), own[name], found)))
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
