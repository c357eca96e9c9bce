"""The probe of one-sided communication, on real MPIs. What it measures is hardly looked at, so load does no harm."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest
from idlewave import mpi
from idlewave.errors import MeasurementError
from idlewave.measure.one_sided import fit_one_sided, measure_one_sided, read_one_sided
from idlewave.measure.one_sided.libraries import choose
from idlewave.measure.one_sided.samples import (
    ACKNOWLEDGED,
    CALL,
    COMPUTING,
    FENCE,
    FLOOD,
    GET,
    GET_OVERLAP,
    NOTIFIED,
    OVERLAP,
    PING_PONG,
    POLLED,
    PSCW,
    PUT,
    RPUT,
)
from idlewave.pkg_config import pkg_config
from long_cases import most_long
from tracer_support import debian_open_mpi, mpich, open_mpi

pytestmark = [pytest.mark.mpi, pytest.mark.slow]

ONE_SIDED = {PUT, GET, NOTIFIED, POLLED, CALL, FLOOD, OVERLAP, GET_OVERLAP, COMPUTING}
OPERATIONS = {
    "mpi": {PING_PONG, ACKNOWLEDGED, CALL, FLOOD, OVERLAP},
    "rma": ONE_SIDED | {RPUT, FENCE, PSCW},
    "shmem": ONE_SIDED,
}


@pytest.mark.parametrize("find", [open_mpi, mpich])
def test_each_operation_and_size_is_measured_in_each_epoch_in_an_order_that_is_drawn(find, tmp_path: Path) -> None:
    found = measure_one_sided(
        find(), back_ends=["mpi", "rma"], ranks=2, seconds=0.2, epochs=2, max_size=4096, folder=tmp_path
    )
    assert found.back_ends == ("mpi", "rma")
    for _, epoch in found.samples.groupby("epoch"):
        for back_end, operations in OPERATIONS.items():
            own = epoch[epoch["back_end"] == back_end]
            if back_end == "shmem":
                continue
            assert set(own["operation"]) == operations
            for operation, rows in own.groupby("operation"):
                sizes = {0, 1, 4, 16, 64, 128, 256, 512, 1024, 2048, 4096}
                sizes -= {0} if operation in (POLLED, OVERLAP, GET_OVERLAP) else set()
                assert set(rows["size"]) == (sizes & {1, 4096} if operation == COMPUTING else sizes)
        order = list(epoch["operation"] + epoch["size"].astype(str))
        assert order != sorted(order)
        assert epoch["at_ns"].is_monotonic_increasing
        assert epoch["back_end"].iloc[:40].nunique() == 2  # in turn
    first, second = (list(part["operation"].iloc[:30]) for _, part in found.samples.groupby("epoch"))
    assert first != second
    computing = found.samples["computed_ns"] > 0
    assert set(found.samples.loc[computing, "operation"]) == {OVERLAP, GET_OVERLAP}
    assert (found.samples.loc[computing, "elapsed_ns"] > found.samples.loc[computing, "computed_ns"]).all()
    assert (tmp_path / "one-sided.parquet").exists()
    assert (tmp_path / "epoch-2" / "environment.json").exists()
    for back_end in found.back_ends:
        transfers = fit_one_sided(found, back_end).table.query("series == 'transfer'")
        assert (transfers["error"].abs() <= 0.05).all()


@pytest.mark.long
def test_a_flood_goes_to_one_two_and_all_others(tmp_path: Path) -> None:
    found = measure_one_sided(
        open_mpi(), back_ends=["mpi", "rma"], ranks=4, seconds=0.1, epochs=1, max_size=4, folder=tmp_path
    )
    floods = found.samples[found.samples["operation"] == FLOOD]
    for _, own in floods.groupby(["back_end", "size"]):
        assert set(own["links"]) == {1, 2, 3}
    assert set(found.samples.loc[found.samples["operation"] != FLOOD, "links"]) == {1}


@pytest.mark.long
def test_openshmem_is_measured_where_the_mpi_has_it(tmp_path: Path) -> None:
    use = debian_open_mpi()
    if not shutil.which("oshcc"):
        pytest.skip("no OpenSHMEM beside Debian's Open MPI (liboshmem-dev)")
    found = measure_one_sided(
        use, back_ends=["mpi", "shmem"], ranks=2, seconds=0.1, epochs=1, max_size=64, folder=tmp_path
    )
    assert set(found.samples.loc[found.samples["back_end"] == "shmem", "operation"]) == OPERATIONS["shmem"]


@pytest.mark.parametrize("name", most_long(["ucx", "libfabric"], 0))
def test_the_libraries_of_networks_are_measured_where_they_run(name: str, tmp_path: Path) -> None:
    use = debian_open_mpi()  # which has the system's
    if pkg_config(name, mpi.FABRICS[name]) is None:
        pytest.skip(f"pkg-config finds no {name}")
    found = measure_one_sided(
        use, back_ends=["mpi", name], ranks=2, seconds=0.1, epochs=1, max_size=64, folder=tmp_path
    )
    assert set(found.samples.loc[found.samples["back_end"] == name, "operation"]) == ONE_SIDED


def test_gasnet_is_measured_where_it_is_installed(tmp_path: Path) -> None:
    if "IDLEWAVE_GASNET" not in os.environ:
        pytest.skip("IDLEWAVE_GASNET does not say where GASNet-EX is installed")
    found = measure_one_sided(
        open_mpi(), back_ends=["mpi", "gasnet"], ranks=2, seconds=0.1, epochs=1, max_size=64, folder=tmp_path
    )
    own = found.samples[found.samples["back_end"] == "gasnet"]
    assert set(own["operation"]) == ONE_SIDED | {"active message"}


def test_a_name_that_the_program_does_not_have_is_refused(tmp_path: Path) -> None:
    use = open_mpi()
    program = mpi.build(use, "one-sided")
    command = [use.mpiexec, "-n", "2", program, "--output", tmp_path, "--back-ends", "mpi,gasnet"]
    done = subprocess.run(command, env=use.environment(), capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert "--back-ends: expected some of mpi, rma, found 'gasnet'" in done.stderr
    listed = subprocess.run([program, "--list"], capture_output=True, text=True, timeout=60)
    assert listed.stdout == '["mpi", "rma"]\n'


def ranks_of(folder: Path) -> list[int]:
    """The processes of the probe's ranks that record into `folder`; the launcher has the same words."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if str(folder).encode() in words and words[0].endswith(b"idlewave-one-sided"):
            found.append(int(process.name))
    return sorted(found)


@pytest.mark.parametrize("find", [open_mpi, mpich])
def test_when_a_rank_dies_that_is_said_and_what_was_recorded_is_read(find, tmp_path: Path) -> None:
    use = find()
    choose(use, ["mpi", "rma"])  # compiled
    epoch = tmp_path / "epoch-1"

    def kill_one() -> None:
        recording = epoch / "one-sided.i64"
        for _ in range(600):
            time.sleep(0.1)
            if recording.exists() and recording.stat().st_size > 0:
                os.kill(ranks_of(epoch)[-1], signal.SIGKILL)
                return

    killer = threading.Thread(target=kill_one)
    killer.start()
    with pytest.raises(MeasurementError, match="the probe of one-sided failed"):
        measure_one_sided(use, back_ends=["mpi", "rma"], ranks=2, seconds=60, epochs=1, folder=tmp_path)
    killer.join()
    found = read_one_sided(tmp_path)
    assert len(found.samples) > 0
    assert any("was interrupted" in note for note in found.notes)
