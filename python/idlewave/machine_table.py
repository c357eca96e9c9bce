"""The tables of a machine.toml (docs/model.md), and the machine that they amount to."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

from msgspec import Meta, field

from .input import checked, read_toml
from .input.files import Origin
from .input.kinds import Closed, Cost, Time, Whole, WholeFrom1
from .machine import BETWEEN, WITHIN, Level, Machine, Parameters, Place, Scope, Segment
from .noise_table import NoiseTable, noise_of

NodeRanks = Annotated[int, Meta(ge=1, lt=2**32, description="a whole number from 1 to 4294967295")]
EagerLimit = Whole | Literal["inf"]


class ParameterTable(Closed):
    """LogGOPS parameters; what is None is as on the level or in the segment before."""

    L: Time | None = None
    o: Time | None = None
    o_s: Time | None = None
    o_r: Time | None = None
    g: Time | None = None
    G: Cost | None = None
    O: Cost | None = None  # noqa: E741 - the model's name


class SegmentTable(ParameterTable, kw_only=True):
    """[[network.segment]]: what holds for messages of at least so many bytes."""

    start: WholeFrom1 = field(name="from")


class LevelTable(ParameterTable):
    """What the levels of a network have in common."""

    S: EagerLimit | None = None
    segment: tuple[SegmentTable, ...] = ()


class NodeTable(LevelTable, kw_only=True):
    """[network.node]: what holds between ranks of one block of so many."""

    ranks: NodeRanks


class NetworkTable(LevelTable):
    """[network]: `name` where the network is another machine's, `ranks` of the node that it was measured within."""

    node: NodeTable | None = None
    name: str = ""
    measured: Place | None = None
    ranks: NodeRanks | None = None


class MachineTable(Closed):
    """A machine.toml."""

    network: NetworkTable
    name: str = "unnamed"
    description: str = ""
    noise: NoiseTable | None = None


class ScopeTable(Closed, kw_only=True):
    """A Scope, as a study's metadata has it."""

    network: str = ""
    measured: Place | None = None
    latency: Whole
    node_ranks: NodeRanks | None = None
    node_latency: Whole | None = None


def scope_from(said: object, name: str) -> Scope:
    """What `dataclasses.asdict` made of a Scope. `name` is what messages call its file. Raises InputError."""
    table = checked(said, ScopeTable, name, key="scope")
    return Scope(table.network, table.measured, table.latency, table.node_ranks, table.node_latency)


def machine_from(text: str, origin: Origin) -> Machine:
    """The machine that the text of a machine.toml describes. Raises InputError naming the key."""
    table = read_toml(text, MachineTable, origin.name)
    network = _level(table.network, "network", None, origin)
    noise, reaches = noise_of(table.noise, origin)
    machine = Machine(
        table.name,
        network,
        node_ranks=_node_of(table.network, origin),
        noise=noise,
        noise_reaches=reaches,
        measured=table.network.measured,
        network_name=table.network.name,
        description=table.description,
    )
    node = table.network.node
    if node is None:
        return machine
    return replace(machine, node=_level(node, "network.node", network, origin), node_ranks=node.ranks)


def _node_of(table: NetworkTable, origin: Origin) -> int:
    """The ranks of a node that the network was measured within, else 1."""
    if table.measured != WITHIN:
        if table.ranks is not None:
            raise origin.refusal("network.ranks", f"it beside measured = '{WITHIN}' alone", table.ranks)
        return 1
    if table.node is not None:
        raise origin.refusal("network.measured", f"'{BETWEEN}' beside [network.node]", table.measured)
    if table.ranks is None:
        raise origin.refusal("network.ranks", "the ranks of the node that it was measured within", None)
    return table.ranks


def _level(table: LevelTable, where: str, inherited: Level | None, origin: Origin) -> Level:
    parameters = first = _parameters(table, where, inherited.parameters if inherited else None, origin)
    if table.S is None and inherited is None:
        raise origin.refusal(f"{where}.S", 'the largest eager message in bytes, or "inf"', None)
    segments: list[Segment] = []
    for i, row in enumerate(table.segment):
        at = f"{where}.segment[{i}]"
        if segments and row.start <= segments[-1].start:
            raise origin.refusal(f"{at}.from", f"more than the segment's before, {segments[-1].start}", row.start)
        parameters = _parameters(row, at, parameters, origin)
        segments.append(Segment(row.start, parameters))
    if table.S is None:
        return Level(first, tuple(segments), inherited.eager_limit if inherited else None)
    return Level(first, tuple(segments), None if table.S == "inf" else table.S)


def _parameters(table: ParameterTable, where: str, base: Parameters | None, origin: Origin) -> Parameters:
    if table.o is not None and (table.o_s is not None or table.o_r is not None):
        raise origin.refusal(f"{where}.o", "either o, or o_s and o_r", "both")
    said = {
        "L": table.L,
        "o_s": table.o if table.o_s is None else table.o_s,
        "o_r": table.o if table.o_r is None else table.o_r,
        "g": table.g,
        "G": table.G,
        "O": table.O,
    }
    named: dict[str, Any] = {key: value for key, value in said.items() if value is not None}
    if base is not None:
        return replace(base, **named)
    for key in said:
        if key not in named:
            raise origin.refusal(f"{where}.{key}", Time.words, None)
    return Parameters(**named)
