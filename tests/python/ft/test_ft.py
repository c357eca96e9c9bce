"""The Fourier transform in `examples/ft` solves NASA's problem in every decomposition by every exchange."""

from __future__ import annotations

import functools
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import idlewave
import pytest
from idlewave import fourier_library, mpi
from idlewave.errors import MpiError
from places import PROGRAMS
from tracer_support import command_of, compiled, debian_open_mpi, mpich, open_mpi, trace_of

pytestmark = [pytest.mark.mpi, pytest.mark.slow]

WAYS = ("alltoall", "two-sided", "put", "packed-put", "ialltoall")
OVERLAPPED = ("two-sided", "put", "ialltoall")
POINTS = 64**3
"""Of class S, which has the same length in each dimension."""
PHASES = ["initial values", "evolve", "FFT x", "FFT y", "FFT z", "exchange 1", "exchange 2", "checksum"]


@functools.cache
def ft(use: mpi.Mpi) -> Path:
    """The program for an MPI, or a skip."""
    try:
        fourier_library.find()
    except MpiError as error:
        pytest.skip(str(error))
    return mpi.build(use, "ft")


def run(use: mpi.Mpi, ranks: int, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = command_of(use, ranks, ft(use), *words)
    env = use.environment() | environment
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env, timeout=120)


