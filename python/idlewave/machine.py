"""A machine: the LogGOPS parameters of its network, and its noise.

The parameters are those of Hoefler, Schneider, Lumsdaine, "LogGOPSim – Simulating Large-Scale Applications in the
LogGOPS Model" (LSAP'10); what each does to a simulated rank is in docs/model.md.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from . import _core
from .errors import InputError, UsageError
from .noise import REACHES, AnyNoise
from .noise_table import NoiseTable
from .tables import Tables, quoted
from .units import exact_time
from .wording import did_you_mean

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_TIMES = ("L", "o_s", "o_r", "g")
_COSTS = ("G", "O")

Place = Literal["within a node", "between nodes"]
"""Where a network was measured."""
WITHIN: Place = "within a node"
BETWEEN: Place = "between nodes"


@dataclass(frozen=True)
class Parameters:
    """LogGOPS parameters of a transmission. Times in ps, G and O in ps per byte after the first."""

    L: int
    o_s: int
    o_r: int
    g: int
    G: float = 0.0
    O: float = 0.0  # noqa: E741 - the model's name


@dataclass(frozen=True)
class Segment:
    """Parameters that hold for messages of at least `start` bytes."""

    start: int
    parameters: Parameters


@dataclass(frozen=True)
class Level:
    """One level of a network: its parameters from 0 bytes on, further segments, and S.

    `eager_limit` is S, the largest eager message in bytes; None: every message is eager.
    """

    parameters: Parameters
    segments: tuple[Segment, ...] = ()
    eager_limit: int | None = None

    def at(self, size: int) -> Parameters:
        """The parameters of a message of `size` bytes."""
        holds = self.parameters
        for segment in self.segments:
            if size >= segment.start:
                holds = segment.parameters
        return holds


@dataclass(frozen=True)
class Scope:
    """Which networks a machine has between its ranks, for sentences about it.

    `measured` says where the network between any two ranks was measured, None where that is not known; `latency` is its
    L in ps, `network` its name where it is another machine's. `node_ranks` are the ranks of a node, None where no node
    is known of, and `node_latency` is L within a node, None where that has no network of its own.
    """

    network: str
    measured: Place | None
    latency: int
    node_ranks: int | None = None
    node_latency: int | None = None

    def beyond_node(self, ranks: int) -> bool:
        """Whether so many ranks need more than the node within which the only network was measured."""
        return self.measured == WITHIN and self.node_ranks is not None and ranks > self.node_ranks

    @classmethod
    def from_dict(cls, said: object, name: str) -> Scope:
        """What `dataclasses.asdict` made of one. Raises InputError naming the key; `name` is what messages call it."""
        if not isinstance(said, dict):
            raise InputError(f"{name}: expected a table, found {said!r}")
        reader = _Reader(name, Path())
        reader.only(said, "", {"network", "measured", "latency", "node_ranks", "node_latency"})
        whole = {key: value for key, value in said.items() if value is not None}

        def number(key: str, least: int) -> int | None:
            return reader.integer(whole, key, name, least=least) if key in whole else None

        return cls(
            reader.text(whole, "network", "network", ""),
            reader.measured(whole, "measured"),
            reader.integer(whole, "latency", name, least=0),
            number("node_ranks", 1),
            number("node_latency", 0),
        )


@dataclass(frozen=True)
class Machine:
    """A machine to simulate on. Immutable; `with_noise`, `between` and `dataclasses.replace` make variants.

    `node` is the network within a node of `node_ranks` ranks, where that differs. `measured` says where `network` was
    measured, None where that is not known; of one measured within a node, `node_ranks` are the ranks of that node.
    `network_name` is the name of the network where it is another machine's; `description` is a line for lists.
    `noise_reaches` names the parts of a CPU's work that noise lengthens, of REACHES.
    """

    name: str
    network: Level
    node: Level | None = None
    node_ranks: int = 1
    noise: AnyNoise | None = None
    noise_reaches: tuple[str, ...] = REACHES
    measured: Place | None = None
    network_name: str = ""
    description: str = ""
    _compiled: list[_core.Machine] = field(default_factory=list, init=False, repr=False, compare=False)

    @classmethod
    def load(cls, path: str | Path) -> Machine:
        """Read a machine.toml. Raises InputError that names the file, the key and what was expected."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: cannot be read as a machine: {error}") from error
        return cls.from_toml(text, name=str(path), folder=path.parent)

    @classmethod
    def from_toml(cls, text: str, *, name: str = "machine", folder: Path | None = None) -> Machine:
        """Read the text of a machine.toml. `name` is what messages call it; files are relative to `folder`."""
        try:
            table = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"{name}: not TOML: {error}") from error
        machine = _Reader(name, folder or Path()).machine(table)
        machine.core()
        return machine

    @classmethod
    def named(cls, name: str | Path) -> Machine:
        """The machine in a file, that in the machine.toml of a folder, or the preset of that name."""
        path = Path(name)
        if path.is_dir():
            return cls.load(path / "machine.toml")
        if path.exists() or path.suffix == ".toml":
            return cls.load(path)
        if str(name) in cls.presets():
            return cls.preset(str(name))
        presets = cls.presets()
        raise InputError(
            f"{name}: expected a file, a folder, or a preset{did_you_mean(str(name), presets)} "
            f"There are the presets {', '.join(presets)}"
        )

    @classmethod
    def preset(cls, name: str) -> Machine:
        """A machine that ships with Idlewave, such as "odin"; `Machine.presets()` lists them."""
        file = _presets() / f"{name}.toml"
        if not file.is_file():
            presets = cls.presets()
            raise InputError(
                f"no preset is called '{name}'{did_you_mean(name, presets)} There are {', '.join(presets)}"
            )
        return cls.from_toml(file.read_text(encoding="utf-8"), name=f"preset {name}")

    @staticmethod
    def presets() -> list[str]:
        """The names of the presets."""
        return sorted(f.name.removesuffix(".toml") for f in _presets().iterdir() if f.name.endswith(".toml"))

    def with_noise(self, noise: AnyNoise | None) -> Machine:
        """This machine with other noise, or with none."""
        return replace(self, noise=noise)

    def with_noise_reaches(self, reaches: Iterable[str]) -> Machine:
        """This machine with noise that lengthens only these parts of a CPU's work. Raises InputError naming one."""
        return replace(self, noise_reaches=tuple(reaches))

    def between(self, other: Machine | str | Path, *, node_ranks: int | None = None) -> Machine:
        """This machine as the node of a larger one, between whose nodes the network of `other` lies.

        Its own network holds within a node of `node_ranks` ranks (default: of the node that it was measured in), as
        `[network.node]` does; of `other`, a machine or what names one, nothing but the network is taken. Raises
        UsageError if this machine was measured between nodes or `other` within one, if either has a node level itself,
        or if it is not known how many ranks a node has.
        """
        other = other if isinstance(other, Machine) else Machine.named(other)
        network = other.network_between_nodes()
        if self.node is not None:
            raise UsageError(f"'{self.name}' has a network between nodes already, beside its [network.node]")
        if self.measured == BETWEEN:
            raise UsageError(f"'{self.name}' was measured between nodes: expected a machine measured within a node")
        if node_ranks is None and self.measured is None:
            raise UsageError(f"how many ranks a node of '{self.name}' has is not known: expected --node-ranks")
        if node_ranks is not None and node_ranks < 1:
            raise UsageError(f"expected nodes of at least 1 rank, found {node_ranks}")
        return replace(
            self,
            name=f"{self.name}, {other.name} between nodes",
            network=network,
            node=self.network,
            node_ranks=self.node_ranks if node_ranks is None else node_ranks,
            measured=BETWEEN,
            network_name=other.network_name or other.name,
        )

    def network_between_nodes(self) -> Level:
        """This machine's network, to lie between the nodes of another. Raises UsageError if it cannot."""
        if self.node is not None:
            raise UsageError(f"'{self.name}' has a network within nodes, too ([network.node]): expected one alone")
        if self.measured == WITHIN:
            raise UsageError(f"'{self.name}' was measured within a node: expected a network measured between nodes")
        return self.network

    @property
    def scope(self) -> Scope:
        """Which networks lie between the ranks."""
        return Scope(
            network=self.network_name,
            measured=self.measured,
            latency=self.network.parameters.L,
            node_ranks=self.node_ranks if self.node or self.measured == WITHIN else None,
            node_latency=self.node.parameters.L if self.node else None,
        )

    def to_toml(self) -> str:
        """The text of a machine.toml that says the same, but for the noise, whose detours belong in a file, and
        what it reaches."""
        lines = [f"name = {quoted(self.name)}"]
        if self.description:
            lines.append(f"description = {quoted(self.description)}")
        lines.append("[network]")
        if self.network_name:
            lines.append(f"name = {quoted(self.network_name)}")
        if self.measured:
            lines += measured_lines(self.measured, self.node_ranks)
        lines += _level_lines(self.network, "network")
        if self.node:
            lines += [
                "[network.node]",
                f"ranks = {self.node_ranks}",
                *_level_lines(self.node, "network.node"),
            ]
        return "\n".join(lines) + "\n"

    def core(self) -> _core.Machine:
        """The machine as the compiled core sees it. Raises InputError if the noise is impossible."""
        for part in self.noise_reaches:
            if part not in REACHES:
                raise InputError(f"noise reaches: expected some of {', '.join(REACHES)}, found '{part}'")
        if not self._compiled:
            reached = self.noise_reaches.__contains__
            self._compiled.append(
                _core.Machine(
                    _core_level(self.network),
                    _core_level(self.node) if self.node else None,
                    self.node_ranks if self.node else 1,
                    self.noise._core() if self.noise else None,
                    (reached("o_s"), reached("o_r"), reached("O"), reached("calc"), reached("reduction")),
                )
            )
        return self._compiled[0]


