"""How long the simulator takes per message, and how much memory: tables and a plot. ``make bench``.

    python bench/simulate.py --floors DIRECTORY [--large] [--largest] [--loggopsim DIRECTORY] [--output DIRECTORY]
                             [--before PYTHON]

Each row of the first table is a process of its own, so that memory is its own, which runs it at least five times and up
to thirty within fifteen seconds (large ones at least three times, the largest once); so does the floor. "seconds" is
the fastest: simulation with generation of the schedule, without start-up; "first" is the first, which on a virtual
machine may wait for the host's memory, up to four seconds a gigabyte. "noise" is the share of time that 10,000 detours
take. "over floor" is how many times as long a message takes as in bench/floor.cpp, or with noise
bench/noise_floor.cpp, on as many ranks: one pattern by the rules of CPU and NIC and nothing else, with the same answer.
What is compared with itself (on two threads, with derivatives) is run in turns: such a machine changes its speed.
With ``--large`` also 16,777,216 ranks, with ``--largest`` 134,217,728. With the directory of a LogGOPSim build (the
program loggopsim) both simulate the same schedules, from LogGOPSim's own binary files. With ``--before`` the rows of
the first table, seeds on one thread, and derivatives without noise are run in turns with an earlier Idlewave, and
nothing else; this takes ten minutes.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import before
import idlewave
import matplotlib.pyplot as plt
from idlewave import _core
from kernel_runs import said_by
from peer import beside_peer
from programs import programs
from repeat import SEEDS, several
from rich.console import Console
from rich.progress import track
from rich.table import Table
from simulations import (
    LARGE_RANKS,
    LARGEST_RANKS,
    PERIODS,
    REPEAT,
    REPETITIONS,
    Answer,
    Work,
    fastest,
    machine_file,
    recording_arguments,
    repetitions,
    simulated,
    write_machines,
)

COMPARED_RANKS = 2**20
SLOPES_RANKS = 2**10
SLOPED_PATTERNS = {"dissemination": COMPARED_RANKS, "alltoall": SLOPES_RANKS}
UNEVEN_STEPS = 40
WIDTH = 120
PAIRED_REPETITIONS = "3-3"
SEED_RANKS = 2**14
ROW_RANKS = 2**4
ROWS = 2000
CURVE = [2**power for power in range(10, 21, 2)]
WORKS = [
    *(Work("dissemination", ranks) for ranks in CURVE),
    Work("dissemination", 2**20, threads=2),
    *(Work("dissemination", ranks, noise="7.5%") for ranks in CURVE),
    Work("dissemination", 2**20, noise="0.3%"),
    Work("bcast", 2**20),
    Work("gather", 2**16),
    Work("scatter", 2**16),
    Work("alltoall", 2**12, algorithm="pairwise"),
]
LARGE = [Work("dissemination", LARGE_RANKS), Work("dissemination", LARGE_RANKS, threads=2)]
LARGEST = [Work("dissemination", LARGEST_RANKS, threads=2)]


class Floors:
    """What the floor's programs say, each asked once."""

    def __init__(self, folder: Path, machines: Path) -> None:
        self.folder = folder
        self.machines = machines
        self.answers: dict[tuple[int, str], Answer] = {}

    def of(self, ranks: int, noise: str = "") -> Answer:
        """The floor of dissemination."""
        if (ranks, noise) not in self.answers:
            command: list[str | Path] = [self.folder / "floor", str(ranks), str(repetitions(ranks))]
            if noise:
                command[0] = self.folder / "noise_floor"
            command += recording_arguments(self.machines, noise)
            self.answers[ranks, noise] = fastest(command)
        return self.answers[ranks, noise]


