"""How many events a second the kernel handles: a table and a plot. ``make bench-kernel``.

    python bench/kernel.py [--ross DIRECTORY] [--sweeps] [--output DIRECTORY]

PHOLD with a tenth of the events remote, delays of 0.1 + an exponential time of mean 0.9, and 16 events an LP. Rates are
millions of committed events a second and core, the best of three runs, each a process of its own (or two, with
mpiexec); initialisation is apart, and memory is the whole process's. With the directory of a ROSS build its phold
(models/phold/phold) runs beside, with the same parameters, and the table says how many times as fast this kernel is.
``--sweeps`` draws rate and efficiency on two threads against the remote share, the lookahead, and the LPs.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
from idlewave import mpi
from rich.console import Console
from rich.progress import track
from rich.table import Table

IDLEWAVE = Path(sys.executable).parent / "idlewave"
LPS_PER_CORE = (40, 1_000, 16_000, 256_000, 1_000_000)
EVENTS = 20_000_000
"""Of a run, about; ROSS, which is slower, runs a tenth of the simulated time."""
SHORTEST = 3.0
"""Of simulated time: until events are spread as they stay."""
REPETITIONS = 3
ROSS_SHARE = 0.1
START_EVENTS = 16
WIDTH = 130


@dataclass(frozen=True)
class Way:
    """A way of running: its name, the options that say so, ROSS's option, and on how many cores."""

    name: str
    options: tuple[str, ...]
    synch: int
    cores: int
    wanted: tuple[float, ...]
    """Millions of events a second and core, by LPS_PER_CORE."""


WAYS = (
    Way("sequential", ("--scheduler", "sequential"), 1, 1, (12, 12, 11, 8, 5)),
    Way("conservative, 2 threads", ("--scheduler", "yawns", "--threads", "2"), 2, 2, (7, 10, 9, 7, 4)),
    Way("optimistic, 2 threads", ("--scheduler", "timewarp", "--threads", "2"), 3, 2, (5, 7, 7, 5, 3)),
    Way("conservative, 2 processes", ("--scheduler", "yawns", "--processes", "2"), 2, 2, (4.9, 7, 6.3, 4.9, 2.8)),
    Way("optimistic, 2 processes", ("--scheduler", "timewarp", "--processes", "2"), 3, 2, (3.5, 4.9, 4.9, 3.5, 2.1)),
)


@dataclass(frozen=True)
class Answer:
    """What a run took."""

    rate: float
    init_seconds: float
    memory: int
    efficiency: float
    digest: int


def end_of(lps: int) -> float:
    """Until when about so many events are handled."""
    return max(SHORTEST, EVENTS / (lps * START_EVENTS))


def simulated(way: Way, lps: int) -> Answer:
    """The best of several runs."""
    command = [str(IDLEWAVE), "pdes", "phold", "--lps", str(lps), "--end", f"{end_of(lps):g}", "--json", *way.options]
    runs = [json.loads(subprocess.run(command, check=True, capture_output=True).stdout) for _ in range(REPETITIONS)]
    best = max(runs, key=lambda run: float(run["rate"]))
    memory = min(run["peak_rss_bytes"] for run in runs)
    return Answer(best["rate"], best["init_seconds"], memory, best["efficiency"], best["digest"])


def ross(directory: Path, way: Way, lps_per_core: int) -> float:
    """Committed events a second of ROSS's phold."""
    program = directory / "models/phold/phold"
    end = max(SHORTEST, end_of(lps_per_core * way.cores) * ROSS_SHARE)
    options = ["--remote=0.1", "--mean=0.9", "--lookahead=0.1", f"--start-events={START_EVENTS}"]
    command = [str(program), f"--synch={way.synch}", f"--nlp={lps_per_core}", f"--end={end:g}", *options]
    if way.synch == 3:
        command += ["--batch=8", "--gvt-interval=512", f"--extramem={lps_per_core * START_EVENTS}"]
    site = mpi.find()
    if way.cores > 1:
        command = [str(site.mpiexec), "-n", str(way.cores), *command]
    done = subprocess.run(command, capture_output=True, text=True, env=site.environment(), check=False)
    found = re.search(r"Event Rate \(events/sec\)\s+([\d.]+)", done.stdout)
    if found is None:
        raise SystemExit(f"{program} does not say its event rate:\n{done.stdout[-500:]}{done.stderr[-500:]}")
    return float(found[1])


def row_of(way: Way, index: int, answer: Answer, beside: float | None) -> list[str]:
    """A row of the table."""
    rate = answer.rate / way.cores / 1e6
    cells = [way.name, f"{LPS_PER_CORE[index]:,}", f"{rate:.1f}", f"{way.wanted[index]:g}"]
    memory = "" if "--processes" in way.options else f"{answer.memory / 2**20:.0f}"  # the launcher's is nobody's
    cells += [f"{answer.efficiency:.2%}", f"{answer.init_seconds:.3f}", memory]
    if beside is not None:
        cells += [f"{beside / way.cores / 1e6:.2f}", f"{answer.rate / beside:.1f} x"]
    return cells


