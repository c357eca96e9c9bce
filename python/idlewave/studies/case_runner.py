"""Computes the rows of a study's cases, on threads or any `concurrent.futures.Executor`, and stores them as they come.

What is in the folder is not computed again. Whatever ends a study early, an interrupt, an error, a killed process,
leaves there what was finished.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, wait
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import CaseError, IdlewaveError, InputError, ProgramError, UsageError
from ..escaping import name_of
from ..output import write_table
from ..provenance import Provenance
from ..termination_signals import Interrupted, shielded
from .case_study import CASE, SIMULATION, CaseStudy, Row, sources_of, text_of, values_of
from .memory_share import MemoryShare, OnNote
from .pickled_cases import CasePickler, case_of
from .row_parts import RowParts, with_provenance
from .rows_digest import CASE_ROWS
from .stopping import row_ends_with
from .workers import chosen_executor, threads_of

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

    import pandas as pd

C = TypeVar("C")
TABLE = "study.parquet"
"""The table of a study, in its folder."""
AT_A_TIME = 256
"""So many cases are handed to an executor that has not answered for them yet."""
PERIOD = 1.0
"""Seconds after which rows that have come are written: a killed process loses no more than the quick cases of that
time."""


@dataclass(frozen=True)
class Share:
    """The cases of one task of an array: those whose number modulo `tasks` is `task`."""

    task: int
    tasks: int

    def __post_init__(self) -> None:
        if not 0 <= self.task < self.tasks:
            raise UsageError(f"expected a share from 0/N to N-1/N, found {self}")

    def __str__(self) -> str:
        return f"{self.task}/{self.tasks}"


@dataclass(frozen=True)
class StudyProgress:
    """How far a study is: `done` of `total` rows are there, and the others take about `left_s` seconds (None: not known
    yet)."""

    done: int
    total: int
    left_s: float | None = None


OnProgress = Callable[[StudyProgress], None]


@dataclass(frozen=True)
class Running:
    """How a study runs: on `workers` threads (default: one a core) or on an `executor`; `on_progress` is called after
    each row, `on_note` with a sentence if fewer cases run at a time, because they do not fit in memory together."""

    workers: int | None = None
    executor: Executor | None = None
    on_progress: OnProgress | None = None
    on_note: OnNote | None = None


def run_cases(
    study: CaseStudy[C], cases: Sequence[C], folder: str | Path | None = None, running: Running | None = None
) -> pd.DataFrame:
    """The table of a study: a row a case, in the order of the cases, the same on every executor but for `simulation_s`.

    Rows that are in `folder` are taken from there, the others computed and stored there, and the whole as
    study.parquet. Raises CaseError that names a case which failed, InputError for damaged parts and a folder of another
    study, OutputError where the folder cannot be written.
    """
    digests = digests_of(study, cases)
    rows = _completed(study, cases, digests, folder, "all", running or Running())
    return finished_table(study, cases, [rows[digest] for digest in digests], folder)


def run_share(
    study: CaseStudy[C], cases: Sequence[C], folder: str | Path, share: Share, running: Running | None = None
) -> None:
    """Compute the rows of one share of the cases into parts of its own in `folder`. Raises as `run_cases`."""
    digests = digests_of(study, cases)[share.task :: share.tasks]
    name = f"{share.task}-of-{share.tasks}"
    _completed(study, cases[share.task :: share.tasks], digests, folder, name, running or Running())


def collected_rows(study: CaseStudy[C], digests: Sequence[str], folder: str | Path) -> list[Row | None]:
    """The row of each case that is in `folder`, None for those that are not. Raises InputError for damaged parts."""
    known = RowParts(study, folder).read()
    return [known.get(digest) for digest in digests]


def digests_of(study: CaseStudy[C], cases: Sequence[C]) -> list[str]:
    """The digests of the cases. Raises UsageError if there is no case, or one is there twice."""
    digests = [study.digest(case) for case in cases]
    if not digests:
        raise UsageError(f"the study {study.name} has no case")
    digest, times = Counter(digests).most_common(1)[0]
    if times > 1:
        raise UsageError(f"expected each case once, found {text_of(cases[digests.index(digest)])} {times} times")
    return digests


def finished_table(
    study: CaseStudy[C], cases: Sequence[C], rows: Sequence[Row], folder: str | Path | None
) -> pd.DataFrame:
    """The rows of the cases as a table with its provenance, which is written into `folder`.

    Names of machines, schedules and paths are those of the cases: a row that was stored is found by their content.
    """
    import pandas as pd
    import pyarrow as pa

    names = [name for name in rows[0] if name not in (SIMULATION, CASE)]
    named = [row | values_of(case) for row, case in zip(rows, cases, strict=True)]
    table = pd.DataFrame(named, columns=[*names, SIMULATION, CASE])
    columns = with_provenance(pa.Table.from_pandas(table, preserve_index=False), study, sources_of(cases))
    if folder is not None:
        write_table(Path(folder) / TABLE, columns)
    provenance = Provenance.of_table(columns)
    return table if provenance is None else provenance.attach(table)


def computed_row(row: Callable[[C], Row], case: C) -> Row:
    """In a worker: the row of a case, without its digest."""
    begin = time.perf_counter()
    found = row(case)
    seconds = time.perf_counter() - begin
    values = values_of(case)
    if twice := {*values, SIMULATION, CASE} & {*found}:
        raise TypeError(f"expected other names for the values of a row than {', '.join(sorted(twice))}")
    return {**values, **{name: _plain(value) for name, value in found.items()}, SIMULATION: seconds}


def _computed_there(row: Callable[[C], Row], pickled: bytes) -> Row:
    """In another process."""
    case: C = case_of(pickled)
    return computed_row(row, case)


def _computed_here(stop: Event, row: Callable[[C], Row], case: C) -> Row:
    """On a thread of this process, where `stop` ends a simulation."""
    row_ends_with(stop)
    return computed_row(row, case)


def _plain(value: Any) -> bool | int | float | str | None:  # noqa: ANN401 - of a row function
    """A value of a row as Parquet has it, numbers of numpy as those of Python."""
    found = value.item() if hasattr(value, "item") else value
    if found is None or isinstance(found, bool | int | float | str):
        return found
    raise TypeError(f"expected a number, a flag or a text in a row, found {value!r}")


def _completed(
    study: CaseStudy[C],
    cases: Sequence[C],
    digests: Sequence[str],
    folder: str | Path | None,
    share: str,
    running: Running,
) -> Mapping[str, Row]:
    """The rows of the cases by their digests: those in the folder, and the others computed."""
    if folder is not None:
        check_table(study, Path(folder) / TABLE)
    parts = None if folder is None else RowParts(study, folder, share)
    with nullcontext() if parts is None else parts.writing(sources_of(cases)):
        known = {} if parts is None else parts.read()
        missing = [(digest, case) for digest, case in zip(digests, cases, strict=True) if digest not in known]
        store = _Store(known, parts, _Estimate(len(cases), len(missing), running.on_progress))
        if missing:
            _compute(study, missing, store, running, "" if folder is None else name_of(Path(folder)))
    return store.rows


def check_table(study: CaseStudy[C], file: Path) -> None:
    """Raise InputError if something else than a table of this study would be overwritten."""
    if not file.exists():
        return
    said = Provenance.read(file)
    if said is None or said.name != study.name or CASE_ROWS not in said.digests:
        raise InputError(
            f"{name_of(file)}: expected a table of `idlewave study {study.name}`, as this version writes it, found "
            "something else, which would be overwritten; another folder is needed"
        )


class _Estimate:
    """Tells how many rows are there, and how long the others take: as long as those of this run, in the mean."""

    def __init__(self, total: int, missing: int, on_progress: OnProgress | None) -> None:
        self._total, self._missing, self._on_progress = total, missing, on_progress
        self._begin = time.monotonic()
        self._done = 0
        self.say()

    def one_more(self) -> None:
        self._done += 1
        self.say()

    def say(self) -> None:
        if self._on_progress is None:
            return
        left = self._missing - self._done
        left_s = (time.monotonic() - self._begin) / self._done * left if self._done else None if left else 0.0
        self._on_progress(StudyProgress(self._total - left, self._total, left_s))


class _Store:
    """The rows that are there; those that come go to the parts in the folder once a period."""

    def __init__(self, rows: dict[str, Row], parts: RowParts | None, estimate: _Estimate) -> None:
        self.rows = rows
        self._parts = parts
        self._estimate = estimate
        self._unwritten: list[Row] = []
        self._written = time.monotonic()

    def add(self, digest: str, row: Row) -> None:
        if digest in self.rows:  # an interrupt came after it was stored
            return
        self.rows[digest] = {**row, CASE: digest}
        self._unwritten.append(self.rows[digest])
        self._estimate.one_more()

    def until_write(self) -> float | None:
        """Seconds until rows are to be written; None if there are none."""
        return max(0.0, self._written + PERIOD - time.monotonic()) if self._unwritten else None

    def write(self) -> None:
        if self._unwritten and self._parts is not None:
            with shielded():
                self._parts.append(self._unwritten)
        self._unwritten = []
        self._written = time.monotonic()


def _compute(
    study: CaseStudy[C], missing: Sequence[tuple[str, C]], store: _Store, running: Running, folder: str
) -> None:
    """Compute the rows of these cases into the store.

    However that ends, the store has every row that was finished.
    """
    with chosen_executor(running.executor, running.workers) as executor:
        run = _Run(executor, study, missing, MemoryShare(executor, running.on_note))
        try:
            for number in run.finished(store.until_write):
                if number is not None:
                    store.add(*run.result(number))
                    run.forget(number)
                if store.until_write() == 0:
                    store.write()
        except BaseException as error:
            for number in run.stop():
                store.add(*run.result(number))
            store.write()
            if isinstance(error, KeyboardInterrupt) and folder:
                kept = f"{len(store.rows):,} rows are in {folder}, and the same command goes on from there"
                raise Interrupted.by(error, kept) from error
            raise
        store.write()


class _Run:
    """The cases on an executor."""

    def __init__(
        self, executor: Executor, study: CaseStudy[C], missing: Sequence[tuple[str, C]], memory: MemoryShare
    ) -> None:
        self._executor = executor
        self._row = study.row
        self._name = study.name
        self._missing = missing
        self._needs = [study.memory(case) for _, case in missing]
        self._memory = memory
        self._pickler = CasePickler()
        self._stop = Event()
        self._pending: dict[int, Future[Row]] = {}
        self._done: SimpleQueue[int] = SimpleQueue()

    def finished(self, timeout: Callable[[], float | None]) -> Iterator[int | None]:
        """The number of each case as it is finished, and None where `timeout` is over."""
        at_a_time = 2 * threads_of(self._executor) or AT_A_TIME
        begun = done = 0
        while done < len(self._missing):
            while begun < len(self._missing) and begun - done < at_a_time and self._memory.has_room(self._needs[begun]):
                self._memory.begin(self._needs[begun])
                self._begin(begun)
                begun += 1
            try:
                number = self._done.get(timeout=timeout())
            except Empty:
                yield None
                continue
            done += 1
            self._memory.end(self._needs[number])
            yield number

    def forget(self, number: int) -> None:
        """The row of this case is stored."""
        del self._pending[number]

    def stop(self) -> list[int]:
        """Cancel what has not begun, end what runs on threads of this process, and return the numbers of the cases that
        have a row which is not stored."""
        self._stop.set()
        running = [future for future in self._pending.values() if not future.cancel()]
        if threads_of(self._executor):
            wait(running)
        return [
            number
            for number, future in self._pending.items()
            if future.done() and not future.cancelled() and future.exception() is None
        ]

    def result(self, number: int) -> tuple[str, Row]:
        """The digest and the row of a finished case. Raises CaseError if it failed."""
        digest, case = self._missing[number]
        try:
            return digest, self._pending[number].result()
        except BrokenExecutor as error:
            raise ProgramError(
                f"a worker of the study {self._name} ended before its rows were there ({error}); the same call goes on "
                "with those that are missing"
            ) from error
        except Exception as error:
            why = str(error) if isinstance(error, IdlewaveError) else f"{type(error).__name__}: {error}"
            status = error.exit_status if isinstance(error, IdlewaveError) else 1
            raise CaseError(f"study {self._name}: the case with {text_of(case)}: {why}", status) from error

    def _begin(self, number: int) -> None:
        case = self._missing[number][1]
        if threads_of(self._executor):
            future = self._executor.submit(_computed_here, self._stop, self._row, case)
        else:
            future = self._executor.submit(_computed_there, self._row, self._pickler.pickled(case))
        self._pending[number] = future
        future.add_done_callback(lambda _: self._done.put(number))
