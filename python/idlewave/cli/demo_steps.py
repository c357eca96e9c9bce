"""All steps in order: measure, trace, schedule, simulate, extrapolate, report."""

from __future__ import annotations

import os
import platform
import time
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from .. import mpi
from ..escaping import cut
from ..formatting import plain_percent
from ..machine import WITHIN, Machine
from ..measure import Measurement, assess_pair, measure_noise, write_machine
from ..report import build, findings, report_of
from ..schedule import Schedule
from ..simulation import simulate
from ..timeline import Timeline
from ..trace import Trace
from ..traced_run import trace as run_traced
from .measure_network_command import show_network
from .noise_tables import show_measurement_tables
from .study_command import run_study, show_summary
from .terminal import progress_bar, say, say_note


@dataclass(frozen=True)
class Size:
    """The size of the demo: seconds of measuring, numbers of ranks as multiples of the traced ranks, seeds."""

    noise_seconds: float
    network_seconds: float
    pattern_seconds: float
    copies: tuple[int, ...]
    seeds: int
    arguments: dict[str, tuple[str, ...]]


SIZES = {
    "full": Size(3.0, 3.0, 9.0, (16, 256, 4096), 16, {"halo2d": ("2048", "20", "5"), "cg": ("128", "40")}),
    "small": Size(0.5, 2.0, 2.0, (4, 16), 4, {"halo2d": ("256", "40", "5"), "cg": ("32", "100")}),
}
PROGRAMS = ("halo2d", "cg")
BETWEEN = "infiniband-hdr"
"""The preset whose network lies between nodes by default."""


@dataclass(frozen=True)
class Plan:
    """What the demo runs, and its folder.

    `between` has the network between nodes of `node_ranks` ranks (None: as many as this node has processors, and at
    least `ranks`, which all run on it). `quiet`: the output of the program goes to the error stream.
    """

    folder: Path
    program: str
    ranks: int
    size: Size
    between: Machine
    node_ranks: int | None = None
    quiet: bool = False


@dataclass(frozen=True)
class Outcome:
    """The page of the report, and its sentences by topic."""

    page: Path
    findings: dict[str, str]


def run_demo(plan: Plan) -> Outcome:
    """Run all seven steps; the later ones use the measured machine."""
    begun = time.monotonic()
    found = mpi.find()
    measurement = _measure(plan, found)
    machine = Machine.load(plan.folder / "machine" / "machine.toml")
    trace = _trace(plan, found)
    schedule = _schedule(plan, trace, machine)
    timeline = _simulate(schedule, machine, trace)
    study = _extrapolate(plan, _without_interrupts(schedule, trace, machine), _cluster(plan, machine))
    outcome = _report(plan, measurement, trace, timeline, study)
    say(f"all of it took {time.monotonic() - begun:.0f} s")
    return outcome


def _measure(plan: Plan, found: mpi.Mpi) -> Measurement:
    folder = plan.folder / "machine"
    _step(1, "measure noise", "how often and how long is each core taken away from a program that computes")
    with progress_bar() as progress:
        noise = measure_noise(plan.size.noise_seconds, progress=progress, folder=folder / "raw")
    show_measurement_tables(noise)
    _step(2, "measure network", f"LogGOPS parameters between two ranks of {found.vendor} {found.version}")
    with progress_bar() as progress:
        network = assess_pair(
            found,
            seconds=plan.size.network_seconds,
            pattern_seconds=plan.size.pattern_seconds,
            progress=progress,
            folder=folder / "raw",
        )
    show_network(network)
    file = write_machine(folder, noise, network, platform.node())
    say(f"written: {file}, with the samples beside it")
    return Measurement.load(folder)


