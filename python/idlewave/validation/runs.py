"""Traced runs of the programs of a suite, by themselves and beside others."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..trace import Trace
from ..traced_run import find_mpi
from ..traced_run import trace as run_traced
from .beside import running_beside
from .rows import Progress
from .speeds import MachineAtSpeed, pilot_ns

if TYPE_CHECKING:
    from .suite import Network, Program


@dataclass(frozen=True)
class Run:
    """A traced run, and the times of a byte there and back before and behind it, ns; none where they are not known."""

    trace: Trace
    pilots_ns: tuple[float, ...] = ()

    @property
    def computation_s(self) -> float:
        """What a rank computes in a simulation of the trace, in the mean of the ranks; nan if one of them calls MPI in
        several threads, whose times add up."""
        if (self.trace.processes["threads"] > 1).any():
            return math.nan
        return float(self.trace.computations()["ns"].sum() / self.trace.ranks / 1e9)

    @property
    def pilot_ns(self) -> float:
        """Their geometric mean, nan if there is none."""
        return math.exp(math.fsum(map(math.log, self.pilots_ns)) / len(self.pilots_ns)) if self.pilots_ns else math.nan


def run_program(
    program: Program,
    network: Network,
    machines: Sequence[MachineAtSpeed],
    directory: Path,
    output_to: int | None,
    on_start: Callable[[], object] | None = None,
) -> Run:
    """A run of `program`, between two of the pilot, where it has messages and a machine's speed is known. `on_start` is
    called right before the launcher starts."""
    found = find_mpi(network.launch)
    compares = program.ranks > 1 and any(machine.speed is not None for machine in machines)
    pilots = [pilot_ns(found, network.launch)] if compares else []
    command = [*network.launch, "-n", str(program.ranks), *program.command]
    run_traced(command, directory, overwrite=True, output_to=output_to, on_start=on_start)
    if compares:
        pilots.append(pilot_ns(found, network.launch))
    return Run(Trace.load(directory), tuple(pilots))


@dataclass(frozen=True)
class RunPlan:
    """Where traces go, how many runs there are, and where the programs' output goes."""

    folder: Path
    count: int
    output_to: int | None


def runs_in_turns(
    program: Program,
    smaller: Program | None,
    networks: Sequence[Network],
    machines: Mapping[str, Sequence[MachineAtSpeed]],
    plan: RunPlan,
    progress: Progress,
) -> tuple[dict[str, list[Run]], dict[str, list[Run]]]:
    """By network, traced runs of `program`; and of `smaller`, if there is one, beside as many more as have the ranks of
    `program` together.

    They take turns: what a rank computes in a second may differ by a tenth from one minute to the next, which would
    count as an error of whatever is predicted from another minute's runs.
    """
    own: dict[str, list[Run]] = {network.name: [] for network in networks}
    beside: dict[str, list[Run]] = {network.name: [] for network in networks}
    for run in range(1, plan.count + 1):
        for network in networks:
            progress.next(f"{program.name} on {network.name}, run {run} of {plan.count}")
            directory = plan.folder / f"{program.name}-{network.name}-{run}"
            own[network.name].append(run_program(program, network, machines[network.name], directory, plan.output_to))
        if smaller is None:
            continue
        for network in networks:
            progress.next(f"{smaller.name} beside itself on {network.name}, run {run} of {plan.count}")
            directory = plan.folder / f"{smaller.name}-beside-{network.name}-{run}"
            environment = find_mpi(network.launch).environment()
            with running_beside(smaller, network, program.ranks // smaller.ranks - 1, environment) as start:
                beside[network.name].append(run_program(smaller, network, (), directory, plan.output_to, start))
    return own, beside
