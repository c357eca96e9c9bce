"""How long the simulator takes per message, and how much memory: tables and a plot. ``make bench``.

    python bench/simulate.py --floor FILE [--large] [--largest] [--loggopsim DIRECTORY] [--output DIRECTORY]

Each row of the first table is a process of its own, so that memory is its own. "seconds" is simulation with
generation of the schedule, without start-up; a row is run five times (large ones three times, the largest once), and
the fastest is shown: on a virtual machine the first may also wait for the host's memory, up to four seconds a gigabyte.
"noise" is the share of time that 10,000 detours take.
"over floor" is how many times as long a message takes as in bench/floor.cpp on as many ranks: rules of CPU and NIC for
one pattern, and nothing else. With ``--large`` also 16,777,216 ranks, with ``--largest`` 134,217,728.
With the directory of a LogGOPSim build (the program loggopsim) both simulate the same schedules, from LogGOPSim's own
binary files.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import idlewave
import matplotlib.pyplot as plt
from rich.console import Console
from rich.progress import track
from rich.table import Table

IDLEWAVE = Path(sys.executable).parent / "idlewave"
REPETITIONS = 5
LARGE_REPETITIONS = 3
LARGE_RANKS = 2**24
LARGEST_RANKS = 2**27
NETWORK = 'name = "bench"\n[network]\nL = "2.5us"\no = "1.5us"\ng = "1us"\nG = "6ns"\nO = "0ns"\nS = "inf"\n'
LOGGOPSIM_NETWORK = ["-L", "2500", "-o", "1500", "-g", "1000", "-G", "6", "-O", "0", "-S", "1000000000"]
DETOURS = 10_000
DETOUR_LENGTHS = (2_000, 3_000, 5_000, 20_000)
"""ns, each as likely."""
PERIODS = {"7.5%": 1, "0.3%": 25}
"""Seconds over which the detours are strewn, by their share of the time: far more than a machine should have, and what
a timer and a few daemons take."""
SEEDS = 64
WIDTH = 120
SEED_RANKS = 2**14
STARTER = """
import json, os, subprocess, sys, time
begin = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
text = process.stdout.read()
_, status, used = os.wait4(process.pid, 0)
seconds = time.perf_counter() - begin
print(json.dumps({"text": text, "status": status, "seconds": seconds, "memory": used.ru_maxrss * 1024}))
"""


@dataclass(frozen=True)
class Work:
    """One row: a pattern of 1-byte messages, on some threads, with or without noise."""

    pattern: str
    ranks: int
    algorithm: str = ""
    threads: int = 1
    noise: str = ""
    """Of PERIODS."""

    def source(self) -> list[str]:
        """The pattern as arguments."""
        chosen = ["--algorithm", self.algorithm] if self.algorithm else []
        return [self.pattern, "--ranks", str(self.ranks), *chosen]

    def options(self, machines: Path) -> list[str]:
        """The machine and the scheduler as arguments."""
        options = ["--json", "--machine", str(machines / machine_file(self.noise))]
        return options + (["--scheduler", "yawns", "--threads", str(self.threads)] if self.threads > 1 else [])


def machine_file(noise: str) -> str:
    """The machine with that share of noise, or with none."""
    return f"noise-{noise.rstrip('%')}.toml" if noise else "quiet.toml"


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
PEER_WORKS = [
    Work("dissemination", 2**17),
    Work("bcast", 2**17),
    Work("gather", 2**12),
    Work("alltoall", 2**9, algorithm="pairwise"),
]


@dataclass(frozen=True)
class Answer:
    """What a process said of itself."""

    messages: int
    seconds: float
    memory: int  # bytes

    @property
    def nanoseconds(self) -> float:
        """A message."""
        return self.seconds / self.messages * 1e9


def write_machines(folder: Path) -> None:
    """A quiet machine, and for each share of noise one with a recording of many short detours and few long ones."""
    (folder / "quiet.toml").write_text(NETWORK, encoding="utf-8")
    for noise, seconds in PERIODS.items():
        dice = random.Random(1)
        starts = sorted(dice.sample(range(0, seconds * 1_000_000_000, 100_000), DETOURS))
        rows = "".join(f"{start},{dice.choice(DETOUR_LENGTHS)}\n" for start in starts)
        file = machine_file(noise)
        (folder / f"{file}.csv").write_text("start_ns,length_ns\n" + rows, encoding="utf-8")
        table = f'\n[noise]\nkind = "trace"\nfile = "{file}.csv"\nperiod = "{seconds}s"\n'
        (folder / file).write_text(NETWORK + table, encoding="utf-8")


def fastest(command: Sequence[str | Path], repetitions: int) -> Answer:
    """The fastest of some runs of a program that prints JSON."""
    answers = []
    for _ in range(repetitions):
        said = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        answers.append(Answer(said["messages"], said["seconds"], said.get("peak_rss_bytes", 0)))
    return min(answers, key=lambda answer: answer.seconds)


def repetitions(ranks: int) -> int:
    """How often a row is run."""
    if ranks >= LARGEST_RANKS:
        return 1
    return LARGE_REPETITIONS if ranks >= LARGE_RANKS else REPETITIONS


def table_of(works: list[Work], machines: Path, floor: Path, output: Path) -> Table:
    """All rows, and the plot."""
    table = Table("pattern", "ranks", "threads", "noise", "messages", "seconds", "ns a message", "over floor", "MiB")
    for column in table.columns[1:]:
        column.justify = "right"
    answers = {}
    floors: dict[int, Answer] = {}
    for work in track(works, description="simulating", transient=True):
        times = repetitions(work.ranks)
        answer = fastest([IDLEWAVE, "simulate", *work.source(), *work.options(machines)], times)
        answers[work] = answer
        table.add_row(
            work.pattern,
            f"{work.ranks:,}",
            str(work.threads),
            work.noise or "none",
            f"{answer.messages:,}",
            f"{answer.seconds:.3f}",
            f"{answer.nanoseconds:.0f}",
            over_floor(work, answer, floors, floor),
            f"{answer.memory / 2**20:.0f}",
        )
    plot(answers, floors, output)
    return table


def over_floor(work: Work, answer: Answer, floors: dict[int, Answer], floor: Path) -> str:
    """How many times as long a message takes as by the floor's rules; the floor knows dissemination only."""
    if work.pattern != "dissemination" or work in LARGEST:
        return ""
    if work.ranks not in floors:
        floors[work.ranks] = fastest([floor, str(work.ranks)], repetitions(work.ranks))
    return f"{answer.nanoseconds / floors[work.ranks].nanoseconds:.1f} x"


