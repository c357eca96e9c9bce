"""From a recording to a signature: the periodic sources of a core's detours, and the laws of the others.

Arrival times are tested for periodicity by their spectrum (each detour counts once, so that rare long ones do not hide
frequent short ones). A significant period is refined by regression on the numbers of the periods, and the detours that
follow it are removed. The remaining detours are random: their lengths are divided where few lie, and each part has a
rate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import scipy

from ...units import format_time
from .compare import all_lengths, ks_distance, spectrum_distance
from .length_laws import fit_lengths
from .noise_recording import Detours
from .signature import PERIODIC, RANDOM, Goodness, Signature, Source
from .spectrum import HIGHEST_HZ, OVERSAMPLING, named_peaks, power_spectrum

LEAST_SHARE = 0.3
"""The smallest share of its periods in which a periodic source comes."""

LEAST_EVENTS = 8
_SIGNIFICANT = 1e-6
_MOST_SOURCES = 12
_WIDEST = 0.1  # of the period: the largest deviation of a periodic source
_VALLEY = 0.5  # a gap between two clusters of lengths is lower than this part of the lower one
_BINS_PER_DECADE = 10
_FAR = 10.0
_FEW = 0.05
_SAME_LENGTH = 0.02  # the relative resolution of most recordings

Times = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class _Train:
    """Detours that follow a period, and how well they do."""

    members: Flags
    period_ps: float
    jitter_ps: float
    share: float


def fit_signature(cores: Sequence[Detours], name: str = "machine", seed: int = 1) -> Signature:
    """The sources of each core, with the quality of one realisation (drawn from `seed`) for each recording.

    Cores of several nodes are renumbered in order.
    """
    renumbered = len({core.core for core in cores}) < len(cores)
    own = [replace(core, core=i) if renumbered else core for i, core in enumerate(cores)]
    sources = [source for core in own for source in core_sources(core)]
    fitted = Signature(name, tuple(core.core for core in own), tuple(sources))
    return replace(fitted, goodness=tuple(goodness(fitted, core, seed) for core in own))


def core_sources(core: Detours) -> list[Source]:
    """The periodic sources of one core, the most frequent first, and the random ones by cluster of length."""
    left = np.ones(len(core.starts), dtype=bool)
    sources: list[Source] = []
    while len(sources) < _MOST_SOURCES:
        train = next(_trains(core, left), None)
        if train is None:
            break
        lengths = core.lengths[train.members]
        named = f"every {format_time(train.period_ps, 3)}"
        law = fit_lengths(lengths)
        sources.append(Source(named, core.core, PERIODIC, train.period_ps, law, train.jitter_ps, train.share))
        left &= ~train.members
    for low, high in length_clusters(core.lengths[left]):
        own = core.lengths[left & (core.lengths >= low) & (core.lengths <= high)]
        named = f"random {format_time(float(np.median(own)), 2)}"
        sources.append(Source(named, core.core, RANDOM, core.duration / len(own), fit_lengths(own)))
    return _distinct(sources)


def _distinct(sources: list[Source]) -> list[Source]:
    seen: dict[str, int] = {}
    result = []
    for source in sources:
        seen[source.name] = seen.get(source.name, 0) + 1
        again = seen[source.name]
        result.append(source if again == 1 else replace(source, name=f"{source.name} ({again})"))
    return result


def _trains(core: Detours, left: Flags) -> Iterator[_Train]:
    """Periodic trains among the remaining detours: of all, and of each cluster of lengths, by significance."""
    lengths = core.lengths[left]
    ranges = [(0, 2**62)] if len(lengths) else []
    ranges += length_clusters(lengths)
    for low, high in ranges:
        chosen = left & (core.lengths >= low) & (core.lengths <= high)
        if int(chosen.sum()) < LEAST_EVENTS:
            continue
        for frequency in _frequencies(core, chosen):
            train = _train(core, chosen, 1e12 / frequency)
            if train is not None:
                yield train


def _frequencies(core: Detours, chosen: Flags) -> list[float]:
    """Candidates, in Hz, from the spectrum of arrivals."""
    step = 1 / (2 * HIGHEST_HZ * OVERSAMPLING)
    count = int(core.duration * 1e-12 / step)
    if count < 1024:
        return []
    counts, _ = np.histogram(core.starts[chosen], count, (0, core.duration))
    peaks = named_peaks(
        power_spectrum([counts.astype(np.float64)], core.duration * 1e-12 / count, highest_hz=HIGHEST_HZ)
    )
    return [peak.frequency for peak in sorted(peaks, key=lambda p: (-len(p.harmonics), -p.ratio))]


def _train(core: Detours, chosen: Flags, period: float) -> _Train | None:
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
) -> _Train | None:
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
    return _Train(members, period, float(np.std(late[taken])), share)


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


def goodness(fitted: Signature, core: Detours, seed: int) -> Goodness:
    """The differences of `core` from a realisation of `fitted` that is as long as the recording."""
    own = tuple(source for source in fitted.sources if source.core == core.core)
    alone = replace(fitted, cores=(core.core,), sources=own)
    made = alone.detours(core.duration * 1e-12, seed)
    return Goodness(
        core.core,
        core.overhead,
        alone.overhead,
        ks_distance(all_lengths([core]), all_lengths(made), _SAME_LENGTH),
        spectrum_distance([core], made),
    )
