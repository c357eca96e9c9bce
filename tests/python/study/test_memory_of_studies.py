"""Cases of a study that run at the same time fit in memory together: where not, fewer run, which is said once."""

from __future__ import annotations

import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from idlewave import Machine, Schedule, Variation, memory_needs
from idlewave.memory_limits import Limit
from idlewave.studies import memory_share, pickled_cases
from idlewave.studies.case_runner import Running, run_cases
from idlewave.studies.case_study import CaseStudy, Row
from idlewave.studies.memory_share import MemoryShare
from idlewave.studies.pickled_cases import CasePickler, case_of
from idlewave.studies.variation import VARIATION, variation_cases

GIB = 1 << 30
PERIODIC = Variation(np.array([0]), np.array([1.0]), np.array([1.0]), 10**9)
LIMIT = Limit(8 * GIB, "the machine's memory")


@dataclass(frozen=True)
class BigCase:
    number: int
    gib: int


@pytest.fixture(autouse=True)
def limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_share, "tightest", lambda: LIMIT)


def most_at_a_time(sizes: list[int], workers: int) -> tuple[int, list[str]]:
    """How many cases of so many GiB ran at the same time at most, and what was said. Those that run wait for each
    other, as long as another one comes."""
    lock, running, most, notes = threading.Condition(), set[int](), 0, list[str]()

    def row(case: BigCase) -> Row:
        nonlocal most
        with lock:
            running.add(case.number)
            most = max(most, len(running))
            lock.notify_all()
            lock.wait_for(lambda: len(running) >= workers, timeout=0.2)
            running.discard(case.number)
        return {"done": True}

    study = CaseStudy("big", 1, row, memory=lambda case: case.gib * GIB)
    cases = [BigCase(number, gib) for number, gib in enumerate(sizes)]
    table = run_cases(study, cases, None, Running(workers, on_note=notes.append))
    assert list(table["number"]) == [*range(len(sizes))]
    return most, notes


def test_cases_that_fit_together_run_on_all_workers_and_nothing_is_said() -> None:
    assert most_at_a_time([2, 2, 2, 2], 4) == (4, [])


def test_cases_that_do_not_fit_together_run_fewer_at_a_time_and_it_is_said_once() -> None:
    most, notes = most_at_a_time([3, 3, 3, 3, 3], 4)
    assert most == 2
    (note,) = notes
    assert note.startswith("where cases are large, fewer than 4 run at a time: 3 of them need at least about 9.66 GB")
    assert "8.59 GB are left of the machine's memory" in note


def test_one_that_does_not_fit_alone_runs_alone() -> None:
    most, notes = most_at_a_time([9, 9], 2)
    assert (most, len(notes)) == (1, 1)


def test_a_simulation_needs_as_much_as_its_ranks() -> None:
    schedule = Schedule.pattern("bcast", ranks=1000)
    assert CaseStudy("other", 1, lambda _: {}).memory(BigCase(1, 1)) == 0
    case = variation_cases([schedule], Machine.preset("odin"), PERIODIC, runs=1)[0]
    assert VARIATION.memory(case) == memory_needs.simulation(1000)


def test_memory_counts_where_workers_share_this_machine() -> None:
    with ThreadPoolExecutor(2) as threads, ProcessPoolExecutor(3, mp_context=get_context("spawn")) as processes:
        assert [memory_share.workers_here(executor) for executor in (threads, processes)] == [2, 3]
        share = MemoryShare(processes, None)
        share.begin(5 * GIB)
        assert not share.has_room(5 * GIB)
        assert share.has_room(3 * GIB)
        share.end(5 * GIB)
        assert share.has_room(5 * GIB)


def test_a_worker_elsewhere_makes_a_schedule_once_for_all_its_cases(tmp_path: Path) -> None:
    file = tmp_path / "p.goal"
    file.write_text("num_ranks 2\nrank 0 {\nsend 1b to 1\n}\nrank 1 {\nrecv 1b from 0\n}\n")
    cases = variation_cases([Schedule.load(file)], Machine.preset("odin"), PERIODIC, runs=3)
    pickler = CasePickler()
    sent = [pickler.pickled(case) for case in cases]
    pickled_cases._schedule_of.cache_clear()
    there = [case_of(pickled) for pickled in sent]
    assert [case.offset_ps for case in there] == [case.offset_ps for case in cases]
    assert there[0].schedule is there[1].schedule is there[2].schedule
    assert there[0].schedule.identity() == cases[0].schedule.identity()
    assert VARIATION.digest(there[0]) == VARIATION.digest(cases[0])
