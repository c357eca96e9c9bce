"""Whether the detours of a recording support the periodic sources that its spectrum shows: a posterior check.

A line of the spectrum may have another cause than events of one length at its frequency: a competing task that runs in
turns of the scheduler has lines, too. So each source is looked for in the recording itself. Detours belong to it that
begin at its phase, one in a period; their number must not be by chance. Its length and its share of the time are
theirs, without the time of other work in them; the time that they take in all is compared with what the height of the
line says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...formatting import percent_text, plain
from .foreign_load import FOREIGN
from .noise_recording import Detours
from .periodic_trains import Train, length_clusters, train_at
from .source_checks import inseparable
from .source_lengths import FoundTrain, first_supported, without
from .spectrum import Peak

LEAST_PART = 0.5
"""The part of a source's time that its detours take at least, if it is not doubtful."""

_MOST_PHASES = 8  # detours in each period
_TOLERANCE = 1.2  # a share from the heights of lines is as inexact
_MOST_OFF = 0.01  # relative difference of the frequencies of a source and of its detours


@dataclass(frozen=True)
class _Support:
    """What the detours of a core say of a source, which may have several detours in each period, at several phases.

    `share` of the time of its events; `lost` is that of its detours, with the other work in them. `length_ps`,
    `least_ps`, `most_ps`: of the events of a period. `mixed`: the part of the detours that hold other work.
    """

    share: float
    lost: float
    length_ps: float
    least_ps: float
    most_ps: float
    mixed: float
    separable: bool


def supported_peaks(peaks: Sequence[Peak], cores: Sequence[Detours]) -> list[Peak]:
    """The sources that the detours support, with their lengths, the costliest first; with a `doubt` if there is one.

    Without detours at its phase on any core a source is left out.
    """
    found = []
    for peak in peaks:
        support = [each for each in (_support(peak, core) for core in cores) if each is not None]
        if support:
            found.append(_as_recorded(peak, support, len(cores)))
    return sorted(found, key=lambda peak: -peak.share)


def possible_peaks(peaks: Sequence[Peak], overhead: float, foreign: float) -> list[Peak]:
    """The sources of a recording without detours (FTQ) that do not take more time than was lost in all, `overhead`.

    If others used a core for the share `foreign` of the time, nothing shows which part of a line is theirs.
    """
    doubt = (
        f"other processes used up to {plain(percent_text(foreign))} of a core, and only detours would show their part"
    )
    possible = [peak for peak in peaks if peak.share <= _TOLERANCE * overhead]
    return [replace(peak, doubt=doubt) for peak in possible] if foreign > FOREIGN else possible


def _support(peak: Peak, core: Detours) -> _Support | None:
    """What the detours of a core say of a source; None if there are none at its phase."""
    found: list[FoundTrain] = []
    left, lost = core, 0
    while len(found) < _MOST_PHASES:
        best = first_supported(left, _trains(peak, left), found)
        if best is None:
            break
        found.append(best)
        lost += int(left.lengths[best[0].members].sum())
        left = without(left, *best)
    return _summed(found, lost / core.duration) if found else None


def _summed(found: Sequence[FoundTrain], lost: float) -> _Support:
    lengths = [length for _, length in found]
    often = max(length.share for length in lengths)
    ends = [[each.length_ps, each.least_ps, each.most_ps] for each in lengths]
    length, least, most = (float(x) / often for x in np.array([each.share for each in lengths]) @ np.array(ends))
    return _Support(
        sum(each.share * each.length_ps / train.period_ps for train, each in found),
        lost,
        length,
        least,
        most,
        float(np.average([each.mixed for each in lengths], weights=[train.members.sum() for train, _ in found])),
        all(each.separable for each in lengths),
    )


def _trains(peak: Peak, core: Detours) -> list[Train]:
    """Trains at the frequency of a source, of all lengths, or of a cluster of lengths if others hide it."""
    period = 1e12 / peak.frequency
    ranges = [(0, 2**62), *length_clusters(core.lengths)]
    chosen = [(core.lengths >= low) & (core.lengths <= high) for low, high in ranges]
    trains = [train for train in (train_at(core, own, period) for own in chosen) if train is not None]
    return [train for train in trains if abs(train.period_ps / period - 1) <= _MOST_OFF]


def _as_recorded(peak: Peak, support: Sequence[_Support], cores: int) -> Peak:
    """The source with the lengths of its detours on the cores that have them, and its share of the time of all."""
    least, most = min(each.least_ps for each in support), max(each.most_ps for each in support)
    separable = all(each.separable for each in support)
    lost = sum(each.lost for each in support) / cores
    return replace(
        peak,
        share=sum(each.share for each in support) / cores,
        length_ps=float(np.mean([each.length_ps for each in support])),
        least_ps=least,
        most_ps=most,
        mixed=float(np.mean([each.mixed for each in support])),
        doubt=_doubt(peak, lost) if separable else inseparable(most),
    )


def _doubt(peak: Peak, lost: float) -> str:
    """What is doubtful of a source whose detours take the share `lost` of the time; empty if nothing is."""
    if lost >= LEAST_PART * peak.share:
        return ""
    return f"the detours at its times take {lost:.2g} of the time, its line stands for {peak.share:.2g}"
