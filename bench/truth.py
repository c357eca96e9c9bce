"""How far predictions of a measured machine are off, beside loops that know nothing of the measurement.

For each MPI and transport the loops of probes/loops run before and after the machine is measured, and the simulation
of the same loops on that machine is held against what they took at the machine's own speed. Tables and a plot, on
standard output and in a folder; nothing is asserted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from idlewave import Schedule, simulate
from idlewave.formatting import size_text
from idlewave.machine import Machine
from idlewave.measure import NetworkMeasurement, assess_pair
from idlewave.measure.network.assessment import assess_collectives
from idlewave.measure.network.files.network_files import machine_of, save_network
from idlewave.measure.network.fitting.machine_speeds import SHARED_RATIO, UNSHARED_QUANTILE, Speed, find_speeds
from idlewave.measure.network.job.collectives import measure_collectives
from idlewave.measurement_parameters import PATTERN_SECONDS
from idlewave.mpi import OPEN_MPI, Mpi, MpiError, build_example, find
from idlewave.plot_style import new_figure
from idlewave.trace import Trace
from idlewave.traced_run import trace as run_traced
from idlewave.validation.loops import COLLECTIVES, POINT, POINT_TO_POINT, run_loops, simulated_ps
from idlewave.validation.speeds import NEAR, pilot_ns
from matplotlib.ticker import FuncFormatter

ROOT = Path(__file__).resolve().parent.parent
BARRIER_NEAR = 1.25
"""One of a collective counts if its barriers are, too, within this factor of the machine's."""
ENOUGH = 0.8
"""The share of points that must have samples at the machine's speed; else all is measured again, …"""
ATTEMPTS = 3
"""… so often in all."""
PROGRAMS = {"halo2d": ("1024", "200", "5"), "cg": ("96", "400")}
"""Examples, with arguments for some tenths of a second."""
TWO = "2 ranks"
"""The table of the ranks between which the machine was measured."""
RUNS = 5
STARTS = 3
"""Of the loops in each half: what is said is of the machine, and not of where one start laid its memory."""
TCP = {
    OPEN_MPI: {"OMPI_MCA_btl": "tcp,self", "OMPI_MCA_pml": "ob1"},
    "MPICH": {"MPIR_CVAR_NOLOCAL": "1", "UCX_TLS": "tcp,self"},
}


@dataclass(frozen=True)
class Setting:
    """An MPI, and the transport that the environment makes it use."""

    mpi: Mpi
    transport: str

    @property
    def name(self) -> str:
        """For tables."""
        return f"{self.mpi.vendor} {self.mpi.version}, {self.transport}"

    @property
    def variables(self) -> Mapping[str, str]:
        """What the environment needs for the transport."""
        return TCP[self.mpi.vendor] if self.transport == "TCP" else {}


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """This process's environment with `variables`, for as long as the context."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def loops(setting: Setting, ranks: int, seconds: float, most: int, seed: int) -> pd.DataFrame:
    """The samples of the loops, as `run_loops` has them; they are started STARTS times."""
    launch = [str(setting.mpi.mpiexec)]
    each = [run_loops(setting.mpi, launch, ranks, seconds / STARTS, most, STARTS * seed + i) for i in range(STARTS)]
    return pd.concat(each, ignore_index=True)


def speed_of(network: NetworkMeasurement) -> Speed:
    """The speed of the machine that was measured."""
    assert network.patterns is not None
    assert network.pattern_samples is not None
    return find_speeds(network.pattern_samples).each[network.patterns.speed]


def shares_cores(network: NetworkMeasurement, loops: pd.DataFrame) -> bool:
    """Whether something else shared the cores when the machine was measured: at its speed the reference computation
    took longer than on unshared cores, as the quickest of the `loops` show them."""
    reference = speed_of(network).reference
    assert reference is not None
    return bool(reference.median_ns > SHARED_RATIO * loops["reference_before_ns"].quantile(UNSHARED_QUANTILE))


def at_barrier(samples: pd.DataFrame, network: NetworkMeasurement) -> pd.DataFrame:
    """The samples without those of collectives at another speed of the barrier than the machine's."""
    assert network.collectives is not None
    times = network.collectives.table.set_index("collective")["median_ps"] / 1000
    usual = float(times["barrier"])
    columns = (samples[f"barrier_{when}_ns"] for when in ("before", "after"))
    before, after = (column.between(usual / BARRIER_NEAR, usual * BARRIER_NEAR) for column in columns)
    barriers = before & after
    return samples[barriers | ~samples["loop"].isin(COLLECTIVES)]


