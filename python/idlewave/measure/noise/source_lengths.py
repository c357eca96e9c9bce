"""How long the events of a periodic source are where its detours may hold other work, and what remains without them.

A competing task that follows an event lengthens the detour: the core comes back only when both are over. It can only
add time. So a source's own lengths are the lowest cluster of the lengths of its detours, if that is not by chance;
where nothing shows where the source's own lengths end, only an interval can be given.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import scipy

from .foreign_load import FOREIGN
from .noise_recording import Detours
from .periodic_trains import LEAST_EVENTS, Flags, Times, Train, length_clusters

_LEAST_ALONE = 0.05  # of a source's detours, those that hold nothing else
_SIGNIFICANT = 1e-6
_INTERVAL = (0.025, 0.975)
_FULL = 0.9  # of the period
_MOST_OF_IT = 0.8  # of the time that other tasks took: in detours of at least a turn's length
_SAME_PERIOD = 1e-3
_MOST_MIXED = 0.5  # of a source's detours, those that hold other work, where the others are the source's own
_MODE = 0.15  # of the lengths: those that lie nearest together
_SHORT = 0.1  # of the lengths: the short ones, where nothing separates the source from other work
_NEAR = 2.0  # factor by which the lengths of short ones differ
_SHARP = 1.1  # ratio of the ends of a mode, of a source whose events all have one length


@dataclass(frozen=True)
class SourceLength:
    """The length of a source's events, ps: the mean of those that are alone, and an interval.

    `alone`: of each detour of the core, whether it holds an event of the source and nothing else, as far as its length
    shows. `mixed`: the part of the source's detours that hold other work, too. `separable`: whether the lengths show
    which these are; if not, only the interval is known, and `length_ps` is that of the short ones. The interval has
    the single lengths but for the longest 2.5 %, if other work may be among them, and begins with 0 if all may hold
    some; else it is the 95 % confidence interval of the mean. `share`: of all periods in which an event comes.
    """

    alone: Flags
    length_ps: float
    least_ps: float
    most_ps: float
    mixed: float = 0.0
    separable: bool = True
    share: float = 0.0


FoundTrain = tuple[Train, SourceLength]


def first_supported(core: Detours, trains: Iterable[Train], earlier: Sequence[FoundTrain]) -> FoundTrain | None:
    """The first of `trains` whose lengths the recording does not refute, and which is not what an earlier one left.

    Of detours that held an event of an earlier train, the other work remains, at nearly the same phase.
    """
    for train in trains:
        if not any(_remains(train, *other) for other in earlier):
            length = source_length(core, train)
            if length is not None:
                return train, length
    return None


def _remains(train: Train, earlier: Train, length: SourceLength) -> bool:
    if abs(train.period_ps / earlier.period_ps - 1) > _SAME_PERIOD or not length.mixed:
        return False
    after = (train.origin_ps - earlier.origin_ps + train.window_ps + earlier.window_ps) % earlier.period_ps
    return after <= length.length_ps + 2 * (train.window_ps + earlier.window_ps)


def source_length(core: Detours, train: Train) -> SourceLength | None:
    """The length of the events of `train`; None if its detours are a competing task's turns.

    They are if most are as long as the period, because turns begin and end at ticks, or if too few are short.
    """
    lengths = core.lengths[train.members]
    if np.median(lengths) > _FULL * train.period_ps:
        return None
    own = train.share * float(np.quantile(lengths, _INTERVAL[0])) / train.period_ps
    competing = (core.overhead if core.foreign_load is None else core.foreign_load) - own
    found = _separated(core, train, competing) if competing > FOREIGN else _all_alone(lengths, train.members)
    return None if found is None else replace(found, share=_share(core, train, found))


def _share(core: Detours, train: Train, found: SourceLength) -> float:
    """The share of all periods in which an event comes: also those at whose time a longer detour could hold one."""
    shortest = core.lengths[found.alone].min()
    events = _held(core, train, found).sum() + (train.members & (core.lengths >= shortest)).sum()
    return float(min(events * train.period_ps / core.duration, 1.0))


def _held(core: Detours, train: Train, found: SourceLength) -> npt.NDArray[np.float64]:
    """The number of events that each detour holds beside one at its begin, by the times that it covers; 0 where it is
    too short for them."""
    first = np.ceil((core.starts - train.origin_ps + train.window_ps) / train.period_ps)
    last = np.floor((core.starts + core.lengths - train.origin_ps) / train.period_ps)
    events = np.where(found.alone, 0.0, np.maximum(last - first + 1, 0) * train.share)
    fitting: npt.NDArray[np.float64] = np.where(core.lengths > (events + train.members) * found.length_ps, events, 0.0)
    return fitting


def _all_alone(lengths: Times, members: Flags) -> SourceLength:
    mean = float(lengths.mean())
    half = float(scipy.stats.t.ppf(_INTERVAL[1], len(lengths) - 1) * scipy.stats.sem(lengths))
    return SourceLength(members, mean, max(mean - half, 0.0), mean + half)


def _separated(core: Detours, train: Train, competing: float) -> SourceLength | None:
    """The length of events beside a competing task that took the share `competing` of the time; None if too few
    detours are short enough to be events.

    The events are in the lowest clusters of lengths, which are no further apart than a turn of the competing task
    takes. Within these, if many have nearly one length, longer ones hold other work. Without such a mode, and without
    longer clusters, lengths that are wide enough apart for turns may hold some; then only short detours count as alone.
    So they do where short detours may be the switches that come with longer events.
    """
    lengths = core.lengths[train.members]
    clusters = [pair for pair in length_clusters(lengths) if not _by_chance(core, train, *pair)]
    low, _ = clusters[0] if clusters else (int(lengths.min()), 0)
    turn = _shortest_turn(core, train, competing, low)
    high = max((last for first, last in clusters if first - low < turn), default=int(lengths.max()))
    end = min(high, _end_of_mode(lengths[(lengths >= low) & (lengths <= high)]))
    separable = bool(end < lengths.max() or high - low < turn) and not _are_switches(lengths, low, end)
    if not separable:
        short = float(np.quantile(lengths, _SHORT))
        low, end = round(short / _NEAR), short * _NEAR
    alone = train.members & (core.lengths >= low) & (core.lengths <= end)
    own = core.lengths[alone]
    if len(own) < max(LEAST_EVENTS, _LEAST_ALONE * len(lengths)):
        return None
    most = float(np.quantile(own if separable else lengths, _INTERVAL[1]))
    # Other work comes meanwhile, and adds: the shortest detour that is alone may be the only one without; and if
    # nothing shows which are alone, all may hold other work.
    least = float(own.min()) if separable else 0.0
    return SourceLength(alone, float(own.mean()), least, most, float((lengths > end).mean()), separable)


def _are_switches(lengths: Times, low: float, end: float) -> bool:
    """Whether the lengths from `low` to `end` may be those of what comes with events, and not of these: they are few,
    and unlike each other."""
    own = lengths[(lengths >= low) & (lengths <= end)]
    shortest, longest = np.quantile(own, _INTERVAL)
    return bool((lengths > end).mean() > _MOST_MIXED and longest > _NEAR * shortest)


def _end_of_mode(lengths: Times) -> float:
    """The longest length that belongs to a sharp mode of the short lengths, as far above its middle as the shortest are
    below; infinite if there is none. The mode is where so many of the lengths lie nearest together (as in the shorth).
    """
    ordered = np.sort(np.maximum(lengths, 1)).astype(np.float64)
    count = max(int(np.ceil(_MODE * len(ordered))), 2)
    ratios = ordered[count - 1 :] / ordered[: len(ordered) - count + 1]
    best = int(ratios.argmin())
    shortest = float(np.quantile(ordered, _INTERVAL[0]))
    middle = float(np.median(ordered[best : best + count]))
    if ratios[best] > _SHARP or middle > _NEAR * shortest:
        return float("inf")
    return middle * max(_SHARP, middle / shortest)


def _shortest_turn(core: Detours, train: Train, competing: float, longer_than: int) -> float:
    """The length, ps, of the shortest turns of the competing task that matter: the longest detours that are not the
    source's hold most of the time that it took."""
    others = np.sort(core.lengths[~train.members & (core.lengths > longer_than)])[::-1]
    time = np.cumsum(others)
    enough = int(np.searchsorted(time, _MOST_OF_IT * competing * core.duration))
    return float(others[min(enough, len(others) - 1)]) if len(others) else float("inf")


