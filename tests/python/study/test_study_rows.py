"""Each row of a study is a simulation of its own, and there as soon as that has finished."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import idlewave
import pytest
from idlewave import Deadlock, Machine, PoissonNoise, Schedule, Timeline
from idlewave.random_noise import ExponentialLength
from idlewave.simulation import simulate_checked
from idlewave.studies import workers
from trace_files import write_trace

SEEDS = 20
STUCK = "num_ranks 1\nrank 0 {\na: recv 8b from 0\n}\n"
PARTITIONS: dict[str, Any] = {"scheduler": "timewarp", "threads": 2}


@pytest.fixture
def noisy(machine: Machine) -> Machine:
    return machine.with_noise(PoissonNoise(1e8, ExponentialLength(1e7)))


@pytest.fixture
def schedule() -> Schedule:
    return Schedule.pattern("dissemination", ranks=8)


@pytest.mark.parametrize("options", [{}, {"workers": 2}, {"scheduler": "yawns", "threads": 2}, PARTITIONS])
def test_the_rows_are_those_of_single_simulations(options: dict[str, Any], noisy: Machine, tmp_path: Path) -> None:
    traced = Schedule.from_trace(write_trace(tmp_path / "trace", gap_ns=3_000_000))
    table = idlewave.study(traced, noisy, ranks=[2, 8], seeds=SEEDS, **options)
    assert len(table) == 2 * (1 + SEEDS)
    for ranks, noise, seed, finish, messages, _ in table.itertuples(index=False):
        chosen = noisy.noise if noise else None
        single = idlewave.simulate(traced.extrapolate(ranks), noisy, noise=chosen, seed=seed)
        assert (finish, messages) == (single.max_finish, single.messages)
    assert table[table["ranks"] == 8]["finish_ps"].nunique() > SEEDS / 2, "noise of another seed is another noise"


def test_all_seeds_share_the_core_of_the_machine_and_simulations_without_noise_have_another(
    schedule: Schedule, noisy: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Counted(idlewave._core.Machine)
    monkeypatch.setattr(idlewave._core, "Machine", made)
    idlewave.study(schedule, noisy, seeds=SEEDS, workers=1)
    assert made.times == 2


class Counted:
    """A function, of which is known how often it was called."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.times = 0

    def __call__(self, *arguments: object) -> object:
        self.times += 1
        return self._function(*arguments)


def test_a_row_does_not_wait_for_the_simulations_after_it(
    schedule: Schedule, noisy: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = threading.Semaphore(0)

    def simulate(schedule: Schedule, machine: Machine, seed: int, *options: Any) -> Timeline:
        if machine.noise is not None:
            assert there.acquire(timeout=60), "the row before is not there"
        return simulate_checked(schedule, machine, seed, *options)

    monkeypatch.setattr(workers, "simulate_checked", simulate)
    table = idlewave.study(schedule, noisy, seeds=3, workers=1, on_row=lambda _: there.release())
    assert len(table) == 4


def test_an_error_comes_after_the_rows_that_finished_before_it(
    schedule: Schedule, noisy: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def simulate(schedule: Schedule, machine: Machine, seed: int, *options: Any) -> Timeline:
        if seed == SEEDS - 1:
            schedule = Schedule.from_goal(STUCK)
        return simulate_checked(schedule, machine, seed, *options)

    monkeypatch.setattr(workers, "simulate_checked", simulate)
    seeds: list[object] = []
    with pytest.raises(Deadlock):
        idlewave.study(schedule, noisy, seeds=2 * SEEDS, workers=1, on_row=lambda row: seeds.append(row["seed"]))
    assert seeds == [0, *range(SEEDS - 1)]


def test_a_study_whose_threads_are_taken_away_ends(schedule: Schedule, noisy: Machine) -> None:
    with CancellingExecutor(1) as executor, pytest.raises(CancelledError):
        idlewave.study(schedule, noisy, seeds=SEEDS, executor=executor)


class CancellingExecutor(ThreadPoolExecutor):
    """Threads of a program that cancels what has not begun."""

    def submit(self, *_arguments: object, **_options: object) -> Future:
        future: Future = Future()
        future.cancel()
        return future