@dataclass(frozen=True)
class Attempt:
    """A measurement of the machine, and the samples of the loops before and after it, at its speed."""

    network: NetworkMeasurement
    before: pd.DataFrame
    after: pd.DataFrame
    points: int
    shared: bool

    @property
    def at_any_barrier(self) -> pd.DataFrame:
        """The samples of both halves."""
        return pd.concat([self.before, self.after], ignore_index=True)

    @property
    def own(self) -> pd.DataFrame:
        """Those of collectives at the barrier of the machine, and all others."""
        return at_barrier(self.at_any_barrier, self.network)

    @property
    def share(self) -> float:
        """The share of the points that have samples."""
        return self.own.groupby(POINT).ngroups / self.points

    @property
    def merit(self) -> tuple[bool, bool, float]:
        """The larger, the better: samples of most points go before unshared cores, and these before more points."""
        return self.share >= ENOUGH, not self.shared, self.share

    @property
    def floor(self) -> pd.Series:
        """By point, how far the half behind is from the half before: what no prediction from between them can know."""
        before, after = (half.groupby(POINT)["time_ps"].median() for half in (self.before, self.after))
        return (after / before - 1).dropna()


def measured(setting: Setting, options: argparse.Namespace) -> Attempt:
    """The machine between two halves of the loops; again, if the loops had other speeds than the machine, or if
    something else shared its cores."""
    attempts: list[Attempt] = []
    while not attempts or (len(attempts) < ATTEMPTS and attempts[-1].merit < (True, True)):
        seed = 2 * len(attempts) + 1
        before = loops(setting, 2, options.seconds / 2, options.max_size, seed)
        network = assess_pair(setting.mpi, pattern_seconds=options.pattern_seconds)
        after = loops(setting, 2, options.seconds / 2, options.max_size, seed + 1)
        both = pd.concat([before, after])
        own = (half[speed_of(network).has(half, NEAR)] for half in (before, after))
        attempts.append(Attempt(network, *own, both.groupby(POINT).ngroups, shares_cores(network, both)))
    return max(attempts, key=lambda attempt: attempt.merit)


def compared(samples: pd.DataFrame, machine: Machine, ranks: int) -> pd.DataFrame:
    """A row a loop and size: measured_ps, simulated_ps, error."""
    medians = samples.groupby(POINT)["time_ps"].median()
    counts = samples.groupby(POINT)["time_ps"].size()
    rows = []
    for (loop, size), measured in medians.items():
        time = simulated_ps(machine, ranks, loop, size)
        rows.append((loop, size, counts[loop, size], measured, time, time / measured - 1))
    return pd.DataFrame(rows, columns=["loop", "size", "samples", "measured_ps", "simulated_ps", "error"])


def off_in_probe(table: pd.DataFrame, network: NetworkMeasurement) -> pd.Series:
    """By point of `table`, how far what the probe measured is from the loop, where it measured the same: what no model
    of this measurement can know."""
    assert network.patterns is not None
    assert network.collectives is not None
    rows = network.patterns.table.set_index(["pattern", "window", "size"])["median_ps"]
    times = {
        (loop, size): rows.get((*POINT_TO_POINT[loop], size))
        for loop, size in table[POINT].to_numpy()
        if loop in POINT_TO_POINT
    }
    times |= network.collectives.table.set_index(["collective", "size"])["median_ps"].to_dict()
    measured = table.set_index(POINT)["measured_ps"]
    return (pd.Series(times, dtype=float).reindex(measured.index) / measured - 1).dropna()


