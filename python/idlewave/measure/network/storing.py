"""A network's measurement as text and files: tables of machine.toml, JSON, and a folder to go on from.

machine.toml             the network as the simulator reads it; no noise
network.json             what the probe and the fit say, with intervals and residuals; the environment
network-samples.parquet  every sample
"""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pandas as pd

from ...carried import comment, said_of
from ...environment import metadata_of_samples, provenance_of
from ...errors import InputError
from ...machine import Machine
from ...output import OutputFiles
from ...provenance import Provenance
from ...tables import quoted
from ...units import exact_time, format_time
from ..records import records
from .json_part import JsonPart, read_object
from .loggp import LogGP
from .ranges import Range
from .recording import NetworkMeasurement, checked_probe, checked_samples
from .rules import Parameters

FORMAT = 1
PARAMETERS = ("L", "o_s", "o_r", "g", "G", "O")


def network_toml(network: NetworkMeasurement, node: NetworkMeasurement | None = None, node_ranks: int = 1) -> list[str]:
    """The tables [network], its segments, and [network.node] if `node` was measured within a node of `node_ranks`
    ranks. Times are exact, per-byte costs have six digits."""
    lines = [f"# {where(network)}", *_level(network.fit, "network")]
    if node is not None:
        lines += ["", f"# {where(node)}", *_level(node.fit, "network.node", f"ranks = {node_ranks}")]
    return lines


def where(network: NetworkMeasurement) -> str:
    """A sentence on where, when and over what it was measured."""
    probe = network.probe
    host, processor, time = (network.environment.get(name) for name in ("host", "processor", "time"))
    pair = "within one node" if probe.get("same_node", True) else "between two nodes"
    library = str(probe.get("library") or "").split(",")[0]
    over = f"with {library}" if library else f"over {network.carrier}"
    if library and network.transport != "mpi":
        over += f", {network.carrier}"
    on = f"{host or 'a host not recorded'} ({processor or 'processor not recorded'})"
    return f"Measured on {on} at {time or 'a time not recorded'}, {pair}, {over}."


def parameter_remark(r: Range, name: str) -> str:
    """What is known of a parameter beside its value: its 95 % interval, or why there is none."""
    low, high = (format_time(value, 3) for value in r.intervals[name])
    seen = f"95 %: {low} to {high}"
    if name in r.kept:
        return f"as below; these sizes tell {seen}"
    if f"{name}≈0" in r.hidden:
        return f"held at 0, though less fits better; {seen}" if r.held else f"not told from 0; {seen}"
    if name not in r.hidden:
        return seen
    if name == "o_r":
        return "no curve shows it: as for small messages" if r.rendezvous else "the other rank takes no part"
    return "an upper bound: no curve shows it"


