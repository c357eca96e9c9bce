"""Simulate a schedule on a machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Unpack

from . import _core, memory_needs
from .errors import UsageError
from .escaping import quote
from .formatting import unknown_name
from .kernel import PLACEMENTS, DistributionOptions, EventRun, RunConfiguration, checked_seed
from .lazy_provenance import LazyProvenance
from .machine import Machine
from .memory_limits import memory_for
from .noise_models import REACHES, AnyNoise
from .provenance import Provenance
from .schedule import Schedule
from .timeline import Recording, Timeline

SCHEDULERS = ("sequential", "yawns")
"""Of studies, timelines and explanations; a simulation of finish times alone runs on those of the kernel, too."""
DIALECTS = ("loggops", "loggopsim")


def simulate(
    schedule: Schedule,
    machine: Machine | str | Path,
    *,
    noise: AnyNoise | Literal["machine"] | None = "machine",
    noise_reaches: Iterable[str] | None = None,
    seed: int = 0,
    record: bool | Recording = False,
    scheduler: str = "sequential",
    threads: int = 1,
    dialect: str = "loggops",
    progress: Callable[[int], None] | None = None,
    **distribution: Unpack[DistributionOptions],
) -> Timeline:
    """Simulate `schedule` on `machine` by the LogGOPS rules (docs/model.md), exactly, in integer picoseconds.

    `machine` may be the name of a preset, a machine.toml, or a folder that has one.
    `noise` replaces the machine's own; None switches it off. `noise_reaches` names the parts of a CPU's work that it
    lengthens, of o_s, o_r, O, calc and reduction; None: as the machine says. `seed` draws the ranks' phases in the
    noise, or their random detours. `record` keeps in the timeline when each op ran and what it waited for, and the
    critical path; a Recording says of which ranks and times, and how much memory that may take. `scheduler` is
    sequential, or yawns: conservative windows on `threads` threads; the answer is the same. `progress` is called a few
    times a second with the simulated time in ps.
    Releases the GIL, so simulations run beside each other on threads.

    The finish times alone are also found by timewarp (optimistic) and check, in several `processes`, and with
    checkpoints: `kernel.RunConfiguration` says what each of these means, and the timeline's `run` has the statistics.
    With them the machine needs o_s + L above 0.

    `dialect` "loggopsim" gives the finish times of LogGOPSim instead, quirks included (docs/loggopsim.md): without
    noise, segments and a node level, on one thread, and with nothing recorded.

    Raises Deadlock if the schedule cannot end (UnmatchedReceive, UnmatchedRendezvous if that is for want of the other
    half and not a cycle of waiting), UnmatchedSend if all ops have ended and messages are left that no op receives,
    UsageError for a scheduler or dialect that does not exist, InputError if the machine has what the dialect cannot
    express, MemoryLimit if there is not as much memory as it needs.
    """
    if dialect not in DIALECTS:
        raise UsageError(unknown_name("dialect", dialect, DIALECTS))
    checked_schedule(schedule)
    machine = checked_machine(machine, noise, noise_reaches)
    lazy_provenance = lazy_provenance_of_run(schedule, machine, {"seed": seed, "dialect": dialect})
    configuration = RunConfiguration(scheduler=scheduler, threads=threads, **distribution)
    if configuration.in_partitions:
        configuration.check()
        checked_seed(seed)
        if record or dialect != "loggops":
            raise UsageError(
                f"ops are recorded, and the loggopsim dialect is simulated, on {' and '.join(SCHEDULERS)} in one "
                "process, without checkpoints"
            )
        return Timeline(
            **_simulate_partitioned(schedule, machine, seed, configuration, progress), lazy_provenance=lazy_provenance
        )
    checked_run(scheduler, threads, seed)
    if dialect == "loggopsim":
        return Timeline(
            **_simulate_loggopsim(schedule, machine, record, scheduler, progress), lazy_provenance=lazy_provenance
        )
    if not record:
        with memory_for(_what(schedule), memory_needs.simulation(schedule.ranks)):
            answer = _core.simulate(schedule.core(), machine.core(), seed, threads, progress)
        return Timeline(**answer, lazy_provenance=lazy_provenance)
    kept = record if isinstance(record, Recording) else Recording()
    whole = (kept.ranks, kept.since_ps, kept.until_ps) == (None, 0, None)
    needed = memory_needs.recorded(schedule.ranks, schedule.least_ops if whole else 0, kept.most_bytes)
    with memory_for(f"recording a simulation of {schedule.ranks:,} ranks", needed):
        answer = _core.record(schedule.core(), machine.core(), seed, threads, progress, **kept.core())
    return Timeline(**answer, lazy_provenance=lazy_provenance)


def lazy_provenance_of_run(schedule: Schedule, machine: Machine, options: dict[str, Any]) -> LazyProvenance:
    """Of what is simulated now. How it is done (scheduler, threads) is not in it: the answer is the same."""
    made_of, begun = schedule.lazy_provenance, time.time()

    def tell() -> Provenance:
        sources = (made_of.provenance, machine.provenance)
        return Provenance.made("timeline", by="idlewave.simulate", options=options, sources=sources, at=begun)

    return LazyProvenance(tell)


def checked_run(scheduler: str, threads: int, seed: int) -> None:
    """Raises UsageError if a simulation cannot be run so."""
    if scheduler not in SCHEDULERS:
        raise UsageError(unknown_name("scheduler", scheduler, SCHEDULERS))
    if not 1 <= threads <= 1024:
        raise UsageError(f"expected 1 to 1024 threads, found {threads}")
    if scheduler == "sequential" and threads != 1:
        raise UsageError(f"the sequential scheduler runs on one thread, not on {threads}; yawns runs on several")
    checked_seed(seed)


def checked_machine(
    machine: Machine | str | Path,
    noise: AnyNoise | Literal["machine"] | None,
    noise_reaches: Iterable[str] | None,
) -> Machine:
    """The machine, or the one of that name, with that noise.

    Raises UsageError for a part of a CPU's work that does not exist, InputError as `Machine.named` does.
    """
    machine = as_machine(machine)
    if noise != "machine":
        machine = machine.with_noise(noise)
    if noise_reaches is not None:
        machine = machine.with_noise_reaches(_parts(noise_reaches))
    return machine


def as_machine(machine: Machine | str | Path) -> Machine:
    """The machine, or the one of that name. Raises UsageError for anything else, InputError as `Machine.named` does."""
    if isinstance(machine, Machine):
        return machine
    if isinstance(machine, (str, Path)):
        return Machine.named(machine)
    raise UsageError(
        f"expected a Machine, or the name of a preset or of a machine.toml, found {type(machine).__name__}"
    )


def checked_schedule(schedule: Schedule) -> Schedule:
    """The schedule. Raises UsageError that says how to get one for anything else."""
    if isinstance(schedule, Schedule):
        return schedule
    raise UsageError(
        "expected a Schedule, such as Schedule.load('x.goal'), Schedule.from_trace('trace/') or "
        f"Schedule.pattern('bcast', ranks=64), found {type(schedule).__name__}"
    )


def _parts(reaches: Iterable[str]) -> list[str]:
    parts = [reaches] if isinstance(reaches, str) else list(reaches)
    for part in parts:
        if part not in REACHES:
            raise UsageError(f"noise reaches {', '.join(REACHES)}; there is no {quote(part)}")
    return parts


def _simulate_partitioned(
    schedule: Schedule,
    machine: Machine,
    seed: int,
    configuration: RunConfiguration,
    progress: Callable[[int], None] | None,
) -> dict[str, Any]:
    """In partitions of the kernel."""
    if not isinstance(configuration.placement, str):
        raise UsageError(f"ranks are placed by {' or '.join(PLACEMENTS)}")
    machine = replace(machine)  # of which nothing is compiled, so that it can be sent to processes
    run = ""
    if configuration.checkpoint is not None:
        costs = machine.identity()
        run = f"simulate schedule {schedule.identity()} of {schedule.ranks} ranks on machine {costs}, seed {seed}"
    core = configuration.core(run)
    with memory_for(
        _what(schedule, configuration.processes), memory_needs.simulation(schedule.ranks, configuration.processes)
    ):
        if configuration.processes > 1:
            from .processes import run_in_processes

            answer = run_in_processes(
                "simulate_partitioned", (schedule, machine, seed, core), configuration.processes, progress
            )
            answer["finish_view"] = memoryview(answer["finish_view"]).cast("q")
        else:
            answer = _core.simulate_partitioned(schedule.core(), machine.core(), seed, core, progress, None)
    return answer | {"run": EventRun(**answer["run"])}


def _simulate_loggopsim(
    schedule: Schedule,
    machine: Machine,
    record: bool | Recording,
    scheduler: str,
    progress: Callable[[int], None] | None,
) -> dict[str, Any]:
    if scheduler != "sequential":
        raise UsageError(f"the loggopsim dialect runs on the sequential scheduler, not on {scheduler}")
    if record:
        raise UsageError("the loggopsim dialect gives finish times only: ops are not recorded")
    with memory_for(_what(schedule), memory_needs.simulation(schedule.ranks)):
        answer: dict[str, Any] = _core.simulate_loggopsim(schedule.core(), machine.core(), progress)
    return answer


def _what(schedule: Schedule, processes: int = 1) -> str:
    """What is done, for a message."""
    return f"simulating {schedule.ranks:,} ranks" + (f" in {processes} processes" if processes > 1 else "")
