"""A network's measurement as a Machine, as JSON, and as a folder of files.

machine.toml             the network for the simulator; no noise
network.json             the summary of the probe, the fit with intervals and residuals, the environment
network-samples.parquet  every sample of PRTT
network-patterns.parquet every sample of the patterns, if they were measured
network-collectives.parquet every sample of the collectives, likewise
"""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pandas as pd
from msgspec import structs

from ....algorithm_rules import AlgorithmRule
from ....cold_caches import ColdCaches
from ....escaping import name_of
from ....formatting import plain_time
from ....host_environment import metadata_of_samples, provenance_of
from ....input.tables import read_table
from ....input.validation import checked, load_json
from ....machine import BETWEEN, WITHIN, Level, Machine, Place, Segment
from ....machine import Parameters as MachineParameters
from ....machine_file.writer import machine_toml
from ....output import OutputFiles
from ....provenance import Provenance, provenance_entry
from ....provenance_in_files import comment
from ....units import parse_cost
from ...table_rows import records
from ..fitting.cold_cache_fit import ColdCacheFit
from ..fitting.collective_rules import CollectiveFit
from ..fitting.fitted_ranges import Range
from ..fitting.loggp import LogGP
from ..fitting.pattern_assessment import PatternFit
from ..fitting.pattern_fit import PatternRange
from ..fitting.piece_fit import NAMES
from ..fitting.prediction import FittedParameters
from ..transports import DEFAULT
from .file_schemas import (
    AlgorithmRuleSchema,
    ColdCachesSchema,
    CollectiveErrorRow,
    CollectiveFitSchema,
    FitSchema,
    MedianRow,
    NetworkFile,
    NetworkSchema,
    PatternErrorRow,
    PatternFitSchema,
    PredictionRow,
    RangeSchema,
    SpeedRow,
)
from .machine_remarks import remarks_of
from .network_recording import SAMPLES, NetworkMeasurement, known_transport

FORMAT = 1
PATTERN_PARAMETERS = NAMES
PATTERN_SAMPLES = "network-patterns.parquet"
COLLECTIVE_SAMPLES = "network-collectives.parquet"
PARAMETERS = ("L", "o_s", "o_r", "g", "G", "O")


def machine_of(
    name: str, network: NetworkMeasurement, node: NetworkMeasurement | None = None, node_ranks: int = 1
) -> Machine:
    """The measured machine without its noise. `node`, if given, was measured within a node of `node_ranks` ranks."""
    measured, ranks = _place(network, node)
    collectives = network.collectives
    return Machine(
        name,
        measured_level(network),
        node=None if node is None else measured_level(node),
        node_ranks=ranks if node is None else node_ranks,
        measured=measured,
        algorithm_rules=() if collectives is None else collectives.rules,
        shared_buffer=None if collectives is None else collectives.shared_buffer,
        cold_caches=None if (cold := _cold_of(network, node)) is None else cold.costs,
    )


def measured_level(network: NetworkMeasurement) -> Level:
    """The measured parameters: those fitted to patterns of messages; of PRTT, if no patterns were measured."""
    return level_of(network.fit) if network.patterns is None else rounded_level(network.patterns)


def rounded_level(fit: PatternFit) -> Level:
    """The parameters fitted to patterns, for the simulator: whole ps, and six digits of a cost per byte."""

    def rounded(p: MachineParameters) -> MachineParameters:
        G, O_s, O_r = (parse_cost(f"{value / 1000:.6g}ns") for value in (p.G, p.O_s, p.O_r))
        return replace(p, G=G, O_s=O_s, O_r=O_r)

    level = fit.level
    later = tuple(Segment(s.start, rounded(s.parameters)) for s in level.segments)
    return Level(rounded(level.parameters), later, level.eager_limit)


def level_of(fit: LogGP) -> Level:
    """The fitted parameters for the simulator: whole ps, and six digits of a cost per byte."""
    parameters = [_rounded(r) for r in fit.ranges]
    later = zip(fit.ranges[1:], parameters[1:], strict=True)
    return Level(parameters[0], tuple(Segment(r.first, p) for r, p in later), fit.S)