def table_of(works: list[Work], answers: dict[Work, Answer], floors: Floors) -> Table:
    """All rows."""
    table = Table(
        "pattern", "ranks", "threads", "noise", "messages", "first", "seconds", "ns each", "over floor", "MiB"
    )
    for column in table.columns[1:]:
        column.justify = "right"
    for work in works:
        answer = answers[work]
        table.add_row(
            work.pattern,
            f"{work.ranks:,}",
            str(work.threads),
            work.noise or "none",
            f"{answer.messages:,}",
            f"{answer.first:.3f}",
            f"{answer.seconds:.3f}",
            f"{answer.nanoseconds:.0f}",
            over_floor(work, answer, floors),
            f"{answer.memory / 2**20:.0f}",
        )
    return table


def over_floor(work: Work, answer: Answer, floors: Floors) -> str:
    """How many times as long a message takes as by the floor's rules; the floor knows dissemination only."""
    if work.pattern != "dissemination" or work in LARGEST:
        return ""
    return times(answer, floors.of(work.ranks, work.noise))


def times(answer: Answer, floor: Answer) -> str:
    """How many times as long a message takes, where both say the same."""
    if answer.last != floor.last:
        return f"{answer.last}, not {floor.last} ps"
    return f"{answer.nanoseconds / floor.nanoseconds:.1f} x"


def beside_floor(answers: dict[Work, Answer], floors: Floors) -> Table:
    """What noise costs the simulator, and the floor."""
    headings = ("times as long as without", "the floor, times", "over floor")
    table = Table(f"dissemination, {COMPARED_RANKS:,} ranks", *headings)
    for column in table.columns[1:]:
        column.justify = "right"
    plain = answers[Work("dissemination", COMPARED_RANKS)]
    for noise in PERIODS:
        ours = answers[Work("dissemination", COMPARED_RANKS, noise=noise)]
        theirs = floors.of(COMPARED_RANKS, noise)
        dearer = theirs.seconds / floors.of(COMPARED_RANKS).seconds
        what = f"noise that takes {noise} of the time"
        table.add_row(what, f"{ours.seconds / plain.seconds:.1f}", f"{dearer:.1f}", times(ours, theirs))
    return table


def plot(answers: dict[Work, Answer], floors: Floors, output: Path) -> None:
    """Time a message against ranks: a flat line is a cost that grows linearly in messages."""
    figure, axes = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    curves = [("without noise", "o", "C0", ""), ("noise that takes 7.5% of the time", "s", "C1", "7.5%")]
    for label, marker, color, noise in curves:
        rows = [w for w in answers if w.pattern == "dissemination" and w.threads == 1 and w.noise == noise]
        ranks = [w.ranks for w in rows]
        axes.plot(ranks, [answers[w].nanoseconds for w in rows], color, marker=marker, label=label)
        lowest = [floors.of(r, noise).nanoseconds for r in ranks]
        axes.plot(ranks, lowest, color, linestyle="--", label="its floor: CPU and NIC rules alone")
    axes.set(xlabel="ranks", ylabel="time of a message [ns]", title="Dissemination, one thread")
    axes.set_xscale("log", base=2)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend()
    for ending in ("svg", "png"):
        figure.savefig(output / f"nanoseconds-per-message.{ending}", dpi=200)


def simulate_seeds(schedule: idlewave.Schedule, machine: idlewave.Machine, threads: int) -> None:
    """All seeds of one schedule, which is in memory once."""
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda seed: idlewave.simulate(schedule, machine, seed=seed).max_finish, range(SEEDS)))


