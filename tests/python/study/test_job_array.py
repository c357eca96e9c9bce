"""A study as an array of jobs: tasks compute their shares, and `idlewave study collect` checks and joins them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import slurm_node
from command_runs import Ended, run_command

STUDY = ["study", "benchmark-error", "-m", "machine.toml", "--ranks", "2", "--clock-error-ns", "100"]
MACHINE = 'name = "own"\n[network]\nL = "{}us"\no = "1us"\ng = "1us"\nG = "0ns"\nO = "0ns"\nS = "inf"\n'
FLUX = """#!/bin/sh
# as `flux submit --cc=FIRST-LAST --job-name=NAME --output=FILE COMMAND...` does, one job after another
first=${2#--cc=}; last=${first#*-}; first=${first%-*}
test "$1" = submit && shift 5
for FLUX_JOB_CC in $(seq $first $last); do export FLUX_JOB_CC; "$@" || exit 1; done
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "machine.toml").write_text(MACHINE.format(5))
    return tmp_path


def idlewave(folder: Path, *words: str) -> Ended:
    return run_command(list(words), folder)


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **more}


def run_task(script: Path, task: int) -> subprocess.CompletedProcess[str]:
    variables = environment(SLURM_ARRAY_TASK_ID=str(task))
    return subprocess.run(["sh", script], cwd="/", env=variables, capture_output=True, text=True, check=False)


def write_array(folder: Path, scheduler: str = "slurm", tasks: int = 3) -> Path:
    ended = idlewave(folder, *STUDY, "-o", "study", "--array", scheduler, "--tasks", str(tasks))
    assert ended.status == 0, ended.complained
    assert not (folder / "study/rows").exists(), "nothing is computed yet"
    return folder / "study/array.sh"


def assert_whole(folder: Path) -> None:
    """The collected table is that of the study in one process, and there is the page."""
    whole = idlewave(folder, *STUDY, "-o", "whole")
    assert whole.status == 0, whole.complained
    tables = [pd.read_parquet(folder / name / "study.parquet") for name in ("study", "whole")]
    pd.testing.assert_frame_equal(*(table.drop(columns="simulation_s") for table in tables))
    assert (folder / "study/report.html").is_file()


def test_the_tasks_of_an_array_are_collected_when_all_are_there(folder: Path) -> None:
    script = write_array(folder)
    assert run_task(script, 0).returncode == run_task(script, 2).returncode == 0
    early = idlewave(folder, "study", "collect", "study")
    assert early.status == 1
    assert "study: 8 of 24 rows are not there, of these tasks: 1 (8)" in early.complained
    assert run_task(script, 1).returncode == 0
    collected = run_command(["study", "collect", str(folder / "study"), "--json"], Path("/"))
    assert collected.status == 0, collected.complained
    assert len(json.loads(collected.printed)["rows"]) == 24
    assert_whole(folder)


def test_a_task_refuses_another_machine_than_that_of_the_array(folder: Path) -> None:
    script = write_array(folder)
    (folder / "machine.toml").write_text(MACHINE.format(6))
    task = run_task(script, 0)
    assert task.returncode == 1
    assert "a machine or a schedule has changed since the array was written" in task.stderr
    assert "has changed" in idlewave(folder, "study", "collect", "study").complained


def test_what_is_no_array_is_refused(folder: Path) -> None:
    (folder / "empty").mkdir()
    assert "expected the folder that `--array` writes" in idlewave(folder, "study", "collect", "empty").complained
    write_array(folder)
    said = json.loads((folder / "study/array.json").read_text())
    (folder / "study/array.json").write_text(json.dumps(said | {"study": "os"}))
    refused = idlewave(folder, "study", "collect", "study")
    assert (refused.status, "expected a named study, found 'os'" in refused.complained) == (1, True)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--array", "slurm"], "--array and --tasks belong together"),
        (["--array", "slurm", "--tasks", "25"], "at most as many tasks as cases, 24, found 25"),
        (["--array", "slurm", "--tasks", "2", "--share", "0/2"], "expected --array or --share"),
        (["--share", "2/2"], "expected a share from 0/N to N-1/N, found 2/2"),
        (["--share", "one"], "expected a share such as 0/8, found 'one'"),
    ],
)
def test_options_of_arrays_that_do_not_fit_are_refused(folder: Path, words: list[str], why: str) -> None:
    ended = idlewave(folder, *STUDY, *words)
    assert (ended.status, why in ended.complained) == (2, True), ended.complained


def test_a_task_has_as_many_cores_as_cases_run_at_a_time(folder: Path) -> None:
    for scheduler, option in (("slurm", "#SBATCH --cpus-per-task=3"), ("flux", "--cores-per-task=3")):
        ended = idlewave(folder, *STUDY, "-o", scheduler, "--array", scheduler, "--tasks", "2", "--workers", "3")
        assert ended.status == 0, ended.complained
        script = (folder / scheduler / "array.sh").read_text()
        assert option in script
        assert "--workers 3 --share" in script


@pytest.mark.long
def test_the_script_for_flux_submits_a_job_for_each_task(folder: Path) -> None:
    """Against a stand-in for Flux, which Debian does not have."""
    script = write_array(folder, "flux", 2)
    (folder / "bin").mkdir()
    stand_in = folder / "bin/flux"
    stand_in.write_text(FLUX)
    stand_in.chmod(0o755)
    variables = environment(PATH=f"{folder}/bin:{os.environ['PATH']}")
    subprocess.run(["sh", script], cwd="/", env=variables, check=True)
    assert f"--output={folder}/study/logs/task-{{{{cc}}}}.log" in script.read_text().replace("'", "")
    assert idlewave(folder, "study", "collect", "study").status == 0
    assert_whole(folder)


@pytest.mark.long
@pytest.mark.skipif(bool(slurm_node.why_not()), reason=slurm_node.why_not())
def test_slurm_runs_the_array_as_it_is_written(folder: Path) -> None:
    script = write_array(folder)
    assert "#SBATCH --cpus-per-task=1\n" in script.read_text()
    (folder / "slurm").mkdir()
    with slurm_node.one_node(folder / "slurm") as slurm:
        variables = environment() | {name: slurm[name] for name in ("SLURM_CONF", "PATH")}
        submitted = ["sbatch", "--wait", str(script)]
        done = subprocess.run(
            submitted, cwd="/", env=variables, capture_output=True, text=True, timeout=200, check=False
        )
    logs = {path.name: path.read_text() for path in (folder / "study/logs").iterdir()}
    assert done.returncode == 0, (done.stderr, logs)
    assert sorted(logs) == ["task-0.log", "task-1.log", "task-2.log"]
    assert idlewave(folder, "study", "collect", "study").status == 0
    assert_whole(folder)
