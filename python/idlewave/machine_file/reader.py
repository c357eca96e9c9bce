"""A Machine from the text of a machine.toml."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..algorithm_rules import AlgorithmRule
from ..cold_caches import ColdCaches
from ..input.files import Origin
from ..input.validation import checked, read_toml
from ..machine import WITHIN, Level, Machine, Parameters, Scope, Segment
from ..units import PICOSECONDS
from .network_schema import (
    ColdCachesTable,
    CollectiveTable,
    LevelTable,
    MachineTable,
    OneSidedTable,
    ScopeTable,
    VariationTable,
)
from .noise_reader import noise_of, origin_of

if TYPE_CHECKING:
    from ..variation import Variation

_FREE = Level(Parameters(L=0, o_s=0, o_r=0, g=0))


def machine_from_toml(text: str, origin: Origin) -> Machine:
    """The machine that the text of a machine.toml describes. Raises InputError naming the key."""
    table = read_toml(text, MachineTable, origin.name)
    network = _level(table.network)
    noise, reaches = noise_of(table.noise, origin)
    node, shared, one_sided = table.network.node, table.network.shared_buffer, table.network.one_sided
    within = table.network.ranks if table.network.measured == WITHIN else None
    return Machine(
        table.name,
        network,
        node=None if node is None else _level(node, network),
        node_ranks=(node.ranks if node is not None else within) or 1,
        shared_buffer=None if shared is None else _level(shared, _FREE),
        one_sided=None if one_sided is None else _one_sided(one_sided),
        progress="network" if one_sided is None else one_sided.progress,
        noise=noise,
        noise_reaches=reaches,
        noise_origin=origin_of(table.noise),
        measured=table.network.measured,
        network_name=table.network.name,
        description=table.description,
        algorithm_rules=tuple(_rule(row) for row in table.collective),
        cold_caches=None if table.cold_caches is None else _cold_caches(table.cold_caches),
        variation=None if table.network.variation is None else _variation(table.network.variation, origin),
    )


def _variation(table: VariationTable, origin: Origin) -> Variation:
    from ..variation import Variation  # it loads numpy, which a machine without a variation does not need

    return Variation.load(origin.file(table.file, "network.variation.file"), table.period, table.recorded)


def _one_sided(table: OneSidedTable) -> Level:
    """The level of one-sided operations. Where the network completes them, o and O are those of the origin alone."""
    level = _level(table, _FREE)
    if table.progress == "cpu":
        return level
    segments = tuple(Segment(s.start, replace(s.parameters, o_r=0, O_r=0.0)) for s in level.segments)
    return Level(replace(level.parameters, o_r=0, O_r=0.0), segments)


def _cold_caches(table: ColdCachesTable) -> ColdCaches:
    calls = tuple((row.after, row.time) for row in table.call)
    buffers = tuple((row.size, row.time) for row in table.buffer)
    return ColdCaches(calls, table.buffer_after, buffers)


def _rule(row: CollectiveTable) -> AlgorithmRule:
    ns = PICOSECONDS["ns"]
    segment = {} if row.segment is None else {"segment": row.segment}
    return AlgorithmRule(
        row.name,
        row.algorithm,
        row.ranks,
        row.start,
        reduction_cost=row.reduction_cost / ns,
        call_ns=row.call / ns,
        call_ns_per_byte=row.call_per_byte / ns,
        residual=row.residual,
        of_library=row.of_library,
        of_all_ranks=row.of_all_ranks,
        fallback=row.fallback,
        **segment,
    )


def scope_from_json(value: object, name: str) -> Scope:
    """The Scope that `dataclasses.asdict` made `value` of. Messages call its file `name`. Raises InputError."""
    table = checked(value, ScopeTable, name, key="scope")
    return Scope(table.network, table.measured, table.latency, table.node_ranks, table.node_latency)


def _level(table: LevelTable, inherited: Level | None = None) -> Level:
    """The level of a table; the table takes the parameters that it lacks from the level `inherited`."""
    given = table.given()
    parameters = first = Parameters(**given) if inherited is None else replace(inherited.parameters, **given)
    segments = []
    for row in table.segment:
        parameters = replace(parameters, **row.given())
        segments.append(Segment(row.start, parameters))
    if table.S is None:
        return Level(first, tuple(segments), None if inherited is None else inherited.eager_limit)
    return Level(first, tuple(segments), None if table.S == "inf" else table.S)
