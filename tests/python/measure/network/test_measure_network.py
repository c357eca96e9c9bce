"""The LogGP probe between two real ranks; nothing here asserts a time."""

from __future__ import annotations

import json
import os
import subprocess

import numpy as np
import pytest
from idlewave import mpi
from idlewave.errors import MeasurementError
from idlewave.measure import measure_network
from idlewave.measure.network import read_samples
from idlewave.measure.network.fitting.bootstrap import NAMES

pytestmark = pytest.mark.mpi

QUIET = 0.05  # of a rank's core used by others: then a fit is demanded


@pytest.fixture(scope="module")
def installed(installed):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("two ranks need a core each; this process may use one")
    return installed


@pytest.fixture(scope="module")
def program(installed):
    return mpi.build(installed, "loggp")


def run(installed, program, *options, ranks=2):
    command = [str(installed.mpiexec), "-n", str(ranks), str(program), *options]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=120, env=installed.environment()
    )


def foreign_load(folder):
    """The largest part of a rank's core that others used in any of the attempts in `folder`."""
    said = [json.loads(file.read_text())["foreign_load"] for file in folder.glob("network-*/loggp.json")]
    shares = [share for sides in said for side in sides.values() for share in side if share is not None]
    return max(shares, default=0.0)


@pytest.mark.alone
def test_parameters_are_positive_or_the_failed_one_is_named_and_a_quiet_machine_gives_a_fit(installed, tmp_path):
    try:
        measured = measure_network(installed, seconds=3, max_size=16_384, attempts=3, folder=tmp_path)
    except MeasurementError as error:
        failure = str(error)
        assert failure.startswith(tuple(f"{name} for messages" for name in NAMES)) or "ran alike" in failure
        load = foreign_load(tmp_path)
        assert load >= QUIET, f"no fit in three attempts though the machine was quiet: {failure}"
        pytest.skip(f"other processes used {load:.0%} of a rank's core: {failure}")
    for r in measured.fit.ranges:
        for name in NAMES:
            low, high = r.intervals[name]
            assert 0 <= getattr(r.parameters, name) <= high
            assert low <= getattr(r.parameters, name)
    first = measured.fit.ranges[0].parameters
    assert first.o_s + first.L > 0
    assert {"rtt", "train", "paced", "recv", "wait"} <= set(measured.samples["series"])
    assert np.isfinite(measured.fit.predictions["residual"]).all()


def test_the_eager_limit_is_asked_of_the_library_by_name(installed, program, tmp_path):
    if installed.vendor != mpi.OPEN_MPI:
        pytest.skip(f"the variable is Open MPI's, and this is {installed.vendor}")
    environment = installed.environment() | {"OMPI_MCA_btl_sm_eager_limit": "8192"}
    command = [str(installed.mpiexec), "-n", "2", str(program), "--output", str(tmp_path)]
    done = subprocess.run(
        [*command, "--repetitions", "1", "--max-size", "64"],
        capture_output=True, text=True, check=True, timeout=120, env=environment,
    )  # fmt: skip
    assert '"eager_variable": "btl_sm_eager_limit", "eager_limit": 8192' in done.stdout


def test_every_size_and_series_is_visited_once_a_repetition(installed, program, tmp_path):
    options = ("--repetitions", "2", "--max-size", "256", "--seconds", "60")
    assert run(installed, program, "--output", str(tmp_path), *options).returncode == 0
    samples = read_samples(tmp_path / "samples.csv")
    samples = samples[samples["series"].isin(["rtt", "train", "paced", "recv", "wait", "late"]) & (samples["size"] > 0)]
    visits = samples.groupby(["series", "size", "repetition"]).size()
    assert (visits == 1).all()
    assert len(visits) == 6 * samples["size"].nunique() * 2
    orders = [g[["series", "size"]].to_numpy().tolist() for _, g in samples.groupby("repetition")]
    assert orders[0] != orders[1]


def test_a_file_cut_off_in_a_line_loses_that_line_only(tmp_path):
    file = tmp_path / "x.csv"
    file.write_text("series,size,n,delay_ns,repetition,value_ns\nrtt,1,1,0.0,0,350.5\nrtt,2,1,0.0,0,35")
    assert read_samples(file)["size"].tolist() == [1]


@pytest.mark.parametrize(
    ("options", "ranks", "words"),
    [
        ([], 2, "--output: expected the folder"),
        (["--output", "{tmp}/x", "--train", "1"], 2, "--train: expected a number from 2"),
        (["--output", "/dev/null/x"], 2, "the folder /dev/null/x cannot be made"),
        (["--output", "{tmp}/x"], 1, "two ranks are needed"),
    ],
)
def test_wrong_use_ends_all_ranks_with_a_message(installed, program, tmp_path, options, ranks, words):
    done = run(installed, program, *[o.format(tmp=tmp_path) for o in options], ranks=ranks)
    assert done.returncode != 0
    assert words in done.stderr
