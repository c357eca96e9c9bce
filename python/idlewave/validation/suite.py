"""Which programs are run, on which networks.

The annotations of the schema are types, not texts, as in machine_file/network_schema.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from .. import mpi
from ..escaping import name_of
from ..input.bounds import MOST_TEXT
from ..input.files import decoded, read_bytes
from ..input.validation import read_toml
from ..input.value_types import Closed

Words = Annotated[tuple[str, ...], Meta(min_length=1)]


@dataclass(frozen=True)
class Network:
    """A network that programs run over: its name, the machine that was measured with it, and the launcher's words."""

    name: str
    machine: str
    launch: tuple[str, ...]


@dataclass(frozen=True)
class Program:
    """A program: its name, its words, and on how many ranks it runs."""

    name: str
    command: tuple[str, ...]
    ranks: int = 2


@dataclass(frozen=True)
class Suite:
    """Every program is run on every network."""

    networks: tuple[Network, ...]
    programs: tuple[Program, ...]


class _Network(Closed):
    name: str
    machine: str
    launch: Words = ("mpiexec",)


class _Program(Closed):
    name: str
    command: Words
    ranks: Annotated[int, Meta(ge=1, le=1 << 20)] = 2


class _Suite(Closed):
    network: Annotated[tuple[_Network, ...], Meta(min_length=1)]
    program: Annotated[tuple[_Program, ...], Meta(min_length=1)]

    def __post_init__(self) -> None:
        for kind, entries in (("network", self.network), ("program", self.program)):
            names = [entry.name for entry in entries]
            for name in names:
                if names.count(name) > 1:
                    raise ValueError(f"{kind}: expected different names, found {name} twice")


def read_suite(path: str | Path) -> Suite:
    """The suite in a TOML file (docs/inputs.md). Machines that are paths are relative to its folder; programs run in
    the present one. Raises InputError that names the key."""
    name = name_of(path)
    found = read_toml(decoded(read_bytes(path, "a suite of programs", most=MOST_TEXT), name), _Suite, name)
    folder = Path(path).parent
    networks = [Network(n.name, _beside(folder, n.machine), n.launch) for n in found.network]
    return Suite(tuple(networks), tuple(Program(p.name, p.command, p.ranks) for p in found.program))


def _beside(folder: Path, machine: str) -> str:
    beside = folder / machine
    return str(beside) if beside.exists() else machine


EXAMPLES = {"cg": ("96",), "halo2d": ("640", "600", "10"), "sweep": ("24", "8", "16", "24")}
"""The example programs, and the arguments with which they run for some tenths of a second."""


def example_suite(machine: str, folder: Path, *, mpiexec: str | None = None, names: Sequence[str] = ()) -> Suite:
    """The example programs on one network, compiled into `folder`, on two ranks.

    `names` are those of some of them; none: all. Raises MpiError if there is no MPI, or one does not compile.
    """
    found = mpi.find(mpiexec)
    programs = [
        Program(name, (str(mpi.build_example(found, name, folder / name)), *EXAMPLES[name]))
        for name in names or EXAMPLES
    ]
    return Suite((Network("measured", machine, (str(found.mpiexec),)),), tuple(programs))
