"""The assessment of a pair of ranks: PRTT, patterns of messages, and parameters fitted to the patterns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.progress import Progress

from ...measurement_parameters import EPOCHS, MAX_SIZE, NETWORK_SECONDS, PATTERN_SECONDS, PATTERN_SIZE
from ...mpi import Mpi
from ...parameters import checked
from .files.network_recording import NetworkMeasurement
from .fitting.loggp import LogGP
from .fitting.pattern_assessment import assess_patterns
from .job.patterns import INTERRUPTED, Lateness, PatternMeasurement, forget_patterns, measure_patterns
from .probing.network_run import measure_network
from .transports import DEFAULT

QUICK = (
    "Patterns of messages were left out: the parameters are those of PRTT, and how well they predict a program's "
    "messages is not known."
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
    """Measure PRTT for `seconds` and patterns for `pattern_seconds`, and fit the parameters to the patterns.

    PRTT finds the sizes at which the library changes its protocol, of messages up to 256 KiB; the patterns go on to 4
    MiB; `max_size` (bytes) holds for both. The patterns are measured in `epochs`: the ranks are started anew for each,
    and what differs between them widens the intervals. `speed`: whose parameters are fitted, of a machine that had
    several (see `assess_patterns`). `hosts`: two hosts with a rank on each. A PRTT fit that fails is
    said in its notes. `folder` gets the recordings. Raises MeasurementError if a probe fails, or nothing came back.
    """
    pattern_seconds = checked("pattern_seconds", float, PATTERN_SECONDS, pattern_seconds)
    epochs = checked("epochs", int, EPOCHS, epochs)
    if folder is not None:
        forget_patterns(folder / "patterns")
    network = measure_network(
        mpi,
        seconds,
        MAX_SIZE.default if max_size is None else max_size,
        progress=progress,
        folder=folder,
        seed=seed,
        attempts=1,
        hosts=hosts,
        failed_fit="noted",
    )
    measured = measure_patterns(
        mpi,
        seconds=pattern_seconds,
        epochs=epochs,
        max_size=PATTERN_SIZE.default if max_size is None else max_size,
        seed=seed,
        changes=changes_of(network.fit),
        lateness=_lateness(network),
        hosts=hosts,
        progress=progress,
        folder=None if folder is None else folder / "patterns",
    )
    return with_patterns(network, measured, speed)


def with_patterns(
    network: NetworkMeasurement, measured: PatternMeasurement, speed: int | None = None
) -> NetworkMeasurement:
    """The measurement with the parameters fitted to patterns that were measured beside it."""
    fitted = assess_patterns(measured.samples, changes_of(network.fit), network.fit.seen_limit, speed)
    if measured.probe.get("interrupted"):
        fitted = replace(fitted, notes=(*fitted.notes, INTERRUPTED))
    return replace(network, patterns=fitted, pattern_samples=measured.samples, pattern_environment=measured.environment)


def _lateness(network: NetworkMeasurement) -> Lateness | None:
    """Late receivers compute for about two round trips: then each message has come, and its time still shows."""
    halves = network.fit.medians[network.fit.medians["curve"] == "half"].sort_values("size")
    if halves.empty:
        return None
    least, most = halves.iloc[0], halves.iloc[-1]
    per_byte = (most["median_ps"] - least["median_ps"]) / max(most["size"] - least["size"], 1)
    return Lateness(4e-3 * float(least["median_ps"]), max(4e-3 * float(per_byte), 0.0))


def has_patterns(transport: str) -> bool:
    """Whether patterns of messages can be measured over a transport: they are calls of two-sided MPI."""
    return transport == DEFAULT


def changes_of(fit: LogGP) -> list[int]:
    """The first size of each protocol that PRTT has enclosed to the byte."""
    found = {r.first for r in fit.ranges[1:] if r.cause in ("jump", "rendezvous") and r.onset[0] == r.onset[1]}
    if fit.seen_limit is not None:
        found.add(fit.seen_limit + 1)
    return sorted(found)