def _trace(plan: Plan, found: mpi.Mpi) -> Trace:
    arguments = plan.size.arguments[plan.program]
    program = mpi.build_example(found, plan.program, plan.folder / plan.program)
    command = [str(found.mpiexec), "-n", str(plan.ranks), str(program), *arguments]
    _step(3, "trace", f"{plan.program} {' '.join(arguments)}, unmodified, on {plan.ranks} ranks")
    run = run_traced(command, plan.folder / "trace", overwrite=True, output_to=2 if plan.quiet else None)
    trace = Trace.load(run.directory)
    records = int(trace.processes["calls"].sum())
    say(f"{records} calls in {trace.measured_s:.3f} s; written: {run.directory}")
    cores = len(os.sched_getaffinity(0))
    if cores < plan.ranks:
        say_note(f"{plan.ranks} ranks shared {cores} cores; the simulation gives each rank its own")
    return trace


def _schedule(plan: Plan, trace: Trace, machine: Machine) -> Schedule:
    _step(4, "schedule", "computation from the gaps between calls, collectives by their algorithms' messages")
    schedule = Schedule.from_trace(trace, rules=machine.algorithm_rules, cold_caches=machine.cold_caches)
    file = plan.folder / f"{plan.program}.goal"
    schedule.save(file)
    say(f"written: {file}")
    return schedule


def _without_interrupts(schedule: Schedule, trace: Trace, machine: Machine) -> Schedule:
    """The schedule for simulations with the measured noise, which adds what interrupts took while it was traced."""
    share, note = trace.interrupts_on(machine)
    if note:
        say_note(note)
    if share == 0:
        return schedule
    rules, costs = machine.algorithm_rules, machine.cold_caches
    return Schedule.from_trace(trace, rules=rules, cold_caches=costs, interrupts=share)


def _simulate(schedule: Schedule, machine: Machine, trace: Trace) -> Timeline:
    _step(5, "simulate", f"the same {schedule.ranks} ranks on the measured machine, without further noise")
    timeline = simulate(schedule, machine, noise=None)
    predicted = timeline.max_finish / 1e12
    error = plain_percent(predicted / trace.measured_s - 1, signed=True)
    say(f"measured {trace.measured_s:.3f} s, predicted {predicted:.3f} s: {error}")
    return timeline


def _cluster(plan: Plan, machine: Machine) -> Machine:
    """Nodes like this one, with the network between them that the plan names."""
    if machine.measured != WITHIN:
        return machine
    return machine.between(plan.between, node_ranks=plan.node_ranks or max(machine.node_ranks, plan.ranks))


def _extrapolate(plan: Plan, schedule: Schedule, machine: Machine) -> pd.DataFrame:
    sizes = [plan.ranks, *(plan.ranks * copies for copies in plan.size.copies)]
    last = f"{sizes[-1]:,} ranks"
    _step(6, "extrapolate", f"to {last}, without noise and with the measured noise on {plan.size.seeds} seeds")
    if machine.node is not None:
        far = plan.between
        say(
            f"the network was measured within this node; between nodes of {machine.node_ranks} ranks lies that of "
            f"{cut(far.name)}{f': {cut(far.description)}' if far.description else ''}"
        )
    begun = time.monotonic()
    table = run_study(schedule, machine, sizes, plan.size.seeds, plan.folder / "study.parquet")
    show_summary(table, "Slowdown by noise")
    say(f"{table['messages'].sum():,} messages in {time.monotonic() - begun:.1f} s")
    return table


def _report(plan: Plan, measurement: Measurement, trace: Trace, timeline: Timeline, study: pd.DataFrame) -> Outcome:
    _step(7, "report", "one HTML file, and its figures as SVG and PNG")
    report = report_of(measurement, trace, timeline, study, title=f"{plan.program} on {measurement.name}")
    with progress_bar() as progress:
        task = progress.add_task("figures", total=None)
        page = build(report, plan.folder, on_figure=lambda name: progress.update(task, description=f"figure {name}"))
    found = findings(report)
    for sentence in found.values():
        say(f"• {sentence}")
    return Outcome(page, found)


def _step(number: int, name: str, what: str) -> None:
    say("")
    say(f"{number}. {name}: {what}", bold=True)
