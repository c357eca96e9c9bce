"""The network probe's recording in a folder: its samples, its summary, and its environment."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ....errors import MeasurementError
from ....escaping import name_of
from ....formatting import percent_text
from ....host_environment import describe
from ....input.bounds import MOST_TABLE
from ....input.files import read_bytes
from ....input.tables import TEXT, WHOLE, Column, csv_table
from ....input.validation import checked, load_json
from ....input.value_types import LONGEST_NS
from ...environment_file import read_environment
from ..fitting.collective_rules import CollectiveFit
from ..fitting.fitted_ranges import FailedFit
from ..fitting.loggp import LogGP, estimate
from ..fitting.machine_speeds import FEW_AT_SPEED, at_speed
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
    "pilot_before_ns": Column("number", 0, LONGEST_NS, optional=True),
    "pilot_after_ns": Column("number", 0, LONGEST_NS, optional=True),
}
"""The columns of samples; older ones have no start_ns, disturbed and pilots."""
PART = "part-"
"""A recording that was made in parts has a folder of this name and a number for each part after the first."""


@dataclass(frozen=True)
class NetworkMeasurement:
    """A measurement of a network.

    samples: one row a sample: series (rtt, train, paced: PRTT(1,0,s), PRTT(n,0,s), PRTT(n,d,s); recv, wait:
    the receiver's calls; late and those of other methods: docs/measuring.md), size in bytes, n, delay_ns,
    repetition, value_ns, pilot_before_ns and pilot_after_ns (a round trip of one byte just before and
    after). fit: see loggp.py. probe: the probe's summary of its run (transport, ranks' places, library or fabric,
    eager limit and its variable). attempts: the number of measurements. patterns: the parameters fitted to patterns of
    messages, and their errors; None if no patterns were measured. pattern_samples and pattern_environment: theirs.
    collectives: the algorithms of the MPI library, and the errors of their simulation; collective_samples: theirs.
    """

    samples: pd.DataFrame
    fit: LogGP
    probe: dict[str, Any]
    environment: dict[str, Any]
    attempts: int = 1
    patterns: PatternFit | None = None
    pattern_samples: pd.DataFrame | None = None
    pattern_environment: dict[str, Any] | None = None
    collectives: CollectiveFit | None = None
    collective_samples: pd.DataFrame | None = None

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
        notes += () if self.collectives is None else self.collectives.notes
        if self.attempts > 1:
            notes.append(f"The fit failed {self.attempts - 1} times before; the measurement was repeated.")
        return tuple(notes)


def read_measurement(
    folder: str | Path,
    transport: str | None = None,
    seed: int = 1,
    attempts: int = 1,
    failed_fit: FailedFit = "refused",
    pilot_ns: float | None = None,
) -> NetworkMeasurement:
    """Estimate the parameters from a recording in `folder` (samples.csv, loggp.json), also one that an interrupt ended.

    Without loggp.json (the run was killed) `transport` names the transport, by default mpi. Without
    environment.json only the hosts are known, from loggp.json. Parts that were measured later are read with it. Of a
    machine that had several speeds, the fit is of the one whose pilots are nearest to `pilot_ns`, None: of the usual
    one; where these are too few for a fit, and `failed_fit` is "noted", it is of all. Raises InputError naming a file
    that is missing or broken, and MeasurementError as `estimate` does, which has `failed_fit`.
    """
    place = Path(folder)
    samples, probe = _read_parts(place)
    if "transport" not in probe:
        probe = described(transport_named(transport or DEFAULT)) | probe
    environment = read_environment(place) or _unknown_place(probe)
    own, notes = at_speed(samples, pilot_ns)
    fitted = partial(
        estimate,
        eager_limit=probe.get("eager_limit"),
        seed=seed,
        transport=transport_of(probe),
        pages=_pages(probe),
        failed_fit=failed_fit,
    )
    try:
        fit = fitted(own)
    except MeasurementError:
        if failed_fit == "refused":
            raise
        fit, notes = _of_all(samples, fitted), ()
    return NetworkMeasurement(samples, replace(fit, notes=(*fit.notes, *notes)), probe, environment, attempts)


def _of_all(samples: pd.DataFrame, fitted: Callable[..., LogGP]) -> LogGP:
    """The fit by `fitted` to samples of all speeds: to repetitions that ran alike, or if these are too few, to all."""
    try:
        fit = fitted(samples)
    except MeasurementError:
        return fitted(samples, alike="ignored")
    return replace(fit, notes=(*fit.notes, FEW_AT_SPEED))


def read_probe(place: Path) -> dict[str, Any]:
    """The summary of a run of the probe in a folder; of one that was killed, that alone."""
    if not os.path.lexists(place / "loggp.json"):
        return {"complete": False, "ended": "killed"}
    said: dict[str, Any] = load_json(place / "loggp.json", "what the network probe says")
    checked(said, LoggpSchema, name_of(place / "loggp.json"))
    return known_transport(said)


def remove_parts(place: Path) -> None:
    """Remove the later parts of an earlier recording, so that they are not taken for parts of the next one."""
    for part in place.glob(f"{PART}*"):
        if part.is_dir() and not part.is_symlink() and part.name.removeprefix(PART).isdecimal():
            shutil.rmtree(part)


def _read_parts(place: Path) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The samples of all parts, with repetitions and times one after another, and the first part's summary with what
    the others add."""
    numbers = sorted(
        int(number)
        for file in place.glob(f"{PART}*/samples.csv")
        if (number := file.parent.name.removeprefix(PART)).isdecimal()
    )
    tables, probe = [read_samples(place / "samples.csv")], read_probe(place)
    for part in (place / f"{PART}{number}" for number in numbers):
        table, before = read_samples(part / "samples.csv"), tables[-1]
        if len(before):
            table["repetition"] += int(before["repetition"].max()) + 1
            if "start_ns" in table and "start_ns" in before:
                table["start_ns"] += float(before["start_ns"].max())
        tables.append(table)
        probe = _with_part(probe, read_probe(part))
    return pd.concat(tables, ignore_index=True) if len(tables) > 1 else tables[0], probe


def _with_part(probe: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """The summary of several parts: what was counted is added, and each may have been interrupted."""
    counts = {name: (probe.get(name) or 0) + (part.get(name) or 0) for name in ("lost", "samples", "repetitions")}
    load = {
        side: [*shares, *(part.get("foreign_load") or {}).get(side, ())]
        for side, shares in (probe.get("foreign_load") or {}).items()
    }
    ended = {name: part[name] for name in ("ended", "complete") if name in part and not part.get("complete", True)}
    return probe | counts | {"foreign_load": load} | ended


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
