"""Detours that come at a period: one at most in each, more often than by chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from .noise_recording import Detours

LEAST_SHARE = 0.3
"""The smallest share of its periods in which a periodic source comes."""

LEAST_EVENTS = 8
_SIGNIFICANT = 1e-6
_WIDEST = 0.1  # of the period: the largest deviation of a periodic source
_VALLEY = 0.5  # a gap between two clusters of lengths is lower than this part of the lower one
_BINS_PER_DECADE = 10
_FAR = 10.0
_FEW = 0.05

Times = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Train:
    """Detours that follow a period, and how well they do: their deviation, and the share of periods that have one.

    `members`: of each detour of the core, whether it is one of them.
    """

    members: Flags
    period_ps: float
    jitter_ps: float
    share: float


def train_at(core: Detours, chosen: Flags, period: float) -> Train | None:
    """The detours of `chosen` that follow `period`, with the period refined; None if chance explains their number."""
    places = np.flatnonzero(chosen)
    starts = core.starts[places].astype(np.float64)
    origin, window = _phase(starts % period, period)
    for _ in range(4):
        number = np.round((starts - origin) / period)
        late = starts - origin - number * period
        near = np.abs(late) <= window
        if int(near.sum()) < LEAST_EVENTS or np.ptp(number[near]) < LEAST_EVENTS - 1:
            return None
        line = scipy.stats.linregress(number[near], starts[near])
        period, origin = float(line.slope), float(line.intercept)
        late = starts - origin - np.round((starts - origin) / period) * period
        inside = np.abs(late) <= window
        spread = 1.4826 * float(np.median(np.abs(late[inside]))) if inside.any() else window
        window = min(max(6 * spread, 2e3), _WIDEST * period)
    return _accepted(core, places, starts, origin, period, window)


def _phase(phases: npt.NDArray[np.float64], period: float) -> tuple[float, float]:
    """The phase at which most arrive: the fullest of 50 parts of the period, and half of two parts as the window."""
    counts, edges = np.histogram(phases, 50, (0, period))
    smooth = scipy.ndimage.uniform_filter1d(counts.astype(np.float64), 3, mode="wrap")
    best = int(smooth.argmax())
    return float(edges[best] + edges[best + 1]) / 2, period / 25


def _accepted(
    core: Detours,
    places: npt.NDArray[np.intp],
    starts: npt.NDArray[np.float64],
    origin: float,
    period: float,
    window: float,
) -> Train | None:
    """The nearest detour of each period, if enough periods have one, and more than by chance; else None."""
    number = np.round((starts - origin) / period).astype(np.int64)
    late = starts - origin - number * period
    near = np.flatnonzero(np.abs(late) <= window)
    order = near[np.lexsort((np.abs(late[near]), number[near]))]
    first = np.concatenate([[True], np.diff(number[order]) > 0]) if len(order) else np.array([], dtype=bool)
    taken = np.sort(order[first])
    periods = core.duration / period
    background = (len(starts) - len(taken)) / max(core.duration - periods * 2 * window, period)
    by_chance = -np.expm1(-background * 2 * window)
    chance = float(scipy.stats.binom.sf(len(taken) - 1, max(round(periods), len(taken)), min(by_chance, 1.0)))
    share = min(len(taken) / periods, 1.0)
    if len(taken) < LEAST_EVENTS or chance > _SIGNIFICANT or share < LEAST_SHARE:
        return None
    members = np.zeros(len(core.starts), dtype=bool)
    members[places[taken]] = True
    members &= ~_foreign(core.lengths, members)
    return Train(members, period, float(np.std(late[taken])), share)


def _foreign(lengths: Times, members: Flags) -> Flags:
    """Members more than ten times as long as the median, if they are few: detours of another source at that time."""
    usual = float(np.median(lengths[members]))
    far: Flags = members & (lengths > _FAR * usual)
    return far if far.sum() <= _FEW * members.sum() else np.zeros(len(lengths), dtype=bool)


def length_clusters(lengths: Times) -> list[tuple[int, int]]:
    """Ranges (least, most; ps) of the lengths, divided at the valleys of a histogram of their logarithm."""
    if len(lengths) == 0:
        return []
    logs = np.log10(np.maximum(lengths, 1).astype(np.float64))
    low, high = float(logs.min()), float(logs.max())
    count = int((high - low) * _BINS_PER_DECADE) + 1
    counts, edges = np.histogram(logs, count, (low, low + count / _BINS_PER_DECADE + 1e-9))
    density = scipy.ndimage.gaussian_filter1d(counts.astype(np.float64), 1.0, mode="constant")
    peaks, _ = scipy.signal.find_peaks(
        np.concatenate([[0.0], density, [0.0]]), prominence=max(0.02 * density.max(), 1.0)
    )
    borders = []
    for left, right in zip(peaks[:-1] - 1, peaks[1:] - 1, strict=True):
        valley = left + int(density[left : right + 1].argmin())
        if density[valley] < _VALLEY * min(density[left], density[right]):
            borders.append((edges[valley] + edges[valley + 1]) / 2)
    parts = np.searchsorted(np.array(borders), logs, side="right")
    return [(int(own.min()), int(own.max())) for part in np.unique(parts) for own in [lengths[parts == part]]]
