"""A study: many simulations, one row each."""

from __future__ import annotations

import operator
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from . import footprint
from .errors import UsageError
from .kernel import checked_seed
from .machine import Machine
from .memory import check_memory
from .provenance import Provenance
from .quoting import quote
from .schedule import Schedule
from .simulation import as_machine, checked_schedule, simulate
from .study_rows import attach_with_rows

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    import pandas as pd

MOST_LISTED = 1000
COLUMNS = ["ranks", "noise", "seed", "finish_ps", "messages", "seconds"]


class Stopped(Exception):  # noqa: N818 - no error: somebody asked
    """A simulation was asked to stop."""


@dataclass(frozen=True)
class _Case:
    ranks: int
    noise: bool
    seed: int


def study(
    schedule: Schedule,
    machine: Machine | str | Path,
    *,
    ranks: int | Iterable[int] | None = None,
    seeds: int | Iterable[int] = 16,
    threads: int | None = None,
    on_row: Callable[[dict[str, object]], None] | None = None,
) -> pd.DataFrame:
    """Simulate `schedule` at every number of `ranks` (by extrapolation; default: as it is), without noise, and with
    the machine's noise once for every seed.

    `ranks` may be one number. `seeds` are those that are listed, or, if it is a number, so many from 0 on, as with
    `idlewave study --seeds`. Each may be there once.

    Returns a row a simulation: ranks, noise (bool), seed, finish_ps (the slowest rank's), messages, seconds (of
    computing). The table carries its provenance (`Provenance.of_table`), also into Parquet files that pandas writes.
    `threads` simulations run at a time (default: one a core). `on_row` is called with each row as it is found, so an
    interrupted study has lost nothing that it was told. Raises UsageError for what are no numbers of ranks or seeds.
    """
    from queue import SimpleQueue

    import pandas as pd

    machine = as_machine(machine)
    traced = checked_schedule(schedule).ranks
    sizes = _sizes(traced if ranks is None else ranks)
    seeds = _seeds(seeds)
    scaled = {n: schedule if n == schedule.ranks else schedule.extrapolate(n) for n in sizes}
    cases = [_Case(n, False, 0) for n in sizes]
    if machine.noise is not None:
        cases += [_Case(n, True, seed) for n in sizes for seed in seeds]
    threads = _checked_threads(threads)
    _check_memory(cases, threads)
    rows: list[dict[str, object]] = []
    with _pool(threads) as (pool, stop):

        def run(case: _Case) -> dict[str, object]:
            noise = machine.noise if case.noise else None
            timeline = simulate(
                scaled[case.ranks],
                machine.with_noise(noise),
                seed=case.seed,
                progress=lambda _now: _check(stop),
            )
            found = (
                case.ranks,
                case.noise,
                case.seed,
                timeline.max_finish,
                timeline.messages,
                timeline.seconds,
            )
            return dict(zip(COLUMNS, found, strict=True))

        def take(row: dict[str, object]) -> None:
            rows.append(row)
            if on_row is not None:
                on_row(row)

        finished: SimpleQueue[Future[dict[str, object]]] = SimpleQueue()
        for case in cases:
            pool.submit(run, case).add_done_callback(finished.put)
        try:
            for _ in cases:
                take(finished.get().result())
        except BaseException:  # an interrupt, too: what has been simulated by now is kept
            while not finished.empty():
                future = finished.get()
                if not future.cancelled() and future.exception() is None:
                    take(future.result())
            raise
    table = pd.DataFrame(rows, columns=COLUMNS)
    table = table.sort_values(["ranks", "noise", "seed"], ignore_index=True)
    return attach_with_rows(study_provenance(schedule, machine, sizes, seeds), table)


def study_provenance(schedule: Schedule, machine: Machine, sizes: Sequence[int], seeds: Sequence[int]) -> Provenance:
    """Of a study of these, which is finished now, or as far as it got."""
    options = {"ranks": _listed(sizes), "seeds": _listed(seeds)}
    sources = (schedule.provenance, machine.provenance)
    return Provenance.made("study", by="idlewave.study", options=options, sources=sources)


def _sizes(given: int | Iterable[int]) -> list[int]:
    """One number of ranks, or several. Raises UsageError."""
    sizes = _numbers(given, "number of ranks") if isinstance(given, Iterable) else [_whole(given, "number of ranks")]
    if not sizes:
        raise UsageError("expected at least one number of ranks")
    return sizes


def _seeds(given: int | Iterable[int]) -> list[int]:
    """Those that are listed, or so many from 0 on. Raises UsageError."""
    if isinstance(given, Iterable):
        return [checked_seed(seed) for seed in _numbers(given, "seed")]
    many = _whole(given, "number of seeds")
    if many < 0:
        raise UsageError(f"expected a number of seeds from 0 on, found {many}")
    return list(range(many))


def _numbers(given: Iterable[int], what: str) -> list[int]:
    """Whole numbers, each of which is there once. Raises UsageError."""
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
    """Numbers, in short where they follow each other or are very many."""
    ordered = sorted(numbers)
    if len(numbers) > 2 and ordered == list(range(ordered[0], ordered[0] + len(ordered))):
        return f"{ordered[0]} to {ordered[-1]}"
    many = f"{len(numbers)} numbers from {ordered[0]} to {ordered[-1]}" if numbers else ""
    return list(numbers) if len(numbers) <= MOST_LISTED else many


def _checked_threads(threads: int | None) -> int:
    """As many, or one a core. Raises UsageError."""
    if threads is not None and threads < 1:
        raise UsageError(f"expected at least one thread, found {threads}")
    return threads or len(os.sched_getaffinity(0))


def _check_memory(cases: list[_Case], threads: int) -> None:
    """Raises MemoryLimit if the largest of the simulations, which are run one after the other, do not fit together."""
    largest = max(case.ranks for case in cases)
    most = max(sum(case.ranks == largest and case.noise == noise for case in cases) for noise in (False, True))
    at_a_time = min(threads, most)
    what = f"simulating {largest:,} ranks" + (f", {at_a_time} simulations at a time," if at_a_time > 1 else "")
    check_memory(what, at_a_time * footprint.simulation(largest))


def _check(stop: threading.Event) -> None:
    if stop.is_set():
        raise Stopped


@contextmanager
def _pool(threads: int) -> Iterator[tuple[ThreadPoolExecutor, threading.Event]]:
    """Threads to simulate on; whatever ends the block early also ends the simulations that run."""
    from concurrent.futures import ThreadPoolExecutor

    stop = threading.Event()
    pool = ThreadPoolExecutor(threads)
    try:
        yield pool, stop
    finally:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)