def plot(answers: dict[Work, Answer], floors: dict[int, Answer], output: Path) -> None:
    """Time a message against ranks: a flat line is a cost that grows linearly in messages."""
    figure, axes = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    curves = [("without noise", "o", ""), ("noise that takes 7.5% of the time", "s", "7.5%")]
    for label, marker, noise in curves:
        rows = [w for w in answers if w.pattern == "dissemination" and w.threads == 1 and w.noise == noise]
        axes.plot([w.ranks for w in rows], [answers[w].nanoseconds for w in rows], marker=marker, label=label)
    ranks = sorted(floors)
    axes.plot(ranks, [floors[r].nanoseconds for r in ranks], "k--", label="floor: CPU and NIC rules alone")
    axes.set(xlabel="ranks", ylabel="time of a message [ns]", title="Dissemination, one thread")
    axes.set_xscale("log", base=2)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend()
    for ending in ("svg", "png"):
        figure.savefig(output / f"nanoseconds-per-message.{ending}", dpi=200)


def beside_peer(peer: Path, machines: Path, folder: Path) -> Table:
    """The same schedules by both simulators, from the same binary files."""
    table = Table("pattern", "ranks", "LogGOPSim, s", "MiB", "Idlewave, s", "MiB", "times as fast", "same answer")
    for column in table.columns[1:]:
        column.justify = "right"
    for work in track(PEER_WORKS, description="beside LogGOPSim", transient=True):
        file = folder / f"{work.pattern}.bin"
        subprocess.run([IDLEWAVE, "schedule", *work.source(), "-o", file], capture_output=True, check=True)
        theirs, last = run_peer(peer, file)
        command = [IDLEWAVE, "simulate", file, "--dialect", "loggopsim", "--json", "--machine", machines / "quiet.toml"]
        dialect = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        ours = min((whole_process(work, file, machines) for _ in range(REPETITIONS)), key=lambda a: a.seconds)
        table.add_row(
            work.pattern,
            f"{work.ranks:,}",
            f"{theirs.seconds:.2f}",
            f"{theirs.memory / 2**20:.0f}",
            f"{ours.seconds:.2f}",
            f"{ours.memory / 2**20:.0f}",
            f"{theirs.seconds / ours.seconds:.1f}",
            "yes" if last * 1000 == dialect["max_finish_ps"] else f"{last} ns and {dialect['max_finish_ps']} ps",
        )
    return table


