"""A running job is watched: a trained detector says of each interval how probable traffic is.

The probes run on a core of their own where there is one (`sampling`); there they see what all cores share, the last
level of caches and DRAM, and no caches of the job's own cores. So a set of the first or second level can be trusted as
far as the core shares it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Protocol

import numpy as np

from ..errors import InputError, UsageError
from ..formatting import unknown_name
from .forest import Detector, probability

LOOK_S = 0.1
"""Seconds between two looks at whether the job still runs."""


class Samples(Iterator[Mapping[str, float]], Protocol):
    """A column's value by name, interval by interval; `close` ends the probe."""

    def ready(self, seconds: float) -> bool:
        """Whether the next interval has ended, now or within so many seconds."""

    def close(self) -> None:
        """End the probe."""


class SampleProbes(Protocol):
    """Samples these columns of the table of contention on the core `cpu`, once in `interval_s` seconds, until it is
    closed. NaN stands for what it could not measure."""

    def __call__(self, columns: Sequence[str], *, interval_s: float, cpu: int) -> Samples:
        """Begin to sample."""


@dataclass(frozen=True)
class WatchedInterval:
    """An interval: when it ended (Unix time, s), the probability of traffic by feature set, and whether that of the
    chosen set raises an alarm. While the quiet baseline is measured (`calibrating`) there are no probabilities.
    `missing`: values could not be sampled, so nothing is said of the sets that need them (NaN)."""

    interval: int
    at: float
    calibrating: bool
    probabilities: Mapping[str, float]
    alarm: bool
    missing: tuple[str, ...]

    def as_row(self) -> dict[str, object]:
        """A row of JSON; None for a probability that is not known."""
        known = {
            f"probability_{name}": value if np.isfinite(value) else None for name, value in self.probabilities.items()
        }
        return {"interval": self.interval, "at": self.at, "calibrating": self.calibrating, **known, "alarm": self.alarm}


@dataclass(frozen=True)
class Watch:
    """How a job is watched: by the alarms of `feature_set` (default: the best of the detector), against the quiet
    baseline of `victim` ("": of all that it was trained on), or that of the first `calibrate` intervals, which have to
    be quiet."""

    detector: Detector
    feature_set: str = ""
    victim: str = ""
    calibrate: int = 0

    def __post_init__(self) -> None:
        if self.victim and self.calibrate:
            raise UsageError("a quiet baseline is that of a victim, or of the first intervals, not both")
        if self.feature_set and self.feature_set not in self.detector.forests:
            raise UsageError(unknown_name("feature set", self.feature_set, self.detector.forests))
        if self.victim not in self.detector.baselines:
            known = [name for name in self.detector.baselines if name]
            raise UsageError(unknown_name("victim of this model", self.victim, known))
        counters = [column for column in self.detector.all_columns if column.startswith("counter.")]
        if counters:
            raise InputError(
                f"the model looks at {counters[0]}, a counter of the victim's own core, which is not sampled beside a "
                "job: expected one by probes (idlewave contention learn --by probe)"
            )

    @property
    def chosen_set(self) -> str:
        """The set whose alarms count."""
        return self.feature_set or self.detector.best_set

    def intervals(
        self,
        sample: SampleProbes,
        *,
        interval_s: float,
        cpu: int,
        runs: Callable[[], bool] = lambda: True,
    ) -> Generator[WatchedInterval]:
        """The intervals as they end, while `runs` says that there is something to watch."""
        baseline = dict(self.detector.baselines[self.victim])
        quiet: list[Mapping[str, float]] = []
        with closing(sample(self.detector.all_columns, interval_s=interval_s, cpu=cpu)) as samples:
            for number in count():
                while not samples.ready(LOOK_S):
                    if not runs():
                        return
                values = next(samples, None)
                if values is None:
                    return
                calibrating = number < self.calibrate
                if calibrating:
                    quiet.append(values)
                    baseline = self._medians(quiet)
                yield self._judged(number, values, baseline, calibrating)
                if not runs():
                    return

    def _medians(self, quiet: Sequence[Mapping[str, float]]) -> dict[str, float]:
        """The medians of what was measured; a column that never was keeps the baseline of the training."""
        trained = self.detector.baselines[""]
        found = {}
        for column in self.detector.all_columns:
            known = [values[column] for values in quiet if np.isfinite(values.get(column, np.nan))]
            found[column] = float(np.median(known)) if known else trained[column]
        return found

    def _judged(
        self, number: int, values: Mapping[str, float], baseline: Mapping[str, float], calibrating: bool
    ) -> WatchedInterval:
        found, missing = {}, []
        for name, forest in self.detector.forests.items():
            columns = self.detector.columns[name]
            given = np.array([values.get(column, np.nan) for column in columns], dtype=np.float64)
            lacking = [column for column, value in zip(columns, given, strict=True) if not np.isfinite(value)]
            missing += lacking
            scale = np.array([baseline[column] for column in columns])
            ratios = np.where(scale > 0, given / np.where(scale > 0, scale, 1.0), given + 1.0)
            unknown = calibrating or bool(lacking)
            found[name] = float("nan") if unknown else float(probability(forest, ratios[None, :])[0])
        alarm = found[self.chosen_set] > self.detector.thresholds[self.chosen_set]
        return WatchedInterval(number, time.time(), calibrating, found, bool(alarm), tuple(missing))


def process_runs(pid: int) -> Callable[[], bool]:
    """Whether the process runs: it is there, has not ended, and is still the same one. Raises UsageError if there is no
    such process now."""
    begun = _start_of(pid)
    if begun is None:
        raise UsageError(f"there is no process {pid} that runs")
    return lambda: _start_of(pid) == begun


def _start_of(pid: int) -> str | None:
    """When a process was started, in ticks since the boot; None if there is none, or it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields[19]