def comments_of(network: NetworkMeasurement, node: NetworkMeasurement | None = None) -> dict[str, str]:
    """The comments in the machine.toml of `machine_of`: place and time of the measurement, intervals of the
    parameters."""
    comments = _comments_of_level("network", network)
    comments["network.shared_buffer"] = "Of collectives within a node; their rules say what their calls cost beside it."
    if (cold := _cold_of(network, node)) is not None:
        comments |= _comments_of_cold_caches(cold)
    return comments if node is None else comments | _comments_of_level("network.node", node)


def _cold_of(network: NetworkMeasurement, node: NetworkMeasurement | None) -> ColdCacheFit | None:
    """The costs of cold caches of both: those within the node, if they were measured."""
    found = [own.patterns.cold for own in (node, network) if own is not None and own.patterns is not None]
    return next((cold for cold in found if cold is not None), None)


def _comments_of_cold_caches(fit: ColdCacheFit) -> dict[str, str]:
    about = "The extra time of messages after a computation; schedules of traces have it."
    seen = {name: f"95 %: {plain_time(low, 3)} to {plain_time(high, 3)}" for name, (low, high) in fit.intervals.items()}
    return {"cold_caches": about} | {f"cold_caches.{name}": text for name, text in seen.items()}


def where(network: NetworkMeasurement) -> str:
    """A sentence on the place, time and transport of the measurement."""
    probe = network.probe
    host, processor, time = (network.environment.get(name) for name in ("host", "processor", "time"))
    pair = {True: "within one node, ", False: "between two nodes, ", None: ""}[network.one_node]
    library = str(probe.get("library") or "").split(",")[0]
    over = f"with {library}" if library else f"over {network.carrier}"
    if library and network.transport != DEFAULT:
        over += f", {network.carrier}"
    on = f"{host or 'a host not recorded'} ({processor or 'processor not recorded'})"
    return f"Measured on {on} at {time or 'a time not recorded'}, {pair}{over}."


def parameter_remark(r: Range, name: str) -> str:
    """The remark beside a parameter's value: its 95 % interval, or why there is none."""
    low, high = (plain_time(value, 3) for value in r.intervals[name])
    seen = f"95 %: {low} to {high}"
    if name in r.kept:
        return f"as below; these sizes tell {seen}"
    if f"{name}≈0" in r.hidden:
        return f"held at 0, though less fits better; {seen}" if r.held else f"not distinguishable from 0; {seen}"
    if name not in r.hidden:
        return seen
    if name == "o_r":
        return "no curve shows it: as for small messages" if r.rendezvous else "the other rank takes no part"
    return "an upper bound: no curve shows it"


def network_as_json(network: NetworkMeasurement) -> dict[str, Any]:
    """The measurement without the samples; times in ps."""
    fit, patterns = network.fit, network.patterns
    beside = {} if patterns is None else {"patterns": _patterns_as_json(patterns)}
    if network.collectives is not None:
        beside["collectives"] = _collectives_as_json(network.collectives)
    return beside | {
        "fit": {
            "S": fit.S,
            "seen_limit": fit.seen_limit,
            "failures": fit.failures,
            "S_bounds": fit.S_bounds,
            "ranges": [asdict(r) for r in fit.ranges],
            "repetitions": fit.repetitions,
            "steady": fit.steady,
            "notes": fit.notes,
            "medians": records(fit.medians),
            "predictions": records(fit.predictions),
        },
        "probe": network.probe,
        "attempts": network.attempts,
        "environment": network.environment,
    }


def _patterns_as_json(fit: PatternFit) -> dict[str, Any]:
    return {
        "S": fit.S,
        "ranges": [asdict(r) for r in fit.ranges],
        "errors": records(fit.table),
        "speeds": records(fit.speeds),
        "speed": fit.speed,
        "epochs": fit.epochs,
        "notes": fit.notes,
        "cold_caches": None if fit.cold is None else asdict(fit.cold.costs) | {"intervals": fit.cold.intervals},
    }


