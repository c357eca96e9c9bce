"""A machine: the LogGOPS parameters of its network, and its noise.

The parameters are those of Hoefler, Schneider, Lumsdaine, "LogGOPSim – Simulating Large-Scale Applications in the
LogGOPS Model" (LSAP'10); docs/model.md says what each of them does to a simulated rank.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from . import _core
from .algorithm_rules import AlgorithmRule, core_rules
from .cold_caches import ColdCaches
from .digests import digest_of, digests_of_machine
from .errors import InputError, UsageError
from .escaping import found, name_of, quote
from .field_methods import FieldMethods
from .formatting import did_you_mean, unknown_name
from .input.files import Origin, read_text
from .native_files import PRESETS
from .noise_models import MOST_INTERRUPTS, REACHES, AnyNoise, NoiseOrigin
from .provenance import Provenance

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .variation import Variation

_TIMES = ("L", "o_s", "o_r", "g")
_COSTS = ("G", "O_s", "O_r")
_ADDED = ("c", "o_p")

Progress = Literal["network", "cpu"]
"""What completes a one-sided operation at its target: the NIC alone, or a CPU, too."""
PROGRESS: tuple[Progress, ...] = ("network", "cpu")

Place = Literal["within a node", "between nodes"]
"""The place where a network was measured."""
WITHIN: Place = "within a node"
BETWEEN: Place = "between nodes"


@dataclass(frozen=True, eq=False, repr=False)
class Parameters(FieldMethods):
    """LogGOPS parameters of a transmission. Times in ps; G, O_s and O_r in ps per byte after the first.

    c, the completion, is the time from the end of a send's CPU time until the send ends; o_p the CPU time to post a
    receive.
    """

    L: int
    o_s: int
    o_r: int
    g: int
    G: float = 0.0
    O_s: float = 0.0
    O_r: float = 0.0
    c: int = 0
    o_p: int = 0


@dataclass(frozen=True, eq=False, repr=False)
class Segment(FieldMethods):
    """Parameters that hold for messages of at least `start` bytes."""

    start: int
    parameters: Parameters


@dataclass(frozen=True, eq=False, repr=False)
class Level(FieldMethods):
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

    def costs(self, sizes: npt.NDArray[np.uint64]) -> _core.Costs:
        """The costs of messages of these sizes, by the simulator's rules, in arrays, ps."""
        return _core.costs(self.core(), sizes)

    def core(self) -> _core.Level:
        """The level as the compiled core sees it."""
        segments = [Segment(0, self.parameters), *self.segments]
        rows = [(s.start, *(getattr(s.parameters, k) for k in (*_TIMES, *_COSTS, *_ADDED))) for s in segments]
        return _core.Level(rows, self.eager_limit)


@dataclass(frozen=True, eq=False, repr=False)
class Scope(FieldMethods):
    """The networks between the ranks of a machine, for sentences about it.

    `measured` says where the network between any two ranks was measured; None if that is not known. `latency` is its L
    in ps, `network` its name if it is another machine's. `node_ranks` is the number of ranks of a node; None if no node
    is known. `node_latency` is L within a node; None if the nodes have no network of their own.
    """

    network: str
    measured: Place | None
    latency: int
    node_ranks: int | None = None
    node_latency: int | None = None

    def beyond_node(self, ranks: int) -> bool:
        """Whether the only network was measured within a node, and so many ranks do not fit into it."""
        return self.measured == WITHIN and self.node_ranks is not None and ranks > self.node_ranks


