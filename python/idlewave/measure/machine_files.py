"""A measurement as files: machine.toml for the simulator, and beside it the data from which it was made.

machine.toml            parameters and noise, as the simulator reads them
noise.csv               the trace that machine.toml replays: start_ns,length_ns
noise-samples.parquet   every detour: core, start_ps, length_ps
network-patterns.parquet every sample of the patterns of messages, and network-collectives.parquet of the collectives,
                        if they were measured
network-samples.parquet every sample of the LogGP probe; node-network-samples.parquet those within a node, if both
measurement.json        environment, summaries, the fit with its intervals and residuals
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..detour_file import detours_csv
from ..digests import digest_of_file
from ..escaping import name_of
from ..host_environment import metadata_of_samples, provenance_of
from ..input.tables import WHOLE, read_table
from ..input.validation import checked, load_json
from ..machine import Machine
from ..machine_file.writer import machine_toml
from ..noise_models import Noise, NoiseOrigin, as_times
from ..output import OutputFiles
from ..provenance import ONE_SIDED, PROVENANCE, Provenance, parts_that_differ, provenance_entry
from ..provenance_in_files import comment
from .network import NetworkMeasurement
from .network.files.file_schemas import MeasurementFile
from .network.files.machine_remarks import remarks_of
from .network.files.network_files import (
    comments_of,
    machine_of,
    network_as_json,
    network_from_json,
    write_samples_beside,
)
from .network.files.network_recording import SAMPLES
from .noise import NoiseMeasurement
from .table_rows import records

if TYPE_CHECKING:
    from ..noise_models import Times

FORMAT = 1
FILES = ("noise-samples.parquet", "network-samples.parquet", "node-network-samples.parquet")
"""The tables of samples that are read again."""
_HEAD = "# measurement.json has intervals, residuals and the environment.\n"
DETOURS = {"core": WHOLE, "start_ps": WHOLE, "length_ps": WHOLE}
"""The columns of the first of them."""


@dataclass(frozen=True)
class Measurement:
    """A measured machine: its noise and its network; and, if it was measured, too, the network within a node of
    `node_ranks` ranks. `provenance` is that of measurement.json, `folder` the folder from which it was read."""

    name: str
    noise: NoiseMeasurement
    network: NetworkMeasurement
    node: NetworkMeasurement | None = None
    node_ranks: int = 1
    provenance: Provenance | None = None
    folder: Path | None = None

    def machine(self) -> Machine:
        """The measured machine, as machine.toml has it if that was not changed."""
        detours, period = self.noise.trace()
        noise = Noise(as_times(detours["start_ps"]), as_times(detours["length_ps"]), period)
        origin = NoiseOrigin(str(self.noise.environment.get("host") or ""), self.noise.core_wait_share)
        return machine_of(self.name, self.network, self.node, self.node_ranks).with_noise(noise, origin)

    def misfits(self) -> list[str]:
        """Sentences about files of its folder that are not of this measurement: samples, and a machine.toml that was
        changed. Raises InputError if one of them cannot be read."""
        if self.folder is None:
            return []
        said, toml = self.folder / "measurement.json", self.folder / "machine.toml"
        written = {name: digest for source in self.sources for name, digest in source.digests.items() if name in FILES}
        found = [
            f"{self.folder / name} is not the file that {said} was written with."
            for name, digest in written.items()
            if digest_of_file(self.folder / name) != digest
        ]
        if toml.is_file():
            own = self.machine().provenance
            changed = [
                part
                for part in parts_that_differ(Machine.load(toml).provenance, own)
                if part != ONE_SIDED or "one_sided" in own.digests  # else `measure one-sided` has added them
            ]
            found += [f"What {toml} has as {part} is not what {said} has as measured." for part in changed]
        return found

    @property
    def sources(self) -> tuple[Provenance, ...]:
        """The provenance of its sources, as far as it is recorded."""
        return self.provenance.sources if self.provenance else ()

    @classmethod
    def load(cls, folder: str | Path) -> Measurement:
        """Read the files that write_machine wrote. Raises InputError naming the file that is missing or broken."""
        place = Path(folder)
        file = place / "measurement.json"
        raw: dict[str, Any] = load_json(file, "the measurement of a machine")
        said = checked(raw, MeasurementFile, name_of(file))
        of_noise, of_network, of_node = (place / name for name in FILES)
        noise = NoiseMeasurement(
            read_table(of_noise, DETOURS, "detours"),
            _cores(raw["noise"]["cores"]),
            pd.DataFrame(raw["noise"]["interrupts"], columns=["core", "name", "meaning", "count"]),
            raw["noise"]["environment"],
        )
        network = network_from_json(said.network, raw["network"], _samples(of_network))
        node = None
        if said.node_network is not None:
            node = network_from_json(said.node_network, raw["node_network"], _samples(of_node))
        provenance = None
        if PROVENANCE in raw:
            provenance = Provenance.from_object(raw[PROVENANCE], name_of(file), PROVENANCE)
        return cls(said.name, noise, network, node, said.node_ranks, provenance, place)


def write_machine(
    folder: str | Path,
    noise: NoiseMeasurement,
    network: NetworkMeasurement,
    name: str,
    node: NetworkMeasurement | None = None,
    node_ranks: int = 1,
) -> Path:
    """Write the files into `folder`, which is made if need be; return the path of machine.toml.

    `network` is the network of all ranks. If `node` is the network within a node of `node_ranks` ranks, `network` is
    the one between nodes.
    """
    place = Path(folder)
    target = place / "machine.toml"
    of_noise, of_network, of_node = FILES
    recordings = {
        of_noise: ("noise", noise.detours, noise.environment),
        of_network: ("network", network.samples, network.environment),
    }
    if node is not None:
        recordings[of_node] = ("network", node.samples, node.environment)
    machine = Measurement(name, noise, network, node, node_ranks).machine()
    comments = comments_of(network, node) | {"noise": "the cores' recordings, end to end"}
    with OutputFiles() as files:
        sources = []
        for file, (kind, table, environment) in recordings.items():
            files.table(place / file, table, metadata_of_samples(kind, environment))
            digests = {file: files.digest(place / file)}
            if file == of_network:
                digests |= write_samples_beside(files, place, network)
            sources.append(replace(provenance_of(kind, environment), digests=digests))
        by = "idlewave.measure.write_machine"
        provenance = Provenance.made(
            "measurement", name, by=by, digests=machine.provenance.digests, sources=tuple(sources)
        )
        said = _as_json(name, noise, network, node, node_ranks) | provenance_entry(provenance)
        files.json(place / "measurement.json", said)

        def save_detours(file: str, starts: Times, lengths: Times) -> None:
            files.text(place / file, detours_csv(starts, lengths))

        text = machine_toml(machine, save_detours, comments) + remarks_of(network, node)
        files.text(target, comment(provenance) + _HEAD + text)
    return target


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


def _cores(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """NoiseMeasurement.cores; a time that is not known is NaN."""
    cores = pd.DataFrame(rows)
    return cores.astype({"core_wait_s": float}) if "core_wait_s" in cores else cores


def _samples(file: Path) -> pd.DataFrame:
    return read_table(file, SAMPLES, "samples of the network probe")
