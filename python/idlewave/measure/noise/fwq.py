"""Fixed work quantum: the time of each repetition of the same work, divided by the shortest.

Quanta begin one after the other, not on a grid, so there is no spectrum (Sottile and Minnich, 2004).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...errors import InputError, MeasurementError
from .noise_recording import NoiseRecording

QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999, "max": 1.0}


@dataclass(frozen=True)
class FwqCore:
    """One core: `slowdown` of each quantum (1: as fast as the fastest), the fastest's duration in ps."""

    cpu: int
    slowdown: npt.NDArray[np.float64]
    shortest_ps: int

    @property
    def overhead(self) -> float:
        """The share of the time that the work would not need without noise."""
        return 1 - 1 / float(self.slowdown.mean())

    def quantiles(self) -> dict[str, float]:
        """The slowdown that each share of the quanta does not exceed."""
        return {name: float(np.quantile(self.slowdown, part)) for name, part in QUANTILES.items()}


def analyse_fwq(recording: NoiseRecording) -> list[FwqCore]:
    """The slowdown on each core of a recording of fwq.

    Raises MeasurementError for a core without quanta, InputError for a recording of another probe.
    """
    if recording.probe != "fwq":
        raise InputError(f"{recording.folder}: expected a recording of fwq, found one of {recording.probe}")
    cores = []
    for core in recording.cores:
        durations = core.table["duration_ps"].to_numpy(dtype=np.int64)
        if len(durations) == 0 or durations.min() <= 0:
            raise MeasurementError(f"{recording.folder}: core {core.cpu} has no quantum of a time above 0")
        shortest = int(durations.min())
        cores.append(FwqCore(core.cpu, durations / shortest, shortest))
    return cores


def fwq_table(cores: list[FwqCore]) -> pd.DataFrame:
    """A row a core: core, quanta, shortest_ps, overhead, and the slowdown's p50, p90, p99, p999, max."""
    return pd.DataFrame(
        [
            {
                "core": core.cpu,
                "quanta": len(core.slowdown),
                "shortest_ps": core.shortest_ps,
                "overhead": core.overhead,
                **core.quantiles(),
            }
            for core in cores
        ]
    )
