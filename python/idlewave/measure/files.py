"""A measurement as files: machine.toml for the simulator, and beside it everything it was made from.

machine.toml            parameters and noise, as the simulator reads them
noise.csv               the trace that machine.toml replays: start_ns,length_ns
noise-samples.parquet   every detour: core, start_ps, length_ps
network-samples.parquet every sample of the LogGP probe; node-network-samples.parquet those within a node, if both
measurement.json        environment, summaries, the fit with its intervals and residuals
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ..input.checking import checked, load_json
from ..input.tables import WHOLE, read_table
from ..output import OutputFiles
from ..quoting import name_of, toml_text
from ..units import exact_time
from .network import NetworkMeasurement
from .network.recording import SAMPLES
from .network.said import MeasurementFile
from .network.storing import network_as_json, network_from_json, network_toml
from .noise import NoiseMeasurement
from .noise.replay import noise_csv
from .records import records

FORMAT = 1
DETOURS = {"core": WHOLE, "start_ps": WHOLE, "length_ps": WHOLE}
"""The columns of noise-samples.parquet."""


@dataclass(frozen=True)
class Measurement:
    """A machine as measured: its noise and its network; and, if that was measured too, the network within a node of
    so many ranks."""

    name: str
    noise: NoiseMeasurement
    network: NetworkMeasurement
    node: NetworkMeasurement | None = None
    node_ranks: int = 1

    @classmethod
    def load(cls, folder: str | Path) -> Measurement:
        """Read back what write_machine wrote. Raises InputError naming the file that is missing or broken."""
        place = Path(folder)
        file = place / "measurement.json"
        raw: dict[str, Any] = load_json(file, "the measurement of a machine")
        said = checked(raw, MeasurementFile, name_of(file))
        noise = NoiseMeasurement(
            read_table(place / "noise-samples.parquet", DETOURS, "detours"),
            pd.DataFrame(raw["noise"]["cores"]),
            pd.DataFrame(raw["noise"]["interrupts"], columns=["core", "name", "meaning", "count"]),
            raw["noise"]["environment"],
        )
        network = network_from_json(said.network, raw["network"], _samples(place / "network-samples.parquet"))
        node = None
        if said.node_network is not None:
            samples = _samples(place / "node-network-samples.parquet")
            node = network_from_json(said.node_network, raw["node_network"], samples)
        return cls(said.name, noise, network, node, said.node_ranks)


def write_machine(
    folder: str | Path,
    noise: NoiseMeasurement,
    network: NetworkMeasurement,
    name: str,
    node: NetworkMeasurement | None = None,
    node_ranks: int = 1,
) -> Path:
    """Write the files into `folder`, which is made if need be; return the path of machine.toml.

    `network` is that of all ranks, or, where `node` is the one within a node of `node_ranks` ranks, that between
    nodes.
    """
    place = Path(folder)
    trace, period = noise.trace()
    target = place / "machine.toml"
    with OutputFiles() as files:
        files.table(place / "noise-samples.parquet", noise.detours)
        files.table(place / "network-samples.parquet", network.samples)
        if node is not None:
            files.table(place / "node-network-samples.parquet", node.samples)
        files.text(place / "noise.csv", noise_csv(trace))
        files.json(place / "measurement.json", _as_json(name, noise, network, node, node_ranks))
        files.text(target, machine_toml(name, network, period, node, node_ranks))
    return target


def machine_toml(
    name: str,
    network: NetworkMeasurement,
    noise_period: int,
    node: NetworkMeasurement | None = None,
    node_ranks: int = 1,
) -> str:
    """The text of machine.toml; `noise_period` in ps. Times are exact, per-byte costs have six digits."""
    lines = [
        "# measurement.json has intervals, residuals and the environment.",
        f"name = {toml_text(name)}",
        "",
        *network_toml(network, node, node_ranks),
        "",
        "[noise]  # the cores' recordings, end to end",
        'kind = "trace"',
        'file = "noise.csv"',
        f'period = "{exact_time(noise_period)}"',
        'phase = "random"',
    ]
    return "\n".join(lines) + "\n"


def _as_json(
    name: str,
    noise: NoiseMeasurement,
    network: NetworkMeasurement,
    node: NetworkMeasurement | None,
    node_ranks: int,
) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "name": name,
        "noise": {
            "overhead": noise.overhead,
            "cores": records(noise.cores),
            "interrupts": records(noise.interrupts),
            "notes": noise.notes,
            "environment": noise.environment,
        },
        "network": network_as_json(network),
    } | ({} if node is None else {"node_network": network_as_json(node), "node_ranks": node_ranks})


def _samples(file: Path) -> pd.DataFrame:
    return read_table(file, SAMPLES, "samples of the network probe")
