"""How many events a second the kernel handles: a table and plots. ``make bench-kernel``.

    python bench/kernel.py --floors DIRECTORY [--ross DIRECTORY] [--lps 40,1000,...] [--sweeps] [--density]
                           [--no-table] [--no-pending] [--output DIRECTORY]

PHOLD with a tenth of the events remote, delays of 0.1 + an exponential time of mean 0.9, and 16 events an LP. Rates are
millions of committed events a second and core, the best of three runs, each a process of its own (or two, with
mpiexec); initialisation is apart, and memory is that of all processes. With the directory of a ROSS build its phold
(models/phold/phold) runs beside, with the same parameters for a shorter time, the best of some runs too, and the table
says how many times as fast this kernel is; where ROSS has no number, why.

What a sequential event costs is drawn against the events that wait, beside bench/kernel_floor.cpp: a loop that draws,
appends and reads, and nothing else. ``--sweeps`` draws speed, efficiency and rollbacks on two threads against the
remote share, the lookahead, and the LPs; ``--density`` speed against LPs a core and events an LP.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import groupby, product
from pathlib import Path

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
)
from matplotlib.figure import Figure
from rich.console import Console
from rich.progress import track
from rich.table import Table

LPS_PER_CORE = (40, 1_000, 16_000, 256_000, 1_000_000)
WANTED = {
    SEQUENTIAL: (12, 12, 11, 8, 5),
    CONSERVATIVE: (7, 10, 9, 7, 4),
    OPTIMISTIC: (5, 7, 7, 5, 3),
    CONSERVATIVE_MPI: (4.9, 7, 6.3, 4.9, 2.8),
    OPTIMISTIC_MPI: (3.5, 4.9, 4.9, 3.5, 2.1),
}
"""Millions of events a second and core, by LPS_PER_CORE."""
PARTS = {
    "table": (True, "the table, and a plot of it"),
    "pending": (True, "draw what an event costs against the events that wait, beside the floor"),
    "sweeps": (False, "draw speed, efficiency and rollbacks against parameters"),
    "density": (False, "draw speed against LPs a core and events an LP"),
}
"""What is made: whether it is if not asked for."""
WIDTH = 130
SAME_WORK = 0.01
"""By what share the numbers of events of the floor and of the kernel may differ: draws meet other events."""


def table_of(answers: Answers, besides: dict[tuple[Way, Work], Beside]) -> Table:
    """All rows."""
    peer = ["ROSS", "times as fast", "ROSS: init s"] if besides else []
    table = Table("way", "LPs a core", "M events/s a core", "wanted", "efficiency", "init s", "MiB", *peer)
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
    """Of this kernel."""
    lps = work.lps // way.cores
    wanted = dict(zip(LPS_PER_CORE, WANTED[way], strict=True)).get(lps, "")
    found = [way.name, f"{lps:,}", f"{best.rate / way.cores / 1e6:.1f}", f"{wanted:g}" if wanted else ""]
    return [*found, f"{best.efficiency:.2%}", f"{best.init_seconds:.3f}", f"{memory / 2**20:.0f}"]


def peer_cells(best: Answer, way: Way, beside: Beside) -> list[str]:
    """Of ROSS, or why not."""
    if beside.reason:
        return [beside.reason, "", ""]
    rate = beside.rate / way.cores / 1e6
    return [f"{rate:.2f}", f"{best.rate / beside.rate:.1f}", f"{beside.init_seconds:.2f}"]


def beside(ross: Ross, answers: Answers) -> dict[tuple[Way, Work], Beside]:
    """What ROSS takes for each row."""
    return {key: ross.beside(*key) for key in track(answers, description="ROSS", transient=True)}


def show_table(console: Console, lps_per_core: Sequence[int], ross: Ross | None, output: Path) -> bool:
    """Runs all rows, and says whether all ways find the same."""
    answers = repeated((way, Work(lps * way.cores)) for way, lps in product(WANTED, lps_per_core))
    besides = beside(ross, answers) if ross else {}
    console.print(table_of(answers, besides))
    for (way, work), peer in besides.items():
        if peer.reason:
            console.print(f"ROSS beside {way.name}, {work.lps // way.cores:,} LPs a core: {peer.details}")
    save(console, plots.draw_ways(answers), output, "nanoseconds-per-event")
    return all_alike(answers)


def show_pending(console: Console, program: Path, output: Path) -> bool:
    """Draws the cost of an event beside the floor, and says whether both handle as many."""
    answers = repeated((SEQUENTIAL, work) for work in plots.PENDING)
    kernel = [(float(work.lps * work.start_events), runs) for (_, work), runs in answers.items()]
    works = track(plots.PENDING, description="the floor", transient=True)
    lowest = [(float(work.lps * work.start_events), floor(program, work)) for work in works]
    save(console, plots.draw_pending(kernel, lowest), output, "nanoseconds-by-pending-events")
    counts = [(ours[0].committed, theirs[0].committed) for (_, ours), (_, theirs) in zip(kernel, lowest, strict=True)]
    return all(abs(ours - theirs) <= SAME_WORK * ours for ours, theirs in counts)


def show_sweeps(console: Console, output: Path) -> bool:
    """Draws what the parameters change, and says whether all ways find the same."""
    works = [work for sweep in plots.SWEEPS for work in sweep.works()]
    answers = repeated(product(plots.SWEPT_WAYS, works), DRAWN_REPETITIONS)
    save(console, plots.draw_sweeps(answers), output, "phold-sweeps")
    return all_alike(answers)


def show_densities(console: Console, output: Path) -> bool:
    """Draws what densities change, and says whether both ways find the same."""
    works = [plots.dense(*point) for point in product(plots.LP_DENSITIES, plots.EVENT_DENSITIES)]
    answers = repeated(product(plots.DENSITY_WAYS, works), DRAWN_REPETITIONS)
    save(console, plots.draw_densities(answers), output, "phold-densities")
    return all_alike(answers)


def save(console: Console, figure: Figure, output: Path, name: str) -> None:
    """A plot, and where it is."""
    plots.save(figure, output, name)
    console.print(f"a plot: {output}/{name}.svg")


def numbers(text: str) -> tuple[int, ...]:
    """Such as 40,1000."""
    return tuple(int(number) for number in text.split(","))


def main() -> None:
    """Run what is asked for, and show it."""
    parser = argparse.ArgumentParser(description="How many events a second the kernel handles.")
    parser.add_argument("--floors", type=Path, required=True, help="directory of kernel_floor.cpp, compiled")
    parser.add_argument("--lps", type=numbers, default=LPS_PER_CORE, help="rows of the table: LPs a core")
    parser.add_argument("--ross", type=Path, help="directory of a ROSS build")
    for name, (wanted, text) in PARTS.items():
        parser.add_argument(f"--{name}", action=argparse.BooleanOptionalAction, default=wanted, help=text)
    parser.add_argument("--output", type=Path, default=Path("out/bench"), help="where plots go")
    arguments = parser.parse_args()
    if arguments.ross and not Ross(arguments.ross).program.is_file():
        parser.error(f"there is no {Ross(arguments.ross).program}: see bench/README.md")
    arguments.output.mkdir(parents=True, exist_ok=True)
    console = Console(width=WIDTH)
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
    console.print("all ways find the same" if all(alike) else "NOT all ways find the same: there is an error")
    if not all(alike):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