def plot(rates: dict[str, list[float]], output: Path) -> None:
    """Nanoseconds an event and core against LPs."""
    figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    for name, values in rates.items():
        axes.plot(LPS_PER_CORE[: len(values)], [1e9 / value for value in values], marker="o", label=name)
    axes.set_xscale("log")
    axes.set_ylim(0)
    axes.set_xlabel("LPs a core")
    axes.set_ylabel("time of an event and core [ns]")
    axes.set_title("PHOLD, 16 events an LP, 10 % remote")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    figure.savefig(output / "nanoseconds-per-event.svg")


@dataclass(frozen=True)
class Sweep:
    """One parameter, the values that it is given, and what an axis says of it."""

    name: str
    values: tuple[float, ...]
    label: str
    logarithmic: bool = True


SWEEPS = (
    Sweep("remote", (0.0, 0.01, 0.1, 0.25, 0.5, 1.0), "remote share", logarithmic=False),
    Sweep("lookahead", (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.9), "lookahead, of a mean delay of 1"),
    Sweep("lps", (80, 800, 8_000, 80_000, 800_000), "LPs"),
)
SWEPT = {"remote": 0.1, "lookahead": 0.1, "lps": 8_000.0}
SWEPT_EVENTS = 4_000_000


def swept(way: Way, changed: dict[str, float]) -> Answer:
    """A run with some parameters changed."""
    values = SWEPT | changed
    end = max(SHORTEST, SWEPT_EVENTS / (values["lps"] * START_EVENTS))
    command = [str(IDLEWAVE), "pdes", "phold", "--json", "--end", f"{end:g}", "--mean", f"{1 - values['lookahead']:g}"]
    for name, value in values.items():
        command += [f"--{name}", f"{value:g}"]
    run = json.loads(subprocess.run([*command, *way.options], check=True, capture_output=True).stdout)
    return Answer(run["rate"], run["init_seconds"], run["peak_rss_bytes"], run["efficiency"], run["digest"])


def plot_sweeps(output: Path) -> None:
    """Rate and efficiency against each parameter."""
    figure, panels = plt.subplots(2, len(SWEEPS), figsize=(9.6, 5.0), layout="constrained", sharey="row", sharex="col")
    for way in WAYS[1:3]:
        for column, sweep in enumerate(SWEEPS):
            answers = [swept(way, {sweep.name: value}) for value in sweep.values]
            upper, lower = panels[0][column], panels[1][column]
            upper.plot(sweep.values, [answer.rate / way.cores / 1e6 for answer in answers], marker="o", label=way.name)
            lower.plot(sweep.values, [answer.efficiency for answer in answers], marker="o", label=way.name)
            lower.set_xlabel(sweep.label)
            if sweep.logarithmic:
                lower.set_xscale("log")
    panels[0][0].set_ylabel("M events/s a core")
    panels[1][0].set_ylabel("efficiency")
    panels[0][0].set_ylim(0)
    panels[0][0].legend(fontsize=8)
    for axes in panels.flat:
        axes.grid(alpha=0.3)
    figure.savefig(output / "phold-sweeps.svg")


def main() -> None:
    """Run all rows, and show them."""
    parser = argparse.ArgumentParser(description="How many events a second the kernel handles.")
    parser.add_argument("--ross", type=Path, help="directory of a ROSS build")
    parser.add_argument("--sweeps", action="store_true", help="draw rate and efficiency against parameters, too")
    parser.add_argument("--output", type=Path, default=Path("out/bench"), help="where the plot goes")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    peer = ["ROSS", "times as fast"] if arguments.ross else []
    table = Table("way", "LPs a core", "M events/s a core", "wanted", "efficiency", "init s", "MiB", *peer)
    rates: dict[str, list[float]] = {way.name: [] for way in WAYS}
    digests: dict[int, set[int]] = {}
    works = [(way, index) for way in WAYS for index in range(len(LPS_PER_CORE))]
    for way, index in track(works, description="simulating", transient=True):
        lps = LPS_PER_CORE[index] * way.cores
        answer = simulated(way, lps)
        beside = ross(arguments.ross, way, LPS_PER_CORE[index]) if arguments.ross else None
        rates[way.name].append(answer.rate / way.cores)
        digests.setdefault(lps, set()).add(answer.digest)
        table.add_row(*row_of(way, index, answer, beside), end_section=index + 1 == len(LPS_PER_CORE))
    console = Console(width=WIDTH)
    console.print(table)
    alike = all(len(found) == 1 for found in digests.values())
    console.print("all ways find the same" if alike else "NOT all ways find the same: there is an error")
    plot(rates, arguments.output)
    console.print(f"the plot: {arguments.output}/nanoseconds-per-event.svg")
    if arguments.sweeps:
        plot_sweeps(arguments.output)
        console.print(f"the sweeps: {arguments.output}/phold-sweeps.svg")
    if not alike:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
