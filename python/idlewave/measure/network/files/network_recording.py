"""The network probe's recording in a folder: its samples, its summary, and its environment."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ....escaping import name_of
from ....formatting import percent_text
from ....host_environment import describe
from ....input.bounds import MOST_TABLE
from ....input.files import read_bytes
from ....input.tables import TEXT, WHOLE, Column, csv_table
from ....input.validation import checked, load_json
from ....input.value_types import LONGEST_NS
from ...environment_file import read_environment
from ..fitting.fitted_ranges import FailedFit
from ..fitting.loggp import LogGP, estimate
from ..fitting.page_steps import Pages
from ..fitting.pattern_assessment import PatternFit
from ..transports import DEFAULT, Transport, transport_named
from .file_schemas import LoggpSchema

LOADED = 0.02
"""A foreign load of a rank's core above this is noted."""
MOST_MESSAGES = 2**20
"""The largest number of messages of a train, which the rules simulate one by one."""
SAMPLES = {
    "series": TEXT,
    "size": Column("whole", 0, 2**50),
    "n": Column("whole", 0, MOST_MESSAGES),
    "delay_ns": Column("number", -LONGEST_NS, LONGEST_NS),
    "repetition": WHOLE,
    "value_ns": Column("number", -LONGEST_NS, LONGEST_NS),
    "start_ns": Column("number", optional=True),
    "disturbed": Column("whole", 0, optional=True),
}
"""The columns of samples; older ones have no start_ns and disturbed."""


@dataclass(frozen=True)
class NetworkMeasurement:
    """A measurement of a network.

    samples: one row a sample: series (rtt, train, paced: PRTT(1,0,s), PRTT(n,0,s), PRTT(n,d,s); recv, wait:
    the receiver's calls; late and those of other methods: docs/measuring.md), size in bytes, n, delay_ns,
    repetition, value_ns. fit: see loggp.py. probe: the probe's summary of its run (transport, ranks' places,
    library or fabric, eager limit and its variable). attempts: the number of measurements. patterns: the parameters
    fitted to patterns of messages, and their errors; None if no patterns were measured. pattern_samples and
    pattern_environment: theirs.
    """

    samples: pd.DataFrame
    fit: LogGP
    probe: dict[str, Any]
    environment: dict[str, Any]
    attempts: int = 1
    patterns: PatternFit | None = None
    pattern_samples: pd.DataFrame | None = None
    pattern_environment: dict[str, Any] | None = None

    @property
    def transport(self) -> str:
        """The name of the transport that carried the messages."""
        return transport_of(self.probe).name

    @property
    def carrier(self) -> str:
        """The transport's own description if one name stands for several: library, version, provider."""
        return str(self.probe.get("fabric") or self.transport)

    @property
    def one_node(self) -> bool | None:
        """Whether both ranks were on one node; None if the recording does not show it, or there was no node."""
        if (said := self.probe.get("same_node")) is not None:
            return bool(said)
        hosts = [rank.get("host") for rank in self.probe.get("ranks") or ()]
        return len(set(hosts)) == 1 if len(hosts) == 2 and all(hosts) else None

    @property
    def place(self) -> str:
        """The place of the ranks, and the transport within a node, for sentences; empty if that is not known."""
        if self.one_node is None:
            return ""
        if not self.one_node:
            return "between two nodes"
        return f"within one node ({'shared memory' if transport_of(self.probe).shared_memory else self.carrier})"

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """The 95 % intervals of the machine's parameters of the smallest messages, by name, in ps and ps per byte."""
        if self.patterns is not None:
            return self.patterns.ranges[0].intervals
        found = dict(self.fit.ranges[0].intervals)
        both = found.pop("O", None)
        return found if both is None else found | {"O_s": both, "O_r": both}

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about how the parameters came about."""
        notes = [*self.fit.failures, *_probe_notes(self.probe)]
        notes += self.fit.notes if self.patterns is None else self.patterns.notes
        if self.attempts > 1:
            notes.append(f"The fit failed {self.attempts - 1} times before; the measurement was repeated.")
        return tuple(notes)


def read_measurement(
    folder: str | Path,
    transport: str | None = None,
    seed: int = 1,
    attempts: int = 1,
    failed_fit: FailedFit = "refused",
) -> NetworkMeasurement:
    """Estimate the parameters from a recording in `folder` (samples.csv, loggp.json), also one that an interrupt ended.

    Without loggp.json (the run was killed) `transport` names the transport, by default mpi. Without
    environment.json only the hosts are known, from loggp.json. Raises InputError naming a file that is
    missing or broken, and MeasurementError as `estimate` does, which has `failed_fit`.
    """
    place = Path(folder)
    samples = read_samples(place / "samples.csv")
    probe: dict[str, Any] = {"complete": False, "ended": "killed"}
    if os.path.lexists(place / "loggp.json"):
        said: dict[str, Any] = load_json(place / "loggp.json", "what the network probe says")
        checked(said, LoggpSchema, name_of(place / "loggp.json"))
        probe = known_transport(said)
    if "transport" not in probe:
        probe = described(transport_named(transport or DEFAULT)) | probe
    environment = read_environment(place) or _unknown_place(probe)
    fit = estimate(samples, probe.get("eager_limit"), seed, transport_of(probe), _pages(probe), failed_fit)
    return NetworkMeasurement(samples, fit, probe, environment, attempts)


def transport_of(probe: dict[str, Any]) -> Transport:
    """The transport in the probe's summary; MPI's two-sided one if the summary has none."""
    name = str(probe.get("transport", DEFAULT))
    traits = probe.get("traits")
    return Transport(name) if traits is None else Transport.from_traits(name, traits)


def described(transport: Transport) -> dict[str, Any]:
    """`transport` as loggp.json has it."""
    traits = asdict(transport)
    return {"transport": traits.pop("name"), "traits": traits}


def known_transport(said: dict[str, Any]) -> dict[str, Any]:
    """The probe's summary, without a transport that is not known."""
    return {name: value for name, value in said.items() if name != "transport" or value is not None}


