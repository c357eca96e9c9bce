"""A study: many simulations, one row each."""

from __future__ import annotations

import operator
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from .. import memory_needs
from ..errors import UsageError
from ..escaping import quote
from ..event_run import EventRun
from ..kernel import RunConfiguration, RunOptions, checked_seed
from ..machine import Machine
from ..memory_limits import check_memory
from ..parameters import takes
from ..provenance import Provenance
from ..schedule import Schedule
from ..simulation import as_machine, checked_schedule
from .rows_digest import attach_with_rows
from .workers import COLUMNS, Case, CaseResult, Row, Workers, chosen_executor, threads_of

if TYPE_CHECKING:
    from concurrent.futures import Executor

    import pandas as pd

SEEDS = 16
"""Seeds of a study, if none are asked for."""
MOST_LISTED = 1000
"""Numbers of ranks or seeds that a provenance lists one by one."""


@takes(RunOptions)
def study(
    schedule: Schedule,
    machine: Machine | str | Path,
    *,
    ranks: int | Iterable[int] | None = None,
    seeds: int | Iterable[int] = SEEDS,
    workers: int | None = None,
    executor: Executor | None = None,
    on_row: Callable[[Row], None] | None = None,
    on_run: Callable[[Row, EventRun], None] | None = None,
    **options: Unpack[RunOptions],
) -> pd.DataFrame:
    """Simulate `schedule` at every number of `ranks`, once without noise and once for every seed of the noise.

    `ranks` may be one number; other numbers than the schedule's own are made by extrapolation (default: as it is).
    `seeds` lists the seeds, or says how many there are from 0 on, as `idlewave study --seeds` does. Each number of
    ranks and each seed may be there once.

    Returns a row a simulation: ranks, noise (bool), seed, finish_ps (the slowest rank's), messages, seconds (of
    computing). The table carries its provenance (`Provenance.of_table`), also into Parquet files that pandas writes.

    The simulations run on `workers` threads of this process (default: one a core), or on `executor`, any
    `concurrent.futures.Executor`: a process pool, `mpi4py.futures.MPIPoolExecutor`, or that of a Dask client. Workers
    in other processes get what the schedule was made of, such as the path of its file, and make it again.

    The other options are the run configuration of each simulation; a study writes no checkpoints.

    `on_row` is called with each row as soon as it is there, so an interrupted study has lost no simulation that was
    finished. If the simulations run in partitions of the kernel, `on_run` is called before that with the row and the
    statistics of each (`Timeline.run`). Raises UsageError for what is no number of ranks or seeds, and what a
    simulation raises.
    """
    import pandas as pd

    _check_run(options)
    machine = as_machine(machine)
    own = checked_schedule(schedule).ranks
    sizes = _sizes(own if ranks is None else ranks)
    seeds = _seeds(seeds)
    cases = [Case(n, False, 0) for n in sizes]
    if machine.noise is not None:
        check_memory(f"a study of {len(sizes) * len(seeds):,} simulations", memory_needs.study(len(sizes) * len(seeds)))
        cases += [Case(n, True, seed) for n in sizes for seed in seeds]
    rows: list[Row] = []

    def take(result: CaseResult) -> None:
        rows.append(result.row)
        if on_run is not None and result.run is not None:
            on_run(result.row, result.run)
        if on_row is not None:
            on_row(result.row)

    with chosen_executor(executor, workers) as chosen:
        _check_memory(cases, threads_of(chosen))
        schedules = {n: schedule if n == schedule.ranks else schedule.extrapolate(n) for n in sizes}
        _run(cases, Workers(chosen, schedules, machine, options, statistics=on_run is not None), take)
    table = pd.DataFrame(rows, columns=COLUMNS)
    table = table.sort_values(["ranks", "noise", "seed"], ignore_index=True)
    return attach_with_rows(study_provenance(schedule, machine, sizes, seeds), table)


