"""A row of the study: iterations of FT by one exchange, simulated with and without their computations."""

from __future__ import annotations

from typing import Any

from ...ft_pattern import FtCosts, ft_bytes, ft_computation_ns, ft_iterations_job, ft_shape
from ...jobs import Job
from ...schedule import Schedule
from ...simulation import simulate
from .settings import Case

KEY = (
    *("machine", "machine_id", "problem", "ranks", "exchange", "links", "iterations"),
    *("x_ns", "y_ns", "z_ns", "point_ns"),
)
"""The columns that identify a row, in the order of `Case.key`."""


COLUMNS = (
    *KEY,
    *("ty", "tz", "seconds", "computation_s", "communication_s", "exposed_s", "hidden"),
    *("messages", "bytes", "simulation_s"),
)
"""Times in seconds, of an iteration in the mean; docs/studies/ft.md says what each column is."""


def simulated_row(case: Case) -> dict[str, Any]:
    """Simulate the case, which takes its time.

    The first iteration begins on all ranks at the same time. Where barriers end the exchanges, as those of puts, one
    more iteration takes as long, within 1 %. All ranks compute equally long, so that what the slowest takes beyond that
    is communication that is not hidden.
    """
    shape = ft_shape(case.problem, case.ranks)
    machine = case.machine.with_noise(None)
    job = _job(case, case.setting.costs)
    whole = simulate(schedule_of(case), machine)
    alone = simulate(_schedule(_job(case, FtCosts(0, 0, 0, 0)), case), machine)
    computation = ft_computation_ns(job) / 1e9 / case.iterations
    seconds, communication = (timeline.max_finish / 1e12 / case.iterations for timeline in (whole, alone))
    exposed = seconds - computation
    return {
        **dict(zip(KEY, case.key, strict=True)),
        "ty": shape.ty,
        "tz": shape.tz,
        "seconds": seconds,
        "computation_s": computation,
        "communication_s": communication,
        "exposed_s": exposed,
        "hidden": round(1 - exposed / communication, 9) if communication > 0 else 0.0,
        "messages": whole.messages / case.iterations,
        "bytes": case.ranks * ft_bytes(shape),
        "simulation_s": whole.seconds,
    }


def schedule_of(case: Case) -> Schedule:
    """The schedule of the case: its iterations."""
    return _schedule(_job(case, case.setting.costs), case)


def _job(case: Case, costs: FtCosts) -> Job:
    return ft_iterations_job(ft_shape(case.problem, case.ranks), case.exchange, costs, case.iterations)


def _schedule(job: Job, case: Case) -> Schedule:
    return Schedule.compose([job], name=f"FT class {case.problem}", rules=case.machine.algorithm_rules)