def read_samples(file: str | Path) -> pd.DataFrame:
    """The samples in a probe's file; a line that an interrupt cut off is left out. Raises InputError."""
    what = "samples of the network probe"
    data = read_bytes(file, what, most=MOST_TABLE)
    return csv_table(data[: data.rfind(b"\n") + 1], SAMPLES, name_of(file), what)


def _pages(probe: dict[str, Any]) -> Pages | None:
    """The position of the probe's messages in pages; None for a transport whose costs do not depend on pages."""
    said = probe.get("pages")
    return None if said is None else Pages(said["size"], said["start"])


def _unknown_place(probe: dict[str, Any]) -> dict[str, Any]:
    """An environment with the probe's hosts and nothing else: the recording may be from another machine."""
    hosts = dict.fromkeys(rank["host"] for rank in probe.get("ranks") or () if rank.get("host"))
    return dict.fromkeys(describe()) | {"host": " and ".join(hosts) or None}


def _probe_notes(probe: dict[str, Any]) -> list[str]:
    notes = []
    for side, shares in (probe.get("foreign_load") or {}).items():
        known = [share for share in shares if share is not None]
        if known and np.mean(known) > LOADED:
            notes.append(
                f"Other processes used {percent_text(float(np.mean(known)))} of the {side}'s core: the parameters hold "
                "for both."
            )
    if lost := probe.get("lost"):
        notes.append(f"{lost} messages were lost; their samples are left out.")
    if dropped := probe.get("dropped_sizes"):
        notes.append(
            f"Sizes from {dropped[0]} B on were left out: they would have taken too long, or no message came back."
        )
    if probe.get("ended") in ("interrupted", "killed"):
        notes.append(f"The measurement was {probe['ended']}: this is from what was recorded by then.")
    return notes
