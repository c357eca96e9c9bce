"""The assessment of a pair of ranks: PRTT, patterns of messages, and parameters fitted to the patterns."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.progress import Progress

from ... import mpi as mpis
from ...formatting import percent_text, plain_time
from ...machine import BETWEEN, Machine
from ...measurement_parameters import (
    EPOCHS,
    MAX_SIZE,
    NETWORK_SECONDS,
    PATTERN_SECONDS,
    PATTERN_SIZE,
    PatternsParameters,
)
from ...mpi import Mpi
from ...parameters import checked, completed
from .assessment_run import AssessmentRun
from .files.network_recording import NetworkMeasurement, read_measurement
from .fitting.collective_rules import CollectiveFit, fit_rules, merged
from .fitting.loggp import LogGP
from .fitting.machine_speeds import LEAST_ROWS, Speed, Speeds, find_speeds, usual_or
from .fitting.pattern_assessment import assess_patterns
from .fitting.pattern_times import PatternItem, pattern_time
from .job.collectives import CollectiveMeasurement, forget_collectives, read_collectives
from .job.patterns import INTERRUPTED, SHARED, PatternMeasurement, forget_patterns, read_patterns
from .probing.job_run import epochs_of, keep_samples
from .probing.network_run import NetworkRecordings, check_hosts, measure_network
from .transports import DEFAULT

BEYOND = (
    "For more ranks than were measured the rules are the library's own choices, as its source has them, with the costs "
    "of calls and reductions that were measured. Across nodes Open MPI may choose others, which know what lies in a "
    "node (coll/han), and MPICH does (its compositions)."
)
QUICK = (
    "Patterns of messages and collectives were left out: the parameters are those of PRTT, and how well they predict a "
    "program's messages is not known."
)


def assess_pair(
    mpi: Mpi | None = None,
    *,
    seconds: float = NETWORK_SECONDS.default,
    pattern_seconds: float = PATTERN_SECONDS.default,
    epochs: int = EPOCHS.default,
    max_size: int | None = None,
    seed: int = 1,
    speed: int | None = None,
    hosts: Sequence[str] = (),
    progress: Progress | None = None,
    folder: Path | None = None,
) -> NetworkMeasurement:
    """Measure PRTT for `seconds`, patterns for `pattern_seconds` and collectives for four tenths of that; fit the
    parameters to the patterns, and find the algorithms of the collectives.

    PRTT finds the sizes at which the library changes its protocol, of messages up to 256 KiB; the patterns go on to 4
    MiB; `max_size` (bytes) holds for both. All are measured in `epochs`: the ranks are started anew for each, and what
    differs between them widens the intervals. In each a part of PRTT and of the collectives precedes the patterns, and
    the other collectives are between the samples of these, so that all see the same changes of the machine's speed.
    `speed`: whose parameters are fitted, of a machine that had several (see `assess_patterns`). `hosts`: two hosts with
    a rank on each. A PRTT fit that fails is said in its notes. `folder` gets the recordings. Raises MeasurementError if
    a probe fails, or nothing came back.
    """
    check_hosts(hosts)
    pattern_seconds = checked("pattern_seconds", float, PATTERN_SECONDS, pattern_seconds)
    given = completed(
        PatternsParameters,
        {
            "seconds": pattern_seconds,
            "epochs": epochs,
            "max_size": PATTERN_SIZE.default if max_size is None else max_size,
            "seed": seed,
        },
    )
    with contextlib.ExitStack() as stack:
        place = folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="idlewave-")))
        forget_beside(place)
        mpi = mpi or mpis.find()
        prtt = NetworkRecordings.of(mpi, seconds, MAX_SIZE.default if max_size is None else max_size, seed, hosts=hosts)
        share = checked("seconds", float, NETWORK_SECONDS, seconds) / (given["epochs"] + 1)
        AssessmentRun(mpi, prtt, share, given, tuple(hosts), place, progress).measure()
        measured = read_patterns(place / "patterns")
        if folder is not None:
            keep_samples(place / "patterns", "patterns", measured.samples, measured.environment)
        return read_assessment(
            place / "network-1", measured, speed, collectives=read_collectives(place / "collectives")
        )


def measure_quickly(
    mpi: Mpi | None = None,
    *,
    seconds: float = NETWORK_SECONDS.default,
    max_size: int = MAX_SIZE.default,
    transport: str = DEFAULT,
    hosts: Sequence[str] = (),
    connect: str | None = None,
    progress: Progress | None = None,
    folder: Path | None = None,
) -> NetworkMeasurement:
    """Measure PRTT alone, and once: a fit that fails is said in the notes, as is what was left out. The arguments are
    those of `measure_network`, and so are the errors, but for that of a failed fit."""
    if folder is not None:
        forget_beside(folder)
    found = measure_network(
        mpi,
        seconds,
        max_size,
        progress=progress,
        folder=folder,
        attempts=1,
        transport=transport,
        hosts=hosts,
        connect=connect,
        failed_fit="noted",
    )
    return _with_left_out(found)


def read_quickly(folder: Path, transport: str | None = None) -> NetworkMeasurement:
    """The same from a recording of PRTT, as `read_measurement` reads it."""
    return _with_left_out(read_measurement(folder, transport, failed_fit="noted"))


def _with_left_out(found: NetworkMeasurement) -> NetworkMeasurement:
    """The measurement with a note on what was not measured."""
    return replace(found, fit=replace(found.fit, notes=(*found.fit.notes, QUICK)))


def forget_beside(folder: Path) -> None:
    """Remove what an earlier run measured beside PRTT from the recordings in `folder`."""
    forget_patterns(folder / "patterns")
    forget_collectives(folder / "collectives")


def read_assessment(
    folder: Path,
    patterns: PatternMeasurement,
    speed: int | None = None,
    transport: str | None = None,
    collectives: CollectiveMeasurement | None = None,
) -> NetworkMeasurement:
    """The measurement from the recording of PRTT in `folder`, and the patterns and collectives that were measured
    beside it: each is fitted to its samples at the same speed of the machine."""
    speeds = find_speeds(patterns.samples)
    chosen = usual_or(speeds, speed)
    if speed is None and collectives is not None:
        chosen = _speed_of_both(speeds, collectives)
    own_speed = speeds.each[chosen]
    network = read_measurement(folder, transport, failed_fit="noted", pilot_ns=own_speed.pilot_ns)
    sizes = set(patterns.samples["size"].tolist())
    changes = [first for first in changes_of(network.fit) if {first - 1, first} <= sizes]
    fitted = assess_patterns(patterns.samples, changes, network.fit.seen_limit, chosen)
    if patterns.probe.get("interrupted"):
        fitted = replace(fitted, notes=(*fitted.notes, INTERRUPTED))
    if patterns.shares_cpus:
        fitted = replace(fitted, notes=(*fitted.notes, SHARED))
    network = replace(
        network, patterns=fitted, pattern_samples=patterns.samples, pattern_environment=patterns.environment
    )
    if collectives is None:
        return network
    cores = network.environment.get("cores")
    node_ranks = cores if network.one_node and isinstance(cores, int) else 1
    rules = assess_collectives(collectives, Machine("measured", fitted.level, node_ranks=node_ranks), own_speed)
    return replace(network, collectives=rules, collective_samples=collectives.samples)


def read_speeds(folder: Path, fitted: int) -> list[tuple[Speed, NetworkMeasurement | None]]:
    """The speeds in the recordings of `assess_pair` in `folder`, and what was measured at each: that with the number
    `fitted` first, without its measurement, and those at which most patterns have a sample. Empty without recordings of
    patterns, or if they do not have that many speeds; raises what `read_assessment` raises."""
    if not epochs_of(folder / "patterns", "patterns"):
        return []
    patterns, collectives = read_patterns(folder / "patterns"), None
    if epochs_of(folder / "collectives", "collectives"):
        collectives = read_collectives(folder / "collectives")
    speeds = find_speeds(patterns.samples)
    if fitted >= len(speeds.each):
        return []
    found: list[tuple[Speed, NetworkMeasurement | None]] = [(speeds.each[fitted], None)]
    for number, speed in enumerate(speeds.each):
        if number != fitted and speeds.rows[number] >= LEAST_ROWS:
            found.append((speed, read_assessment(folder / "network-1", patterns, number, None, collectives)))
    return found


def _speed_of_both(speeds: Speeds, collectives: CollectiveMeasurement) -> int:
    """The number of the usual speed of the patterns; or, where too few collectives have a sample at it, of the speed at
    which most patterns and collectives have one."""
    of_collectives = [collectives.rows_at(speed) for speed in speeds.each]
    if of_collectives[speeds.usual] >= LEAST_ROWS:
        return speeds.usual
    both = np.minimum(of_collectives, speeds.rows)
    return int(both.argmax()) if both.max() >= LEAST_ROWS else speeds.usual


def assess_collectives(found: CollectiveMeasurement, machine: Machine, speed: Speed | None = None) -> CollectiveFit:
    """The rules of the library that was measured, with samples at the `speed` of `machine` (None: where a ping-pong of
    one byte takes as long as on the machine). Without such samples those of the usual speed count, and a note says
    so."""
    own = speed or found.best_at(pattern_time(machine.with_noise(None), PatternItem("ping-pong", 1, 1)) / 1000)
    notes: tuple[str, ...] = ()
    rows = found.rows_at(own)
    counted = own if rows >= LEAST_ROWS else None
    if counted is None:
        known = None if speed is None else speed.reference
        cores = "" if known is None else f", on {'shared' if known.shared else 'unshared'} cores"
        notes = (
            "Collectives were measured at another speed than the machine's, at which a byte takes "
            f"{plain_time(own.pilot_ns * 1000)} there and back{cores}: their errors are partly that of the speed. "
            "Measure the machine just before.",
        )
    elif rows < 1:
        notes = (
            f"{percent_text(1 - rows)} of the collectives and sizes have no sample at the machine's speed: they have "
            "those of all speeds.",
        )
    barriers = found.barrier_speeds(counted)
    if barriers is not None and barriers.others > 0:
        notes = (*notes, _of_barriers(barriers))
    one_node = found.one_node and machine.measured != BETWEEN
    library = "" if found.forced else found.library
    fitted = fit_rules(found.table(counted), machine, found.ranks, one_node=one_node, library=library)
    rules = merged((), fitted.rules, library, machine.node_ranks)
    if len(rules) > len(fitted.rules):
        notes = (*notes, BEYOND)
    return replace(fitted, rules=rules, notes=(*fitted.notes, *notes, *found.notes))


def _of_barriers(speeds: Speeds) -> str:
    """That the library's barrier had several speeds, and which samples do not count therefore."""
    times = [plain_time(speed.pilot_ns * 1000) for speed in speeds.each]
    others = " or ".join(time for number, time in enumerate(times) if number != speeds.usual)
    return (
        f"A barrier took {times[speeds.usual]} beside most samples of collectives. The {percent_text(speeds.others)} "
        f"of them beside which it took {others} do not count, where a size has others."
    )


def has_patterns(transport: str) -> bool:
    """Whether patterns of messages can be measured over a transport: they are calls of two-sided MPI."""
    return transport == DEFAULT


def changes_of(fit: LogGP) -> list[int]:
    """The first size of each protocol that PRTT has enclosed to the byte. Where its repetitions ran unlike each other,
    a jump may be one of the machine's speed, and only S is known: it is found by shares of a time."""
    later = fit.ranges[1:] if fit.ran_alike else ()
    found = {r.first for r in later if r.cause in ("jump", "rendezvous") and r.onset[0] == r.onset[1]}
    if fit.seen_limit is not None:
        found.add(fit.seen_limit + 1)
    return sorted(found)
