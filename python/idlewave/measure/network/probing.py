"""The network: the LogGP probe between two processes, and the fit of its samples."""

from __future__ import annotations

import contextlib
import json
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
from rich.progress import Progress

from ... import mpi as mpis
from ...environment import describe
from ...errors import InputError, MeasurementError, UsageError
from ...mpi import OPEN_MPI, Mpi
from .loggp import LogGP, estimate

PATIENCE = 120.0
"""Seconds beyond the time asked for after which a probe is given up: MPI's own start and end are in it."""
LOCAL = ("tcp", "udp", "shm")
"""Transports that need no MPI within a node."""
TRANSPORTS = ("mpi", "put", "get", *LOCAL, "libfabric", "ucx")
LOADED = 0.02
"""A foreign load of a rank's core above this is said."""


@dataclass(frozen=True)
class NetworkMeasurement:
    """What was measured.

    samples: one row a sample: series (rtt, train, paced: PRTT(1,0,s), PRTT(n,0,s), PRTT(n,d,s); recv, wait:
    the receiver's calls; late and those of other methods: docs/measuring.md), size in bytes, n, delay_ns,
    repetition, value_ns. fit: see loggp.py. probe: what the probe says of its run (transport, ranks' places,
    library, eager limit and its variable). attempts: how often it was measured.
    """

    samples: pd.DataFrame
    fit: LogGP
    probe: dict[str, Any]
    environment: dict[str, Any]
    attempts: int = 1

    @property
    def transport(self) -> str:
        """What carried the messages: one of TRANSPORTS, or emulated."""
        return str(self.probe.get("transport", "mpi"))

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about how the parameters came about."""
        notes = [*self.fit.notes, *_probe_notes(self.probe)]
        if self.attempts > 1:
            notes.append(f"The fit failed {self.attempts - 1} times before; the measurement was repeated.")
        return tuple(notes)


def measure_network(
    mpi: Mpi | None = None,
    seconds: float = 5.0,
    max_size: int = 256 * 1024,
    progress: Progress | None = None,
    folder: Path | None = None,
    seed: int = 1,
    attempts: int = 3,
    transport: str = "mpi",
    hosts: Sequence[str] = (),
    connect: str | None = None,
) -> NetworkMeasurement:
    """Measure L, o_s, o_r, g, G, O and S between two processes over `transport` for so many seconds.

    `mpi` (default: the one found) starts them, on two `hosts` if those are named; tcp, udp and shm on this host need
    none. `connect` (HOST:PORT) is where `idlewave-probe loggp --listen` waits on another host, for tcp and udp.
    Sizes from 1 B to `max_size`, at least 64 B. A failed fit is measured anew, up to `attempts` times in all,
    for a disturbed machine may be quiet the next time; the last failure is raised as MeasurementError, as is
    a probe that fails. `progress` gets one task; `folder` keeps the raw samples as they come, so that an
    interrupt loses nothing (`read_measurement`).
    """
    if transport not in TRANSPORTS:
        raise UsageError(f"the transport '{transport}' is not known: expected one of {', '.join(TRANSPORTS)}")
    if hosts and len(hosts) != 2:
        raise UsageError(f"expected two hosts, found {len(hosts)}: {', '.join(hosts)}")
    launch = _launch(mpi, transport, tuple(hosts), connect)
    environment = describe(launch.mpi)
    with contextlib.ExitStack() as stack:
        place = folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="idlewave-")))
        failure = MeasurementError(f"attempts must be at least 1, found {attempts}")
        for attempt in range(1, attempts + 1):
            raw = place / f"network-{attempt}"
            raw.mkdir(parents=True, exist_ok=True)
            (raw / "environment.json").write_text(json.dumps(environment))
            options = [
                *("--transport", transport),
                *("--output", str(raw)),
                *("--seconds", str(seconds)),
                *("--max-size", str(max_size)),
                *("--seed", str(seed + attempt - 1)),
            ]
            _run(launch, options, seconds, progress)
            try:
                return read_measurement(raw, seed=seed, attempts=attempt)
            except MeasurementError as error:
                failure = error
        raise failure


def read_measurement(
    folder: str | Path, transport: str | None = None, seed: int = 1, attempts: int = 1
) -> NetworkMeasurement:
    """Estimate what a probe recorded in `folder` (samples.csv, loggp.json), by hand under Slurm or before an interrupt.

    Without loggp.json (the run was killed) `transport` says what it was over, else mpi is taken. Raises InputError
    naming a file that is missing or broken, and MeasurementError as `estimate` does.
    """
    place = Path(folder)
    samples = read_samples(place / "samples.csv")
    probe = _read_json(place / "loggp.json")
    if probe is None:
        probe = {"transport": transport or "mpi", "complete": False, "ended": "killed"}
    environment = _read_json(place / "environment.json") or describe()
    fit = estimate(samples, probe.get("eager_limit"), seed, str(probe.get("transport", "mpi")))
    return NetworkMeasurement(samples, fit, probe, environment, attempts)


def read_samples(file: Path) -> pd.DataFrame:
    """The samples in a probe's file; a line that an interrupt cut off is left out. Raises InputError."""
    types = {
        "series": "str",
        "size": "int64",
        "n": "int64",
        "delay_ns": "float64",
        "repetition": "int64",
        "value_ns": "float64",
    }
    try:
        text = file.read_text()
        whole = len(text) if text.endswith("\n") else text.rfind("\n") + 1
        with tempfile.TemporaryFile("w+") as lines:
            lines.write(text[:whole])
            lines.seek(0)
            return pd.read_csv(lines, dtype=types)
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise InputError(f"{file}: expected samples of the network probe: {error}") from error


