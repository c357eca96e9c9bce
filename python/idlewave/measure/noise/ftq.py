"""Fixed time quantum: the work in each quantum of an absolute grid, and the loss.

M. Sottile, R. Minnich: Analysis of Microbenchmarks for Performance Tuning of Clusters, 2004.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy

from ...errors import InputError, MeasurementError
from ...formatting import percent_text
from .noise_recording import NoiseRecording
from .spectrum import Spectrum, power_spectrum

_BINS = 500  # over the work of a full quantum: a mode is known to about 0.1 %
_FARTHEST = 4  # times the 99.9 % quantile of the work: quanta above that have no mode of their own, and need no bins
_LEAST_PART = 0.05  # of the highest mode, which the upper mode has at least


@dataclass(frozen=True)
class FtqCore:
    """One core. `loss`: the share of each quantum that was lost; below 0 if more work was done than usual.

    `full`: the work of an undisturbed quantum, the upper mode of the distribution; `modes`: the work at all modes,
    ascending.
    """

    cpu: int
    loss: npt.NDArray[np.float64]
    full: float
    modes: tuple[float, ...]

    @property
    def overhead(self) -> float:
        """The share of the time that was lost."""
        return float(self.loss.mean())


@dataclass(frozen=True)
class Ftq:
    """All cores of one recording; `quantum_s` is the grid's step."""

    cores: tuple[FtqCore, ...]
    quantum_s: float

    @property
    def overhead(self) -> float:
        """The share of the time that was lost, over all cores."""
        return float(np.mean([core.overhead for core in self.cores]))

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on cores that worked at several speeds."""
        return tuple(
            f"Core {core.cpu}: many quanta did {_percentages(core)} of the work of an undisturbed one; "
            "if the processor changed its speed, that counts as loss."
            for core in self.cores
            if len(core.modes) > 1 and core.modes[-2] > 0.5 * core.full
        )

    def spectrum(self) -> Spectrum:
        """The power spectrum of the loss, up to 1 / (2 quanta)."""
        return power_spectrum([core.loss for core in self.cores], self.quantum_s)


def _percentages(core: FtqCore) -> str:
    return ", ".join(f"{percent_text(mode / core.full)}" for mode in core.modes[:-1])


def analyse_ftq(recording: NoiseRecording) -> Ftq:
    """The loss of each quantum of a recording of ftq.

    Raises MeasurementError if a core did no work, InputError for a recording of another probe.
    """
    if recording.probe != "ftq":
        raise InputError(f"{recording.folder}: expected a recording of ftq, found one of {recording.probe}")
    cores = []
    for core in recording.cores:
        work = core.table["work"].to_numpy(dtype=np.float64)
        if len(work) == 0 or work.max() <= 0:
            raise MeasurementError(f"{recording.folder}: core {core.cpu} did no work in {len(work)} quanta")
        modes = work_modes(work)
        full = modes[-1]
        cores.append(FtqCore(core.cpu, 1 - work / full, full, modes))
    return Ftq(tuple(cores), float(recording.said["quantum_ns"]) * 1e-9)


def work_modes(work: npt.NDArray[np.float64]) -> tuple[float, ...]:
    """The modes of the work in quanta, ascending; at least one quantum has done work. The last mode is that of
    undisturbed quanta.

    The maximum would be biased: now and then a quantum does more work (a boundary read late, a burst of the clock),
    under load by more than 10 %. A high quantile would be biased by the amount of noise. The upper mode is biased by
    neither: undisturbed quanta do the same work, disturbed ones do different work. The modes are the maxima of a
    smoothed histogram that have at least 5 % of the highest, and more than the scatter of the counts. The position of
    the uppermost one is the median of the quanta around it.
    """
    work = work[
        work > 0
    ]  # a core that is busy with others loses most quanta wholly; they do not show the work of a full one
    top = float(np.quantile(work, 0.999))
    width = max(top / _BINS, 1.0)
    last = max(int(min(float(work.max()), _FARTHEST * top) // width) + 1, 1)
    counts, edges = np.histogram(work, np.arange(last + 2) * width - width / 2)
    density = scipy.ndimage.gaussian_filter1d(counts.astype(np.float64), 1.5, mode="constant")
    padded = np.concatenate([[0.0], density, [0.0]])
    scatter = 4 * np.sqrt(density.max() / (2 * np.sqrt(np.pi) * 1.5))
    least = min(max(_LEAST_PART * density.max(), scatter), 0.9 * density.max())
    places, _ = scipy.signal.find_peaks(padded, height=least, prominence=least)
    middles = (edges[places - 1] + edges[places]) / 2
    near = [work[np.abs(work - middle) <= 1.5 * width] for middle in middles]
    return tuple(float(np.median(part)) for part in near if len(part)) or (top,)


def ftq_table(ftq: Ftq) -> pd.DataFrame:
    """A row a core: core, quanta, seconds, full (work), overhead, lost_wholly (quanta), p99 and worst loss (shares)."""
    return pd.DataFrame(
        [
            {
                "core": core.cpu,
                "quanta": len(core.loss),
                "seconds": len(core.loss) * ftq.quantum_s,
                "full": core.full,
                "overhead": core.overhead,
                "lost_wholly": int((core.loss >= 1).sum()),
                "p99": float(np.quantile(core.loss, 0.99)),
                "worst": float(core.loss.max()),
            }
            for core in ftq.cores
        ]
    )
