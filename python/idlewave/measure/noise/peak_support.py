"""Whether the detours of a recording support the periodic sources that its spectrum shows: a posterior check.

A line of the spectrum may have another cause than events of one length at its frequency: a competing task that runs in
turns of the scheduler has lines, too. So each source is looked for in the recording itself. Detours belong to it that
begin at its phase, one in a period; their number must not be by chance, and the time that they take is compared with
what the height of the line says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .noise_recording import Detours
from .periodic_trains import Train, length_clusters, train_at
from .spectrum import Peak

LEAST_PART = 0.5
"""The part of a source's time that its detours take at least, if it is not doubtful."""

_MOST_OFF = 0.01  # relative difference of the frequencies of a source and of its detours


def supported_peaks(peaks: Sequence[Peak], cores: Sequence[Detours]) -> list[Peak]:
    """The sources that the detours support, each with its `doubt` if these support only a part of it.

    Without detours at its phase on any core a source is left out.
    """
    found = []
    for peak in peaks:
        trains = [(core, train_of(peak, core)) for core in cores]
        lost = [core.lengths[train.members].sum() / core.duration for core, train in trains if train is not None]
        if lost:
            found.append(replace(peak, doubt=_doubt(peak, float(sum(lost)) / len(cores))))
    return found


def train_of(peak: Peak, core: Detours) -> Train | None:
    """The detours of a core that follow the frequency of a source, of the lengths that take the most time; or None."""
    period = 1e12 / peak.frequency
    ranges = [(0, 2**62), *length_clusters(core.lengths)]
    chosen = [(core.lengths >= low) & (core.lengths <= high) for low, high in ranges]
    trains = [train for train in (train_at(core, own, period) for own in chosen) if train is not None]
    near = [train for train in trains if abs(train.period_ps / period - 1) <= _MOST_OFF]
    return max(near, key=lambda train: int(core.lengths[train.members].sum()), default=None)


def _doubt(peak: Peak, lost: float) -> str:
    """What is doubtful of a source, whose detours take the share `lost` of the time; empty if nothing is."""
    if lost >= LEAST_PART * peak.share:
        return ""
    return f"the detours at its times take {lost:.2g} of the time, its line stands for {peak.share:.2g}"
