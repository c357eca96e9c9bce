"""Studies of cases: the same table on every executor; what is there is not computed again; nothing finished is lost."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from command_runs import run_command
from idlewave import CaseError, InputError, Machine, OutputError, ProgramError, Provenance, UsageError
from idlewave.studies import case_runner, row_parts
from idlewave.studies.benchmark_error import BENCHMARK_ERROR, benchmark_cases
from idlewave.studies.case_runner import Running, Share, StudyProgress, run_cases, run_share
from idlewave.studies.run_study import run_study
from idlewave.termination_signals import Interrupted
from small_study import SMALL, computed, small_cases

KILLED_PROGRAM = """
import sys
from pathlib import Path
from idlewave.studies.case_runner import Running, run_cases
from small_study import SMALL, small_cases
run_cases(SMALL, small_cases(Path(sys.argv[1]), 60, sleep_s=0.1), sys.argv[2], Running(1))
"""

MPI_PROGRAM = """
import sys
import idlewave
from mpi4py.futures import MPIPoolExecutor
if __name__ == "__main__":
    with MPIPoolExecutor() as executor:
        idlewave.study.benchmark_error("odin", ranks=(2, 5), folder=sys.argv[1], executor=executor)
"""


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every row is written as it comes."""
    monkeypatch.setattr(case_runner, "PERIOD", 0.0)


def without_time(table: pd.DataFrame) -> pd.DataFrame:
    return table.drop(columns="simulation_s")


