"""Where the simulations of a study run: on threads of this process, or on any `concurrent.futures.Executor`.

Threads share the schedule and end soon after a study was stopped. Workers in other processes get the schedule and the
machine pickled: a schedule as what it was made of (the path of a file or a trace, the text of GOAL, the options of a
pattern), so that a worker on another node must find the same files. Each worker checks its own memory limits.
"""

from __future__ import annotations

import os
import pickle
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from ..errors import UsageError
from ..simulation import simulate

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

    from ..kernel import EventRun, RunOptions
    from ..machine import Machine
    from ..schedule import Schedule

Row = dict[str, object]
"""A row of the table of a study."""
COLUMNS = ["ranks", "noise", "seed", "finish_ps", "messages", "seconds"]
_SCHEDULES_KEPT = 2
"""A worker keeps so many unpickled schedules: simulations of one scale follow each other."""


@dataclass(frozen=True)
class Case:
    """One simulation of a study."""

    ranks: int
    noise: bool
    seed: int


@dataclass(frozen=True)
class CaseResult:
    """The row of a simulation; and its statistics, if they were asked for and it ran in partitions of the kernel."""

    row: Row
    run: EventRun | None


class Stopped(Exception):  # noqa: N818 - no error: the study was stopped
    """The study was stopped while a simulation ran."""


class Workers:
    """Runs the cases of a study: `submit` returns a future of the result of a case."""

    def __init__(
        self,
        executor: Executor,
        schedules: Mapping[int, Schedule],
        machine: Machine,
        options: RunOptions,
        *,
        statistics: bool,
    ) -> None:
        """`schedules` has the program at each number of ranks; `options` are the run configuration of a simulation;
        `statistics`: whether its statistics are asked for."""
        from concurrent.futures import ThreadPoolExecutor

        self._executor = executor
        self._schedules = schedules
        self._machine = machine
        self._options = options
        self._statistics = statistics
        self._pickled: dict[int, bytes] | None = None
        if not isinstance(executor, ThreadPoolExecutor):
            self._pickled = {ranks: pickle.dumps((schedule, machine)) for ranks, schedule in schedules.items()}
        self._stop = threading.Event()
        self._futures: list[Future[CaseResult]] = []

    def submit(self, case: Case) -> Future[CaseResult]:
        """Begin the simulation of a case as soon as there is a worker for it."""
        if self._pickled is None:
            future = self._executor.submit(self._simulate_here, case)
        else:
            pickled = self._pickled[case.ranks]
            future = self._executor.submit(simulate_pickled, pickled, case, self._options, self._statistics)
        self._futures.append(future)
        return future

    def stop(self) -> None:
        """Cancel the simulations that have not begun, and end those on threads of this process."""
        self._stop.set()
        for future in self._futures:
            future.cancel()

    def _simulate_here(self, case: Case) -> CaseResult:
        schedule = self._schedules[case.ranks]
        return _result(schedule, self._machine, case, self._options, self._statistics, self._stop)


@contextmanager
def chosen_executor(executor: Executor | None, workers: int | None) -> Iterator[Executor]:
    """The executor of a study, or if that is None a pool of `workers` threads (default: one a core) for this block.

    Raises UsageError if both are given, or `workers` is no number of threads.
    """
    from concurrent.futures import ThreadPoolExecutor

    if executor is not None:
        if workers is not None:
            raise UsageError("expected either workers or an executor, found both")
        yield executor
        return
    with ThreadPoolExecutor(_checked_workers(workers)) as pool:
        yield pool


def threads_of(executor: Executor) -> int:
    """How many simulations an executor runs in this process at a time; 0 if it runs them elsewhere."""
    from concurrent.futures import ThreadPoolExecutor

    return executor._max_workers if isinstance(executor, ThreadPoolExecutor) else 0


def simulate_pickled(pickled: bytes, case: Case, options: RunOptions, statistics: bool) -> CaseResult:
    """The result of a case, in a worker: `pickled` are the schedule and the machine."""
    schedule, machine = _unpickled(pickled)
    return _result(schedule, machine, case, options, statistics, threading.Event())


@lru_cache(maxsize=_SCHEDULES_KEPT)
def _unpickled(pickled: bytes) -> tuple[Schedule, Machine]:
    schedule, machine = pickle.loads(pickled)
    return schedule, machine


def _result(
    schedule: Schedule,
    machine: Machine,
    case: Case,
    options: RunOptions,
    statistics: bool,
    stop: threading.Event,
) -> CaseResult:
    timeline = simulate(
        schedule,
        machine if case.noise else machine.with_noise(None),
        seed=case.seed,
        progress=lambda _now: _check(stop),
        **options,
    )
    values = (case.ranks, case.noise, case.seed, timeline.max_finish, timeline.messages, timeline.seconds)
    return CaseResult(dict(zip(COLUMNS, values, strict=True)), timeline.run if statistics else None)


def _check(stop: threading.Event) -> None:
    if stop.is_set():
        raise Stopped


def _checked_workers(workers: int | None) -> int:
    """So many, or one a core. Raises UsageError."""
    if workers is not None and workers < 1:
        raise UsageError(f"expected at least one worker, found {workers}")
    return workers or len(os.sched_getaffinity(0))
