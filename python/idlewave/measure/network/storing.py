"""A network's measurement as text and files: tables of machine.toml, JSON, and a folder to go on from.

machine.toml             the network as the simulator reads it; no noise
network.json             what the probe and the fit say, with intervals and residuals; the environment
network-samples.parquet  every sample
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from ...errors import InputError
from ...units import exact_time, format_time
from ..records import records
from .loggp import LogGP
from .probing import NetworkMeasurement
from .ranges import Range
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
    place, probe = network.environment, network.probe
    pair = "within one node" if probe.get("same_node", True) else "between two nodes"
    library = str(probe.get("library") or "").split(",")[0]
    over = f"with {library}" if library else f"over {network.transport}"
    if library and network.transport != "mpi":
        over += f", {network.transport}"
    return f"Measured on {place['host']} ({place['processor']}) at {place['time']}, {pair}, {over}."


def parameter_remark(r: Range, name: str) -> str:
    """What is known of a parameter beside its value: its 95 % interval, or why there is none."""
    low, high = (format_time(value, 3) for value in r.intervals[name])
    seen = f"95 %: {low} to {high}"
    if name in r.kept:
        return f"as below; these sizes tell {seen}"
    if f"{name}≈0" in r.hidden:
        return f"not told from 0; {seen}"
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


def network_from_json(said: dict[str, Any], samples: pd.DataFrame) -> NetworkMeasurement:
    """What `network_as_json` made. Raises KeyError or TypeError where something is missing or of another form."""
    return NetworkMeasurement(samples, _fit_from(said["fit"]), said["probe"], said["environment"], said["attempts"])


def save_network(
    folder: str | Path,
    network: NetworkMeasurement,
    name: str,
    node: NetworkMeasurement | None = None,
    node_ranks: int = 1,
) -> Path:
    """Write the three files into `folder`, which is made if need be; return the path of machine.toml."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    network.samples.to_parquet(place / "network-samples.parquet", index=False)
    said = {"format": FORMAT, "name": name, "network": network_as_json(network)}
    (place / "network.json").write_text(json.dumps(said, indent=1, allow_nan=False))
    target = place / "machine.toml"
    lines = [f"name = {json.dumps(name)}", "", *network_toml(network, node, node_ranks)]
    target.write_text("\n".join(lines) + "\n")
    return target


def load_network(folder: str | Path) -> NetworkMeasurement:
    """Read back what `save_network` wrote. Raises InputError naming the file that is missing or broken."""
    place = Path(folder)
    file = place / "network.json"
    try:
        said = json.loads(file.read_text())
        samples = pd.read_parquet(place / "network-samples.parquet")
    except OSError as error:
        raise InputError(f"{error.filename or file} cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise InputError(f"{file} or the samples beside it: {error}") from error
    if not isinstance(said, dict) or said.get("format") != FORMAT:
        raise InputError(f"{file}: expected format {FORMAT}, found {said.get('format') if said else said!r}")
    try:
        return network_from_json(said["network"], samples)
    except (KeyError, TypeError) as error:
        raise InputError(f"{file}: {error} is missing or of another form") from error


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


def _fit_from(said: dict[str, Any]) -> LogGP:
    ranges = []
    for entry in said["ranges"]:
        values: dict[str, Any] = dict(entry)
        values["parameters"] = Parameters(**values["parameters"])
        values["intervals"] = {name: (low, high) for name, (low, high) in values["intervals"].items()}
        for name in ("hidden", "kept", "onset"):
            if name in values:
                values[name] = tuple(values[name])
        ranges.append(Range(**values))
    return LogGP(
        tuple(ranges),
        said["S"],
        pd.DataFrame(said["medians"]),
        pd.DataFrame(said["predictions"]),
        said["repetitions"],
        said["steady"],
        tuple(said["notes"]),
        tuple(said["S_bounds"]) if said.get("S_bounds") else None,
    )
