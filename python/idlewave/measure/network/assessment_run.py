"""What an assessment measures: PRTT, collectives and patterns of messages in turn, in several starts of the ranks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.progress import Progress

from ...mpi import Mpi
from .files.network_recording import PART, read_probe, read_samples
from .job.collectives import collective_options
from .job.patterns import LEAST_SECONDS, Lateness, pattern_options, ranks_of, seed_of
from .probing.job_run import EPOCH, JobProbe, begin_recording, run_epoch
from .probing.network_run import NetworkProbe

MOST_COLLECTIVE = 2**28
"""Bytes of the largest vector that the probe of collectives takes."""
COLLECTIVE_SHARE = 0.4
"""The time of collectives, in that of patterns."""


@dataclass(frozen=True)
class AssessmentRun:
    """The starts of the ranks: one for PRTT, which chooses the sizes, for the time of two of its parts; and one for
    each epoch, in which the next part of PRTT, collectives and patterns are measured one after the other."""

    mpi: Mpi
    prtt: NetworkProbe
    part_seconds: float  # of a part of PRTT
    given: Mapping[str, Any]  # the parameters of patterns
    hosts: tuple[str, ...]
    place: Path
    progress: Progress | None

    def measure(self) -> None:
        """All of it, recorded in `place`."""
        self.prtt.record(self._raw, 2 * self.part_seconds, self.given["seed"], self.progress)
        for epoch in range(1, self.given["epochs"] + 1):
            parts = {"collectives": self._collectives(epoch), "patterns": self._patterns(epoch)}
            if epoch > 1:
                parts = {"loggp": self._next_prtt(epoch), **parts}
            seconds = self.part_seconds + self._collective_seconds + self._pattern_seconds
            job = JobProbe("epoch", self._ranks, self.mpi, seconds, self.hosts)
            run_epoch(job, parts, self.progress, f"epoch {epoch}")

    @property
    def _raw(self) -> Path:
        return self.place / "network-1"

    @property
    def _ranks(self) -> int:
        return ranks_of(2 if self.hosts else None, self.hosts)

    @property
    def _pattern_seconds(self) -> float:
        return max(float(self.given["seconds"] / self.given["epochs"]), LEAST_SECONDS)

    @property
    def _collective_seconds(self) -> float:
        return max(COLLECTIVE_SHARE * float(self.given["seconds"] / self.given["epochs"]), LEAST_SECONDS)

    def _next_prtt(self, epoch: int) -> list[str]:
        sizes = read_probe(self._raw).get("core_sizes") or ()
        seed = self.given["seed"] + epoch - 1
        return self.prtt.begin(self._raw / f"{PART}{epoch}", self.part_seconds, seed, sizes)

    def _collectives(self, epoch: int) -> list[str]:
        job = JobProbe("collectives", 2, self.mpi, self._collective_seconds, self.hosts)
        options = collective_options(min(self.given["max_size"], MOST_COLLECTIVE), seed_of(self.given["seed"], epoch))
        return begin_recording(job, self.mpi, options, self.place / "collectives" / f"{EPOCH}{epoch}")

    def _patterns(self, epoch: int) -> list[str]:
        job = JobProbe("patterns", self._ranks, self.mpi, self._pattern_seconds, self.hosts)
        seed = seed_of(self.given["seed"], epoch)
        options = pattern_options(self.given["max_size"], seed, self._changes, self._lateness)
        return begin_recording(job, self.mpi, options, self.place / "patterns" / f"{EPOCH}{epoch}")

    @property
    def _changes(self) -> list[int]:
        """The first size of each protocol that the first part of PRTT has enclosed to the byte."""
        said = read_probe(self._raw)
        return sorted({*(said.get("breaks") or ()), *(said.get("blocking_from") or ())})

    @property
    def _lateness(self) -> Lateness | None:
        """Late receivers compute for about two round trips: then each message has come, and its time still shows."""
        samples = read_samples(self._raw / "samples.csv")
        trips = samples[(samples["series"] == "rtt") & (samples["size"] > 0)].groupby("size")["value_ns"].median()
        if trips.empty:
            return None
        least, most = trips.index[0], trips.index[-1]
        per_byte = (trips[most] - trips[least]) / max(most - least, 1)
        return Lateness(2 * float(trips[least]), max(2 * float(per_byte), 0.0))