@functools.cache
def result(find: Callable[[], mpi.Mpi], grid: str, way: str) -> dict:
    """What the program says in JSON of class S."""
    ty, tz = map(int, grid.split("x"))
    done = run(find(), ty * tz, "--grid", grid, "--exchange", way, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def expected_bytes(said: dict) -> int:
    """What a rank has sent in the timed part: a transform at the beginning, and one an iteration."""
    ty, tz = said["grid"]
    of_a_rank = 16 * POINTS // (ty * tz)
    return (1 + said["iterations"]) * sum(of_a_rank * (members - 1) // members for members in (ty, tz))


def is_right(said: dict) -> bool:
    """All checksums are the published ones, the same to the bit on one rank, and the bytes are those of the problem."""
    alone = result(open_mpi, "1x1", "alltoall")
    return (
        said["verified"]
        and len(said["checksums"]) == 6
        and said["checksums"] == alone["checksums"]
        and said["bytes_sent_per_rank"] == [expected_bytes(said)] * 2
    )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("grid", ["1x1", "1x2", "2x2"])
def test_every_exchange_gives_the_published_checksums(grid: str, way: str) -> None:
    said = result(open_mpi, grid, way)
    assert is_right(said)
    assert (said["exchange"], said["class"]) == (way, "S")


@pytest.mark.parametrize("way", WAYS)
def test_so_it_does_with_another_mpi(way: str) -> None:
    assert is_right(result(mpich, "2x2", way))


@pytest.mark.parametrize(
    ("grid", "way"), [("2x1", "put"), ("4x1", "two-sided"), ("1x4", "ialltoall"), ("4x2", "alltoall")]
)
def test_a_decomposition_may_be_of_one_dimension_or_uneven(grid: str, way: str) -> None:
    assert is_right(result(open_mpi, grid, way))


@pytest.mark.long
def test_puts_work_in_an_older_open_mpi() -> None:
    assert is_right(result(debian_open_mpi, "2x2", "put"))


def test_every_moment_belongs_to_a_phase() -> None:
    said = result(open_mpi, "2x2", "two-sided")
    assert list(said["phases"]) == PHASES
    assert sum(phase["mean"] for phase in said["phases"].values()) <= said["seconds"] * 1.000001
    assert sum(phase["max"] for phase in said["phases"].values()) >= said["seconds"] * 0.999999
    assert all(0 < phase["mean"] <= phase["max"] * 1.000001 for phase in said["phases"].values())


@pytest.mark.long
def test_other_local_transforms_give_the_published_checksums(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = fourier_library.pocketfft_folder()
    if not (folder / "pocketfft.c").is_file():
        pytest.skip(f"no pocketfft: there is no {folder}/pocketfft.c (scripts/setup)")
    monkeypatch.setenv(fourier_library.VARIABLE, str(folder))
    use = open_mpi()
    command = command_of(use, 2, mpi.build(use, "ft"), "--json")
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=use.environment(), timeout=120)
    said = json.loads(done.stdout)
    assert said["transforms"] == "pocketfft"
    assert said["verified"]


def test_the_result_has_the_form_of_the_benchmarks() -> None:
    said = run(open_mpi(), 2, "--class", "W", "--iterations", "2").stdout.splitlines()
    assert " T =    1     Checksum =    5.673612178944E+02    5.293246849175E+02" in said
    assert " T =    2     Checksum =    5.631436885271E+02    5.282149986629E+02" in said
    assert not any(line.startswith(" T =    3") for line in said)
    assert " Result verification successful" in said
    values = dict(line.split("=") for line in said if line.count("=") == 1)
    of_benchmark = {name.strip(): value.strip() for name, value in values.items()}
    assert of_benchmark["Class"] == "W"
    assert of_benchmark["Size"] == "128x 128x  32"
    assert of_benchmark["Total processes"] == "2"
    assert of_benchmark["Verification"] == "SUCCESSFUL"
    assert float(of_benchmark["Mop/s total"]) == pytest.approx(2 * float(of_benchmark["Mop/s/process"]), abs=0.02)


def test_a_wrong_number_fails_the_verification() -> None:
    use = open_mpi()
    wrong = compiled(use.mpicc, PROGRAMS / "wrong_alltoall.c", "-shared", "-fPIC")
    done = run(use, 2, "--exchange", "alltoall", LD_PRELOAD=str(wrong))
    assert done.returncode == 1
    assert " Result verification failed" in done.stdout
    assert "UNSUCCESSFUL" in done.stdout


@pytest.mark.parametrize(
    ("ranks", "words", "reason"),
    [
        (2, ["--grid", "2x2"], "a grid of 2 x 2 needs 4 ranks, but there are 2"),
        (3, [], "class S: TZ = 3 does not divide NY = 64"),
        (3, ["--grid", "3x1"], "class S: TY = 3 does not divide NX = 64"),
        (1, ["--class", "E"], "--class E: expected S, W, A, B, C or D"),
        (1, ["--grid", "1"], "--grid 1: expected TYxTZ"),
        (1, ["--grid", "1x-1"], "--grid 1x-1: expected TYxTZ"),
        (1, ["--exchange", "get"], "--exchange get: expected alltoall"),
        (1, ["--iterations", "7"], "class S has published checksums for 6 iterations, not for 7"),
        (1, ["--iterations", "0"], "--iterations 0: expected a whole number from 1 on"),
        (1, ["--iterations"], "--iterations: there is no such option without a value"),
        (1, ["--planes", "4"], "there is no option --planes"),
    ],
)
def test_what_cannot_be_run_is_refused_with_a_reason(ranks: int, words: list[str], reason: str) -> None:
    done = run(open_mpi(), ranks, *words)
    assert done.returncode == 2
    assert f"ft: {reason}" in done.stderr
    assert "usage: ft" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("way", OVERLAPPED)
def test_its_trace_is_simulated(tmp_path: Path, way: str, machine: idlewave.Machine) -> None:
    use = open_mpi()
    words = ("--grid", "2x2", "--exchange", way, "--iterations", "1", "--json")
    ranks = trace_of(tmp_path / "trace", use, 4, ft(use), *words)
    # Three transforms, the first not timed; each has 32 slabs for the other rank of the plane team, 32 in the row team.
    call = {"two-sided": "Isend", "ialltoall": "IAlltoall", "put": "OneSided"}[way]
    assert [len(rank.named(call)) for rank in ranks] == [3 * (32 + 32)] * 4
    schedule = idlewave.Schedule.from_trace(tmp_path / "trace")
    assert schedule.ranks == 4
    ops = idlewave.simulate(schedule, machine, record=True).ops_to_pandas()
    data = ops[ops["kind"].isin(["send", "put"]) & (ops["size"] > 1000)]
    assert data.groupby("rank")["size"].sum().tolist() == [3 * 2 * 16 * 64**3 // 4 // 2] * 4, (
        "half of all points, twice"
    )
    # An exchange takes one latency at least; one by puts three: until it is flushed, and until its barrier has ended.
    latencies = 3 * 2 * (3 if way == "put" else 1)
    second = idlewave.Parameters(L=10**12, o_s=0, o_r=0, g=0)
    far = idlewave.Machine("far", idlewave.Level(second))
    assert idlewave.simulate(schedule, far).max_finish >= latencies * 10**12


def test_a_folder_without_the_library_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MpiError, match=r"expected include/fftw3\.h and lib/libfftw3\.so there, or pocketfft\.c"):
        fourier_library.find({**os.environ, fourier_library.VARIABLE: str(tmp_path)})
