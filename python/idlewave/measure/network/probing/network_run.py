"""The network: running the LogGP probe between two processes."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.progress import Progress

from .... import mpi as mpis
from ....errors import MeasurementError, UsageError
from ....escaping import quote
from ....host_environment import describe_recording
from ....measurement_parameters import MAX_SIZE, NETWORK_SECONDS
from ....mpi import Mpi
from ....parameters import checked
from ...probe_process import begin_folder, run_probe, shown
from ..files.network_recording import NetworkMeasurement, read_measurement, remove_parts
from ..fitting.fitted_ranges import FailedFit
from ..transports import DEFAULT, Transports, listed_by, local_program

PATIENCE = 120.0
"""Seconds beyond the time asked for after which a probe is given up; they include MPI's own start and end."""
RECORDED = ("loggp.json", "samples.csv")
"""The files of a run in its folder."""
LEAST_SECONDS = 0.01
"""Of a run of the probe."""


@dataclass(frozen=True)
class _Launch:
    command: tuple[str, ...]
    environment: dict[str, str] | None
    mpi: Mpi | None


@dataclass(frozen=True)
class NetworkRecordings:
    """The recordings of a measurement: the environment of each, and the largest message."""

    environment: dict[str, Any]
    max_size: int

    @classmethod
    def of(
        cls,
        mpi: Mpi | None,
        seconds: float,
        max_size: int,
        seed: int,
        transport: str = DEFAULT,
        hosts: Sequence[str] = (),
    ) -> NetworkRecordings:
        """Those of `measure_network`, which says what the arguments are."""
        asked = {"transport": transport, "seconds": seconds, "max_size": max_size, "seed": seed, "hosts": list(hosts)}
        environment = describe_recording("network", mpi, by="idlewave.measure.measure_network", options=asked)
        return cls(environment, max_size)

    def begin(self, raw: Path, seconds: float, seed: int, sizes: Sequence[int] = ()) -> list[str]:
        """Prepare `raw` for a recording; an earlier one is removed. `sizes`: those that an earlier part has chosen.
        Returns the options of the run, each with its value."""
        begin_folder(raw, self.environment, RECORDED)
        remove_parts(raw)
        options = ["--output", str(raw), "--seconds", str(max(seconds, LEAST_SECONDS)), "--seed", str(seed)]
        options += ["--max-size", str(self.max_size)]
        return [*options, "--sizes", ",".join(str(size) for size in sizes)] if sizes else options


def check_hosts(hosts: Sequence[str]) -> None:
    """Raise UsageError for hosts that are not two."""
    if hosts and len(hosts) != 2:
        raise UsageError(f"expected two hosts, found {len(hosts)}: {', '.join(hosts)}")


def measure_network(
    mpi: Mpi | None = None,
    seconds: float = NETWORK_SECONDS.default,
    max_size: int = MAX_SIZE.default,
    progress: Progress | None = None,
    folder: Path | None = None,
    seed: int = 1,
    attempts: int = 3,
    transport: str = DEFAULT,
    hosts: Sequence[str] = (),
    connect: str | None = None,
    failed_fit: FailedFit = "refused",
) -> NetworkMeasurement:
    """Measure L, o_s, o_r, g, G, O and S between two processes over `transport` for so many seconds.

    `mpi` (default: the one found) starts them, on two `hosts` if those are named. On this host a transport that
    `idlewave-probe loggp-local --transports` lists needs no MPI. `connect` (HOST:PORT) is the address at which
    `idlewave-probe loggp-local --listen HOST:PORT` waits on another host, for a transport of that list. Sizes are from
    1 B to `max_size`. After a failed fit the measurement is repeated, up to `attempts` times in all
    (with `connect` once, because the other side serves one run), for twice and three times as long: a disturbed machine
    may be quiet the next time, and more samples give a better fit. Raises MeasurementError for the last failed fit, and
    if a probe fails. `failed_fit`: see FailedFit.
    `progress` gets one task; `folder` gets the raw samples as they are taken, so that an interrupt
    loses nothing (`read_measurement`).
    """
    seconds = checked("seconds", float, NETWORK_SECONDS, seconds)
    max_size = checked("max_size", int, MAX_SIZE, max_size)
    check_hosts(hosts)
    if connect is not None and (hosts or mpi is not None):
        raise UsageError("connect starts one probe alone: hosts and an MPI have no meaning beside it")
    launch = _launch(mpi, transport, tuple(hosts), connect)
    recordings = NetworkRecordings.of(launch.mpi, seconds, max_size, seed, transport, hosts)
    with contextlib.ExitStack() as stack:
        place = folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="idlewave-")))
        failure = MeasurementError(f"attempts must be at least 1, found {attempts}")
        runs = attempts if connect is None else min(attempts, 1)
        for attempt in range(1, runs + 1):
            raw = place / f"network-{attempt}"
            options = recordings.begin(raw, seconds * attempt, seed + attempt - 1)
            try:
                with shown(progress, "network") as advance:
                    command = [*launch.command, "--transport", transport, *options]
                    run_probe(command, launch.environment, "network", seconds * attempt + PATIENCE, advance)
            except MeasurementError as error:
                if attempt == 1:
                    raise
                raise MeasurementError(f"{failure}; measured anew, {error}") from error
            try:
                return read_measurement(raw, seed=seed, attempts=attempt, failed_fit=failed_fit)
            except MeasurementError as error:
                failure = error
        raise failure


def _launch(mpi: Mpi | None, transport: str, hosts: tuple[str, ...], connect: str | None) -> _Launch:
    """How the probe is started: by MPI, or as a program that starts both sides or connects to another host."""
    if connect is not None:
        if transport not in (local := listed_by(local_program())):
            raise UsageError(
                f"the transport {quote(transport)} cannot connect to a probe that waits: expected one that needs no "
                f"MPI, {', '.join(local)}"
            )
        return _Launch((str(local_program()), "--connect", connect), None, None)
    if not hosts and mpi is None and transport != DEFAULT and transport in listed_by(local_program()):
        return _Launch((str(local_program()),), None, None)
    chosen = mpi or mpis.find()
    program = mpis.build(chosen, "loggp")
    if transport != DEFAULT:
        _check(transport, listed_by(program, chosen.environment()))
    return _Launch(
        (str(chosen.mpiexec), "-n", "2", *chosen.host_options(hosts), str(program)), chosen.environment(), chosen
    )


def _check(transport: str, known: Transports) -> None:
    if transport not in known:
        raise UsageError(f"the transport {quote(transport)} is not known: expected one of {', '.join(known)}")
