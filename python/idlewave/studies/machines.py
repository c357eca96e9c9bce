"""One program on several machines, and on each of them with what-if edits, without noise and with it.

docs/studies/machines.md describes programs, edits and the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import memory_needs
from ..errors import UsageError
from ..formatting import unknown_name
from ..jobs import Job, Operation
from ..machine import Machine
from ..pattern_options import PatternOptions
from ..schedule import Schedule
from ..simulation import simulate
from ..units import PICOSECONDS
from .case_study import CaseStudy, Row
from .machine_edits import edited, parse_edit
from .stopping import check_stop

if TYPE_CHECKING:
    import pandas as pd

    from ..report.study_page import StudyPage

RANKS, ITERATIONS, COMPUTE_PS, SIZE = 256, 10, 200 * 10**6, 8192
SEEDS = 20
EDITS = ("L=0.5x", "o=0.5x", "g=0.5x", "G=0.5x")
PROGRAMS = ("halo3d", "sweep", "allreduce", "alltoall")
"""Generated programs: each iteration computes, and does this operation once."""
OWN_SIZE = {"allreduce": 8, "alltoall": 1024}
"""Sizes of operations that have not the size of the others: an element, and a block for each rank."""
LEAST_RANKS = 2


@dataclass(frozen=True)
class MachineCase:
    """One simulation: a program on a machine. `base` is the name of the machine before its edit, `edit` that as it was
    written ("": none). `noise`: it has its noise, drawn from `seed`."""

    program: Schedule
    machine: Machine
    base: str
    edit: str
    noise: bool
    seed: int


@dataclass(frozen=True)
class MachinesPlan:
    """Programs on each machine, as it is and with each of the `edits`, without noise and under `seeds` seeds.

    `program` makes the schedule of one's own program for a machine, whose MPI library may choose other algorithms.
    None: the generated `programs`, of `ranks`, `iterations`, `compute_ps` and `size`, but for `OWN_SIZE`. Raises
    UsageError.
    """

    edits: Sequence[str] = EDITS
    program: Callable[[Machine], Schedule] | None = None
    programs: Sequence[str] = PROGRAMS
    ranks: int = RANKS
    iterations: int = ITERATIONS
    compute_ps: int = COMPUTE_PS
    size: int = SIZE
    seeds: int = SEEDS
    seed: int = 0

    def __post_init__(self) -> None:
        for name in self.programs:
            if name not in PROGRAMS:
                raise UsageError(unknown_name("program", name, PROGRAMS))
        for what, number, least in (
            ("number of ranks", self.ranks, LEAST_RANKS),
            ("number of iterations", self.iterations, 1),
            ("computation in ps", self.compute_ps, 0),
            ("size", self.size, 0),
            ("number of seeds", self.seeds, 0),
        ):
            if number < least:
                raise UsageError(f"expected a {what} from {least} on, found {number}")
        if self.compute_ps % 1000:
            raise UsageError(f"expected a computation of whole ns, found {self.compute_ps} ps")

    def schedules(self, machine: Machine) -> list[Schedule]:
        """The programs, for a machine."""
        if self.program is not None:
            return [self.program(machine)]
        return [self._generated(name, machine) for name in self.programs]

    def _generated(self, name: str, machine: Machine) -> Schedule:
        options = PatternOptions(compute_ns=self.compute_ps // PICOSECONDS["ns"], periodic=True)
        operation = Operation(name, bytes=OWN_SIZE.get(name, self.size), options=options)
        operations = [Operation("compute", options=options), operation] if name in OWN_SIZE else [operation]
        job = Job(self.ranks, operations, repetitions=self.iterations)
        return Schedule.compose([job], name=name, rules=machine.algorithm_rules)


def machine_cases(machines: Sequence[Machine], plan: MachinesPlan) -> list[MachineCase]:
    """The cases, machine by machine. Raises UsageError."""
    names = [machine.name for machine in machines]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UsageError(f"expected machines of different names, found {twice[0]} {names.count(twice[0])} times")
    edits = [parse_edit(text) for text in plan.edits]
    if len({edit.text for edit in edits}) != len(edits):
        raise UsageError("expected each edit once")
    found: list[MachineCase] = []
    for machine in machines:
        variants = [("", machine), *((edit.text, edited(machine, edit)) for edit in edits)]
        for program in plan.schedules(machine):
            for edit, variant in variants:
                found += _runs(program, variant, machine.name, edit, plan)
    return found


def _runs(program: Schedule, machine: Machine, base: str, edit: str, plan: MachinesPlan) -> Iterator[MachineCase]:
    yield MachineCase(program, machine.with_noise(None), base, edit, False, plan.seed)
    if machine.noise is not None:
        for seed in range(plan.seed, plan.seed + plan.seeds):
            yield MachineCase(program, machine, base, edit, True, seed)


def machine_row(case: MachineCase) -> Row:
    """When the program has ended on all ranks, ps, and its ranks and messages."""
    timeline = simulate(case.program, case.machine, seed=case.seed, progress=check_stop)
    return {"ranks": case.program.ranks, "finish_ps": timeline.max_finish, "messages": timeline.messages}


def _page(table: pd.DataFrame) -> StudyPage:
    from ..report.machines_page import machines_page

    return machines_page(table)


def _memory(case: MachineCase) -> int:
    return memory_needs.simulation(case.program.ranks)


MACHINES = CaseStudy("machines", 1, machine_row, _page, _memory)
"""The study: its table has the columns of `MachineCase`, and those of `machine_row`."""