@dataclass(frozen=True, eq=False, repr=False)
class Machine(FieldMethods):
    """A machine to simulate on. Immutable; `with_noise`, `between` and `dataclasses.replace` make variants.

    `node` is the network within a node of `node_ranks` ranks, if that differs. `shared_buffer` has the parameters of
    messages that pass through a buffer which the ranks of a node share: those of collectives by the algorithms
    release_gather, which are always eager; None if they are messages as others. `one_sided` has the parameters of
    one-sided operations between all ranks; None if they are those of messages between the same ranks. `progress` says
    what completes them at their target: "network", or "cpu", which only a machine with `one_sided` may have. `measured`
    says where `network` was measured; None if that is not known. If it was measured within a node, that node has
    `node_ranks` ranks.
    `network_name` is the name of the network if it is another machine's; `description` is a line for lists.
    `noise_reaches` names the parts of a CPU's work that noise lengthens, of REACHES; `noise_origin` says where it was
    recorded, None if that is not known. `algorithm_rules` say which
    algorithms its MPI library uses, and `cold_caches` are the extra time of messages after a computation; None: there
    is none. Schedules are made with these two, the simulation itself does not use them. `variation` has factors of L
    and G of `network`, and of `one_sided` if there is that, as functions of time; None: they never vary.
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
    algorithm_rules: tuple[AlgorithmRule, ...] = ()
    shared_buffer: Level | None = None
    cold_caches: ColdCaches | None = None
    noise_origin: NoiseOrigin | None = None
    one_sided: Level | None = None
    progress: Progress = "network"
    variation: Variation | None = None
    _compiled: list[_core.Machine] = field(default_factory=list, init=False, repr=False, compare=False)

    @classmethod
    def load(cls, path: str | Path, *, outside: bool = False) -> Machine:
        """Read a machine.toml, a file or a pipe. Files that it names must lie in its folder or below, unless `outside`.

        Raises InputError that names the file, the key and what was expected.
        """
        text = read_text(path, "a machine", pipe=True)
        return cls.from_toml(text, name=name_of(path), folder=Path(path).parent, outside=outside)

    @classmethod
    def from_toml(
        cls, text: str, *, name: str = "machine", folder: Path | None = None, outside: bool = False
    ) -> Machine:
        """Read the text of a machine.toml. Messages call it `name`.

        Files that it names are relative to `folder`, and must lie there or below, unless `outside`. Without a `folder`
        the text counts as the program's own: files are relative to the current folder, and may lie anywhere.
        """
        from .machine_file.reader import machine_from_toml

        hint = " (--allow-outside, or outside=True, allows that)"
        machine = machine_from_toml(text, Origin(name, folder or Path(), outside or folder is None, hint))
        try:
            machine.core()
            core_rules(machine.algorithm_rules)
        except InputError as error:
            raise InputError(f"{name}: {error}") from None
        return machine

    @classmethod
    def named(cls, name: str | Path, *, outside: bool = False) -> Machine:
        """The machine in a file, in the machine.toml of a folder, or the preset of that name; see `load`."""
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
        file = PRESETS / f"{name}.toml"
        return cls.from_toml(file.read_text(encoding="utf-8"), name=f"preset {name}")

    @staticmethod
    def presets() -> list[str]:
        """The names of the presets."""
        return sorted(f.name.removesuffix(".toml") for f in PRESETS.iterdir() if f.name.endswith(".toml"))

    def with_noise(self, noise: AnyNoise | None, origin: NoiseOrigin | None = None) -> Machine:
        """This machine with other noise, or with none. `origin` says where the noise was recorded."""
        return replace(self, noise=noise, noise_origin=origin)

    def with_variation(self, variation: Variation | None) -> Machine:
        """This machine with another variation of L and G over time, or with none."""
        return replace(self, variation=variation)

    @property
    def interrupts(self) -> float | None:
        """By which share of its time a computation that was traced on this machine is too long, without the waits for a
        core: the detours that are no such waits. 0 without noise that reaches computations; None if the noise does not
        say which of its time these are."""
        if self.noise is None or "calc" not in self.noise_reaches:
            return 0.0
        if self.noise_origin is None or self.noise_origin.core_wait_share is None:
            return None
        detours = self.noise.overhead
        waits = detours * self.noise_origin.core_wait_share
        return min((detours - waits) / (1 - waits), MOST_INTERRUPTS) if waits < 1 else MOST_INTERRUPTS

    def with_noise_reaches(self, reaches: Iterable[str]) -> Machine:
        """This machine with noise that lengthens only these parts of a CPU's work. Raises InputError naming one."""
        return replace(self, noise_reaches=tuple(reaches))

    def between(self, other: Machine | str | Path, *, node_ranks: int | None = None) -> Machine:
        """A larger machine whose nodes are this machine, with the network of `other` between them.

        Its own network holds within a node of `node_ranks` ranks (default: those of the node that it was measured in),
        as `[network.node]` does. `other` is a machine, or the name of one as in `named`; only its network is used, and
        its parameters of one-sided operations, which hold between all ranks: those of this machine are dropped, so that
        without any in `other` such operations have the parameters of messages. The variation over time is that of
        `other`, since it is of the network between nodes.
        Raises UsageError if this machine was measured between nodes or `other` within one, if either has a node level
        itself, or if the number of ranks of a node is not known.
        """
        other = other if isinstance(other, Machine) else Machine.named(other)
        network = other.network_between_nodes()
        if self.node is not None:
            raise UsageError(f"{quote(self.name)} has a network between nodes already, beside its [network.node]")
        if self.measured == BETWEEN:
            raise UsageError(
                f"{quote(self.name)} was measured between nodes: expected a machine measured within a node"
            )
        if node_ranks is None and self.measured is None:
            raise UsageError(f"how many ranks a node of {quote(self.name)} has is not known: expected --node-ranks")
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
            one_sided=other.one_sided,
            progress=other.progress,
            variation=other.variation,
        )

    def network_between_nodes(self) -> Level:
        """The network of this machine, for use between the nodes of another. Raises UsageError if it cannot be that."""
        if self.node is not None:
            raise UsageError(f"{quote(self.name)} has a network within nodes, too ([network.node]): expected one alone")
        if self.measured == WITHIN:
            raise UsageError(
                f"{quote(self.name)} was measured within a node: expected a network measured between nodes"
            )
        return self.network

    @property
    def scope(self) -> Scope:
        """The networks between the ranks."""
        return Scope(
            network=self.network_name,
            measured=self.measured,
            latency=self.network.parameters.L,
            node_ranks=self.node_ranks if self.node or self.measured == WITHIN else None,
            node_latency=self.node.parameters.L if self.node else None,
        )

    def identity(self) -> str:
        """A digest of everything that affects simulated times; machines with the same digest give the same times."""
        return digest_of([dict(self.provenance.digests), self.node_ranks if self.node else 1])

    @cached_property
    def provenance(self) -> Provenance:
        """Its provenance: the digests of its network, of the network within a node, and of its noise, and its scope."""
        options = {"node_ranks": self.node_ranks} if self.node else {}
        return Provenance("machine", self.name, digests_of_machine(self), {**options, "scope": asdict(self.scope)})

    def to_toml(self) -> str:
        """The text of a machine.toml of this machine without its noise and its variation, whose rows belong in files of
        their own."""
        from .machine_file.writer import machine_toml

        return machine_toml(self)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_compiled": []}

    def _check_one_sided(self) -> None:
        """Raises InputError for parameters that play no role in one-sided operations."""
        if self.progress not in PROGRESS:
            raise InputError(f"progress: expected one of {', '.join(PROGRESS)}, found {found(self.progress)}")
        if self.one_sided is None:
            if self.progress != "network":
                raise InputError(f"progress: expected network beside no one_sided, found {found(self.progress)}")
            return
        if self.one_sided.eager_limit is not None:
            raise InputError(f"one_sided: expected no eager_limit, found {self.one_sided.eager_limit}")
        refused = _ADDED if self.progress == "cpu" else (*_ADDED, "o_r", "O_r")
        for p in (self.one_sided.parameters, *(s.parameters for s in self.one_sided.segments)):
            for name in refused:
                if getattr(p, name):
                    raise InputError(
                        f"one_sided: expected {name} = 0 with progress {self.progress}, found {getattr(p, name)}"
                    )

    def core(self) -> _core.Machine:
        """The machine as the compiled core sees it. Raises InputError if its noise or its variation is impossible, or
        if it has parameters that play no role in one-sided operations."""
        for part in self.noise_reaches:
            if part not in REACHES:
                raise InputError(f"noise reaches: expected some of {', '.join(REACHES)}, found {found(part)}")
        self._check_one_sided()
        if not self._compiled:
            reached = self.noise_reaches.__contains__
            self._compiled.append(
                _core.Machine(
                    self.network.core(),
                    self.node.core() if self.node else None,
                    self.node_ranks if self.node else 1,
                    self.shared_buffer.core() if self.shared_buffer else None,
                    self.one_sided.core() if self.one_sided else None,
                    self.progress == "cpu",
                    self.noise._core() if self.noise else None,
                    (reached("o_s"), reached("o_r"), reached("O"), reached("calc"), reached("reduction")),
                    self.variation.core() if self.variation else None,
                )
            )
        return self._compiled[0]
