"""What the tests share: a quiet machine, and small schedules."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import idlewave
import pytest
from idlewave import mpi
from idlewave.errors import MpiError
from made_once import made_once
from places import ROOT


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="also what is marked long (make test-long)")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # Files with slow tests go first, so that no worker is left with one at the end.
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
    if config.getoption("--long"):
        return
    long = [item for item in items if item.get_closest_marker("long")]
    config.hook.pytest_deselected(items=long)
    items[:] = [item for item in items if item not in long]


@pytest.fixture(scope="session", autouse=True)
def _builds_stay_in_the_checkout() -> None:
    os.environ.setdefault("IDLEWAVE_CACHE", str(ROOT / "build" / "cache"))


@pytest.fixture(scope="session", autouse=True)
def _open_mpi_starts_quickly() -> None:
    """Its component btl/ofi, which nothing here uses, sleeps for a second at each start."""
    os.environ.setdefault("OMPI_MCA_btl", "^ofi")


@pytest.fixture(scope="session")
def _session_folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where Open MPI's launchers of this process of the tests have their session folders."""
    folder = tmp_path_factory.mktemp("launchers")
    os.environ.update({"PRTE_MCA_prte_tmpdir_base": str(folder)})
    return folder


@pytest.fixture(autouse=True)
def _killed_launchers_leave_no_session_folders(_session_folders: Path) -> Iterator[None]:
    """A launcher does not start where one of the same process number was killed, and left its session folder.

    It says "The PMIx server's listener thread failed to start" (PMIx 5, write_rndz_file). The tests kill launchers, and
    start more processes than there are numbers.
    """
    yield
    for left in _session_folders.glob("ompi.*"):
        shutil.rmtree(left, ignore_errors=True)


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test of a report's page, and not of the pictures on it: they are left blank, as drawing them takes seconds."""
    monkeypatch.setattr("idlewave.report.page.svg_of", lambda *_: "<svg></svg>")
    monkeypatch.setattr("idlewave.report.page.png_of", lambda *_: b"")


@pytest.fixture
def machine() -> idlewave.Machine:
    """L 2500, o 1500, g 1000 ns, G 6 ns/B: LogGOPSim's defaults."""
    return idlewave.Machine.from_toml(
        '[network]\nL = "2500ns"\no = "1500ns"\ng = "1us"\nG = "6ns"\nO = "0ns"\nS = 65535\n'
    )


@pytest.fixture
def ping() -> idlewave.Schedule:
    """One message of 8 bytes from rank 0 to rank 1."""
    return idlewave.Schedule.from_goal(
        "num_ranks 2\nrank 0 {\na: send 8b to 1 tag 5\n}\nrank 1 {\nb: recv 8b from 0 tag 5\n}\n"
    )


@pytest.fixture(scope="session")
def installed() -> mpi.Mpi:
    """The MPI that is used where none is named, or a skip."""
    try:
        return mpi.find()
    except MpiError as error:
        pytest.skip(f"no MPI: {error}")


@pytest.fixture(scope="session")
def mpi_probe(installed: mpi.Mpi) -> Path:
    """The network probe, built for that MPI."""
    return mpi.build(installed, "loggp")


@pytest.fixture(scope="session")
def chromium() -> str:
    """The headless browser, or a skip."""
    found = shutil.which("chromium")
    if found is None:
        pytest.skip("chromium is not installed")
    return found


@pytest.fixture(scope="session")
def material(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the examples of commands read, by the words that stand for it there; no test writes to it."""
    from command_examples import make_material, material_in

    return material_in(made_once(tmp_path_factory, "material", make_material))


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A valid folder for the reader of that name in reader_fuzz.READERS, made once."""
    from reader_fuzz import READERS

    made: dict[str, Path] = {}

    def sample(name: str) -> Path:
        if name not in made:
            made[name] = tmp_path_factory.mktemp(name)
            next(reader for reader in READERS if reader.name == name).write(made[name])
        return made[name]

    return sample
