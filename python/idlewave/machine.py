"""A machine: the LogGOPS parameters of its network, and its noise.

The parameters are those of Hoefler, Schneider, Lumsdaine, "LogGOPSim – Simulating Large-Scale Applications in the
LogGOPS Model" (LSAP'10); what each does to a simulated rank is in docs/model.md.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _core
from .digests import digests_of_machine
from .errors import InputError
from .noise import REACHES, AnyNoise
from .noise_table import NoiseTable
from .provenance import Provenance
from .tables import Tables, quoted
from .units import exact_time

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_TIMES = ("L", "o_s", "o_r", "g")
_COSTS = ("G", "O")


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
class Machine:
    """A machine to simulate on. Immutable; `with_noise` and `dataclasses.replace` make variants.

    `noise_reaches` names the parts of a CPU's work that noise lengthens, of REACHES.
    """

    name: str
    network: Level
    node: Level | None = None
    node_ranks: int = 1
    noise: AnyNoise | None = None
    noise_reaches: tuple[str, ...] = REACHES
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
    def preset(cls, name: str) -> Machine:
        """A machine that ships with Idlewave, such as "odin"; `Machine.presets()` lists them."""
        file = _presets() / f"{name}.toml"
        if not file.is_file():
            raise InputError(f"no preset is called '{name}'; there are {', '.join(cls.presets())}")
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

    @cached_property
    def provenance(self) -> Provenance:
        """What it is: the digests of its network, of that within a node, and of its noise, as far as it has them."""
        options = {} if self.node is None else {"node_ranks": self.node_ranks}
        return Provenance("machine", self.name, digests_of_machine(self), options)

    def to_toml(self) -> str:
        """The text of a machine.toml that says the same, but for the noise, whose detours belong in a file, and
        what it reaches."""
        lines = [f"name = {quoted(self.name)}", "[network]", *_level_lines(self.network, "network")]
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
                    self.node_ranks,
                    self.noise._core() if self.noise else None,
                    (reached("o_s"), reached("o_r"), reached("O"), reached("calc"), reached("reduction")),
                )
            )
        return self._compiled[0]


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
        self.only(table, "", {"name", "network", "noise"})
        network_table = self.table(table, "network", "network", required=True)
        allowed = {*_TIMES, *_COSTS, "o", "S", "segment", "node"}
        self.only(network_table, "network", allowed)
        network = self.level(network_table, "network", None)
        node, node_ranks = None, 1
        if "node" in network_table:
            node_table = self.table(network_table, "node", "network.node", required=True)
            self.only(node_table, "network.node", (allowed - {"node"}) | {"ranks"})
            node_ranks = self.integer(node_table, "ranks", "network.node", least=1)
            node = self.level(node_table, "network.node", network)
        name = table.get("name", "unnamed")
        if not isinstance(name, str):
            self.fail("name", "a string", name)
        return Machine(name, network, node, node_ranks, *NoiseTable(self.name, self.folder).noise(table))

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
