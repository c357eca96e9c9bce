"""Programs that are linked with MPI's standard ABI (MPI-5) are traced as those that are linked with the MPI itself."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from command_runs import run
from idlewave import mpi, traced_run
from idlewave.errors import MpiError
from places import PROGRAMS
from trace_reader import RankFile, read_trace
from tracer_support import command_of, compiled, decoded, mpich, open_mpi, program, sections, trace_of

RANKS = 4


@pytest.fixture(scope="module")
def standard_abi() -> Path:
    """The compiler for the standard ABI."""
    try:
        return mpi.for_standard_abi(mpich()).mpicc
    except MpiError as error:
        pytest.skip(str(error))


def recorded(ranks: list[RankFile]) -> list[list[list[tuple]]]:
    return [sections(decoded(rank)) for rank in ranks]


@pytest.mark.long
def test_records_are_those_of_the_program_that_is_linked_with_the_mpi(standard_abi: Path, tmp_path: Path) -> None:
    linked = trace_of(tmp_path / "own", mpich(), RANKS, program(mpich(), "calls"))
    standard = trace_of(tmp_path / "abi", mpich(), RANKS, compiled(standard_abi, PROGRAMS / "calls.c"))
    assert recorded(standard) == recorded(linked)
    assert standard[0].header["library"] == linked[0].header["library"]


def test_an_mpi_without_that_abi_is_told(standard_abi: Path, tmp_path: Path) -> None:
    executable = compiled(standard_abi, PROGRAMS / "exchanges.c")
    without = replace(mpich(), mpicc=tmp_path / "mpicc")
    with pytest.raises(MpiError, match=r"is linked with MPI's standard ABI, and .* has no mpicc_abi"):
        mpi.for_standard_abi(without)
    with pytest.raises(MpiError, match="has no mpicc_abi"):
        traced_run.trace(command_of(open_mpi(), 2, executable), tmp_path / "trace")


def test_the_tracer_for_that_abi_may_be_built_alone_and_preloaded_by_hand(standard_abi: Path, tmp_path: Path) -> None:
    use = mpich()
    built = run("trace", "--json", "build", "--abi", "standard", str(use.mpiexec))
    assert built.returncode == 0, built.stderr
    said = json.loads(built.stdout)
    assert said["abi"] == "standard"
    own = run("trace", "build", str(use.mpiexec))
    assert own.stdout.strip() != said["tracer"]
    (tmp_path / "trace").mkdir()
    given = ["-genv", "LD_PRELOAD", said["tracer"], "-genv", "IDLEWAVE_TRACE_DIR", str(tmp_path / "trace")]
    executable = compiled(standard_abi, PROGRAMS / "many.c")
    command = [str(use.mpiexec), "-n", "2", *given, str(executable), "100"]
    subprocess.run(command, check=True, env=use.environment(), timeout=120)
    assert [len(rank.named("Send")) for rank in read_trace(tmp_path / "trace")] == [100, 100]


def test_a_tracer_for_that_abi_is_refused_where_the_mpi_has_none() -> None:
    without = run("trace", "build", "--abi", "standard", str(open_mpi().mpiexec))
    assert without.returncode == 1
    assert "--abi standard was given, and" in without.stderr
    assert "has no mpicc_abi" in " ".join(without.stderr.split())
    unknown = run("trace", "build", "--abi", "fortran")
    assert unknown.returncode == 2
    assert "is not one of 'own', 'standard'" in " ".join(unknown.stderr.split())