def assert_the_same(found: pd.DataFrame, expected: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(without_time(found), without_time(expected))
    digests = [Provenance.of_table(table).digests for table in (found, expected)]
    assert digests[0] == digests[1]


class LastFirst(Executor):
    """Computes what was submitted last first."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Future[Any], Any, Any]] = []

    def submit(self, function: Any, /, *arguments: Any, **_: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self._waiting.append((future, function, arguments))
        if len(self._waiting) == 5:
            for waiting, run, given in reversed(self._waiting):
                waiting.set_result(run(*given))
        return future


def test_a_stored_row_has_the_names_of_the_present_case(tmp_path: Path) -> None:
    cases = small_cases(tmp_path, 2)
    run_cases(SMALL, cases, tmp_path / "out")
    other = [replace(case, machine=replace(case.machine, name="renamed")) for case in cases]
    assert list(run_cases(SMALL, other, tmp_path / "out")["machine"]) == ["renamed"] * 2
    assert computed(tmp_path) in ([0, 1], [1, 0]), "and is not computed again"


def test_rows_are_in_the_order_of_the_cases_whatever_the_order_in_which_they_come(tmp_path: Path) -> None:
    table = run_cases(SMALL, small_cases(tmp_path, 5), None, Running(executor=LastFirst()))
    assert computed(tmp_path) == [4, 3, 2, 1, 0]
    assert list(table["number"]) == [0, 1, 2, 3, 4]
    assert list(table["square"]) == [0, 1, 4, 9, 16]
    assert list(table.columns[-3:]) == ["root", "simulation_s", "case"]
    assert set(table["machine"]) == {"odin"}


def test_threads_and_processes_give_the_same_table(tmp_path: Path) -> None:
    cases = benchmark_cases(Machine.preset("odin"), ranks=(2, 5))
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
        there = run_cases(BENCHMARK_ERROR, cases, tmp_path / "there", Running(executor=processes))
    here = run_cases(BENCHMARK_ERROR, cases, tmp_path / "here", Running(workers=2))
    assert_the_same(there, here)
    files = [tmp_path / name / "study.parquet" for name in ("there", "here")]
    pd.testing.assert_frame_equal(*(without_time(pd.read_parquet(file)) for file in files))
    pd.testing.assert_frame_equal(pd.read_parquet(files[1]), here)


@pytest.mark.slow
@pytest.mark.long
def test_dask_goes_on_when_one_of_two_processes_is_killed(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="Dask's distributed is not installed")
    expected = run_cases(SMALL, small_cases(tmp_path, 30, sleep_s=0.05))
    (tmp_path / "computed").unlink()
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, protocol="tcp"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        workers = list(client.run(os.getpid).values())

        def kill_one(now: StudyProgress) -> None:
            if now.done == 8:
                os.kill(workers[0], signal.SIGKILL)

        running = Running(executor=client.get_executor(), on_progress=kill_one)
        table = run_cases(SMALL, small_cases(tmp_path, 30, sleep_s=0.05), tmp_path / "study", running)
    assert_the_same(table, expected)
    with pytest.raises(ProcessLookupError):
        os.kill(workers[0], 0)


def test_the_same_study_again_computes_nothing_and_more_cases_only_themselves(tmp_path: Path) -> None:
    first = run_cases(SMALL, small_cases(tmp_path, 4), tmp_path / "study")
    again = run_cases(SMALL, small_cases(tmp_path, 4), tmp_path / "study")
    pd.testing.assert_frame_equal(again, first)
    assert sorted(computed(tmp_path)) == [0, 1, 2, 3]
    more = run_cases(SMALL, small_cases(tmp_path, 6), tmp_path / "study")
    assert sorted(computed(tmp_path)) == [0, 1, 2, 3, 4, 5]
    assert list(more["number"]) == [0, 1, 2, 3, 4, 5]


def test_a_case_is_computed_again_if_its_machine_the_version_or_a_file_is_another(tmp_path: Path) -> None:
    case = small_cases(tmp_path, 1)[0]
    (tmp_path / "file").write_text("one")
    with_file = replace(case, log=tmp_path / "file")  # type: ignore[arg-type]
    before = SMALL.digest(with_file)
    (tmp_path / "file").write_text("other")
    assert SMALL.digest(with_file) != before
    named = replace(case, machine=replace(case.machine, name="other"))
    assert SMALL.digest(named) == SMALL.digest(case)
    others = {
        SMALL.digest(replace(case, machine=Machine.preset("bigred"))),
        replace(SMALL, version=2).digest(case),
        replace(SMALL, name="other").digest(case),
        SMALL.digest(case),
    }
    assert len(others) == 4


def test_a_case_that_fails_is_named_with_its_values_and_no_row_is_lost(tmp_path: Path) -> None:
    trouble = tmp_path / "computed-trouble"
    trouble.touch()
    cases = small_cases(tmp_path, 6, {3: "raise"})
    with pytest.raises(CaseError, match=r"study small: .*number 3, .*machine 'odin'.*it is in trouble"):
        run_cases(SMALL, cases, tmp_path / "study", Running(1))
    assert 3 not in computed(tmp_path)
    assert {0, 1, 2} <= {*computed(tmp_path)}
    trouble.unlink()
    assert list(run_cases(SMALL, cases, tmp_path / "study")["square"]) == [0, 1, 4, 9, 16, 25]
    assert sorted(computed(tmp_path)) == [0, 1, 2, 3, 4, 5], "each was computed once"


def test_an_interrupt_ends_running_rows_keeps_what_is_there_and_the_study_goes_on_later(tmp_path: Path) -> None:
    trouble = tmp_path / "computed-trouble"
    trouble.touch()
    cases = small_cases(tmp_path, 8, {1: "wait"})

    def interrupt(now: StudyProgress) -> None:
        if now.done == 4:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted, match=r"rows are in .*study, and the same command goes on"):
        run_cases(SMALL, cases, tmp_path / "study", Running(2, None, interrupt))
    assert len(computed(tmp_path)) >= 4
    trouble.unlink()
    assert list(run_cases(SMALL, cases, tmp_path / "study")["number"]) == [*range(8)]
    assert sorted(computed(tmp_path)) == [*range(8)], "each was computed once"


def test_a_killed_study_goes_on_and_has_lost_no_more_than_a_second(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", KILLED_PROGRAM, str(tmp_path), str(tmp_path / "study")]
    with subprocess.Popen(command, env=environment) as killed:
        while not list((tmp_path / "study/rows").glob("*.parquet")) or len(computed(tmp_path)) < 16:
            assert killed.poll() is None
            time.sleep(0.02)
        killed.kill()
    before = computed(tmp_path)
    assert len(before) < 60
    table = run_cases(SMALL, small_cases(tmp_path, 60, sleep_s=0.1), tmp_path / "study", Running(8))
    assert list(table["square"]) == [number**2 for number in range(60)]
    again = len(computed(tmp_path)) - 60
    assert 0 <= again <= 13, "ten rows a second, and those that were about to be taken"


def test_a_worker_that_dies_is_named_and_the_study_goes_on_later(tmp_path: Path) -> None:
    trouble = tmp_path / "computed-trouble"
    trouble.touch()
    cases = small_cases(tmp_path, 6, {4: "kill"})
    with (
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes,
        pytest.raises(ProgramError, match=r"a worker of the study small ended .*the same call goes on"),
    ):
        run_cases(SMALL, cases, tmp_path / "study", Running(executor=processes))
    trouble.unlink()
    assert list(run_cases(SMALL, cases, tmp_path / "study")["number"]) == [*range(6)]
    assert sorted(computed(tmp_path)) == [*range(6)], "each was computed once"


@pytest.mark.usefixtures("at_once")
def test_many_parts_are_merged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_parts, "MOST_PARTS", 4)
    run_cases(SMALL, small_cases(tmp_path, 13), tmp_path / "study", Running(1))
    assert len(list((tmp_path / "study/rows").glob("*.parquet"))) < 4
    assert len(run_cases(SMALL, small_cases(tmp_path, 13), tmp_path / "study")) == 13
    assert len(computed(tmp_path)) == 13


def test_shares_have_parts_of_their_own_and_together_are_the_study(tmp_path: Path) -> None:
    cases = small_cases(tmp_path, 7)
    for task in (2, 0, 1):
        run_share(SMALL, cases, tmp_path / "study", Share(task, 3))
    assert {*computed(tmp_path)[:2]} == {2, 5}
    names = {part.name for part in (tmp_path / "study/rows").glob("*.parquet")}
    assert names == {f"{task}-of-3-000001.parquet" for task in range(3)}
    assert_the_same(run_cases(SMALL, cases, tmp_path / "study"), run_cases(SMALL, cases))
    with pytest.raises(UsageError, match="expected a share"):
        Share(3, 3)


def test_a_damaged_part_is_named(tmp_path: Path) -> None:
    cases = small_cases(tmp_path, 3)
    run_cases(SMALL, cases, tmp_path / "study")
    part = tmp_path / "study/rows/all-000001.parquet"
    whole = part.read_bytes()
    part.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"all-000001\.parquet: expected rows of the study small: it cannot be read"):
        run_cases(SMALL, cases, tmp_path / "study")
    part.unlink()
    assert len(run_cases(SMALL, cases, tmp_path / "study")) == 3


def test_an_edited_part_is_named(tmp_path: Path) -> None:
    cases = small_cases(tmp_path, 3)
    run_cases(SMALL, cases, tmp_path / "study")
    part = tmp_path / "study/rows/all-000001.parquet"
    said = Provenance.read(part)
    assert said is not None
    table = pd.read_parquet(part)
    table.loc[1, "square"] = 7
    said.attach(table).to_parquet(part)
    with pytest.raises(InputError, match=r"all-000001\.parquet: .*its rows are not those that were written"):
        run_cases(SMALL, cases, tmp_path / "study")
    found = Provenance.read(part)
    assert found is not None
    assert found.options["edited"] is True


def test_a_folder_of_another_study_is_refused(tmp_path: Path) -> None:
    run_cases(replace(SMALL, name="other"), small_cases(tmp_path, 2), tmp_path / "study")
    table = tmp_path / "study/study.parquet"
    with pytest.raises(InputError, match=r"study\.parquet: expected a table of `idlewave study small`"):
        run_cases(SMALL, small_cases(tmp_path, 2), tmp_path / "study")
    table.unlink()
    with pytest.raises(InputError, match=r"000001\.parquet: expected rows of the study small, found those of 'other'"):
        run_cases(SMALL, small_cases(tmp_path, 2), tmp_path / "study")


def test_two_processes_cannot_run_a_study_into_one_folder(tmp_path: Path) -> None:
    parts = row_parts.RowParts(SMALL, tmp_path / "study")
    with parts.writing(()), pytest.raises(OutputError, match="another process runs this study"):
        run_cases(SMALL, small_cases(tmp_path, 2), tmp_path / "study")
    assert len(run_cases(SMALL, small_cases(tmp_path, 2), tmp_path / "study")) == 2


def test_a_full_disk_is_named_and_leaves_no_half_file(tmp_path: Path) -> None:
    ended = run_command(["study", "benchmark-error", "--ranks", "2", "-o", "study"], tmp_path, file_limit=300)
    assert ended.status == 1
    assert "study/rows/all-000001.parquet: cannot be written" in ended.complained
    assert [path for path in (tmp_path / "study/rows").iterdir() if not path.name.endswith(".lock")] == []


def test_the_table_says_what_it_was_made_of(tmp_path: Path) -> None:
    table = run_study(SMALL, small_cases(tmp_path, 2), tmp_path / "study")
    for said in (Provenance.read(tmp_path / "study/study.parquet"), Provenance.of_table(table)):
        assert said is not None
        assert (said.kind, said.name, said.options) == ("study", "small", {"version": 1})
        assert [source.name for source in said.sources] == ["odin"]
    assert "Squares" in (tmp_path / "study/report.html").read_text()


def test_progress_has_an_estimate_of_what_is_left(tmp_path: Path) -> None:
    told: list[StudyProgress] = []
    run_cases(SMALL, small_cases(tmp_path, 2), tmp_path / "study")
    run_cases(SMALL, small_cases(tmp_path, 5, sleep_s=0.02), tmp_path / "study", Running(1, None, told.append))
    assert [now.done for now in told] == [0, 1, 2, 3, 4, 5]
    assert {now.total for now in told} == {5}
    assert told[0].left_s is None
    assert told[-1].left_s == 0
    assert all(now.left_s is not None and 0.02 * (5 - now.done) <= now.left_s for now in told[1:])


def test_the_same_case_twice_and_no_case_are_refused(tmp_path: Path) -> None:
    case = small_cases(tmp_path, 1)[0]
    with pytest.raises(UsageError, match="expected each case once, found number 0"):
        run_cases(SMALL, [case, case])
    with pytest.raises(UsageError, match="has no case"):
        run_cases(SMALL, [])


def test_threads_of_somebody_else_are_not_shut_down(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as threads:
        run_cases(SMALL, small_cases(tmp_path, 3), None, Running(executor=threads))
        assert threads.submit(int, 3).result() == 3


def test_sigterm_ends_the_command_and_says_where_the_rows_are(tmp_path: Path) -> None:
    ranks = ",".join(map(str, itertools.islice(itertools.count(2), 60)))
    command = [sys.executable, "-m", "idlewave", "study", "benchmark-error", "--ranks", ranks, "-o", "study"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as ended:
        while not list((tmp_path / "study/rows").glob("*.parquet")):
            assert ended.poll() is None
            time.sleep(0.02)
        ended.terminate()
        complained = ended.communicate()[1]
    assert ended.returncode == 128 + signal.SIGTERM
    assert "rows are in study, and the same command goes on from there" in complained


@pytest.mark.mpi
def test_mpi_processes_give_the_same_table(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    mpiexec = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if mpiexec is None:
        pytest.skip("no mpiexec")
    program = tmp_path / "program.py"
    program.write_text(MPI_PROGRAM)
    command = [mpiexec, "-n", "3", sys.executable, "-m", "mpi4py.futures", program, tmp_path / "study"]
    said = subprocess.run([mpiexec, "--version"], capture_output=True, text=True, timeout=60, check=False).stdout
    is_open_mpi = any(name in said for name in ("OpenRTE", "Open MPI", "prterun", "PRRTE"))
    options = ["--allow-run-as-root", "--oversubscribe"] if is_open_mpi else []
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([mpiexec, *options, *command[1:]], env=environment, timeout=300, check=True)
    table = pd.read_parquet(tmp_path / "study/study.parquet")
    expected = run_cases(BENCHMARK_ERROR, benchmark_cases(Machine.preset("odin"), ranks=(2, 5)))
    pd.testing.assert_frame_equal(without_time(table), without_time(expected))
