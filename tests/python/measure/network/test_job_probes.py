"""What all probes that run on the ranks of a job do with their options, and with the folder of their recording."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import clock_recordings
import pair_recordings
import pandas as pd
import pytest
from idlewave import mpi
from idlewave.errors import MeasurementError
from idlewave.measure.network.job.clocks import measure_clocks
from idlewave.measure.network.job.pairs import measure_pairs
from idlewave.measure.network.probing import job_run
from tracer_support import open_mpi

REFUSED = {
    "pairs": {
        "--pairs 1": "--pairs: 3 ranks hang together by at least 2 pairs, found 1",
        "--sizes 8": "--sizes: expected at least two sizes, such as 1,65536, found '8'",
        "--sizes 1,big": "--sizes: expected a number from 1 to 16777216, found 'big'",
        "--seconds -1": "--seconds: expected a number from 0.01 to 864000, found '-1'",
        "--wrong": "--wrong: no such option",
    },
    "clocks": {
        "--bursts x": "--bursts: expected a number from 2 to 1000000, found 'x'",
        "--clock sun": "--clock: expected monotonic, raw or realtime, found 'sun'",
        "--skew /nowhere": "--skew: /nowhere cannot be read",
        "--wrong": "--wrong: no such option",
    },
}


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("probe", "options", "said"),
    [(probe, options, said) for probe, each in REFUSED.items() for options, said in each.items()],
)
def test_wrong_options_are_refused_by_name_and_once(tmp_path: Path, probe: str, options: str, said: str) -> None:
    use = open_mpi()
    line = [use.mpiexec, "-n", "3", mpi.build(use, probe), "--output", tmp_path, *options.split()]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60, env=use.environment())
    assert done.returncode == 2
    assert done.stderr.count(said) == 1


@pytest.mark.mpi
@pytest.mark.parametrize("probe", ["loggp", "pairs", "clocks"])
def test_tasks_that_slurm_started_without_their_mpi_are_told_what_is_amiss(tmp_path: Path, probe: str) -> None:
    use = open_mpi()
    environment = use.environment() | {"SLURM_PROCID": "0", "SLURM_NTASKS": "2"}
    line = [mpi.build(use, probe), "--output", tmp_path]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60, env=environment)
    assert done.returncode == 2
    assert "found 1: the launcher started 2 tasks, but not as one MPI job" in done.stderr
    assert "srun --mpi=" in done.stderr


def pairs_recorded(folder: Path) -> None:
    pair_recordings.recorded(folder, pair_recordings.synthetic(1, pair_recordings.HOSTS), pair_recordings.HOSTS)


@pytest.mark.parametrize(
    ("probe", "measure", "record", "samples"),
    [
        ("clocks", measure_clocks, clock_recordings.recorded, "bursts"),
        ("pairs", measure_pairs, pairs_recorded, "samples"),
    ],
)
def test_a_folder_gets_the_place_and_a_table_and_keeps_nothing_of_an_earlier_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, probe: str, measure, record, samples: str
) -> None:
    record(tmp_path)
    (tmp_path / f"{probe}.parquet").write_text("old")

    def fails(*_: object) -> None:
        raise MeasurementError("killed")

    monkeypatch.setattr(mpi, "build", lambda *_: Path(probe))
    here = mpi.Mpi(Path("mpiexec"), Path("mpicc"), Path("mpicxx"), mpi.OPEN_MPI, "0")
    monkeypatch.setattr(job_run, "run_probe", fails)
    with pytest.raises(MeasurementError, match="killed"):
        measure(2, here, folder=tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["environment.json"]
    monkeypatch.setattr(job_run, "run_probe", lambda *_: record(tmp_path))
    found = measure(2, here, folder=tmp_path)
    assert found.environment == json.loads((tmp_path / "environment.json").read_text())
    assert found.environment["mpi"]["vendor"] == mpi.OPEN_MPI
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / f"{probe}.parquet"), getattr(found, samples))
