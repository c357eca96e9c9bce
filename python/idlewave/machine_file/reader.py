"""A Machine from the text of a machine.toml."""

from __future__ import annotations

from dataclasses import replace

from ..algorithm_rules import AlgorithmRule
from ..cold_caches import ColdCaches
from ..input.files import Origin
from ..input.validation import checked, read_toml
from ..input.value_types import Time
from ..machine import WITHIN, Level, Machine, Parameters, Scope, Segment
from ..noise_models import (
    REACHES,
    AnyNoise,
    DetourLength,
    EmpiricalLength,
    ExponentialLength,
    FixedLength,
    LognormalLength,
    MixedNoise,
    Noise,
    ParetoLength,
    PoissonNoise,
    UniformLength,
    buffer_of_times,
)
from ..units import PICOSECONDS
from .network_schema import ColdCachesTable, CollectiveTable, LevelTable, MachineTable, ScopeTable
from .noise_schema import (
    Exponential,
    Law,
    Lognormal,
    Mixture,
    NoiseTable,
    NoNoise,
    Pareto,
    PeriodicSource,
    Source,
    TraceSource,
    Uniform,
)


def machine_from_toml(text: str, origin: Origin) -> Machine:
    """The machine that the text of a machine.toml describes. Raises InputError naming the key."""
    table = read_toml(text, MachineTable, origin.name)
    network = _level(table.network)
    noise, reaches = _noise_of(table.noise, origin)
    node, shared = table.network.node, table.network.shared_buffer
    within = table.network.ranks if table.network.measured == WITHIN else None
    return Machine(
        table.name,
        network,
        node=None if node is None else _level(node, network),
        node_ranks=(node.ranks if node is not None else within) or 1,
        shared_buffer=None if shared is None else _level(shared, Level(Parameters(L=0, o_s=0, o_r=0, g=0))),
        noise=noise,
        noise_reaches=reaches,
        measured=table.network.measured,
        network_name=table.network.name,
        description=table.description,
        algorithm_rules=tuple(_rule(row) for row in table.collective),
        cold_caches=None if table.cold_caches is None else _cold_caches(table.cold_caches),
    )


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


def _noise_of(table: NoiseTable | None, origin: Origin) -> tuple[AnyNoise | None, tuple[str, ...]]:
    """The noise of a machine, None without a table; and the parts of a CPU's work that the noise reaches."""
    if table is None:
        return None, REACHES
    if isinstance(table, NoNoise):
        return None, table.reaches
    if isinstance(table, Mixture):
        return _mixture(table, origin), table.reaches
    return _source(table, table.phase, "noise", origin), table.reaches


def _mixture(table: Mixture, origin: Origin) -> AnyNoise:
    sources = [_source(row, table.phase, f"noise.source[{i}]", origin) for i, row in enumerate(table.source)]
    traces = [source for source in sources if isinstance(source, Noise)]
    random = tuple(source for source in sources if isinstance(source, PoissonNoise))
    if len(traces) > 1:
        raise origin.refusal("noise.source", "at most one trace or periodic source", f"{len(traces)} of them")
    if not random:
        return traces[0]
    quiet = Noise(buffer_of_times([]), buffer_of_times([]), PICOSECONDS["s"], table.phase)
    return MixedNoise(traces[0] if traces else quiet, random)


def _source(source: Source, phase: str | tuple[int, ...], key: str, origin: Origin) -> Noise | PoissonNoise:
    if isinstance(source, PeriodicSource):
        return Noise(buffer_of_times([0]), buffer_of_times([source.length]), source.period, phase)
    if isinstance(source, TraceSource):
        from ..detour_file import read_detours

        starts, lengths = read_detours(origin.file(source.file, f"{key}.file"))
        return Noise(starts, lengths, source.period, phase)
    return PoissonNoise(source.picoseconds, _length(source.length, f"{key}.length", origin), str(phase))


def _length(law: str | Law, key: str, origin: Origin) -> DetourLength:
    """The law of the lengths of random detours; a text is the one length of all of them."""
    if isinstance(law, str):
        return FixedLength(checked(law, Time, origin.name, form="TOML", key=key))
    if isinstance(law, Exponential):
        return ExponentialLength(float(law.mean), float(law.min))
    if isinstance(law, Uniform):
        return UniformLength(law.min, law.max)
    if isinstance(law, Lognormal):
        return LognormalLength(float(law.median), law.sigma)
    if isinstance(law, Pareto):
        return ParetoLength(float(law.min), law.alpha)
    if law.file is None:
        return EmpiricalLength(buffer_of_times(law.lengths or ()))
    from ..detour_file import read_detours

    lengths = read_detours(origin.file(law.file, f"{key}.file"))[1]
    if len(lengths) == 0:
        raise origin.refusal(f"{key}.file", "a file with at least one detour", law.file)
    return EmpiricalLength(lengths)