@dataclass(frozen=True)
class _Launch:
    command: tuple[str, ...]
    environment: dict[str, str] | None
    mpi: Mpi | None


def _launch(mpi: Mpi | None, transport: str, hosts: tuple[str, ...], connect: str | None) -> _Launch:
    """How the probe is started: by MPI, or as a program of its own that starts both sides or asks another host's."""
    if connect is not None or (transport in LOCAL and not hosts and mpi is None):
        program = mpis.package_data() / "bin" / "idlewave-loggp-local"
        if not program.is_file():
            raise MeasurementError(f"this installation of idlewave lacks {program}")
        return _Launch((str(program), *(("--connect", connect) if connect else ())), None, None)
    chosen = mpi or mpis.find()
    program = mpis.build(chosen, "loggp")
    return _Launch(
        (str(chosen.mpiexec), "-n", "2", *_host_options(chosen, hosts), str(program)), chosen.environment(), chosen
    )


def _host_options(mpi: Mpi, hosts: tuple[str, ...]) -> tuple[str, ...]:
    """One rank on each host, in that order."""
    if not hosts:
        return ()
    if mpi.vendor == OPEN_MPI:
        return ("--host", ",".join(f"{host}:1" for host in hosts), "--map-by", "ppr:1:node")
    return ("-hosts", ",".join(hosts), "-ppn", "1")


def _probe_notes(probe: dict[str, Any]) -> list[str]:
    notes = []
    for side, shares in (probe.get("foreign_load") or {}).items():
        known = [share for share in shares if share is not None]
        if known and np.mean(known) > LOADED:
            notes.append(
                f"Other processes used {np.mean(known):.0%} of the {side}'s core: the parameters hold for both."
            )
    if lost := probe.get("lost"):
        notes.append(f"{lost} messages were lost; their samples are left out.")
    if dropped := probe.get("dropped_sizes"):
        notes.append(f"Sizes from {dropped[0]} B on were left out: they would have taken too long.")
    if probe.get("ended") in ("interrupted", "killed"):
        notes.append(f"The measurement was {probe['ended']}: this is from what was recorded by then.")
    return notes


def _read_json(file: Path) -> dict[str, Any] | None:
    """The object in a file; None if there is no such file."""
    try:
        said = json.loads(file.read_text())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: expected JSON: {error}") from error
    if not isinstance(said, dict):
        raise InputError(f"{file}: expected a JSON object")
    return said


def _run(launch: _Launch, options: list[str], seconds: float, progress: Progress | None) -> None:
    task = progress.add_task("network", total=1.0) if progress else None
    with (
        tempfile.TemporaryFile("w+") as complaints,
        _process([*launch.command, *options], launch.environment, complaints, seconds + PATIENCE) as running,
    ):
        assert running.stdout is not None
        for line in running.stdout:
            if line.startswith("progress ") and progress and task is not None:
                progress.update(task, completed=float(line.split()[1]))
        status = running.wait()
        complaints.seek(0)
        words = complaints.read().strip()
    if status != 0:
        raise MeasurementError(f"the network probe failed (exit status {status}): {words[-2000:] or 'it said nothing'}")
    if progress and task is not None:
        progress.update(task, completed=1.0)


@contextlib.contextmanager
def _process(
    command: list[str], environment: dict[str, str] | None, complaints: IO[str], limit: float
) -> Iterator[subprocess.Popen[str]]:
    """A running probe that ends with the block, whatever ends that, and after `limit` seconds at the
    latest."""
    running = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=complaints,
        text=True,
        env=environment,
    )
    watch = threading.Timer(limit, running.kill)
    watch.start()
    try:
        yield running
    finally:
        watch.cancel()
        if running.poll() is None:
            running.terminate()
            try:
                running.wait(10)
            except subprocess.TimeoutExpired:
                running.kill()
