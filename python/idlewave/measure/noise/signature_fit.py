"""From a recording to a signature: the periodic sources of a core's detours, and the laws of the others.

Arrival times are tested for periodicity by their spectrum (each detour counts once, so that rare long ones do not hide
frequent short ones). A significant period is refined by regression on the numbers of the periods, and the detours that
follow it are removed; of a detour that also holds other work that work remains. The remaining detours are random: their
lengths are divided where few lie, and each part has a rate.
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
from .source_checks import SourceCheck, check_of_periodic, check_of_random
from .source_lengths import FoundTrain, first_supported, without
from .spectrum import HIGHEST_HZ, OVERSAMPLING, named_peaks, power_spectrum

_MOST_SOURCES = 12
_SAME_LENGTH = 0.02  # the relative resolution of most recordings


def fit_signature(cores: Sequence[Detours], name: str = "machine", seed: int = 1) -> Signature:
    """The sources of each core, with the quality of one realisation (drawn from `seed`) for each recording.

    Cores of several nodes are renumbered in order.
    """
    renumbered = len({core.core for core in cores}) < len(cores)
    own = [replace(core, core=i) if renumbered else core for i, core in enumerate(cores)]
    found = [pair for core in own for pair in checked_sources(core)]
    sources, checks = tuple(source for source, _ in found), tuple(check for _, check in found)
    fitted = Signature(name, tuple(core.core for core in own), sources, checks=checks)
    return replace(fitted, goodness=tuple(goodness(fitted, core, seed) for core in own))


def core_sources(core: Detours) -> list[Source]:
    """The periodic sources of one core, by their overhead, and the random ones by cluster of length."""
    return [source for source, _ in checked_sources(core)]


def checked_sources(core: Detours) -> list[tuple[Source, SourceCheck]]:
    """The sources of one core as `core_sources`, each with what its detours say of it."""
    left = core
    found: list[tuple[Source, SourceCheck]] = []
    earlier: list[FoundTrain] = []
    while len(found) < _MOST_SOURCES:
        best = first_supported(left, _trains(left), earlier)
        if best is None:
            break
        earlier.append(best)
        train, length = best
        named = f"every {format_time(train.period_ps, 3)}"
        law = fit_lengths(left.lengths[length.alone])
        source = Source(named, core.core, PERIODIC, train.period_ps, law, train.jitter_ps, length.share)
        found.append((source, check_of_periodic(named, core.core, length)))
        left = without(left, train, length)
    # The switches to a long source and back are short detours of its period, and may be found before it.
    found.sort(key=lambda pair: -pair[0].overhead)
    for low, high in length_clusters(left.lengths):
        own = (left.lengths >= low) & (left.lengths <= high)
        named = f"random {format_time(float(np.median(left.lengths[own])), 2)}"
        law = fit_lengths(left.lengths[own])
        source = Source(named, core.core, RANDOM, core.duration / int(own.sum()), law)
        found.append((source, check_of_random(named, left, own)))
    return _distinct(found)


def _distinct(sources: list[tuple[Source, SourceCheck]]) -> list[tuple[Source, SourceCheck]]:
    seen: dict[str, int] = {}
    result = []
    for source, check in sources:
        seen[source.name] = seen.get(source.name, 0) + 1
        name = source.name if seen[source.name] == 1 else f"{source.name} ({seen[source.name]})"
        result.append((replace(source, name=name), replace(check, name=name)))
    return result


def _trains(core: Detours) -> Iterator[Train]:
    """Periodic trains among the detours: of all, and of each cluster of lengths, by significance."""
    ranges = [(0, 2**62)] if len(core.lengths) else []
    ranges += length_clusters(core.lengths)
    for low, high in ranges:
        chosen = (core.lengths >= low) & (core.lengths <= high)
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
