"""examples/validation/build.py: programs of others, built from where they lie, in a suite of `idlewave validate`."""

import subprocess
import sys
from pathlib import Path

import pytest
from idlewave.validation.suite import read_suite
from places import EXAMPLES

BUILD = EXAMPLES / "validation" / "build.py"
NETWORK = '[[network]]\nname = "shm"\nmachine = "odin"\n'


def build(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """The script with these words."""
    return subprocess.run([sys.executable, BUILD, *words], capture_output=True, text=True, check=False, timeout=60)


@pytest.fixture
def comd(tmp_path: Path) -> Path:
    """Sources that are built as CoMD's are: the executable prints who compiled it, and writes a file."""
    sources = tmp_path / "sources"
    (sources / "src-mpi").mkdir(parents=True)
    (sources / "bin").mkdir()
    (sources / "src-mpi" / "Makefile.vanilla").write_text(
        "all:\n\tprintf '#!/bin/sh\\necho $(CC) $$*; touch written\\n' > ../bin/CoMD-mpi\n\tchmod +x ../bin/CoMD-mpi\n"
    )
    return sources


def files_of(folder: Path) -> set[Path]:
    return {path.relative_to(folder) for path in folder.rglob("*")}


def test_a_program_is_built_in_a_copy_of_its_sources_with_the_compiler_that_is_named(tmp_path: Path, comd: Path):
    before = files_of(comd)
    ended = build("-o", tmp_path / "out", "--mpicc", "other-mpicc", f"comd={comd}")
    assert ended.returncode == 0, ended.stderr
    assert files_of(comd) == before
    built = tmp_path / "out" / "build" / "comd" / "bin" / "CoMD-mpi"
    assert subprocess.run([built], capture_output=True, text=True, check=True, cwd=tmp_path).stdout == "other-mpicc\n"


def test_what_was_built_before_with_another_compiler_is_built_again(tmp_path: Path, comd: Path):
    """In the sources, and by a call before this one."""
    for compiler in ("first-mpicc", "second-mpicc"):
        (comd / "bin" / "CoMD-mpi").write_text("#!/bin/sh\necho stale\n")
        (comd / "bin" / "CoMD-mpi").chmod(0o755)
        (comd / "src-mpi" / "Makefile.vanilla").write_text(
            "../bin/CoMD-mpi:\n\tprintf '#!/bin/sh\\necho $(CC)\\n' > $@\n\tchmod +x $@\n"
        )
        assert build("-o", tmp_path / "out", "--mpicc", compiler, f"comd={comd}").returncode == 0
        built = tmp_path / "out" / "build" / "comd" / "bin" / "CoMD-mpi"
        assert subprocess.run([built], capture_output=True, text=True, check=True).stdout == f"{compiler}\n"
    assert (comd / "bin" / "CoMD-mpi").read_text().endswith("stale\n"), "the sources stay as they are"


def test_sources_and_their_copy_may_not_lie_in_each_other(tmp_path: Path, comd: Path):
    inside = build("-o", comd / "out", f"comd={comd}")
    assert inside.returncode == 1
    assert "lie in each other: choose -o elsewhere" in inside.stderr
    assert build("-o", tmp_path / "out", f"comd={comd}").returncode == 0
    copy = tmp_path / "out" / "build" / "comd"
    again = build("-o", tmp_path / "out", f"comd={copy}")
    assert again.returncode == 1
    assert "lie in each other" in again.stderr
    assert (copy / "src-mpi" / "Makefile.vanilla").exists(), "nothing was removed"


def test_a_program_that_runs_for_a_given_time_is_on_one_network(tmp_path: Path):
    executable = tmp_path / "hpcc"
    executable.write_text("#!/bin/sh\n")
    executable.chmod(0o755)
    assert build("-o", tmp_path, "--network", "shm", "--network", "tcp", f"hpcc={executable}").returncode == 0
    assert 'networks = ["shm"]' in (tmp_path / "hpcc.toml").read_text()


def test_a_suite_has_the_program_on_the_networks_that_are_named_and_it_writes_in_a_folder_of_its_own(
    tmp_path: Path, comd: Path
):
    assert build("-o", tmp_path / "out", "--mpicc", "some-mpicc", "--network", "shm", f"comd={comd}").returncode == 0
    suite = tmp_path / "suite.toml"
    suite.write_text(NETWORK + (tmp_path / "out" / "comd.toml").read_text())
    program = read_suite(suite).programs[-1]
    assert (program.name, program.ranks, program.copies_of, program.networks) == ("comd-2", 2, "comd-1", ("shm",))
    said = subprocess.run(program.command, capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    assert said == "some-mpicc -i 2 -x 32 -y 16 -z 16\n"
    assert (tmp_path / "out" / "runs" / "comd-2" / "written").exists()


def test_an_executable_runs_where_its_input_lies(tmp_path: Path):
    executable = tmp_path / "lmp"
    executable.write_text("#!/bin/sh\ncat in.lj\n")
    executable.chmod(0o755)
    assert build("-o", tmp_path / "out", f"lammps={executable}").returncode == 0
    suite = tmp_path / "suite.toml"
    suite.write_text(NETWORK + (tmp_path / "out" / "lammps.toml").read_text())
    program = read_suite(suite).programs[-1]
    said = subprocess.run(program.command, capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    assert said.startswith("units lj\n")


def test_what_cannot_be_built_is_named_with_where_its_output_is(tmp_path: Path, comd: Path):
    (comd / "src-mpi" / "Makefile.vanilla").write_text("all:\n\techo no such header\n\tfalse\n")
    ended = build("-o", tmp_path / "out", "--mpicc", "some-mpicc", f"comd={comd}")
    assert ended.returncode == 1
    assert "comd: `make CC=some-mpicc` failed" in ended.stderr
    log = tmp_path / "out" / "build" / "comd.log"
    assert str(log) in ended.stderr
    assert "no such header" in log.read_text()


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("cactus=/tmp", "NAME=PATH was expected"),
        ("comd", "NAME=PATH was expected"),
        ("comd=/nowhere", "comd: /nowhere does not exist"),
        ("comd=/tmp", "/tmp has no folder src-mpi"),
        ("hpcc=/tmp", "hpcc: /tmp is no executable"),
        ("lammps=/bin/true lammps=/bin/true", "lammps is named twice"),
    ],
)
def test_a_wrong_word_is_refused_with_what_was_expected(tmp_path: Path, word: str, said: str):
    ended = build("-o", tmp_path / "out", *word.split())
    assert ended.returncode == 1
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr
