"""A machine: the LogGOPS parameters of its network, and its noise.

The parameters are those of Hoefler, Schneider, Lumsdaine, "LogGOPSim – Simulating Large-Scale Applications in the
LogGOPS Model" (LSAP'10); what each does to a simulated rank is in docs/model.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from . import _core
from .digests import digests_of_machine
from .errors import InputError
from .input.files import Origin, read_text
from .noise import REACHES, AnyNoise
from .provenance import Provenance
from .quoting import found, name_of, toml_text
from .units import exact_time
from .wording import did_you_mean, unknown_name

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
    def load(cls, path: str | Path, *, outside: bool = False) -> Machine:
        """Read a machine.toml, a file or a pipe. Files that it names lie in its folder or below, unless `outside`.

        Raises InputError that names the file, the key and what was expected.
        """
        text = read_text(path, "a machine", pipe=True)
        return cls.from_toml(text, name=name_of(path), folder=Path(path).parent, outside=outside)

    @classmethod
    def from_toml(
        cls, text: str, *, name: str = "machine", folder: Path | None = None, outside: bool = False
    ) -> Machine:
        """Read the text of a machine.toml. `name` is what messages call it; files that it names are relative to
        `folder` (default: the current one), and lie there or below, unless `outside`."""
        from .machine_table import machine_from

        hint = " (--allow-outside, or outside=True, allows that)"
        machine = machine_from(text, Origin(name, folder or Path(), outside, hint))
        machine.core()
        return machine

    @classmethod
    def named(cls, name: str | Path, *, outside: bool = False) -> Machine:
        """The machine in a file, that in the machine.toml of a folder, or the preset of that name; see `load`."""
        path = Path(name)
        if path.is_dir():
            return cls.load(path / "machine.toml", outside=outside)
        if path.exists() or path.suffix == ".toml":
            return cls.load(path, outside=outside)
        if str(name) in cls.presets():
            return cls.preset(str(name))
        presets = cls.presets()
        raise InputError(
            f"{name_of(name)}: expected a file, a folder, or a preset{did_you_mean(str(name), presets)} "
            f"There are the presets {', '.join(presets)}"
        )

    @classmethod
    def preset(cls, name: str) -> Machine:
        """A machine that ships with Idlewave, such as "odin"; `Machine.presets()` lists them."""
        if name not in cls.presets():
            raise InputError(unknown_name("preset", name, cls.presets()))
        file = _presets() / f"{name}.toml"
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
        lines = [f"name = {toml_text(self.name)}", "[network]", *_level_lines(self.network, "network")]
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
                raise InputError(f"noise reaches: expected some of {', '.join(REACHES)}, found {found(part)}")
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
