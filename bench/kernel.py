"""The event rate of the kernel: a table and plots. ``make bench-kernel``.

    python bench/kernel.py --floors DIRECTORY [--ross DIRECTORY] [--lps 40,1000,...] [--sweeps] [--density]
                           [--no-table] [--no-pending] [--output DIRECTORY]
                           [--before PYTHON]

PHOLD with a tenth of the events remote, delays of 0.1 + an exponential time of mean 0.9, and 16 events an LP. Rates are
millions of committed events per second and core, the best of three runs. Each run is a process of its own (or two, with
mpiexec). Initialisation is a column of its own, and memory is the sum over all processes. With the directory of a ROSS
build, the table also has ROSS's phold (models/phold/phold) with the same parameters and a shorter end, the best of some
runs, and the ratio of both rates. Where ROSS has no rate, the table gives the reason.

A plot shows the time of a sequential event against the number of pending events, beside bench/kernel_floor.cpp: a loop
that only draws, appends and reads. ``--sweeps`` plots speed, efficiency and rollbacks on two threads against the remote
share, the lookahead, and the number of LPs; ``--density`` plots speed against LPs a core and events an LP. With
``--before`` each row of the table is run in turns with an earlier Idlewave, and nothing else.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from itertools import groupby, product
from pathlib import Path

import before
import kernel_plots as plots
from kernel_ross import Beside, Ross
from kernel_runs import (
    CONSERVATIVE,
    CONSERVATIVE_MPI,
    DRAWN_REPETITIONS,
    OPTIMISTIC,
    OPTIMISTIC_MPI,
    SEQUENTIAL,
    Answer,
    Answers,
    Way,
    Work,
    all_alike,
    floor,
    repeated,
    simulated,
)
from matplotlib.figure import Figure
from rich.console import Console
from rich.progress import track
from rich.table import Table

LPS_PER_CORE = (40, 1_000, 16_000, 256_000, 1_000_000)
TARGETS = {
    SEQUENTIAL: (12, 12, 11, 8, 5),
    CONSERVATIVE: (7, 10, 9, 7, 4),
    OPTIMISTIC: (5, 7, 7, 5, 3),
    CONSERVATIVE_MPI: (4.9, 7, 6.3, 4.9, 2.8),
    OPTIMISTIC_MPI: (3.5, 4.9, 4.9, 3.5, 2.1),
}
"""Target rates in millions of events per second and core, by LPS_PER_CORE."""
PARTS = {
    "table": (True, "print the table, and plot it"),
    "pending": (True, "plot the time of an event against the pending events, beside the floor"),
    "sweeps": (False, "plot speed, efficiency and rollbacks against parameters"),
    "density": (False, "plot speed against LPs a core and events an LP"),
}
"""The parts of the output: whether each is made by default, and its help."""
WIDTH = 130
SAME_WORK = 0.01
"""Largest relative difference between the event counts of floor and kernel. They differ a little, because the floor
executes events in another order, with other random draws."""


def table_of(answers: Answers, besides: dict[tuple[Way, Work], Beside]) -> Table:
    """The table of all runs."""
    peer = ["ROSS", "times as fast", "ROSS: init s"] if besides else []
    table = Table("configuration", "LPs a core", "M events/s a core", "target", "efficiency", "init s", "MiB", *peer)
    table.columns[0].no_wrap = True
    for column in table.columns[1:]:
        column.justify = "right"
    for way, group in groupby(answers, key=lambda key: key[0]):
        for key in group:
            best = max(answers[key], key=lambda run: run.rate)
            memory = min(run.memory for run in answers[key])
            table.add_row(*cells(*key, best, memory), *(peer_cells(best, way, besides[key]) if besides else []))
        table.add_section()
    return table


def cells(way: Way, work: Work, best: Answer, memory: int) -> list[str]:
    """The cells of a row about this kernel."""
    lps = work.lps // way.cores
    target = dict(zip(LPS_PER_CORE, TARGETS[way], strict=True)).get(lps, "")
    found = [way.name, f"{lps:,}", f"{best.rate / way.cores / 1e6:.1f}", f"{target:g}" if target else ""]
    return [*found, f"{best.efficiency:.2%}", f"{best.init_seconds:.3f}", f"{memory / 2**20:.0f}"]


def peer_cells(best: Answer, way: Way, beside: Beside) -> list[str]:
    """The cells of a row about ROSS: its rate, or the reason why it has none."""
    if beside.reason:
        return [beside.reason, "", ""]
    rate = beside.rate / way.cores / 1e6
    return [f"{rate:.2f}", f"{best.rate / beside.rate:.1f}", f"{beside.init_seconds:.2f}"]


def beside(ross: Ross, answers: Answers) -> dict[tuple[Way, Work], Beside]:
    """The runs of ROSS for all rows."""
    return {key: ross.beside(*key) for key in track(answers, description="ROSS", transient=True)}


def show_table(console: Console, lps_per_core: Sequence[int], ross: Ross | None, output: Path) -> bool:
    """Runs and prints all rows; returns whether all configurations have the same result."""
    answers = repeated((way, Work(lps * way.cores)) for way, lps in product(TARGETS, lps_per_core))
    besides = beside(ross, answers) if ross else {}
    console.print(table_of(answers, besides))
    for (way, work), peer in besides.items():
        if peer.reason:
            console.print(f"ROSS beside {way.name}, {work.lps // way.cores:,} LPs a core: {peer.details}")
    save(console, plots.draw_ways(answers), output, "nanoseconds-per-event")
    return all_alike(answers)


def show_pending(console: Console, program: Path, output: Path) -> bool:
    """Plots the time of an event beside the floor; returns whether both have about the same number of events."""
    answers = repeated((SEQUENTIAL, work) for work in plots.PENDING)
    kernel = [(float(work.lps * work.start_events), runs) for (_, work), runs in answers.items()]
    works = track(plots.PENDING, description="the floor", transient=True)
    lowest = [(float(work.lps * work.start_events), floor(program, work)) for work in works]
    save(console, plots.draw_pending(kernel, lowest), output, "nanoseconds-by-pending-events")
    counts = [(ours[0].committed, theirs[0].committed) for (_, ours), (_, theirs) in zip(kernel, lowest, strict=True)]
    return all(abs(ours - theirs) <= SAME_WORK * ours for ours, theirs in counts)


def show_sweeps(console: Console, output: Path) -> bool:
    """Plots the effect of the parameters; returns whether all configurations have the same result."""
    works = [work for sweep in plots.SWEEPS for work in sweep.works()]
    answers = repeated(product(plots.SWEPT_WAYS, works), DRAWN_REPETITIONS)
    save(console, plots.draw_sweeps(answers), output, "phold-sweeps")
    return all_alike(answers)


def show_densities(console: Console, output: Path) -> bool:
    """Plots the effect of densities; returns whether both configurations have the same result."""
    works = [plots.dense(*point) for point in product(plots.LP_DENSITIES, plots.EVENT_DENSITIES)]
    answers = repeated(product(plots.DENSITY_WAYS, works), DRAWN_REPETITIONS)
    save(console, plots.draw_densities(answers), output, "phold-densities")
    return all_alike(answers)


def save(console: Console, figure: Figure, output: Path, name: str) -> None:
    """Saves a plot, and prints its path."""
    plots.save(figure, output, name)
    console.print(f"a plot: {output}/{name}.svg")


def rows_before(lps_per_core: Sequence[int]) -> list[before.Row]:
    """What is compared with an earlier Idlewave: each row of the table."""

    def row(way: Way, work: Work) -> before.Row:
        name = f"{way.name}, {work.lps // way.cores:,} LPs a core"
        return before.Row(name, lambda python: paired(simulated(way, work, python.parent / "idlewave")))

    def paired(answer: Answer) -> before.Run:
        return before.Run(answer.seconds, (answer.committed, answer.digest))

    return [row(way, Work(lps * way.cores)) for way, lps in product(TARGETS, lps_per_core)]


def numbers(text: str) -> tuple[int, ...]:
    """Parses numbers such as 40,1000."""
    return tuple(int(number) for number in text.split(","))


def main() -> None:
    """Run and print the chosen parts."""
    parser = argparse.ArgumentParser(description="The event rate of the kernel.")
    parser.add_argument("--floors", type=Path, required=True, help="directory of the compiled kernel_floor.cpp")
    parser.add_argument("--lps", type=numbers, default=LPS_PER_CORE, help="LPs a core of each row of the table")
    parser.add_argument("--ross", type=Path, help="directory of a ROSS build")
    for name, (default, text) in PARTS.items():
        parser.add_argument(f"--{name}", action=argparse.BooleanOptionalAction, default=default, help=text)
    parser.add_argument("--before", type=Path, metavar="PYTHON", help=before.HELP)
    parser.add_argument("--output", type=Path, default=Path("out/bench"), help="directory for plots")
    arguments = parser.parse_args()
    if arguments.before is not None and (arguments.ross is not None or arguments.sweeps or arguments.density):
        parser.error("--before goes with none of --ross, --sweeps and --density")
    if arguments.ross and not Ross(arguments.ross).program.is_file():
        parser.error(f"{Ross(arguments.ross).program} does not exist: see bench/README.md")
    arguments.output.mkdir(parents=True, exist_ok=True)
    console = Console(width=WIDTH)
    if arguments.before is not None:
        before.show(console, rows_before(arguments.lps), arguments.before, Path(sys.executable))
        return
    alike = []
    if arguments.table:
        ross = Ross(arguments.ross) if arguments.ross else None
        alike.append(show_table(console, arguments.lps, ross, arguments.output))
    if arguments.pending:
        alike.append(show_pending(console, arguments.floors / "kernel_floor", arguments.output))
    if arguments.sweeps:
        alike.append(show_sweeps(console, arguments.output))
    if arguments.density:
        alike.append(show_densities(console, arguments.output))
    console.print("all configurations have the same result" if all(alike) else "ERROR: results differ")
    if not all(alike):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
