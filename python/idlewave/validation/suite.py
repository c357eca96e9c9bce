"""Which programs and loops are run, on which networks.

The annotations of the schema are types, not texts, as in machine_file/network_schema.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from .. import mpi
from ..escaping import name_of, quote
from ..input.bounds import MOST_TEXT
from ..input.files import decoded, read_bytes
from ..input.validation import read_toml
from ..input.value_types import Closed
from .loops import NAMES

Words = Annotated[tuple[str, ...], Meta(min_length=1)]


@dataclass(frozen=True)
class Network:
    """A network that programs run over: its name, the machines that were measured with it, one or more, and the
    launcher's words."""

    name: str
    machines: tuple[str, ...]
    launch: tuple[str, ...]


@dataclass(frozen=True)
class Program:
    """A program: its name, its words, and on how many ranks it runs; the networks on which it runs, all if none is
    named; and the program, on fewer ranks, of whose traces copies predict it, "" if there is none."""

    name: str
    command: tuple[str, ...]
    ranks: int = 2
    networks: tuple[str, ...] = ()
    copies_of: str = ""


@dataclass(frozen=True)
class LoopRun:
    """The loops of benchmarks: which of `loops.NAMES`, for how many seconds a run, up to which size, in bytes."""

    names: tuple[str, ...] = NAMES
    seconds: float = 5
    max_size: int = 4 << 20
    ranks: int = 2
    networks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Suite:
    """Every program is run on every network, or on those that it names; and so are the loops."""

    networks: tuple[Network, ...]
    programs: tuple[Program, ...]
    loops: LoopRun | None = None

    def networks_of(self, entry: Program | LoopRun) -> tuple[Network, ...]:
        """Those on which a program, or the loops, run."""
        return tuple(network for network in self.networks if not entry.networks or network.name in entry.networks)


class _Network(Closed):
    name: str
    machine: str | Words
    launch: Words = ("mpiexec",)


class _Program(Closed):
    name: str
    command: Words
    ranks: Annotated[int, Meta(ge=1, le=1 << 20)] = 2
    networks: tuple[str, ...] = ()
    copies_of: str = ""


class _Loops(Closed):
    names: Annotated[tuple[str, ...], Meta(min_length=1)] = NAMES
    seconds: Annotated[float, Meta(gt=0, le=3600)] = 5
    max_size: Annotated[int, Meta(ge=1, le=1 << 26)] = 4 << 20
    ranks: Annotated[int, Meta(ge=2, le=1 << 20)] = 2
    networks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in self.names:
            if name not in NAMES:
                raise ValueError(f"names: expected some of {', '.join(NAMES)}, found {quote(name)}")


class _Suite(Closed):
    network: Annotated[tuple[_Network, ...], Meta(min_length=1)]
    program: tuple[_Program, ...] = ()
    loops: _Loops | None = None

    def __post_init__(self) -> None:
        if not self.program and self.loops is None:
            raise ValueError("expected a program, or loops")
        for kind, entries in (("network", self.network), ("program", self.program)):
            names = [entry.name for entry in entries]
            for name in names:
                if names.count(name) > 1:
                    raise ValueError(f"{kind}: expected different names, found {name} twice")
        networks = [network.name for network in self.network]
        named = [name for program in self.program for name in program.networks]
        for name in (*named, *(self.loops.networks if self.loops else ())):
            if name not in networks:
                raise ValueError(f"networks: expected some of {', '.join(networks)}, found {quote(name)}")
        for number, program in enumerate(self.program):
            if program.copies_of:
                _check_copies(program, self.program[:number])


def _check_copies(program: _Program, before: Sequence[_Program]) -> None:
    """Copies of the traces of an earlier program are those of a whole number of them, on the same networks."""
    smaller = next((earlier for earlier in before if earlier.name == program.copies_of), None)
    if smaller is None:
        raise ValueError(f"copies_of: expected the name of a program before {program.name}")
    if smaller.ranks >= program.ranks or program.ranks % smaller.ranks:
        raise ValueError(f"copies_of: expected a program whose ranks divide the {program.ranks} of {program.name}")
    if smaller.networks != program.networks:
        raise ValueError(f"copies_of: expected the networks of {program.name}, found others")


def read_suite(path: str | Path) -> Suite:
    """The suite in a TOML file (docs/inputs.md). Machines that are paths are relative to its folder; programs run in
    the present one. Raises InputError that names the key."""
    name = name_of(path)
    found = read_toml(decoded(read_bytes(path, "a suite of programs", most=MOST_TEXT), name), _Suite, name)
    folder = Path(path).parent
    networks = [Network(n.name, _machines(folder, n.machine), n.launch) for n in found.network]
    programs = [Program(p.name, p.command, p.ranks, p.networks, p.copies_of) for p in found.program]
    own = found.loops
    loops = None if own is None else LoopRun(own.names, own.seconds, own.max_size, own.ranks, own.networks)
    return Suite(tuple(networks), tuple(programs), loops)


def _machines(folder: Path, named: str | tuple[str, ...]) -> tuple[str, ...]:
    """The names of a network's machines, those of paths beside the suite with its folder."""
    names = (named,) if isinstance(named, str) else named
    return tuple(str(folder / name) if (folder / name).exists() else name for name in names)


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
    return Suite((Network("measured", (machine,), (str(found.mpiexec),)),), tuple(programs))
