"""The transports of the network probe, as the probe itself describes them (probes/network/transports.hpp)."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from ... import mpi as mpis
from ...child_processes import run
from ...errors import MeasurementError
from ...escaping import name_of
from ...input.value_types import Open
from ...mpi import Mpi

DEFAULT = "mpi"
"""The transport that is measured unless another one is named."""
ANSWER = 60.0
"""Seconds within which the probe lists its transports."""


class TraitsSchema(Open):
    """The traits of a transport, as the probe writes them into loggp.json."""

    needs_mpi: bool
    passive: bool
    receives: bool
    rendezvous: bool
    shared_memory: bool


class TransportSchema(TraitsSchema, kw_only=True):
    """A transport of the list that the probe prints."""

    name: str


@dataclass(frozen=True)
class Transport:
    """What carries the messages. The defaults are the traits of MPI's two-sided messages.

    needs_mpi: both sides are ranks of an MPI job. passive: the server takes no part in an exchange (get). receives: a
    receiver acts, so that a message may find it early or late. rendezvous: a send that waits for its receiver runs a
    rendezvous protocol. shared_memory: messages within a node go through memory that both sides map.
    """

    name: str = DEFAULT
    needs_mpi: bool = True
    passive: bool = False
    receives: bool = True
    rendezvous: bool = True
    shared_memory: bool = True

    @property
    def buffered(self) -> bool:
        """Whether a send that waits for its receiver waits for room in a buffer."""
        return self.receives and not self.rendezvous

    @classmethod
    def from_traits(cls, name: str, traits: dict[str, Any]) -> Transport:
        """The transport of that name with the traits that loggp.json holds."""
        return cls(name, **{key: bool(traits[key]) for key in TraitsSchema.__struct_fields__})


Transports = dict[str, Transport]


def local_transports() -> Transports:
    """The transports that need no MPI. Raises MeasurementError if the probe does not run."""
    return listed_by(local_program())


def listed_by(program: Path, environment: dict[str, str] | None = None) -> Transports:
    """The transports of a network probe, by name. Raises MeasurementError if the probe does not run."""
    try:
        done = run([str(program), "--transports"], environment=environment, seconds=ANSWER)
    except (OSError, subprocess.SubprocessError) as error:
        raise MeasurementError(f"{name_of(program)} does not run: {error}") from error
    if done.returncode != 0:
        raise MeasurementError(f"{name_of(program)} does not run: it ended with status {done.returncode}")
    try:
        said = msgspec.json.decode(done.stdout, type=list[TransportSchema])
    except msgspec.DecodeError as error:
        raise MeasurementError(f"{name_of(program)} --transports: expected a list of transports: {error}") from error
    return {one.name: Transport(**msgspec.structs.asdict(one)) for one in said}


def local_program() -> Path:
    """The probe that needs no MPI. Raises MeasurementError if there is none."""
    program = mpis.package_data() / "bin" / "idlewave-loggp-local"
    if not program.is_file():
        raise MeasurementError(f"this installation of idlewave lacks {program}")
    return program


def transport_named(name: str) -> Transport:
    """The transport of that name, by the probe that has it. Raises MeasurementError if none has it."""
    if name == DEFAULT:
        return Transport()
    known = local_transports()
    if name not in known:
        known = known | mpi_transports(mpis.find())
    if name not in known:
        raise MeasurementError(f"the transport {name!r} is not known: expected one of {', '.join(known)}")
    return known[name]


def mpi_transports(mpi: Mpi) -> Transports:
    """The transports between two ranks of `mpi`; the probe is compiled for it if need be."""
    return listed_by(mpis.build(mpi, "loggp"), mpi.environment())