def _check_run(options: RunOptions) -> None:
    """Raises UsageError if the simulations of a study cannot be run so."""
    RunConfiguration.of(options)
    if options["checkpoint"] is not None:
        raise UsageError(
            "a study writes no checkpoints, because its simulations run beside each other; an interrupted study keeps "
            "the rows of those that have finished"
        )


def _run(cases: Sequence[Case], workers: Workers, take: Callable[[CaseResult], None]) -> None:
    """Simulate the cases, and call `take` with each result as soon as it is there.

    Whatever ends that early, an interrupt or an error, `take` has the result of every simulation that was finished.
    """
    try:
        workers.begin(cases)
        for _ in cases:
            take(workers.next_result())
    except BaseException:
        for result in workers.stop():
            take(result)
        raise


def study_provenance(schedule: Schedule, machine: Machine, sizes: Sequence[int], seeds: Sequence[int]) -> Provenance:
    """The provenance of a study of these, which is finished now, or as far as it got."""
    options = {"ranks": _listed(sizes), "seeds": _listed(seeds)}
    sources = (schedule.provenance, machine.provenance)
    return Provenance.made("study", by="idlewave.study", options=options, sources=sources)


def _sizes(given: int | Iterable[int]) -> list[int]:
    """The numbers of ranks: one, or those that are listed. Raises UsageError."""
    sizes = _numbers(given, "number of ranks") if isinstance(given, Iterable) else [_whole(given, "number of ranks")]
    if not sizes:
        raise UsageError("expected at least one number of ranks")
    return sizes


def _seeds(given: int | Iterable[int]) -> Sequence[int]:
    """The seeds: those that are listed, or so many from 0 on. Raises UsageError."""
    if isinstance(given, Iterable):
        return [checked_seed(seed) for seed in _numbers(given, "seed")]
    many = _whole(given, "number of seeds")
    if many < 0:
        raise UsageError(f"expected a number of seeds from 0 on, found {many}")
    if many > sys.maxsize:
        raise UsageError(f"expected a number of seeds up to {sys.maxsize}, found {quote(many)}")
    return range(many)


def _numbers(given: Iterable[int], what: str) -> list[int]:
    """Whole numbers, each once. Raises UsageError."""
    numbers = [_whole(given, what)] if isinstance(given, str | bytes) else [_whole(number, what) for number in given]
    twice = next((number for number, times in Counter(numbers).items() if times > 1), None)
    if twice is not None:
        raise UsageError(f"expected each {what} once, found {twice} more than once")
    return numbers


def _whole(given: object, what: str) -> int:
    """A whole number, Python's or numpy's. Raises UsageError."""
    if not isinstance(given, bool):
        with suppress(TypeError):
            return operator.index(given)  # type: ignore[arg-type]
    raise UsageError(f"expected a {what} that is a whole number, found {quote(given)}")


def _listed(numbers: Sequence[int]) -> list[int] | str:
    """The numbers, or a short text where they follow each other or are very many."""
    ordered = numbers if isinstance(numbers, range) else sorted(numbers)
    if len(numbers) > 2 and _follow_each_other(ordered):
        return f"{ordered[0]} to {ordered[-1]}"
    many = f"{len(numbers)} numbers from {ordered[0]} to {ordered[-1]}" if numbers else ""
    return list(numbers) if len(numbers) <= MOST_LISTED else many


def _follow_each_other(ordered: Sequence[int]) -> bool:
    return isinstance(ordered, range) or ordered == list(range(ordered[0], ordered[0] + len(ordered)))


def _check_memory(cases: list[Case], threads: int) -> None:
    """Raise MemoryLimit if as many of the largest simulations as run in this process at a time do not fit together.

    The simulations of one scale follow each other. Those in other processes are checked there.
    """
    largest = max(case.ranks for case in cases)
    most = max(sum(case.ranks == largest and case.noise == noise for case in cases) for noise in (False, True))
    at_a_time = min(threads, most)
    what = f"simulating {largest:,} ranks" + (f", {at_a_time} simulations at a time," if at_a_time > 1 else "")
    check_memory(what, at_a_time * memory_needs.simulation(largest))
