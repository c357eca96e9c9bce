"""A row of the study: one iteration of FT by one exchange, simulated with and without its computations."""

from __future__ import annotations

from typing import TypedDict

from ...ft_pattern import FtCosts, ft_bytes, ft_computation_ns, ft_iteration_job, ft_shape
from ...jobs import Job
from ...schedule import Schedule
from ...simulation import simulate
from .settings import Case

KEY = ("machine", "machine_id", "problem", "ranks", "exchange", "links", "x_ns", "y_ns", "z_ns", "point_ns")
"""The columns that identify a row, in the order of `Case.key`."""


class FtRow(TypedDict):
    """Times in seconds; docs/studies/ft.md says what each column is."""

    machine: str
    machine_id: str
    problem: str
    ranks: int
    exchange: str
    links: int
    x_ns: float
    y_ns: float
    z_ns: float
    point_ns: float
    ty: int
    tz: int
    iterations: int
    seconds: float
    computation_s: float
    communication_s: float
    exposed_s: float
    hidden: float
    messages: int
    bytes: int
    simulation_s: float


def simulated_row(case: Case) -> FtRow:
    """Simulate the case, which takes its time.

    The iteration begins on all ranks at the same time, as iterations do that a collective separates. All ranks compute
    equally long, so that what the slowest takes beyond that is communication that is not hidden.
    """
    shape = ft_shape(case.problem, case.ranks)
    machine = case.machine.with_noise(None)
    job = ft_iteration_job(shape, case.exchange, case.setting.costs)
    whole = simulate(_schedule(job, case), machine)
    alone = simulate(_schedule(ft_iteration_job(shape, case.exchange, FtCosts(0, 0, 0, 0)), case), machine)
    computation = ft_computation_ns(job) / 1e9
    seconds, communication = whole.max_finish / 1e12, alone.max_finish / 1e12
    exposed = seconds - computation
    named = dict(zip(KEY, case.key, strict=True))
    return FtRow(
        **named,  # type: ignore[typeddict-item]
        ty=shape.ty,
        tz=shape.tz,
        iterations=1,
        seconds=seconds,
        computation_s=computation,
        communication_s=communication,
        exposed_s=exposed,
        hidden=1 - exposed / communication if communication > 0 else 0.0,
        messages=whole.messages,
        bytes=case.ranks * ft_bytes(shape),
        simulation_s=whole.seconds,
    )


def iteration_schedule(case: Case) -> Schedule:
    """One iteration of the case."""
    job = ft_iteration_job(ft_shape(case.problem, case.ranks), case.exchange, case.setting.costs)
    return _schedule(job, case)


def _schedule(job: Job, case: Case) -> Schedule:
    return Schedule.compose([job], name=f"FT class {case.problem}", rules=case.machine.algorithm_rules)