def in_turns(machines: Path, large: bool) -> Table:
    """What a second thread gains, and what derivatives cost: of two, each made in turn with the other, the fastest."""
    table = Table("what", "seconds", "beside", "seconds", "ratio", title="in turns")
    quiet = idlewave.Machine.load(machines / "quiet.toml")
    noisy = idlewave.Machine.load(machines / machine_file("7.5%"))

    def add(
        what: str, slow: Callable[[], object], beside: str, fast: Callable[[], object], least: int = REPETITIONS
    ) -> None:
        pairs = several(least, lambda: [seconds_of(slow), seconds_of(fast)])
        one, other = (min(seconds) for seconds in zip(*pairs, strict=True))
        table.add_row(what, f"{one:.3f}", beside, f"{other:.3f}", f"{one / other:.2f}")

    for ranks in (COMPARED_RANKS, *([LARGE_RANKS] if large else [])):
        schedule = idlewave.Schedule.pattern("dissemination", ranks=ranks)
        alone = partial(idlewave.simulate, schedule, quiet)
        together = partial(alone, scheduler="yawns", threads=2)
        add(f"dissemination, {ranks:,} ranks", alone, "2 threads", together, repetitions(ranks))
    schedule = idlewave.Schedule.pattern("dissemination", ranks=SEED_RANKS)
    seeds = partial(simulate_seeds, schedule, noisy)
    add(f"{SEEDS} seeds, {SEED_RANKS:,} ranks", partial(seeds, 1), "2 threads", partial(seeds, 2))
    for name, schedule in sloped_schedules().items():
        slopes = partial(idlewave.sensitivities, schedule, quiet)
        add(f"{name}, derivatives", slopes, "without", partial(idlewave.simulate, schedule, quiet))
    schedule = idlewave.Schedule.pattern("dissemination", ranks=COMPARED_RANKS)
    for noise in PERIODS:
        machine = idlewave.Machine.load(machines / machine_file(noise))
        what = f"dissemination, {COMPARED_RANKS:,} ranks, {noise} noise, derivatives"
        slopes = partial(idlewave.sensitivities, schedule, machine)
        add(what, slopes, "without", partial(idlewave.simulate, schedule, machine), 2 * REPETITIONS)
    return table


def seconds_of(run: Callable[[], object]) -> float:
    """What a call takes."""
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def around_simulations(machines: Path) -> Table:
    """What a study's row, and a call of `simulate`, cost beside the compiled function that simulates."""
    table = Table("µs", "pattern", "ranks", "in all", "simulation", "around it", title="many small simulations")
    noisy = idlewave.Machine.load(machines / machine_file("7.5%"))
    schedule = idlewave.Schedule.pattern("dissemination", ranks=ROW_RANKS)

    def in_turn(run: Callable[[int], object]) -> None:
        for seed in range(ROWS):
            run(seed)

    alone = partial(in_turn, lambda seed: _core.simulate(schedule.core(), noisy.core(), seed, 1, None))
    for what, run in {
        "a study's row, one worker": partial(idlewave.study, schedule, noisy, seeds=ROWS, workers=1),
        "a call of simulate": partial(in_turn, lambda seed: idlewave.simulate(schedule, noisy, seed=seed)),
    }.items():
        pairs = several(REPETITIONS, lambda run=run: [seconds_of(run), seconds_of(alone)])
        whole, simulation = (min(seconds) / ROWS * 1e6 for seconds in zip(*pairs, strict=True))
        times = (f"{value:.0f}" for value in (whole, simulation, whole - simulation))
        table.add_row(what, schedule.name, str(ROW_RANKS), *times)
    return table


def sloped_schedules() -> dict[str, idlewave.Schedule]:
    """What is differentiated: much of one kind, long chains, and ranks that all differ, as in a traced program."""
    patterns = {
        f"{pattern}, {ranks:,} ranks": idlewave.Schedule.pattern(pattern, ranks=ranks)
        for pattern, ranks in SLOPED_PATTERNS.items()
    }
    uneven = idlewave.Schedule.from_goal(uneven_goal(SLOPES_RANKS))
    return patterns | {f"uneven computation, {SLOPES_RANKS:,} ranks": uneven}


def uneven_goal(ranks: int) -> str:
    """Ranks that compute, each time for another time, and exchange with four others."""
    dice = random.Random(1)
    lines = [f"num_ranks {ranks}"]
    for rank in range(ranks):
        lines.append(f"rank {rank} {{")
        met: list[str] = []
        for step in range(UNEVEN_STEPS):
            lines.append(f"c{step}: calc {dice.randrange(20_000, 60_000)}")
            lines += [f"c{step} requires {label}" for label in met]
            met = []
            for tag, distance in enumerate((1, -1, 32, -32)):
                lines.append(f"s{step}_{tag}: send 800b to {(rank + distance) % ranks} tag {tag}")
                lines.append(f"r{step}_{tag}: recv 800b from {(rank - distance) % ranks} tag {tag}")
                both = [f"s{step}_{tag}", f"r{step}_{tag}"]
                lines += [f"{label} requires c{step}" for label in both]
                met += both
        lines.append("}")
    return "\n".join(lines) + "\n"