def _by_chance(core: Detours, train: Train, low: int, high: int) -> bool:
    """Whether detours of these lengths begin as often at other times as at those of the source, or are few there."""
    within = (core.lengths >= low) & (core.lengths <= high)
    count = int((within & train.members).sum())
    if count < max(LEAST_EVENTS, _LEAST_ALONE * train.members.sum()):
        return True
    others = int((np.abs(train.late(core.starts[within & ~train.members])) > train.window_ps).sum())
    free = max(core.duration - float(core.lengths.sum()), train.period_ps)
    expected = others / free * 2 * train.window_ps * train.visible
    return bool(expected > count / 2 or scipy.stats.poisson.sf(count - 1, expected) > _SIGNIFICANT)


def without(core: Detours, train: Train, found: SourceLength) -> Detours:
    """The detours of a core without the events of a source; no time is lost or counted twice.

    Of a detour that holds an event and other work the other work remains. A detour that goes on over times of the
    source holds its events, too: they ran although the core was already taken.
    """
    mixed = train.members & ~found.alone & (core.lengths > found.length_ps)
    own = np.where(mixed, found.length_ps, 0.0)
    lengths = core.lengths - own - _held(core, train, found) * found.length_ps
    starts = core.starts + np.round(own).astype(np.int64)
    left = ~found.alone
    whole = np.maximum(np.round(lengths[left]), 1).astype(np.int64)
    return replace(core, starts=starts[left], lengths=whole)
