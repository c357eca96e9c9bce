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
from msgspec import structs

from ....carried import comment, said_of
from ....environment import metadata_of_samples, provenance_of
from ....input.checking import checked, load_json
from ....input.tables import read_table
from ....machine import BETWEEN, WITHIN, Machine, measured_lines
from ....output import OutputFiles
from ....provenance import Provenance
from ....quoting import name_of, toml_text
from ....units import exact_time
from ....wording import plain_time
from ...table_rows import records
from ..fitting.fitted_ranges import Range
from ..fitting.loggp import LogGP
from ..fitting.prediction import FittedParameters
from ..transports import DEFAULT
from .file_schemas import FitSchema, MedianRow, NetworkFile, NetworkSchema, PredictionRow, RangeSchema
from .network_recording import SAMPLES, NetworkMeasurement, known_transport

FORMAT = 1
PARAMETERS = ("L", "o_s", "o_r", "g", "G", "O")


def network_toml(network: NetworkMeasurement, node: NetworkMeasurement | None = None, node_ranks: int = 1) -> list[str]:
    """The tables [network], its segments, and [network.node] if `node` was measured within a node of `node_ranks`
    ranks. Times are exact, per-byte costs have six digits."""
    lines = [f"# {where(network)}", *_level(network.fit, "network", *_place(network, node))]
    if node is not None:
        lines += ["", f"# {where(node)}", *_level(node.fit, "network.node", f"ranks = {node_ranks}")]
    return lines


def where(network: NetworkMeasurement) -> str:
    """A sentence on where, when and over what it was measured."""
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
    """What is known of a parameter beside its value: its 95 % interval, or why there is none."""
    low, high = (plain_time(value, 3) for value in r.intervals[name])
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


def network_from_json(said: NetworkSchema, raw: dict[str, Any], samples: pd.DataFrame) -> NetworkMeasurement:
    """What `network_as_json` made: checked, and `raw`, with what probe and environment say beyond what is used."""
    return NetworkMeasurement(
        samples, _fit_from(said.fit, raw["fit"]), known_transport(raw["probe"]), raw["environment"], said.attempts
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
    text = "\n".join([f"name = {toml_text(name)}", "", *network_toml(network, node, node_ranks)]) + "\n"
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
    file = place / "network.json"
    raw: dict[str, Any] = load_json(file, "the measurement of a network")
    said = checked(raw, NetworkFile, name_of(file))
    samples = read_table(place / "network-samples.parquet", SAMPLES, "samples of the network probe")
    return network_from_json(said.network, raw["network"], samples)


def _place(network: NetworkMeasurement, node: NetworkMeasurement | None) -> list[str]:
    """Where it was measured, as [network] says it; nothing where that, or how many ranks a node has, is not known."""
    cores = network.environment.get("cores")
    if network.one_node is False:
        return measured_lines(BETWEEN, 1)
    if network.one_node and node is None and isinstance(cores, int) and cores > 0:
        return measured_lines(WITHIN, cores)
    return []


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
    )


def _range_from(said: RangeSchema) -> Range:
    fields = structs.asdict(said)
    fields["parameters"] = FittedParameters(**structs.asdict(said.parameters))
    fields["intervals"] = structs.asdict(said.intervals)
    return Range(**fields)
