"""What an assessment measures: collectives, PRTT and patterns of messages in turn, in several starts of the ranks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.progress import Progress

from ...mpi import Mpi
from .files.network_recording import PART, read_probe
from .job.collectives import collective_options
from .job.patterns import LEAST_SECONDS, findings, pattern_options, ranks_of, seed_of
from .probing.job_run import EPOCH, JobProbe, begin_recording, run_epoch
from .probing.network_run import NetworkRecordings

MOST_COLLECTIVE = 2**28
"""Bytes of the largest vector that the probe of collectives takes."""
COLLECTIVE_SHARE = 0.4
"""The time of collectives, in that of patterns."""


@dataclass(frozen=True)
class AssessmentRun:
    """The starts of the ranks, one for each epoch, in which some of the collectives, a part of PRTT, and patterns with
    the other collectives are measured one after the other. The first part of PRTT takes twice as long: it chooses the
    sizes of all, and finds what the patterns need to know."""

    mpi: Mpi
    prtt: NetworkRecordings
    part_seconds: float  # of a part of PRTT
    given: Mapping[str, Any]  # the parameters of patterns
    hosts: tuple[str, ...]
    place: Path
    progress: Progress | None

    def measure(self) -> None:
        """All of it, recorded in `place`."""
        for epoch in range(1, self.given["epochs"] + 1):
            parts = {
                "loggp": self._prtt(epoch),
                "collectives": self._collectives(epoch),
                "patterns": self._patterns(epoch),
            }
            seconds = self._prtt_seconds(epoch) + self._collective_seconds + self._pattern_seconds
            job = JobProbe("epoch", self._ranks, self.mpi, seconds, self.hosts)
            run_epoch(job, parts, self.progress, f"epoch {epoch}")

    @property
    def _ranks(self) -> int:
        return ranks_of(2 if self.hosts else None, self.hosts)

    def _prtt_seconds(self, epoch: int) -> float:
        return 2 * self.part_seconds if epoch == 1 else self.part_seconds

    @property
    def _collective_seconds(self) -> float:
        return max(COLLECTIVE_SHARE * float(self.given["seconds"] / self.given["epochs"]), LEAST_SECONDS)

    @property
    def _pattern_seconds(self) -> float:
        return max(float(self.given["seconds"] / self.given["epochs"]), LEAST_SECONDS)

    def _prtt(self, epoch: int) -> list[str]:
        whole = self.place / "network-1"
        sizes = () if epoch == 1 else read_probe(whole).get("core_sizes") or ()
        raw = whole if epoch == 1 else whole / f"{PART}{epoch}"
        return self.prtt.begin(raw, self._prtt_seconds(epoch), self.given["seed"] + epoch - 1, sizes)

    def _collectives(self, epoch: int) -> list[str]:
        job = JobProbe("collectives", 2, self.mpi, self._collective_seconds, self.hosts)
        options = collective_options(min(self.given["max_size"], MOST_COLLECTIVE), seed_of(self.given["seed"], epoch))
        return begin_recording(job, self.mpi, options, self.place / "collectives" / f"{EPOCH}{epoch}")

    def _patterns(self, epoch: int) -> list[str]:
        job = JobProbe("patterns", self._ranks, self.mpi, self._pattern_seconds, self.hosts)
        folder = self.place / "patterns"
        changes, lateness = findings(folder / f"{EPOCH}1") if epoch > 1 else ((), None)
        options = pattern_options(self.given["max_size"], seed_of(self.given["seed"], epoch), changes, lateness)
        return begin_recording(job, self.mpi, options, folder / f"{EPOCH}{epoch}")