def markdown(table: pd.DataFrame) -> str:
    """Errors by loop and size."""
    grid = table.pivot_table(index="size", columns="loop", values="error")
    order = [name for name in (*POINT_TO_POINT, *COLLECTIVES) if name in grid.columns]
    lines = ["| size | " + " | ".join(order) + " |", "|---" * (len(order) + 1) + "|"]
    for size, row in grid[order].iterrows():
        cells = ["" if np.isnan(error) else f"{error:+.0%}" for error in row]
        lines.append(f"| {size_text(int(size)) if size else '–'} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def summary(table: pd.DataFrame) -> str:
    """How large the errors are."""
    off = table["error"].abs()
    worst = table.loc[off.idxmax()]
    return (
        f"median error {off.median():.1%}, within 5 %: {(off <= 0.05).mean():.0%}, within 10 %: "
        f"{(off <= 0.1).mean():.0%} of {len(table)} points; "
        f"worst {worst['error']:+.0%} ({worst['loop']}, {size_text(int(worst['size']))})"
    )


def changes(floor: pd.Series) -> str:
    """How far the loops themselves are apart."""
    if floor.empty:
        return "No point was measured both before and after the machine."
    return f"Behind the measurement the loops took other times than before it: {spread(floor)}"


def spread(errors: pd.Series) -> str:
    """How large errors are."""
    off = errors.abs()
    return f"median {off.median():.1%}, within 10 %: {(off <= 0.1).mean():.0%} of {len(off)} points"


def plot(tables: Mapping[str, pd.DataFrame], file: Path) -> None:
    """A panel for each setting, a line for each loop: the error over size."""
    figure = new_figure(0.6 + 2.6 * len(tables))
    panels = figure.subplots(len(tables), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (name, table) in zip(panels, tables.items(), strict=True):
        for loop, rows in table[table["size"] > 0].groupby("loop"):
            axes.plot(rows["size"], rows["error"], "o-", markersize=3, linewidth=1, label=loop)
        axes.axhspan(-0.1, 0.1, color="0.5", alpha=0.15, linewidth=0)
        axes.set_xscale("log", base=2)
        axes.set_xlim(left=0.8)
        axes.set_ylim(-1, 1)
        axes.set_title(name)
        axes.set_ylabel("error of the simulation")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:+.0%}"))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: size_text(value)))
    panels[0].legend(ncols=4, loc="best", fontsize="small")
    panels[-1].set_xlabel("message size")
    figure.savefig(file, dpi=150)


def assess(setting: Setting, options: argparse.Namespace, folder: Path) -> dict[str, pd.DataFrame]:
    """The tables of a setting: of two ranks; and of four, where two share a core, at whatever speed they ran."""
    with environment(setting.variables):
        attempt = measured(setting, options)
        network = attempt.network
        save_network(folder / setting.name.replace(" ", "-").replace(",", ""), network, setting.name)
        machine = machine_of(setting.name, network)
        real = programs(setting, machine, speed_of(network), folder)
        print(f"\n## {setting.name}\n\n" + "\n".join(f"- {note}" for note in network.notes), flush=True)
        print(f"\n{attempt.share:.0%} of the points had samples at the speed of the machine", flush=True)
        print(changes(attempt.floor), flush=True)
        tables = {TWO: compared(attempt.own, machine, 2)}
        if options.four and setting.mpi.vendor == OPEN_MPI:
            shared = loops(setting, 4, options.seconds / 2, options.max_size, 3)
            four = measure_collectives(4, setting.mpi, seconds=options.collective_seconds)
            of_four = assess_collectives(four, machine).rules
            tables["4 ranks on 2 cores"] = compared(shared, replace(machine, algorithm_rules=of_four), 4)
    for ranks, table in tables.items():
        if table.empty:
            print(f"\n{ranks}: no loop ran at the speed at which the machine was measured", flush=True)
            continue
        table.to_csv(folder / f"{setting.name} {ranks}.csv".replace(" ", "-").replace(",", ""), index=False)
        for kind, names in {"point to point": tuple(POINT_TO_POINT), "collectives": COLLECTIVES}.items():
            part = table[table["loop"].isin(names)]
            if len(part):
                print(f"\n{ranks}, {kind}: {summary(part)}", flush=True)
                if ranks == TWO:
                    print(f"The probe's own times: {spread(off_in_probe(part, network))}", flush=True)
                print(f"\n{markdown(part)}", flush=True)
    any_barrier = attempt.at_any_barrier[attempt.at_any_barrier["loop"].isin(COLLECTIVES)]
    if len(any_barrier):
        said_of_all = summary(compared(any_barrier, machine, 2))
        print(f"\n{TWO}, collectives at any speed of the barrier: {said_of_all}", flush=True)
    print(f"\nreal programs, 2 ranks, {RUNS} runs each (beside each error: the time of a ping-pong of one byte before")
    print(
        "and after the run, relative to that of the measured machine, and the longest time in one call):\n", flush=True
    )
    for name, runs in real.groupby("program"):
        said = [f"{run.error:+.1%} ({run.pilot:.2f}; {run.longest_call_ms:.1f} ms)" for run in runs.itertuples()]
        print(f"- {name}: median {runs['error'].median():+.1%}; {', '.join(said)}", flush=True)
    return {f"{setting.name}, {ranks}": table for ranks, table in tables.items() if len(table)}


def programs(setting: Setting, machine: Machine, speed: Speed, folder: Path) -> pd.DataFrame:
    """Real programs of two ranks, traced and replayed on the machine: program, run, measured_s, simulated_s, error,
    longest_call_ms, and pilot, the time of a ping-pong of one byte before and after the run, relative to that of the
    machine's `speed`."""

    def pilot() -> float:
        return pilot_ns(setting.mpi, [str(setting.mpi.mpiexec)]) / speed.pilot_ns

    rows = []
    for name, arguments in PROGRAMS.items():
        program = build_example(setting.mpi, name, folder / f"{name}-{setting.mpi.vendor.replace(' ', '')}")
        before = pilot()
        for run in range(RUNS):
            command = [str(setting.mpi.mpiexec), "-n", "2", str(program), *arguments]
            made = run_traced(command, folder / "trace", overwrite=True, output_to=2)
            trace = Trace.load(made.directory)
            schedule = Schedule.from_trace(trace, rules=machine.algorithm_rules, cold_caches=machine.cold_caches)
            simulated = simulate(schedule, machine, noise=None).max_finish / 1e12
            after = pilot()
            rows.append(
                {
                    "program": name,
                    "run": run + 1,
                    "measured_s": trace.measured_s,
                    "simulated_s": simulated,
                    "error": simulated / trace.measured_s - 1,
                    "longest_call_ms": longest_call_ms(trace),
                    "pilot": (before + after) / 2,
                }
            )
            before = after
    return pd.DataFrame(rows)


def longest_call_ms(trace: Trace) -> float:
    """The longest time in one call, on the rank that waits least in it, of a program whose ranks make the same calls:
    what only one run has is a stall of the machine."""
    calls = trace.calls[~trace.calls["call"].isin(("MPI_Init", "MPI_Finalize"))]
    number = calls.groupby("rank").cumcount()
    return float(calls.groupby(number)["inside_ns"].min().max()) / 1e6


def settings(wanted: str) -> Iterator[Setting]:
    """The settings that there are, or those with `wanted` in their name."""
    places = {"openmpi": None, "mpich": ROOT / ".mpich/bin/mpiexec"}
    for name, mpiexec in places.items():
        for transport in ("shared memory", "TCP"):
            if wanted and wanted not in f"{name} {transport}".lower():
                continue
            try:
                yield Setting(find(mpiexec), transport)
            except MpiError as error:
                print(f"left out: {name}: {error}", file=sys.stderr)


def main() -> None:
    """Assess the settings, and draw the errors."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="part of '(openmpi|mpich) (shared memory|tcp)'")
    parser.add_argument("--seconds", type=float, default=20, help="of the loops")
    parser.add_argument("--pattern-seconds", type=float, default=PATTERN_SECONDS.default)
    parser.add_argument("--collective-seconds", type=float, default=6, help="of those of four ranks")
    parser.add_argument("--max-size", type=int, default=4 << 20)
    parser.add_argument("--four", action="store_true", help="four ranks, too, which share two cores")
    parser.add_argument("--output", type=Path, default=ROOT / "out/bench/truth")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    tables: dict[str, pd.DataFrame] = {}
    for setting in settings(options.only.lower()):
        tables |= assess(setting, options, options.output)
    if tables:
        plot(tables, options.output / "truth.png")


if __name__ == "__main__":
    main()