def measured_lines(measured: Place, ranks: int) -> list[str]:
    """The lines of [network] that say where it was measured; `ranks` are those of a node."""
    return [f'measured = "{measured}"', *([f"ranks = {ranks}"] if measured == WITHIN else [])]


def _presets() -> Traversable:
    from importlib import resources

    return resources.files("idlewave") / "presets"


def _core_level(level: Level) -> _core.Level:
    segments = [Segment(0, level.parameters), *level.segments]
    rows = [(s.start, *(getattr(s.parameters, k) for k in (*_TIMES, *_COSTS))) for s in segments]
    return _core.Level(rows, level.eager_limit)


def _level_lines(level: Level, table: str) -> list[str]:
    lines = _parameter_lines(level.parameters)
    lines.append('S = "inf"' if level.eager_limit is None else f"S = {level.eager_limit}")
    for segment in level.segments:
        lines += [f"[[{table}.segment]]", f"from = {segment.start}", *_parameter_lines(segment.parameters)]
    return lines


def _parameter_lines(p: Parameters) -> list[str]:
    times = [f'{key} = "{exact_time(getattr(p, key))}"' for key in _TIMES]
    return [*times, *(f'{key} = "{getattr(p, key)!r}ps"' for key in _COSTS)]


class _Reader(Tables):
    """Reads the tables of a machine.toml."""

    def machine(self, table: dict[str, Any]) -> Machine:
        self.only(table, "", {"name", "description", "network", "noise"})
        network_table = self.table(table, "network", "network", required=True)
        of_level = {*_TIMES, *_COSTS, "o", "S", "segment"}
        self.only(network_table, "network", of_level | {"node", "name", "measured", "ranks"})
        network = self.level(network_table, "network", None)
        measured, node_ranks = self.place(network_table)
        node = None
        if "node" in network_table:
            node_table = self.table(network_table, "node", "network.node", required=True)
            self.only(node_table, "network.node", of_level | {"ranks"})
            node_ranks = self.integer(node_table, "ranks", "network.node", least=1)
            node = self.level(node_table, "network.node", network)
        noise, reaches = NoiseTable(self.name, self.folder).noise(table)
        return Machine(
            self.text(table, "name", "name", "unnamed"),
            network,
            node,
            node_ranks,
            noise,
            reaches,
            measured,
            self.text(network_table, "name", "network.name", ""),
            self.text(table, "description", "description", ""),
        )

    def place(self, network: dict[str, Any]) -> tuple[Place | None, int]:
        """Where [network] was measured, and the ranks of a node that it was measured within (else 1)."""
        measured = self.measured(network, "network.measured")
        if measured == WITHIN:
            if "node" in network:
                self.fail("network.measured", f"'{BETWEEN}' beside [network.node]", measured)
            return WITHIN, self.integer(network, "ranks", "network", least=1)
        if "ranks" in network:
            self.fail("network.ranks", f"it beside measured = '{WITHIN}' alone", network["ranks"])
        return measured, 1

    def measured(self, table: dict[str, Any], where: str) -> Place | None:
        """Where a network was measured; None where nothing is said."""
        value = table.get("measured")
        if value not in (None, WITHIN, BETWEEN):
            self.fail(where, f"'{WITHIN}' or '{BETWEEN}'", value)
        return next(place for place in (None, WITHIN, BETWEEN) if value == place)

    def text(self, table: dict[str, Any], key: str, where: str, otherwise: str) -> str:
        """A string, or what is said where there is none."""
        value = table.get(key, otherwise)
        if not isinstance(value, str):
            self.fail(where, "a string", value)
        return value

    def level(self, table: dict[str, Any], where: str, inherited: Level | None) -> Level:
        first = parameters = self.parameters(table, where, inherited.parameters if inherited else None)
        eager_limit = inherited.eager_limit if inherited else None
        if "S" in table:
            eager_limit = None if table["S"] == "inf" else self.integer(table, "S", where, least=0, other='or "inf"')
        elif inherited is None:
            self.fail(f"{where}.S", 'the largest eager message in bytes, or "inf"', None)
        segments: list[Segment] = []
        rows = table.get("segment", [])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            self.fail(f"{where}.segment", f"tables [[{where}.segment]]", rows)
        for i, row in enumerate(rows):
            at = f"{where}.segment[{i}]"
            self.only(row, at, {*_TIMES, *_COSTS, "o", "from"})
            start = self.integer(row, "from", at, least=1)
            if segments and start <= segments[-1].start:
                self.fail(f"{at}.from", f"more than the segment's before, {segments[-1].start}", start)
            parameters = self.parameters(row, at, parameters)
            segments.append(Segment(start, parameters))
        return Level(first, tuple(segments), eager_limit)

    def parameters(self, table: dict[str, Any], where: str, base: Parameters | None) -> Parameters:
        if "o" in table and ("o_s" in table or "o_r" in table):
            self.fail(f"{where}.o", "either o, or o_s and o_r", table["o"])
        named = dict(table)
        if "o" in named:
            named["o_s"] = named["o_r"] = named["o"]
        values: dict[str, Any] = {}
        for key in (*_TIMES, *_COSTS):
            if key in named:
                values[key] = self.quantity(named[key], f"{where}.{key}", cost=key in _COSTS)
            elif base is not None:
                values[key] = getattr(base, key)
            else:
                self.fail(f"{where}.{key}", "a time with a unit, such as '1.3us'", None)
        return Parameters(**values)