def network_as_json(network: NetworkMeasurement) -> dict[str, Any]:
    """Everything but the samples; times in ps."""
    fit = network.fit
    return {
        "fit": {
            "S": fit.S,
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


def network_from_json(said: JsonPart, samples: pd.DataFrame) -> NetworkMeasurement:
    """What `network_as_json` made. Raises InputError where something is missing or of another form."""
    return NetworkMeasurement(
        samples,
        _fit_from(said.at("fit")),
        checked_probe(said.at("probe")),
        said.at("environment").object(),
        said.at("attempts").whole(),
    )


def save_network(
    folder: str | Path,
    network: NetworkMeasurement,
    name: str,
    node: NetworkMeasurement | None = None,
    node_ranks: int = 1,
) -> Path:
    """Write the three files into `folder`, which is made if need be; return the path of machine.toml."""
    place = Path(folder)
    target = place / "machine.toml"
    table = place / "network-samples.parquet"
    text = "\n".join([f"name = {quoted(name)}", "", *network_toml(network, node, node_ranks)]) + "\n"
    recording = provenance_of("network", network.environment)
    with OutputFiles() as files:
        files.table(table, network.samples, metadata_of_samples("network", network.environment))
        sources = [replace(recording, digests={table.name: files.digest(table)})]
        if node is not None:
            sources.append(provenance_of("network", node.environment))
        digests = Machine.from_toml(text, name=name).provenance.digests
        by = "idlewave.measure.measure_network"
        provenance = Provenance.made("measurement", name, by=by, digests=digests, sources=tuple(sources))
        said = {"format": FORMAT, "name": name, "network": network_as_json(network)} | said_of(provenance)
        files.json(place / "network.json", said)
        files.text(target, comment(provenance) + text)
    return target


def load_network(folder: str | Path) -> NetworkMeasurement:
    """Read back what `save_network` wrote. Raises InputError naming the file that is missing or broken."""
    place = Path(folder)
    file, table = place / "network.json", place / "network-samples.parquet"
    said = read_object(file)
    if said is None:
        raise InputError(f"{file} cannot be read: there is no such file")
    if said.maybe("format").value != FORMAT:
        raise InputError(f"{file}: expected format {FORMAT}, found {said.maybe('format').value!r}")
    try:
        samples = pd.read_parquet(table)
    except (OSError, ValueError) as error:
        raise InputError(f"{table}, the samples, cannot be read: {error}") from error
    return network_from_json(said.at("network"), checked_samples(samples, table))


def _level(fit: LogGP, table: str, *first: str) -> list[str]:
    lines = [f"[{table}]", *first, *_parameter_lines(fit.ranges[0])]
    lines.append('S = "inf"' if fit.S is None else f"S = {fit.S}")
    for r in fit.ranges[1:]:
        kind = "rendezvous" if r.rendezvous else "eager"
        exact = r.onset[0] == r.onset[1]
        begins = "" if exact else f"  # 95 %: {r.onset[0]} to {r.onset[1]}"
        lines += ["", f"[[{table}.segment]]  # {kind}", f"from = {r.first}{begins}", *_parameter_lines(r)]
    return lines


def _parameter_lines(r: Range) -> list[str]:
    lines = []
    for name in PARAMETERS:
        value = getattr(r.parameters, name)
        text = f"{value / 1000:.6g}ns" if name in ("G", "O") else exact_time(round(value))
        lines.append(f'{name} = "{text}"'.ljust(20) + f"# {parameter_remark(r, name)}")
    return lines


def _fit_from(said: JsonPart) -> LogGP:
    ranges = [_range_from(part) for part in said.at("ranges").parts()]
    if not ranges:
        raise said.at("ranges").refused("at least one range")
    return LogGP(
        tuple(ranges),
        said.at("S").optional(JsonPart.whole),
        _table_from(said.at("medians")),
        _table_from(said.at("predictions")),
        said.at("repetitions").whole(),
        said.at("steady").whole(),
        said.at("notes").texts(),
        said.maybe("S_bounds").optional(_sizes),
    )


def _range_from(said: JsonPart) -> Range:
    parameters, intervals = said.at("parameters"), said.at("intervals")
    known = set(Range.__dataclass_fields__)
    if unknown := set(said.object()) - known:
        raise said.refused(f"only the keys {', '.join(sorted(known))}, not {', '.join(sorted(unknown))}")
    optional: dict[str, Any] = {
        "onset": said.maybe("onset").optional(_sizes),
        "cause": said.maybe("cause").optional(JsonPart.text),
        "kept": said.maybe("kept").optional(JsonPart.texts),
        "held": said.maybe("held").optional(JsonPart.number),
    }
    return Range(
        said.at("first").whole(),
        said.at("rendezvous").truth(),
        Parameters(**{name: parameters.at(name).number() for name in PARAMETERS}),
        {name: intervals.at(name).pair() for name in PARAMETERS},
        said.at("hidden").texts(),
        said.at("tail").number(),
        said.at("stall").number(),
        {name: said.at("scatter").at(name).number() for name in said.at("scatter").object()},
        **{name: value for name, value in optional.items() if value is not None},
    )


def _sizes(said: JsonPart) -> tuple[int, int]:
    said.pair()
    low, high = (part.whole() for part in said.parts())
    return low, high


def _table_from(said: JsonPart) -> pd.DataFrame:
    return pd.DataFrame([part.object() for part in said.parts()])
