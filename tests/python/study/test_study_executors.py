"""A study has the same rows on whatever executor it runs, and keeps what was finished when it is interrupted."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import idlewave
import numpy as np
import pandas as pd
import pytest
from idlewave import Deadlock, Machine, MemoryLimit, Noise, Provenance, Schedule, UsageError
from idlewave.studies import study as study_module
from trace_files import write_trace

SEEDS = 5
SAME = ["ranks", "noise", "seed", "finish_ps", "messages"]
"""The columns that are the same wherever it runs; `seconds` is not."""
MPI_PROGRAM = """
import sys
import idlewave
from mpi4py.futures import MPIPoolExecutor
if __name__ == "__main__":
    with MPIPoolExecutor() as executor:
        schedule = idlewave.Schedule.from_trace(sys.argv[1])
        machine = idlewave.Machine.load(sys.argv[2])
        table = idlewave.study(schedule, machine, ranks=[2, 8], seeds=5, executor=executor)
        table.to_parquet(sys.argv[3])
"""
MACHINE = """
[network]
L = "1us"
o = "0.5us"
g = "0.5us"
G = "1ns"
O = "0ns"
S = 65536
[noise]
kind = "periodic"
period = "1ms"
length = "50us"
"""


@pytest.fixture
def noisy() -> Machine:
    return Machine.from_toml(MACHINE)


@pytest.fixture
def schedule(tmp_path: Path) -> Schedule:
    return Schedule.from_trace(write_trace(tmp_path / "trace", gap_ns=3_000_000))


@pytest.fixture(scope="module")
def processes() -> Iterator[Executor]:
    """Their start takes longer than a study."""
    with two_processes() as executor:
        yield executor


def two_processes() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(2, mp_context=get_context("spawn"))


def studied(schedule: Schedule, machine: Machine, **options: object) -> pd.DataFrame:
    return idlewave.study(schedule, machine, ranks=[2, 8], seeds=SEEDS, **options)


def assert_the_same(found: pd.DataFrame, expected: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(found[SAME], expected[SAME])
    rows = [Provenance.of_table(table).digests["rows"] for table in (found, expected)]
    assert rows[0] == rows[1]


def test_threads_that_somebody_else_started_give_the_same_rows(schedule: Schedule, noisy: Machine) -> None:
    with ThreadPoolExecutor(2) as executor:
        assert_the_same(studied(schedule, noisy, executor=executor), studied(schedule, noisy))
        assert executor.submit(int, 3).result() == 3, "the executor is not ours to shut down"


def test_processes_give_the_same_rows(schedule: Schedule, noisy: Machine, processes: Executor) -> None:
    assert_the_same(studied(schedule, noisy, executor=processes), studied(schedule, noisy))


@pytest.mark.mpi
@pytest.mark.long
def test_mpi_processes_give_the_same_rows(schedule: Schedule, noisy: Machine, tmp_path: Path) -> None:
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    mpiexec = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if mpiexec is None:
        pytest.skip("no mpiexec")
    program, machine, table = (tmp_path / name for name in ("program.py", "machine.toml", "study.parquet"))
    program.write_text(MPI_PROGRAM)
    machine.write_text(MACHINE)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [mpiexec, "-n", "3", sys.executable, "-m", "mpi4py.futures", program, tmp_path / "trace", machine, table]
    options = ["--allow-run-as-root", "--oversubscribe"] if _is_open_mpi(mpiexec) else []
    done = subprocess.run(
        [*command[:1], *options, *command[1:]],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert_the_same(pd.read_parquet(table), studied(schedule, noisy))


def _is_open_mpi(mpiexec: str) -> bool:
    said = subprocess.run([mpiexec, "--version"], capture_output=True, text=True, timeout=60, check=False).stdout
    return "OpenRTE" in said or "Open MPI" in said or "prterun" in said or "PRRTE" in said


def test_dask_gives_the_same_rows(schedule: Schedule, noisy: Machine) -> None:
    distributed = pytest.importorskip("distributed", reason="Dask's distributed is not installed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, protocol="tcp"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert_the_same(studied(schedule, noisy, executor=client.get_executor()), studied(schedule, noisy))


def test_what_goes_to_other_processes_is_the_schedule_as_it_was_made_and_the_machine(
    schedule: Schedule, noisy: Machine
) -> None:
    noisy.core()
    loaded, machine = pickle.loads(pickle.dumps((schedule.extrapolate(8), noisy)))
    assert loaded.identity() == schedule.extrapolate(8).identity()
    assert machine.identity() == noisy.identity()
    assert len(pickle.dumps(schedule)) < 1000


def test_a_simulation_that_fails_in_another_process_raises_what_it_would_raise_here(
    noisy: Machine, processes: Executor
) -> None:
    stuck = Schedule.from_goal("num_ranks 2\nrank 0 {\na: recv 8b from 1\n}\nrank 1 {\na: calc 1\n}\n")
    with pytest.raises(Deadlock) as raised:
        idlewave.study(stuck, noisy, seeds=1, executor=processes)
    assert raised.value.waiting[0][:2] == (0, "a")


def test_rows_are_told_as_they_come_from_any_executor(schedule: Schedule, noisy: Machine, processes: Executor) -> None:
    told: list[dict[str, object]] = []
    table = studied(schedule, noisy, executor=processes, on_row=told.append)
    assert len(told) == len(table) == 2 * (1 + SEEDS)


def test_the_statistics_of_a_simulation_come_from_another_process_too(
    schedule: Schedule, noisy: Machine, processes: Executor
) -> None:
    options = {"scheduler": "check", "seeds": 2}
    here, there = {}, {}
    for counts, executor in ((here, None), (there, processes)):
        idlewave.study(
            schedule,
            noisy,
            executor=executor,
            on_run=lambda row, run, counts=counts: counts.update({(row["noise"], row["seed"]): run.digest}),
            **options,
        )
    assert len(there) == 3
    assert there == here


def test_an_interrupt_loses_no_simulation_that_other_processes_have_finished(
    schedule: Schedule, noisy: Machine
) -> None:
    told: list[object] = []

    def interrupted(row: dict[str, object]) -> None:
        told.append(row)
        if len(told) == 1:
            counted.wait_for(20)
            raise KeyboardInterrupt

    with two_processes() as processes:
        counted = CountedExecutor(processes)
        with pytest.raises(KeyboardInterrupt):
            idlewave.study(schedule, noisy, seeds=500, executor=counted, on_row=interrupted)
        assert 20 <= len(told) < 501
        assert processes.submit(int, 3).result(60) == 3, "the executor goes on for others"


class CountedExecutor(Executor):
    """Another executor, of which is known how many futures are done."""

    def __init__(self, inner: Executor) -> None:
        self._inner = inner
        self._done = threading.Semaphore(0)

    def submit(self, *arguments: object, **options: object) -> Future:
        future = self._inner.submit(*arguments, **options)
        future.add_done_callback(lambda _: self._done.release())
        return future

    def wait_for(self, count: int) -> None:
        for _ in range(count):
            assert self._done.acquire(timeout=60)


def test_workers_and_an_executor_do_not_go_together(schedule: Schedule, noisy: Machine) -> None:
    with ThreadPoolExecutor(1) as executor, pytest.raises(UsageError, match="either workers or an executor"):
        studied(schedule, noisy, workers=2, executor=executor)


def test_the_simulations_of_all_threads_of_an_executor_must_fit_into_memory(
    noisy: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def check(what: str, needed: int) -> None:
        if what.startswith("simulating"):
            asked.append(needed)
            raise MemoryLimit(what, needed, 0, "a test")

    monkeypatch.setattr(study_module, "check_memory", check)
    schedule = Schedule.pattern("bcast", ranks=4)
    for threads in (1, 3):
        with ThreadPoolExecutor(threads) as executor, pytest.raises(MemoryLimit):
            idlewave.study(schedule, noisy, seeds=8, executor=executor)
    assert asked[1] == 3 * asked[0]


def test_detours_go_to_other_processes_with_the_machine(
    schedule: Schedule, noisy: Machine, processes: Executor
) -> None:
    recorded = noisy.with_noise(Noise(np.array([0, 500_000_000]), np.array([50_000_000, 1_000_000]), 10**9))
    expected = idlewave.study(schedule, recorded, seeds=2)
    assert_the_same(idlewave.study(schedule, recorded, seeds=2, executor=processes), expected)
