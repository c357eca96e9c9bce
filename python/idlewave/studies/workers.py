"""Where the simulations of a study run: on threads of this process, or on any `concurrent.futures.Executor`.

Threads share the schedule and end soon after a study was stopped. Workers in other processes get the schedule and the
machine pickled: a schedule as what it was made of (the path of a file or a trace, the text of GOAL, the options of a
pattern), so that a worker on another node must find the same files. Each worker checks its own memory limits.
"""

from __future__ import annotations

import os
import pickle
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from ..errors import UsageError
from ..kernel import RunConfiguration
from ..simulation import simulate_checked

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future
    from queue import SimpleQueue

    from ..event_run import EventRun
    from ..kernel import RunOptions
    from ..machine import Machine
    from ..schedule import Schedule

Row = dict[str, object]
"""A row of the table of a study."""
COLUMNS = ["ranks", "noise", "seed", "finish_ps", "messages", "seconds"]
_SCHEDULES_KEPT = 2
"""A worker keeps so many unpickled schedules: simulations of one scale follow each other."""
PAUSE = 0.02
"""Seconds after which results are looked for where there are none: to wake up for each takes longer than a small
simulation."""


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
    """Runs the cases of a study: `begin` starts them, and `next_result` has the result of each."""

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
        from queue import SimpleQueue

        self._executor = executor
        self._schedules = schedules
        self._machine = machine
        self._options = options
        self._statistics = statistics
        self._stop = threading.Event()
        self._some_future_is_done = threading.Event()
        self._futures: list[Future[CaseResult | None]] = []
        self._outcomes: SimpleQueue[CaseResult | BaseException] = SimpleQueue()

    def begin(self, cases: Sequence[Case]) -> None:
        """Begin the simulation of each case as soon as there is a worker for it."""
        threads = threads_of(self._executor)
        if threads:
            left = deque(cases)
            for _ in range(min(threads, len(cases))):
                self._add(self._executor.submit(self._simulate_here, left))
            return
        pickled = {ranks: pickle.dumps((schedule, self._machine)) for ranks, schedule in self._schedules.items()}
        for case in cases:
            arguments = (pickled[case.ranks], case, self._options, self._statistics)
            self._add(self._executor.submit(simulate_pickled, *arguments))

    def next_result(self) -> CaseResult:
        """The result of one more case; if there is none yet, up to PAUSE later. Raises what its simulation raises."""
        from queue import Empty

        try:
            outcome = self._outcomes.get_nowait()
        except Empty:
            self._some_future_is_done.wait(PAUSE)
            outcome = self._outcomes.get()
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def stop(self) -> list[CaseResult]:
        """Cancel the simulations that have not begun, end those on threads of this process, and return the results that
        nobody has taken."""
        self._stop.set()
        for future in self._futures:
            future.cancel()
        outcomes = [self._outcomes.get() for _ in range(self._outcomes.qsize())]
        return [outcome for outcome in outcomes if isinstance(outcome, CaseResult)]

    def _add(self, future: Future[CaseResult | None]) -> None:
        self._futures.append(future)
        future.add_done_callback(self._end)

    def _end(self, future: Future[CaseResult | None]) -> None:
        """Take what a future has that is done: a result, an error, or None from a thread whose results are there."""
        try:
            outcome = future.result()
        except BaseException as error:  # next_result raises it
            self._outcomes.put(error)
        else:
            if outcome is not None:
                self._outcomes.put(outcome)
        self._some_future_is_done.set()

    def _simulate_here(self, left: deque[Case]) -> None:
        """Simulate cases that are left, each of which goes to one thread. Their results are there as they come."""
        configuration = RunConfiguration.of(self._options)
        while not self._stop.is_set():
            try:
                case = left.popleft()
            except IndexError:
                return
            schedule = self._schedules[case.ranks]
            result = _result(schedule, self._machine, case, configuration, self._statistics, self._check_stop)
            self._outcomes.put(result)

    def _check_stop(self, _now: int) -> None:
        """Raise Stopped, which ends a simulation, if the study was stopped."""
        if self._stop.is_set():
            raise Stopped


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
    return _result(schedule, machine, case, RunConfiguration.of(options), statistics, None)


@lru_cache(maxsize=_SCHEDULES_KEPT)
def _unpickled(pickled: bytes) -> tuple[Schedule, Machine]:
    schedule, machine = pickle.loads(pickled)
    return schedule, machine


def _result(
    schedule: Schedule,
    machine: Machine,
    case: Case,
    configuration: RunConfiguration,
    statistics: bool,
    progress: Callable[[int], None] | None,
) -> CaseResult:
    costs = machine if case.noise else machine.with_noise(None)
    timeline = simulate_checked(schedule, costs, case.seed, configuration, progress)
    values = (case.ranks, case.noise, case.seed, timeline.max_finish, timeline.messages, timeline.seconds)
    return CaseResult(dict(zip(COLUMNS, values, strict=True)), timeline.run if statistics else None)


def _checked_workers(workers: int | None) -> int:
    """So many, or one a core. Raises UsageError."""
    if workers is not None and workers < 1:
        raise UsageError(f"expected at least one worker, found {workers}")
    return workers or len(os.sched_getaffinity(0))
