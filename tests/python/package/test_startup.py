"""What only simulates does not pay for tables and plots."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import idlewave
import idlewave.measure
import pytest
from idlewave.cli import COMMANDS, cli

HEAVY = ("numpy", "pandas", "pyarrow", "scipy", "matplotlib")


def loaded_by(program: str, libraries: tuple[str, ...] = HEAVY) -> set[str]:
    """Which of the large libraries a new Python has loaded after `program`."""
    program += f"\nimport sys\nprint(*(name for name in {libraries} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
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


@pytest.mark.parametrize("arguments", [["schedule", "bcast", "--ranks", "4"], ["--help"]])
def test_a_command_that_reads_no_checked_file_loads_no_library_for_that(arguments: list[str]) -> None:
    program = f"from idlewave.cli import cli\ncli({arguments}, standalone_mode=False)"
    assert loaded_by(program, ("msgspec", "tomllib")) == set()


def test_a_simulation_that_nobody_watches_draws_no_progress() -> None:
    arguments = ["simulate", "dissemination", "--ranks", "64", "--machine", "odin"]
    program = f"from idlewave.cli import cli\ncli({arguments}, standalone_mode=False)"
    assert loaded_by(program, ("rich", "concurrent.futures")) == set()


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