def measured(command: Sequence[str | Path]) -> tuple[Answer, str]:
    """A whole process, start-up and reading included.

    It is started by a small one: a process counts as its own the memory of the one that it comes from.
    """
    starter = [sys.executable, "-S", "-c", STARTER, *map(str, command)]
    said = json.loads(subprocess.run(starter, capture_output=True, text=True, check=True).stdout)
    if said["status"] != 0:
        raise SystemExit(f"{command[0]} failed: {said['text']}")
    return Answer(0, said["seconds"], said["memory"]), said["text"]


def whole_process(work: Work, file: Path, machines: Path) -> Answer:
    """Idlewave on a file."""
    return measured([IDLEWAVE, "simulate", str(file), *work.options(machines)])[0]


def run_peer(peer: Path, file: Path) -> tuple[Answer, int]:
    """LogGOPSim on a file, and when its last rank finished, ns."""
    answer, text = measured([peer / "loggopsim", *LOGGOPSIM_NETWORK, "--batchmode", "-f", file])
    last = re.search(r"finishing time at host \d+: (\d+)", text)
    if last is None:
        raise SystemExit(f"{peer / 'loggopsim'} does not say when its last rank finished")
    return answer, int(last[1])


def seeds_on(threads: int, schedule: idlewave.Schedule, machine: idlewave.Machine) -> float:
    """Seconds for all seeds of one schedule, which is in memory once."""
    begin = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda seed: idlewave.simulate(schedule, machine, seed=seed).max_finish, range(SEEDS)))
    return time.perf_counter() - begin


def many_runs(machines: Path) -> Table:
    """Seeds beside each other on threads, and derivatives beside plain simulations."""
    table = Table("what", "seconds", "beside", "seconds", "ratio")
    schedule = idlewave.Schedule.pattern("dissemination", ranks=SEED_RANKS)
    noisy = idlewave.Machine.load(machines / machine_file("7.5%"))
    one, two = (min(seeds_on(threads, schedule, noisy) for _ in range(REPETITIONS)) for threads in (1, 2))
    work = f"{SEEDS} seeds, {SEED_RANKS:,} ranks"
    table.add_row(f"{work}, 1 thread", f"{one:.2f}", "2 threads", f"{two:.2f}", f"{one / two:.2f}")
    quiet = idlewave.Machine.load(machines / "quiet.toml")
    for pattern, ranks in (("dissemination", 2**20), ("alltoall", 2**10)):
        schedule = idlewave.Schedule.pattern(pattern, ranks=ranks)
        plain = min(idlewave.simulate(schedule, quiet).seconds for _ in range(REPETITIONS))
        slopes = min(idlewave.sensitivities(schedule, quiet).seconds for _ in range(REPETITIONS))
        what = f"{pattern}, {ranks:,} ranks, with derivatives"
        table.add_row(what, f"{slopes:.2f}", "without", f"{plain:.2f}", f"{slopes / plain:.2f}")
    return table


def main() -> None:
    """Run all rows, and show them."""
    parser = argparse.ArgumentParser(description="How long the simulator takes.")
    parser.add_argument("--floor", type=Path, required=True, help="bench/floor.cpp, compiled")
    parser.add_argument("--large", action="store_true", help="also 16,777,216 ranks")
    parser.add_argument("--largest", action="store_true", help="also 134,217,728 ranks: needs 14 GB, takes minutes")
    parser.add_argument("--loggopsim", type=Path, help="directory of a LogGOPSim build")
    parser.add_argument("--output", type=Path, default=Path("out/bench"), help="where the plot goes")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    console = Console(width=WIDTH)
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_machines(folder)
        works = WORKS + (LARGE if arguments.large else []) + (LARGEST if arguments.largest else [])
        console.print(table_of(works, folder, arguments.floor, arguments.output))
        console.print(many_runs(folder))
        if arguments.loggopsim is not None:
            console.print(beside_peer(arguments.loggopsim, folder, folder))
    console.print(f"the plot: {arguments.output}/nanoseconds-per-message.svg")


if __name__ == "__main__":
    main()
