"""From a recording to a signature: the periodic sources of a core's detours, and the laws of the others.

Arrival times are tested for periodicity by their spectrum (each detour counts once, so that rare long ones do not hide
frequent short ones). A significant period is refined by regression on the numbers of the periods, and the detours that
follow it are removed. The remaining detours are random: their lengths are divided where few lie, and each part has a
rate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ...units import format_time
from .compare import all_lengths, ks_distance, spectrum_distance
from .length_laws import fit_lengths
from .noise_recording import Detours
from .periodic_trains import LEAST_EVENTS, Flags, Train, length_clusters, train_at
from .signature import PERIODIC, RANDOM, Goodness, Signature, Source
from .spectrum import HIGHEST_HZ, OVERSAMPLING, named_peaks, power_spectrum

_MOST_SOURCES = 12
_SAME_LENGTH = 0.02  # the relative resolution of most recordings


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


def _trains(core: Detours, left: Flags) -> Iterator[Train]:
    """Periodic trains among the remaining detours: of all, and of each cluster of lengths, by significance."""
    lengths = core.lengths[left]
    ranges = [(0, 2**62)] if len(lengths) else []
    ranges += length_clusters(lengths)
    for low, high in ranges:
        chosen = left & (core.lengths >= low) & (core.lengths <= high)
        if int(chosen.sum()) < LEAST_EVENTS:
            continue
        for frequency in _frequencies(core, chosen):
            train = train_at(core, chosen, 1e12 / frequency)
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
