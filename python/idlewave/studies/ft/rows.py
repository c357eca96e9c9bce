"""A row of the study: one iteration of FT by one exchange, simulated with and without its computations."""

from __future__ import annotations

import math
from typing import Any

from ...ft_pattern import FtCosts, ft_bytes, ft_computation_ns, ft_iteration_job, ft_shape
from ...jobs import Job
from ...schedule import Schedule
from ...simulation import simulate
from .settings import Case

KEY = ("machine", "machine_id", "problem", "ranks", "exchange", "links", "x_ns", "y_ns", "z_ns", "point_ns")
"""The columns that identify a row, in the order of `Case.key`."""


COLUMNS = (
    *KEY,
    *("ty", "tz", "iterations", "seconds", "computation_s", "communication_s", "exposed_s", "hidden", "queued_s"),
    *("messages", "bytes", "simulation_s"),
)
"""Times in seconds; docs/studies/ft.md says what each column is."""


def simulated_row(case: Case) -> dict[str, Any]:
    """Simulate the case, which takes its time.

    The iteration begins on all ranks at the same time, which is exact where barriers end the exchanges before. All
    ranks compute equally long, so that what the slowest takes beyond that is communication that is not hidden.
    """
    shape = ft_shape(case.problem, case.ranks)
    machine = case.machine.with_noise(None)
    job = ft_iteration_job(shape, case.exchange, case.setting.costs)
    whole = simulate(_schedule(job, case), machine)
    alone = simulate(_schedule(ft_iteration_job(shape, case.exchange, FtCosts(0, 0, 0, 0)), case), machine)
    computation = ft_computation_ns(job) / 1e9
    seconds, communication = whole.max_finish / 1e12, alone.max_finish / 1e12
    exposed = seconds - computation
    return {
        **dict(zip(KEY, case.key, strict=True)),
        "ty": shape.ty,
        "tz": shape.tz,
        "iterations": 1,
        "seconds": seconds,
        "computation_s": computation,
        "communication_s": communication,
        "exposed_s": exposed,
        "hidden": round(1 - exposed / communication, 9) if communication > 0 else 0.0,
        "queued_s": _queued_s(job, case),
        "messages": whole.messages,
        "bytes": case.ranks * ft_bytes(shape),
        "simulation_s": whole.seconds,
    }


def _queued_s(job: Job, case: Case) -> float:
    """What the iteration would take at least if NICs took queues of puts, s; nan for other exchanges.

    A rank would compute the next slab as soon as its CPU has issued the puts of one, while its NIC sends them one
    after the other. Then either the CPU works all the time, and the NIC sends the puts of the last slab thereafter; or
    the NIC sends all the time from the first slab on. Latencies and barriers are left out.
    """
    if case.exchange != "put":
        return math.nan
    total = 0.0
    for operation in job.operations:
        if operation.name == "compute":
            total += operation.options.compute_ns * 1e3
        if operation.name != "slabs_put":
            continue
        machine = case.machine
        p = (machine.one_sided or machine.network).at(operation.bytes)
        others, further = operation.members(case.ranks) - 1, max(operation.bytes - 1, 0)
        slabs, computing = operation.options.blocks, operation.options.compute_ns * 1e3
        issuing, sending = others * (p.o_s + further * p.O_s), others * (p.g + further * p.G)
        by_cpu = slabs * computing + (slabs - 1) * issuing + max(issuing, sending)
        total += max(by_cpu, computing + slabs * sending)
    return total / 1e12


def iteration_schedule(case: Case) -> Schedule:
    """One iteration of the case."""
    job = ft_iteration_job(ft_shape(case.problem, case.ranks), case.exchange, case.setting.costs)
    return _schedule(job, case)


def _schedule(job: Job, case: Case) -> Schedule:
    return Schedule.compose([job], name=f"FT class {case.problem}", rules=case.machine.algorithm_rules)
