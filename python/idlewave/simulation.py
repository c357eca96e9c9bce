"""Simulate a schedule on a machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Unpack

from . import _core, memory_needs
from .errors import UsageError
from .escaping import quote
from .formatting import unknown_name
from .kernel import PLACEMENTS, RunConfiguration, SimulationOptions
from .lazy_provenance import LazyProvenance
from .machine import Machine
from .memory_limits import memory_for
from .noise_models import REACHES, AnyNoise
from .parameters import takes
from .provenance import Provenance
from .schedule import Schedule
from .timeline import Recording, Timeline

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

T = TypeVar("T")

DIALECTS = ("loggops", "loggopsim")


@takes(SimulationOptions)
def simulate(
    schedule: Schedule,
    machine: Machine | str | Path,
    *,
    noise: AnyNoise | Literal["machine"] | None = "machine",
    noise_reaches: Iterable[str] | None = None,
    record: bool | Recording = False,
    dialect: str = "loggops",
    progress: Callable[[int], None] | None = None,
    **options: Unpack[SimulationOptions],
) -> Timeline:
    """Simulate `schedule` on `machine` by the LogGOPS rules (docs/model.md), exactly, in integer picoseconds.

    `machine` may be the name of a preset, a machine.toml, or a folder that has one.
    `noise` replaces the noise of the machine; None switches it off. `noise_reaches` names the parts of a CPU's work
    that noise lengthens, of o_s, o_r, O, calc and reduction; None: those of the machine. `seed` draws the phases of the
    ranks in the noise, or their random detours. `record` keeps in the timeline when each op ran and what it waited for,
    and the critical path; a Recording restricts that to ranks and times, and limits its memory. `progress` is called a
    few times a second with the simulated time in ps.
    The GIL is released, so simulations run beside each other on threads.

    The result is the same for every run configuration. Under timewarp and check, in several processes, and with
    placement, migration or checkpoints, the `run` of the timeline has the statistics, and the machine needs o_s + L
    above 0, and L for one-sided operations. A checkpoint of a run that records has all rows so far.

    `dialect` "loggopsim" gives the finish times of LogGOPSim instead, quirks included (docs/loggopsim.md): without
    noise, a variation, segments, a node level and one-sided operations, on one thread, and without a recording.

    Raises Deadlock if the schedule cannot end (UnmatchedReceive or UnmatchedRendezvous if the other half is missing and
    there is no cycle), UnmatchedSend if all ops have ended and no op receives some messages, UsageError for an unknown
    dialect or an impossible run configuration, InputError if the dialect cannot express the machine, MemoryLimit if
    there is not enough memory.
    """
    if dialect not in DIALECTS:
        raise UsageError(unknown_name("dialect", dialect, DIALECTS))
    checked_schedule(schedule)
    machine = checked_machine(machine, noise, noise_reaches)
    seed = options["seed"]
    lazy_provenance = lazy_provenance_of_run(schedule, machine, {"seed": seed, "dialect": dialect})
    configuration = RunConfiguration.of(options)
    recording = record if isinstance(record, Recording) else Recording() if record else None
    if dialect != DIALECTS[0]:
        configuration.check_in_one_loop(f"the {dialect} dialect is simulated")
    if dialect == "loggopsim":
        answer = _simulate_loggopsim(schedule, machine, record, options["scheduler"], progress)
        return Timeline(**answer, lazy_provenance=lazy_provenance)
    return simulate_checked(schedule, machine, seed, configuration, progress, recording, lazy_provenance)


def simulate_checked(
    schedule: Schedule,
    machine: Machine,
    seed: int,
    configuration: RunConfiguration,
    progress: Callable[[int], None] | None,
    recording: Recording | None = None,
    lazy_provenance: LazyProvenance | None = None,
) -> Timeline:
    """Simulate with options that are checked already: a study checks them once for all seeds.

    `machine` has its noise (`checked_machine`), and the dialect is loggops. `progress` is called as by `simulate`,
    which says what is raised.
    """
    if configuration.in_partitions:
        found = _simulate_partitioned(schedule, machine, seed, configuration, progress, recording)
        return replace(found, lazy_provenance=lazy_provenance)
    answer = _simulate_in_one_loop(schedule, machine, seed, configuration.threads, progress, recording)
    return Timeline(**answer, lazy_provenance=lazy_provenance)


def finish_times(schedule: Schedule, machine: Machine) -> npt.NDArray[np.int64]:
    """The finish time of each rank, ps, as `simulate` gives it, and nothing else: for those who simulate a small
    schedule thousands of times, where the options and the provenance of each run would take half of the time."""
    import numpy as np  # which a command without tables does not load

    return np.asarray(_core.simulate(schedule.core(), machine.core(), 0, 1, None)["finish_view"])


def lazy_provenance_of_run(schedule: Schedule, machine: Machine, options: dict[str, Any]) -> LazyProvenance:
    """The provenance of a simulation that runs now. Scheduler and threads are left out: they do not change the
    result."""
    made_of, begun = schedule.lazy_provenance, time.time()

    def make() -> Provenance:
        sources = (made_of.provenance, machine.provenance)
        return Provenance.made("timeline", by="idlewave.simulate", options=options, sources=sources, at=begun)

    return LazyProvenance(make)


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


def _simulate_in_one_loop(
    schedule: Schedule,
    machine: Machine,
    seed: int,
    threads: int,
    progress: Callable[[int], None] | None,
    recording: Recording | None,
) -> dict[str, Any]:
    """The fields of the timeline."""
    with memory_for(_what(schedule, recording), _memory(schedule, recording)):
        program, costs = schedule.core(), machine.core()
        if recording is None:
            return _core.simulate(program, costs, seed, threads, progress)
        return _core.record(program, costs, seed, threads, progress, recording.core())


def _simulate_partitioned(
    schedule: Schedule,
    machine: Machine,
    seed: int,
    configuration: RunConfiguration,
    progress: Callable[[int], None] | None,
    recording: Recording | None,
) -> Timeline:
    """In partitions of the kernel."""
    processes = configuration.processes
    what = "simulate" if recording is None else f"record {recording.scope} of"
    with memory_for(_what(schedule, recording, processes), _memory(schedule, recording, processes)):
        return in_partitions(_partitions, schedule, machine, seed, configuration, progress, what, recording)


def in_partitions(
    call: Callable[..., T],
    schedule: Schedule,
    machine: Machine,
    seed: int,
    configuration: RunConfiguration,
    progress: Callable[[int], None] | None,
    what: str,
    *more: object,
) -> T:
    """The answer of `call`, made here or by the first of several processes, each of which calls it.

    It is called with schedule, machine, seed, configuration, description, `more`, progress, and a transport or None.
    `what` it does to the schedule is for the description of a checkpoint. Raises UsageError for ranks with a placement
    one by one, and what `call` and `run_in_processes` raise.
    """
    if not isinstance(configuration.options["placement"], str):
        raise UsageError(f"ranks are placed by {' or '.join(PLACEMENTS)}")
    machine = replace(machine)  # of which nothing is compiled, so that it can be sent to processes
    description = ""
    if configuration.options["checkpoint"] is not None:
        costs = machine.identity()
        description = f"{what} schedule {schedule.identity()} of {schedule.ranks} ranks on machine {costs}, seed {seed}"
    arguments = (schedule, machine, seed, configuration, description, *more)
    if configuration.processes == 1:
        return call(*arguments, progress, None)
    from .processes import run_in_processes

    return run_in_processes(call, arguments, configuration.processes, progress)


def _partitions(
    schedule: Schedule,
    machine: Machine,
    seed: int,
    configuration: RunConfiguration,
    description: str,
    recording: Recording | None,
    progress: Callable[[int], None] | None,
    transport: _core.Transport | None,
) -> Timeline:
    program, costs, core = schedule.core(), machine.core(), configuration.core(description)
    if recording is None:
        answer = _core.simulate_partitioned(program, costs, seed, core, progress, transport)
    else:
        rows = recording.core()
        answer = _core.record_partitioned(program, costs, seed, core, progress, transport, rows)
    from .event_run import EventRun

    return Timeline(**answer | {"run": EventRun.of(answer["run"])})


def _simulate_loggopsim(
    schedule: Schedule,
    machine: Machine,
    record: bool | Recording,
    scheduler: str,
    progress: Callable[[int], None] | None,
) -> dict[str, Any]:
    """The fields of the timeline."""
    if scheduler != "sequential":
        raise UsageError(f"the loggopsim dialect runs on the sequential scheduler, not on {scheduler}")
    if record:
        raise UsageError("the loggopsim dialect gives finish times only: ops are not recorded")
    with memory_for(_what(schedule), _memory(schedule)):
        return _core.simulate_loggopsim(schedule.core(), machine.core(), progress)


def _what(schedule: Schedule, recording: Recording | None = None, processes: int = 1) -> str:
    """What is done, for a message."""
    what = "simulating" if recording is None else "recording a simulation of"
    return f"{what} {schedule.ranks:,} ranks" + (f" in {processes} processes" if processes > 1 else "")


def _memory(schedule: Schedule, recording: Recording | None = None, processes: int = 1) -> int:
    """The memory that the first process needs at least, in bytes."""
    if recording is None:
        return memory_needs.simulation(schedule.ranks, processes)
    return memory_needs.recorded(schedule.ranks, schedule.least_ops if recording.is_whole else 0, recording.most_bytes)