def rows_before(folder: Path) -> list[before.Row]:
    """What is compared with an earlier Idlewave, three runs a process. The machines are in `folder`."""

    def row(name: str, noise: str, what: str, *work: str | Path) -> before.Row:
        arguments = [folder / machine_file(noise), PAIRED_REPETITIONS, what, *work]
        return before.Row(name, lambda python: paired([python, REPEAT, *arguments]))

    def paired(command: Sequence[str | Path]) -> before.Run:
        said = said_by(command)
        said.pop("memory", 0)
        return before.Run(min(said.pop("seconds")), said)

    rows = []
    for work in WORKS:
        name = f"{work.pattern}, {work.ranks:,} ranks{', 2 threads' * (work.threads > 1)}"
        what = [work.pattern, str(work.ranks), *([work.algorithm] if work.algorithm else [])]
        rows.append(row(f"{name}, {work.noise} noise" if work.noise else name, work.noise, str(work.threads), *what))
    rows.append(row(f"{SEEDS} seeds, {SEED_RANKS:,} ranks", "7.5%", "seeds", "dissemination", str(SEED_RANKS)))
    for pattern, ranks in SLOPED_PATTERNS.items():
        rows.append(row(f"{pattern}, {ranks:,} ranks, derivatives", "", "slopes", pattern, str(ranks)))
    file = folder / "uneven.goal"
    file.write_text(uneven_goal(SLOPES_RANKS), encoding="utf-8")
    return [*rows, row(f"uneven computation, {SLOPES_RANKS:,} ranks, derivatives", "", "slopes", file)]


def main() -> None:
    """Run all rows, and show them."""
    parser = argparse.ArgumentParser(description="How long the simulator takes.")
    parser.add_argument("--floors", type=Path, required=True, help="directory of floor.cpp and its like, compiled")
    parser.add_argument("--large", action="store_true", help="also 16,777,216 ranks")
    parser.add_argument("--largest", action="store_true", help="also 134,217,728 ranks: needs 14 GB, takes minutes")
    parser.add_argument("--loggopsim", type=Path, help="directory of a LogGOPSim build")
    parser.add_argument("--before", type=Path, metavar="PYTHON", help=before.HELP)
    parser.add_argument("--output", type=Path, default=Path("out/bench"), help="where the plot goes")
    arguments = parser.parse_args()
    if arguments.before is not None and (arguments.large or arguments.largest or arguments.loggopsim is not None):
        parser.error("--before goes with none of --large, --largest and --loggopsim")
    arguments.output.mkdir(parents=True, exist_ok=True)
    console = Console(width=WIDTH)
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_machines(folder)
        if arguments.before is not None:
            before.show(console, rows_before(folder), arguments.before, Path(sys.executable))
            return
        works = WORKS + (LARGE if arguments.large else []) + (LARGEST if arguments.largest else [])
        progress = track(works, description="simulating", transient=True)
        answers = {work: simulated(work, folder) for work in progress}
        floors = Floors(arguments.floors, folder)
        console.print(table_of(works, answers, floors))
        console.print(beside_floor(answers, floors))
        plot(answers, floors, arguments.output)
        console.print(in_turns(folder, arguments.large))
        console.print(around_simulations(folder))
        console.print(*programs(folder, arguments.floors, large=arguments.large))
        if arguments.loggopsim is not None:
            peer = arguments.loggopsim
            console.print(beside_peer(peer, folder, folder, arguments.floors, large=arguments.large))
    console.print(f"the plot: {arguments.output}/nanoseconds-per-message.svg")


if __name__ == "__main__":
    main()
