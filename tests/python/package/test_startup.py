"""What only simulates does not pay for tables and plots."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import idlewave
import idlewave.measure
import pytest
from idlewave.cli import COMMANDS, cli
from trace_files import write_trace

HEAVY = ("numpy", "pandas", "pyarrow", "scipy", "matplotlib")


def loaded_by(program: str, libraries: tuple[str, ...] = HEAVY) -> set[str]:
    """Which of the large libraries a new Python has loaded after `program`."""
    program += f"\nimport sys\nprint(*(name for name in {libraries} if name in sys.modules))"
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}  # readline sets it
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True, timeout=120
    )
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    "arguments",
    [
        ["simulate", "dissemination", "--ranks", "64", "--machine", "odin", "--json"],
        ["simulate", "allreduce", "--ranks", "8", "--machine", "odin"],
        ["schedule", "bcast", "--ranks", "4"],
        ["--help"],
    ],
)
def test_a_command_without_tables_loads_no_library_for_them(arguments: list[str]) -> None:
    program = f"from idlewave.cli import cli\ncli({arguments}, standalone_mode=False)"
    assert loaded_by(program) == set()


def test_a_trace_is_simulated_without_them(tmp_path: Path) -> None:
    arguments = ["simulate", str(write_trace(tmp_path / "trace")), "--machine", "odin", "--json"]
    program = f"from idlewave.cli import cli\ncli({arguments}, standalone_mode=False)"
    assert loaded_by(program) == set()


@pytest.mark.parametrize("arguments", [["schedule", "bcast", "--ranks", "4"], ["--help"]])
def test_a_command_that_reads_no_checked_file_loads_no_library_for_that(arguments: list[str]) -> None:
    program = f"from idlewave.cli import cli\ncli({arguments}, standalone_mode=False)"
    assert loaded_by(program, ("msgspec", "tomllib")) == set()


def test_a_simulation_that_nobody_watches_draws_no_progress() -> None:
    arguments = ["simulate", "dissemination", "--ranks", "64", "--machine", "odin"]
    program = f"from idlewave.cli import cli\ncli({arguments}, standalone_mode=False)"
    assert loaded_by(program, ("rich", "concurrent.futures")) == set()


LIBRARIES = "import click, msgspec\n"
"""What a command that reads a machine loads in any case, with whatever these libraries load themselves."""
SELDOM = (
    "concurrent.futures",
    "csv",
    "fractions",
    "hashlib",
    "html",
    "importlib.resources",
    "json",
    "logging",
    "random",
    "rich",
    "select",
    "shlex",
    "shutil",
    "tempfile",
    "traceback",
    "idlewave.detour_file",
    "idlewave.event_run",
    "idlewave.input.validation_errors",
    "idlewave.jobs",
    "idlewave.kernel",
    "idlewave.log_lines",
    "idlewave.pattern_options",
    "idlewave.placement_file",
    "idlewave.provenance_in_files",
    "idlewave.random_noise",
    "idlewave.schedule",
    "idlewave.simulation",
    "idlewave.studies",
    "idlewave.timeline",
)
"""Modules that most commands need not, or that some need not."""
SIMULATED = {
    *("idlewave.jobs", "idlewave.kernel", "idlewave.pattern_options"),
    *("idlewave.schedule", "idlewave.simulation", "idlewave.timeline"),
}
IN_JSON = {"hashlib", "json"}
"""For the result and its provenance."""
NOISE = {
    "none": ("", set()),
    "periodic": ('kind = "periodic"\nperiod = "1ms"\nlength = "10us"', set()),
    "poisson": ('kind = "poisson"\ninterval = "1ms"\nlength = "10us"', {"idlewave.random_noise"}),
    "trace": ('kind = "trace"\nperiod = "1s"\nfile = "noise.csv"', {"idlewave.detour_file"}),
    "empirical": (
        'kind = "poisson"\ninterval = "1ms"\nlength = { distribution = "empirical", file = "noise.csv" }',
        {"idlewave.detour_file", "idlewave.random_noise"},
    ),
}
"""For each kind of noise its table, and what it takes to read that."""


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize(("option", "more"), [([], set()), (["--json"], IN_JSON)], ids=["text", "json"])
def test_a_simulation_loads_what_it_needs(noise: str, option: list[str], more: set[str], tmp_path: Path) -> None:
    table, read = NOISE[noise]
    network = 'L = "2.5us"\no = "1.5us"\ng = "1us"\nG = "6ns"\nO = "0ns"\nS = "inf"\n'
    (tmp_path / "machine.toml").write_text(f"[network]\n{network}" + (f"[noise]\n{table}\n" if table else ""))
    (tmp_path / "noise.csv").write_text("start_ns,length_ns\n1000,500\n250000.5,1500\n")
    words = ["simulate", "dissemination", "--ranks", "16", "--machine", str(tmp_path / "machine.toml"), *option]
    program = f"{LIBRARIES}from idlewave.cli import cli\ncli({words}, standalone_mode=False)"
    assert loaded_by(program, (*HEAVY, *SELDOM)) - loaded_by(LIBRARIES, SELDOM) == SIMULATED | more | read


def test_a_list_of_machines_loads_what_it_needs() -> None:
    program = f"{LIBRARIES}from idlewave.cli import cli\ncli(['machines'], standalone_mode=False)"
    assert loaded_by(program, (*HEAVY, *SELDOM)) <= loaded_by(LIBRARIES, SELDOM)


SIMULATION = """
import idlewave
machine = idlewave.Machine.preset("odin")
schedule = idlewave.Schedule.pattern("dissemination", ranks=8, bytes=1)
"""


def test_nor_does_a_simulation_in_python() -> None:
    assert loaded_by(f"{SIMULATION}idlewave.simulate(schedule, machine).max_finish") == set()


def test_who_asks_for_arrays_pays_for_arrays_alone() -> None:
    assert loaded_by(f"{SIMULATION}idlewave.simulate(schedule, machine, record=True).finish") == {"numpy"}


def test_who_measures_a_network_does_not_wait_for_the_statistics_of_noise() -> None:
    program = "from idlewave.cli import cli\ncli(['measure', 'network', '--help'], standalone_mode=False)"
    assert loaded_by(program, ("scipy.stats", "scipy.signal")) == set()


@pytest.mark.parametrize("command", ["make", "measure", "remedy", "learn", "watch", "scale"])
def test_the_names_and_defaults_of_contention_load_no_library(command: str) -> None:
    program = f"from idlewave.cli import cli\ncli(['contention', '{command}', '--help'], standalone_mode=False)"
    assert loaded_by(program, (*HEAVY, "sklearn")) == set()


@pytest.mark.parametrize("package", [idlewave, idlewave.measure])
def test_every_public_name_is_there_though_some_are_loaded_late(package: ModuleType) -> None:
    assert set(package.__all__) <= set(dir(package))
    for name in package.__all__:
        assert getattr(package, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'Tracer'"):
        _ = idlewave.Tracer  # type: ignore[attr-defined]


def test_every_listed_command_is_found_by_its_name() -> None:
    context = cli.make_context("idlewave", ["machines"])
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        assert command.name == name
