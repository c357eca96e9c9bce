"""Detours that come at a period: one at most in each, more often than by chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from .known_periods import TICK_RATES
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
_BEYOND = 2.0  # times the deviation of most is that of nearly all
_INNER = 0.6  # of a source's detours, those in the inner half of its window, where even times have half
_IRREGULAR = 0.02  # of the time between two ticks
_SAME = 1e-3  # relative difference of two equal periods
_UNEQUAL = 0.5
_UNLIKELY = 1e-3
_FINEST = 256  # parts of a period whose phases are compared with a source's own

Times = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Train:
    """Detours that follow a period, and how well they do: their deviation, and the share of periods that have one.

    `members`: of each detour of the core, whether it is one of them. They begin within `window_ps` of the times
    `origin_ps` + k `period_ps`. `visible`: the periods whose time is not inside another detour, where a begin would
    not show; `share` is of these.
    """

    members: Flags
    period_ps: float
    jitter_ps: float
    share: float
    origin_ps: float
    window_ps: float
    visible: int

    def late(self, starts: Times) -> npt.NDArray[np.float64]:
        """How much later than the nearest time of the period each of `starts` is, ps."""
        after = starts - self.origin_ps
        late: npt.NDArray[np.float64] = after - np.round(after / self.period_ps) * self.period_ps
        return late


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
        middle = _densest(late[np.abs(late) <= window], window)
        origin += middle
        window = _window(late - middle, period)
    return _accepted(core, places, starts, origin, period, window)


def _densest(late: npt.NDArray[np.float64], window: float) -> float:
    """Where most of `late` lie, in a window that others fill evenly: the median in the fullest of its 50 parts."""
    counts, edges = np.histogram(late, 50, (-window, window))
    best = int(scipy.ndimage.uniform_filter1d(counts.astype(np.float64), 3, mode="constant").argmax())
    inside = (late >= edges[max(best - 1, 0)]) & (late <= edges[min(best + 2, 50)])
    return float(np.median(late[inside])) if inside.any() else 0.0


def _window(late: npt.NDArray[np.float64], period: float) -> float:
    """How late or early most of a source's detours are at most, where others begin at any time.

    The density of the others is that in the outer half of the widest window. The window is twice the one whose number
    of detours stands out of theirs most clearly.
    """
    widest = _WIDEST * period
    apart = np.sort(np.abs(late[np.abs(late) <= widest]))
    if len(apart) == 0:
        return widest
    expected = (apart > widest / 2).sum() / (widest / 2) * apart
    clear = (np.arange(1, len(apart) + 1) - expected) / np.sqrt(expected + 1)
    return float(np.clip(_BEYOND * apart[int(clear.argmax())], 2e3, widest))


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
    visible = _visible(core, origin, period, window)
    near = near[np.isin(number[near], visible)]
    order = near[np.lexsort((np.abs(late[near]), number[near]))]
    first = np.concatenate([[True], np.diff(number[order]) > 0]) if len(order) else np.array([], dtype=bool)
    taken = np.sort(order[first])
    if len(taken) < LEAST_EVENTS or np.mean(np.abs(late[taken]) <= window / 2) < _INNER:
        return None
    others = np.abs(late[np.abs(late) > window])
    free = max(core.duration - float(core.lengths.sum()), period)
    by_chance = len(others) / free * 2 * window
    if _share(len(taken), len(visible), by_chance) is None:
        return None
    by_chance = max(by_chance, _at_grid(others, period, window, free / period))
    share = _share(len(taken), len(visible), by_chance)
    if share is None or _of_a_multiple(number[taken], visible, by_chance):
        return None
    members = np.zeros(len(core.starts), dtype=bool)
    members[places[taken]] = True
    members &= ~_foreign(core.lengths, members)
    return Train(members, period, float(np.std(late[taken])), share, origin, window, len(visible))


def _share(taken: int, visible: int, by_chance: float) -> float | None:
    """The share of the `visible` periods that have a detour of the source, if `taken` have one, and others come to a
    period with the probability `by_chance`; None if it is small or could be by chance."""
    if by_chance >= 1 or float(scipy.stats.binom.sf(taken - 1, visible, by_chance)) > _SIGNIFICANT:
        return None
    share = (taken / visible - by_chance) / (1 - by_chance)
    return share if share >= LEAST_SHARE else None


def _visible(core: Detours, origin: float, period: float, window: float) -> Times:
    """The numbers of the periods at whose time the core was not already taken by another detour."""
    numbers = np.arange(np.ceil((-origin - window) / period), np.floor((core.duration - origin + window) / period) + 1)
    times = origin + period * numbers
    before = np.searchsorted(core.starts, times - window, side="left") - 1
    ends = core.starts + core.lengths
    visible: Times = numbers[(before < 0) | (ends[np.maximum(before, 0)] <= times)].astype(np.int64)
    return visible


def _at_grid(others: npt.NDArray[np.float64], period: float, window: float, periods: float) -> float:
    """The most detours a phase, by how late the `others` are, at the other phases of a grid that divides the period.

    `periods`: for how many the core was free, in which a detour can begin.

    The turns of a competing task begin at ticks: a period of some ticks has more begins at its phase than at any time.
    Ticks are a little irregular; near the phases of the grid only those count that are clearly more than at any time.
    A tick is a source of its own though a hypervisor's tick may come at its period's quarters.
    """
    if any(abs(period * rate * 1e-12 - 1) < _SAME for rate in TICK_RATES):
        return 0.0
    most = 0.0
    for parts in range(2, min(_FINEST, int(period / (4 * window))) + 1):
        step = period / parts
        apart = np.abs(others - np.round(others / step) * step)
        near = max(window, _IRREGULAR * step)
        expected = len(others) * 2 * near / step
        begins = max(int((apart <= window).sum()), (apart <= near).sum() - expected - 3 * np.sqrt(expected + 1))
        most = max(most, float(begins) / ((parts - 1) * periods))
    return most


def _of_a_multiple(numbers: Times, visible: Times, by_chance: float) -> bool:
    """Whether every second or third period has nearly all of these detours: the true period is that multiple.

    `numbers`: of the periods with a detour, `visible`: of those that could have one.
    """
    for parts in range(2, round(1 / LEAST_SHARE) + 1):
        hits, seen = (np.bincount(each % parts, minlength=parts) for each in (numbers, visible))
        if seen.all():
            shares = hits / seen - by_chance
            table = [hits, np.maximum(seen - hits, 1)]
            unequal = shares.min() < _UNEQUAL * shares.max()
            if unequal and scipy.stats.chi2_contingency(table).pvalue < _UNLIKELY:
                return True
        elif hits.max() == hits.sum():
            return True
    return False


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
