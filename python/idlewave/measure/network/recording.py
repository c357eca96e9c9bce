"""What the network probe recorded in a folder: its samples, what it says of its run, and where it ran."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ...environment import describe
from ...errors import InputError
from ...wording import percent_text
from .json_part import JsonPart, read_object
from .loggp import LogGP, estimate
from .pages import Pages

LOCAL = ("tcp", "udp", "shm")
"""Transports that need no MPI within a node."""
TRANSPORTS = ("mpi", "put", "get", *LOCAL, "libfabric", "ucx")
EMULATED = "emulated"
LOADED = 0.02
"""A foreign load of a rank's core above this is said."""
FINITE = ("delay_ns", "value_ns", "start_ns")
TYPES = dict.fromkeys(("size", "n", "repetition", "disturbed"), "int64") | dict.fromkeys(FINITE, "float64")
"""Of the columns of samples, as far as they are there; older ones have no start_ns and disturbed."""


@dataclass(frozen=True)
class NetworkMeasurement:
    """What was measured.

    samples: one row a sample: series (rtt, train, paced: PRTT(1,0,s), PRTT(n,0,s), PRTT(n,d,s); recv, wait:
    the receiver's calls; late and those of other methods: docs/measuring.md), size in bytes, n, delay_ns,
    repetition, value_ns. fit: see loggp.py. probe: what the probe says of its run (transport, ranks' places,
    library or fabric, eager limit and its variable). attempts: how often it was measured.
    """

    samples: pd.DataFrame
    fit: LogGP
    probe: dict[str, Any]
    environment: dict[str, Any]
    attempts: int = 1

    @property
    def transport(self) -> str:
        """What carried the messages: one of TRANSPORTS, or EMULATED."""
        return str(self.probe.get("transport", "mpi"))

    @property
    def carrier(self) -> str:
        """The transport by its own words where one name stands for several: library, version, provider."""
        return str(self.probe.get("fabric") or self.transport)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about how the parameters came about."""
        notes = [*self.fit.notes, *_probe_notes(self.probe)]
        if self.attempts > 1:
            notes.append(f"The fit failed {self.attempts - 1} times before; the measurement was repeated.")
        return tuple(notes)


def read_measurement(
    folder: str | Path, transport: str | None = None, seed: int = 1, attempts: int = 1
) -> NetworkMeasurement:
    """Estimate what a probe recorded in `folder` (samples.csv, loggp.json), by hand under Slurm or before an interrupt.

    Without loggp.json (the run was killed) `transport` says what it was over, else mpi is taken. Without
    environment.json the hosts are known from loggp.json, and nothing else. Raises InputError naming a file that is
    missing or broken, and MeasurementError as `estimate` does.
    """
    place = Path(folder)
    samples = read_samples(place / "samples.csv")
    said = read_object(place / "loggp.json")
    probe: dict[str, Any] = {"complete": False, "ended": "killed"} if said is None else checked_probe(said)
    probe = {"transport": transport or "mpi"} | probe
    stated = read_object(place / "environment.json")
    environment = (None if stated is None else stated.object()) or _unknown_place(probe)
    fit = estimate(samples, probe.get("eager_limit"), seed, str(probe["transport"]), _pages(probe))
    return NetworkMeasurement(samples, fit, probe, environment, attempts)


def checked_probe(said: JsonPart) -> dict[str, Any]:
    """What the probe says of its run, if what is read of it has its form. Raises InputError naming file and key."""
    transport = said.maybe("transport")
    if transport.value is not None and transport.value not in (*TRANSPORTS, EMULATED):
        raise transport.refused(f"one of {', '.join((*TRANSPORTS, EMULATED))}")
    for name, read in (
        ("eager_limit", JsonPart.whole),
        ("lost", JsonPart.whole),
        ("library", JsonPart.text),
        ("fabric", JsonPart.text),
        ("ended", JsonPart.text),
        ("same_node", JsonPart.truth),
    ):
        said.maybe(name).optional(read)
    for size in said.maybe("dropped_sizes").optional(JsonPart.parts) or ():
        size.whole()
    for rank in said.maybe("ranks").optional(JsonPart.parts) or ():
        rank.maybe("host").optional(JsonPart.text)
    if (pages := said.maybe("pages")).value is not None:
        pages.at("start").whole()
        if pages.at("size").whole() < 1:
            raise pages.at("size").refused("a whole number from 1 on")
    load = said.maybe("foreign_load")
    for side in load.optional(JsonPart.object) or ():
        for share in load.at(side).parts():
            share.optional(JsonPart.number)
    return {name: value for name, value in said.object().items() if name != "transport" or value is not None}


def read_samples(file: str | Path) -> pd.DataFrame:
    """The samples in a probe's file; a line that an interrupt cut off is left out. Raises InputError."""
    file = Path(file)
    try:
        text = file.read_text()
        whole = len(text) if text.endswith("\n") else text.rfind("\n") + 1
        with tempfile.TemporaryFile("w+") as lines:
            lines.write(text[:whole])
            lines.seek(0)
            return checked_samples(pd.read_csv(lines, dtype={"series": "str"} | TYPES), file)
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise InputError(f"{file}: expected samples of the network probe: {error}") from error


def checked_samples(samples: pd.DataFrame, file: Path) -> pd.DataFrame:
    """The samples, if they are numbers where numbers belong. Raises InputError naming file, column and row."""
    for column, kind in TYPES.items():
        if column not in samples.columns:
            continue
        values = samples[column]
        if values.dtype != kind:
            raise InputError(f"{file}: {column}: expected numbers ({kind}), found {values.dtype}")
        wrong = np.flatnonzero(~np.isfinite(values)) if column in FINITE else np.flatnonzero(values < 0)
        if len(wrong):
            expected = "a finite number" if column in FINITE else "a number from 0 on"
            raise InputError(
                f"{file}: {column}: expected {expected}, found {values.iloc[wrong[0]]} in sample {wrong[0] + 1}"
            )
    return samples


def _pages(probe: dict[str, Any]) -> Pages | None:
    """How the probe's messages lay in memory; None of a transport that copies them byte by byte."""
    said = probe.get("pages")
    return None if said is None else Pages(said["size"], said["start"])


def _unknown_place(probe: dict[str, Any]) -> dict[str, Any]:
    """An environment of which the probe's hosts are known and nothing else: it need not be the machine that reads."""
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