def _collectives_as_json(fit: CollectiveFit) -> dict[str, Any]:
    return {
        "rules": [{name: getattr(rule, name) for name in AlgorithmRuleSchema.__struct_fields__} for rule in fit.rules],
        "errors": records(fit.table),
        "ranks": fit.ranks,
        "notes": fit.notes,
        "shared_buffer": None if fit.shared_buffer is None else asdict(fit.shared_buffer.parameters),
    }


def _collectives_from(said: CollectiveFitSchema, raw: dict[str, Any]) -> CollectiveFit:
    rules = tuple(AlgorithmRule(**structs.asdict(rule)) for rule in said.rules)
    table = pd.DataFrame(raw["errors"], columns=list(CollectiveErrorRow.__struct_fields__))
    buffer = said.shared_buffer
    shared = None if buffer is None else Level(MachineParameters(**structs.asdict(buffer)))
    return CollectiveFit(rules, table, said.ranks, said.notes, shared)


def _patterns_from(said: PatternFitSchema, raw: dict[str, Any]) -> PatternFit:
    ranges = [
        PatternRange(r.first, MachineParameters(**structs.asdict(r.parameters)), dict(r.intervals)) for r in said.ranges
    ]
    table = pd.DataFrame(raw["errors"], columns=list(PatternErrorRow.__struct_fields__))
    speeds = pd.DataFrame(raw["speeds"], columns=list(SpeedRow.__struct_fields__))
    cold = None if said.cold_caches is None else _cold_from(said.cold_caches)
    return PatternFit(tuple(ranges), said.S, table, speeds, said.speed, said.epochs, said.notes, cold)


def _cold_from(said: ColdCachesSchema) -> ColdCacheFit:
    costs = ColdCaches(said.calls, said.buffer_after, said.buffers)
    return ColdCacheFit(costs, dict(said.intervals))


def network_from_json(said: NetworkSchema, raw: dict[str, Any], samples: pd.DataFrame) -> NetworkMeasurement:
    """The measurement from the JSON of `network_as_json`: `said` is checked; `raw` also has the unused keys of probe
    and environment."""
    return NetworkMeasurement(
        samples,
        _fit_from(said.fit, raw["fit"]),
        known_transport(raw["probe"]),
        raw["environment"],
        said.attempts,
        None if said.patterns is None else _patterns_from(said.patterns, raw["patterns"]),
        collectives=None if said.collectives is None else _collectives_from(said.collectives, raw["collectives"]),
    )


def save_network(
    folder: str | Path,
    network: NetworkMeasurement,
    name: str,
    node: NetworkMeasurement | None = None,
    node_ranks: int = 1,
) -> Path:
    """Write the files into `folder`, which is made if need be; return the path of machine.toml."""
    place = Path(folder)
    target = place / "machine.toml"
    table = place / "network-samples.parquet"
    machine = machine_of(name, network, node, node_ranks)
    recording = provenance_of("network", network.environment)
    with OutputFiles() as files:
        files.table(table, network.samples, metadata_of_samples("network", network.environment))
        digests = {table.name: files.digest(table)}
        digests |= write_samples_beside(files, place, network)
        sources = [replace(recording, digests=digests)]
        if node is not None:
            sources.append(provenance_of("network", node.environment))
        by = "idlewave.measure.measure_network"
        made = machine.provenance.digests
        provenance = Provenance.made("measurement", name, by=by, digests=made, sources=tuple(sources))
        said = {"format": FORMAT, "name": name, "network": network_as_json(network)} | provenance_entry(provenance)
        files.json(place / "network.json", said)
        text = machine_toml(machine, comments=comments_of(network, node)) + remarks_of(network, node)
        files.text(target, comment(provenance) + text)
    return target


def write_samples_beside(files: OutputFiles, place: Path, network: NetworkMeasurement) -> dict[str, str]:
    """Write the samples that were measured beside PRTT, if any. Returns the digest of each file."""
    environment = network.pattern_environment or {}
    tables = {
        PATTERN_SAMPLES: ("patterns", network.pattern_samples),
        COLLECTIVE_SAMPLES: ("collectives", network.collective_samples),
    }
    digests = {}
    for name, (kind, samples) in tables.items():
        if samples is not None:
            files.table(place / name, samples, metadata_of_samples(kind, environment))
            digests[name] = files.digest(place / name)
    return digests


