"""Whatever ends a trace, the job ends with it, and what was recorded is kept and described."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from ending_support import await_true, idlewave, pids_with, started, words_of
from idlewave import traced_run
from idlewave.errors import InputError, OutputError
from idlewave.termination_signals import Interrupted
from idlewave.trace_folder import TraceFolder
from small_disks import small_disk_at
from trace_reader import read_trace
from tracer_support import command_of, mpich, open_mpi, program

pytestmark = [pytest.mark.mpi, pytest.mark.slow]

RANKS = 4
EVERY = [
    *(pytest.param(open_mpi, number) for number in (signal.SIGINT, signal.SIGTERM)),
    pytest.param(open_mpi, signal.SIGHUP, marks=pytest.mark.long),
    *3 * [pytest.param(open_mpi, signal.SIGTERM, marks=pytest.mark.long)],
    pytest.param(mpich, signal.SIGTERM),
    *(pytest.param(mpich, number, marks=pytest.mark.long) for number in (signal.SIGINT, signal.SIGHUP)),
]


def traced(use, folder: Path) -> list[str]:
    """A trace of ranks that hang."""
    return [
        *idlewave(),
        "trace",
        "-o",
        str(folder / "trace"),
        "--",
        *command_of(use, RANKS, program(use, "dies"), "hang", 0),
    ]


@pytest.mark.parametrize(("find", "number"), EVERY)
def test_a_signal_ends_launcher_and_ranks_and_the_trace_is_kept(tmp_path: Path, find, number: signal.Signals) -> None:
    with started(traced(find(), tmp_path), tmp_path) as running:
        for _ in range(RANKS):
            assert running.process.stdout.readline() == "hanging\n"
        status, said = running.end_by(number)
        assert running.left() == []
    folder = tmp_path / "trace"
    assert status == 128 + number
    assert said.endswith(f"interrupted by {number.name}; what {RANKS} ranks had recorded is kept in {folder}\n")
    described = json.loads((folder / "trace.json").read_text())
    assert (described["interrupted_by"], described["ranks"]) == (number.name, RANKS)
    for rank in read_trace(folder):
        assert len(rank.named("Sendrecv")) == 10
    assert not (folder / "failure").exists()


@pytest.mark.parametrize("when", ["prepare", "_run"])
@pytest.mark.parametrize("there", [False, True])
def test_a_signal_before_the_job_starts_leaves_the_place_as_it_was(
    when: str, there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use, place = open_mpi(), tmp_path / "above" / "trace"
    command = command_of(use, 1, program(use, "many"), 3)
    if there:
        place.mkdir(parents=True)
    of: object = TraceFolder if when == "prepare" else traced_run
    plain = getattr(of, when)

    def interrupted(*arguments: object, **options: object) -> object:
        os.kill(os.getpid(), signal.SIGTERM)
        return plain(*arguments, **options)

    with monkeypatch.context() as patched:
        patched.setattr(of, when, interrupted)
        with pytest.raises(Interrupted):
            traced_run.trace(command, place)
    assert list(tmp_path.rglob("*")) == ([place.parent, place] if there else [])
    assert traced_run.trace(command, place).ranks == 1


def test_a_signal_before_a_rank_has_recorded_anything_leaves_nothing(tmp_path: Path) -> None:
    place = tmp_path / "trace"
    with started([*idlewave(), "trace", "--", str(open_mpi().mpiexec), "-n", "2", "sleep", "100"], tmp_path) as running:
        await_true(lambda: any(command.startswith("sleep ") for command in running.left()))
        status, said = running.end_by(signal.SIGTERM)
    assert (status, said) == (143, "interrupted by SIGTERM; no rank had recorded anything yet\n")
    assert not place.exists()


def test_a_folder_in_which_a_killed_trace_has_recorded_nothing_counts_as_empty(tmp_path: Path) -> None:
    use = open_mpi()
    command = command_of(use, 1, program(use, "many"), 3)
    (tmp_path / "failure").write_bytes(bytes(8))
    assert traced_run.trace(command, tmp_path).ranks == 1
    with pytest.raises(InputError, match="exists and is not empty"):
        traced_run.trace(command, tmp_path)


def test_a_file_of_somebody_else_is_not_taken_for_that(tmp_path: Path) -> None:
    use = open_mpi()
    (tmp_path / "failure").write_text("why the experiment failed")
    with pytest.raises(InputError, match="exists and is not empty"):
        traced_run.trace(command_of(use, 1, program(use, "many"), 3), tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["failure"]


@pytest.mark.parametrize("group", [False, True])
@pytest.mark.parametrize("find", [open_mpi, mpich])
def test_a_job_ends_within_a_second_of_its_trace_being_killed(tmp_path: Path, find, group: bool) -> None:
    with started(traced(find(), tmp_path), tmp_path) as running:
        for _ in range(RANKS):
            assert running.process.stdout.readline() == "hanging\n"
        (os.killpg if group else os.kill)(running.process.pid, signal.SIGKILL)
        running.process.wait()
        await_true(lambda: running.left() == [])


def test_a_launcher_that_is_killed_leaves_no_ranks(tmp_path: Path) -> None:
    use = open_mpi()
    with started(traced(use, tmp_path), tmp_path) as running:
        for _ in range(RANKS):
            assert running.process.stdout.readline() == "hanging\n"
        for number in pids_with(running.mark):
            if words_of(number)[0].endswith(("/mpiexec", "/prterun", "/prte")):
                os.kill(number, signal.SIGKILL)
        running.process.communicate(timeout=60)
        assert running.process.returncode == 1
        assert running.left() == []


def test_a_trace_may_read_what_is_typed(tmp_path: Path) -> None:
    use = open_mpi()
    words = f"read line; echo got $line; exec {program(use, 'many')} 3"
    command = [
        *idlewave(),
        "trace",
        "-o",
        str(tmp_path / "trace"),
        "--",
        str(use.mpiexec),
        "-n",
        "1",
        "sh",
        "-c",
        words,
    ]
    done = subprocess.run(command, input="typed\n", capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "got typed\n" in done.stdout


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 6 MiB, or a skip."""
    with small_disk_at(tmp_path / "disk", "6m") as place:
        yield place


def test_ranks_that_find_the_disk_full_are_told_of_as_that(small_disk: Path) -> None:
    use = open_mpi()
    (small_disk / "ballast").write_bytes(bytes(4 << 20))
    words = r"trace: cannot be written: No space left on device: rank 0 could not make its file; the program went on"
    with pytest.raises(OutputError, match=words):
        traced_run.trace(command_of(use, 1, program(use, "many"), 3), small_disk / "trace")


@pytest.mark.long
def test_a_disk_that_becomes_full_keeps_what_was_recorded_before(small_disk: Path) -> None:
    use = open_mpi()
    words = r"No space left on device: rank 0 could not extend its file; .* \d+ records were lost"
    with pytest.raises(OutputError, match=words):
        traced_run.trace(command_of(use, 1, program(use, "many"), 300_000), small_disk / "trace")
    (rank,) = read_trace(small_disk / "trace")
    assert len(rank.named("Send")) > 0


def test_a_place_without_any_room_is_refused_before_anything_runs(small_disk: Path) -> None:
    use = open_mpi()
    fill(small_disk / "ballast")
    with pytest.raises(OutputError, match="No space left on device"):
        traced_run.trace(command_of(use, 1, program(use, "many"), 3), small_disk / "trace")
    assert not (small_disk / "trace").exists()


def fill(path: Path) -> None:
    """Takes what room there is."""
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            return
