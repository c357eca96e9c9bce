"""`idlewave-probe`: what a batch system's own launcher starts becomes the probe, and says where it was measured."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from idlewave import mpi, probe
from idlewave.errors import UsageError


def run(*arguments, **variables):
    command = [sys.executable, "-c", "from idlewave.probe import main; main()", *map(str, arguments)]
    environment = {**os.environ, **variables}
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=environment)


@pytest.mark.parametrize(
    ("variables", "task"),
    [
        ({}, probe.Task(0, 1)),
        ({"SLURM_PROCID": "3", "SLURM_NTASKS": "8"}, probe.Task(3, 8)),
        ({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}, probe.Task(1, 2)),
        ({"PMI_RANK": "5", "PMI_SIZE": "6"}, probe.Task(5, 6)),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "1", "PMI_RANK": "3", "PMI_SIZE": "8"}, probe.Task(3, 8)),
        ({"SLURM_PROCID": "nonsense", "SLURM_NTASKS": "2"}, probe.Task(0, 1)),
    ],
)
def test_a_launcher_s_variables_say_which_task_this_is(variables, task):
    assert probe.Task.mine(variables) == task


@pytest.mark.parametrize(
    ("options", "folder"),
    [(["--output", "a"], "a"), (["--seconds", "1", "--output=b/c"], "b/c"), (["--output"], None), ([], None)],
)
def test_the_folder_is_the_one_that_the_probe_is_told(options, folder):
    assert probe.output_folder(options) == (None if folder is None else Path(folder))


def test_an_unknown_probe_is_refused_with_those_there_are():
    with pytest.raises(UsageError, match="no probe 'detours': expected one of detour, ftq, fwq"):
        probe.program("detours")
    done = run("detours")
    assert done.returncode == 2
    assert "no probe 'detours'" in done.stderr


def test_without_a_name_it_says_what_there_is_and_fails():
    done = run()
    assert done.returncode == 2
    assert "srun" in done.stdout
    assert "detour" in done.stdout


def test_a_node_s_task_becomes_the_probe_and_leaves_its_surroundings_beside_the_recording(tmp_path):
    core = str(min(os.sched_getaffinity(0)))
    done = run(
        "detour", "--cpus", core, "--seconds", "0.05", "--output", tmp_path, SLURM_PROCID="1", SLURM_NTASKS="2",
        SLURM_LOCALID="0",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (folder,) = tmp_path.iterdir()
    assert folder.name == f"{os.uname().nodename}-1"
    assert json.loads((folder / "environment.json").read_text())["kernel"] == os.uname().release
    assert json.loads((folder / "detour.json").read_text())["rank"] == 1


def test_a_probe_s_exit_status_is_its_own():
    done = run("detour", "--cpus", "none")
    assert done.returncode == 2
    assert "cpus" in done.stderr


@pytest.mark.mpi
def test_the_tasks_of_an_mpi_job_become_its_ranks(installed, tmp_path):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("two ranks need a core each; this process may use one")
    task = [sys.executable, "-c", "from idlewave.probe import main; main()"]
    command = [str(installed.mpiexec), "-n", "2", *task, "loggp", "--output", str(tmp_path), "--seconds", "0.5"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=300, env=installed.environment()
    )
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "environment.json").read_text())["mpi"]["vendor"] == installed.vendor
    assert json.loads((tmp_path / "loggp.json").read_text())["samples"] > 0


@pytest.mark.mpi
def test_a_library_that_cannot_be_linked_is_left_out_and_not_tried_again(installed, tmp_path, monkeypatch):
    there = tmp_path / "bin" / "pkg-config"
    there.parent.mkdir()
    there.write_text('#!/bin/sh\ncase "$*" in *ucx*) echo -lidlewave-no-such-library;; *) exit 1;; esac\n')
    there.chmod(0o755)
    compiler = tmp_path / "bin" / "mpicxx"  # a compiler that counts, and refuses what the true one's linker would
    calls = tmp_path / "calls"
    compiler.write_text(
        f'#!/bin/sh\necho "$*" >> {calls}\n'
        'case "$*" in *-lidlewave-no-such-library*) echo cannot find it >&2; exit 1;; esac\n'
        'for target; do :; done\ntouch "$target"\n'
    )
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", f"{there.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("IDLEWAVE_CACHE", str(tmp_path / "cache"))
    counting = replace(installed, mpicxx=compiler)
    first = mpi.build(counting, "loggp")
    tried = calls.read_text().splitlines()
    assert ["-lidlewave-no-such-library" in words for words in tried] == [True, False]
    assert mpi.build(counting, "loggp") == first
    assert calls.read_text().splitlines() == tried


@pytest.mark.mpi
@pytest.mark.usefixtures("installed")
def test_tasks_that_come_at_once_compile_a_program_once(tmp_path):
    builds = [
        subprocess.Popen(
            [sys.executable, "-c", "from idlewave import mpi; print(mpi.build(mpi.find(), 'transport'))"],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "IDLEWAVE_CACHE": str(tmp_path)},
        )
        for _ in range(3)
    ]
    paths = {build.communicate(timeout=300)[0].strip() for build in builds}
    assert [build.returncode for build in builds] == [0, 0, 0]
    (path,) = paths
    assert Path(path).is_file()
    assert [file.name for file in Path(path).parent.iterdir() if file.name.startswith(".")] == [".lock"]