def load_network(folder: str | Path) -> NetworkMeasurement:
    """Read the files of `save_network`. Raises InputError naming the file that is missing or broken."""
    place = Path(folder)
    file = place / "network.json"
    raw: dict[str, Any] = load_json(file, "the measurement of a network")
    said = checked(raw, NetworkFile, name_of(file))
    samples = read_table(place / "network-samples.parquet", SAMPLES, "samples of the network probe")
    return network_from_json(said.network, raw["network"], samples)


def _place(network: NetworkMeasurement, node: NetworkMeasurement | None) -> tuple[Place | None, int]:
    """The place where the network was measured, and the ranks of a node; None and 1 if that is not known."""
    cores = network.environment.get("cores")
    if network.one_node is False:
        return BETWEEN, 1
    if network.one_node and node is None and isinstance(cores, int) and cores > 0:
        return WITHIN, cores
    return None, 1


def _rounded(r: Range) -> MachineParameters:
    p = r.parameters
    G, O = (parse_cost(f"{value / 1000:.6g}ns") for value in (p.G, p.O))  # noqa: E741 - the model's name
    return MachineParameters(round(p.L), round(p.o_s), round(p.o_r), round(p.g), G, O, O)


def _comments_of_level(table: str, network: NetworkMeasurement) -> dict[str, str]:
    comments = {table: where(network)}
    if network.patterns is not None:
        return comments | _comments_of_patterns(table, network.patterns)
    for number, r in enumerate(network.fit.ranges):
        key = table if number == 0 else f"{table}.segment[{number - 1}]"
        if number > 0:
            comments[key] = "rendezvous" if r.rendezvous else "eager"
        if r.onset[0] != r.onset[1]:
            comments[f"{key}.from"] = f"95 %: {r.onset[0]} to {r.onset[1]}"
        comments |= {f"{key}.{name}": parameter_remark(r, name) for name in PARAMETERS}
    return comments


def _comments_of_patterns(table: str, fit: PatternFit) -> dict[str, str]:
    comments: dict[str, str] = {}
    for number, r in enumerate(fit.ranges):
        key = table if number == 0 else f"{table}.segment[{number - 1}]"
        if number > 0:
            comments[key] = "rendezvous" if fit.S is not None and r.first > fit.S else "eager"
        for name in PATTERN_PARAMETERS:
            comments[f"{key}.{name}"] = pattern_remark(r, name)
        if r.parameters.O_s == r.parameters.O_r:
            comments[f"{key}.O"] = comments[f"{key}.O_r"]
    return comments


def pattern_remark(r: PatternRange, name: str) -> str:
    """The remark beside a parameter that was fitted to patterns: its 95 % interval, if there were enough epochs."""
    if name not in r.intervals:
        return "too few epochs for an interval"
    low, high = (plain_time(value, 3) for value in r.intervals[name])
    if not getattr(r.parameters, name):
        return (
            f"not distinguishable from 0; 95 %: up to {high}" if r.intervals[name][1] else "not distinguishable from 0"
        )
    return f"95 %: {low} to {high}"


def _fit_from(said: FitSchema, raw: dict[str, Any]) -> LogGP:
    return LogGP(
        tuple(_range_from(r) for r in said.ranges),
        said.S,
        pd.DataFrame(raw["medians"], columns=list(MedianRow.__struct_fields__)),
        pd.DataFrame(raw["predictions"], columns=list(PredictionRow.__struct_fields__)),
        said.repetitions,
        said.steady,
        said.notes,
        said.S_bounds,
        said.seen_limit,
        said.failures,
    )


def _range_from(said: RangeSchema) -> Range:
    fields = structs.asdict(said)
    fields["parameters"] = FittedParameters(**structs.asdict(said.parameters))
    fields["intervals"] = structs.asdict(said.intervals)
    return Range(**fields)
