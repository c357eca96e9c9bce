"""Power spectrum of the time that noise takes, and its significant periodic sources.

The spectrum is one Hann-windowed periodogram of the whole recording, averaged over the cores. If nothing is periodic,
power over its mean is distributed as chi² with two degrees of freedom a core, whatever the noise's distribution. A peak
is named if such a peak occurs by chance anywhere in the spectrum with less than the given false alarm rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import scipy

from .noise_recording import Detours

FALSE_ALARM = 0.01
HIGHEST_HZ = 5000.0
"""The highest frequency of spectra of detours. Ticks are at 100 to 1000 Hz."""

OVERSAMPLING = 8
"""Bins of detours are finer than needed by this factor, so that harmonics of sharp pulses do not fold back."""

_MOST_BINS = 2**26  # 14 minutes at OVERSAMPLING: half a gigabyte
_LOBE = 4  # bins from one zero of the Hann window's main lobe to the other
_FLOOR_BINS = 256  # in each stretch of the spectrum whose floor is one number: known to 10 %, 6 % with its neighbours
_QUANTILE = 0.4  # lines may fill many bins of a stretch; the lower bins are still those of the floor
_LEAST_SAMPLES = 64
_FEWEST_EVENTS = 8  # in the recording, for their distance to be called a period
_MOST_FOLDS = 3  # times that sampling folds a line back before the width of its bins has removed it
_TELLING = 5  # number of a source's lowest lines that determine its share
_SHARES = 20_000  # candidates for a source's share of the time: half a per mille apart or less
_MANY = 21  # lines that a group needs for some of them to be a second source
_CLEAR = 6.0  # standard deviations by which those exceed the others
_STEADY = 0.5  # of a line's amplitude, which each half of the recording has at least if its source is always there
_MOST_LINES = 600  # the highest lines: a short event once a second has thousands of multiples

Values = npt.NDArray[np.float64]
Number = TypeVar("Number", np.float64, np.int64)


@dataclass(frozen=True)
class Spectrum:
    """Power of the lost share of time over frequency.

    `frequency` in Hz from 0 on, `power` in 1/Hz (share², one-sided), `floor` its mean without periodic sources;
    `threshold`: the power that a peak needs, in multiples of the floor; `series` and `step_s`: the samples of which it
    is the spectrum.
    """

    frequency: Values
    power: Values
    floor: Values
    threshold: float
    false_alarm: float
    degrees: float
    highest_hz: float
    series: tuple[Values, ...]
    step_s: float


@dataclass(frozen=True)
class Peak:
    """A periodic source.

    `frequency` ± `uncertainty` (one standard deviation) in Hz; `share`: of the time that its events take; `length_ps`:
    of one event, share / frequency; both are too small if events are late by much of their length or of the
    period. `ratio`: of the highest line's power to the floor; `false_alarm`: the chance of such a peak anywhere in the
    spectrum if nothing were periodic. `harmonics`: the multiples that were found, 1 for the fundamental.
    `source`: the probable source. If it was held against detours, `share` and `length_ps` are theirs, an event takes
    between `least_ps` and `most_ps`, and the part `mixed` of its detours also holds other work. `doubt`: what the
    recorded detours do not support of it, as text; empty if nothing.
    """

    frequency: float
    uncertainty: float
    share: float
    length_ps: float
    ratio: float
    false_alarm: float
    harmonics: tuple[int, ...]
    source: str = "unknown"
    least_ps: float | None = None
    most_ps: float | None = None
    mixed: float = 0.0
    doubt: str = ""


def binned_loss(detours: Detours, step_s: float, shorter_than_ps: int | None = None) -> Values:
    """The share of each bin of `step_s` seconds that detours take (those below `shorter_than_ps`, if given).

    A recording with very many bins is cut to the first ones, because more do not fit into memory.
    """
    step = round(step_s * 1e12)
    edges = np.arange(0, min(detours.duration, _MOST_BINS * step) + 1, step, dtype=np.int64)
    keep = slice(None) if shorter_than_ps is None else detours.lengths < shorter_than_ps
    return np.diff(lost_until(edges, detours.starts[keep], detours.lengths[keep])) / step


def lost_until(times: npt.NDArray[np.int64], starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> Values:
    """The time that detours took before each of `times`, all in ps; exact, because they are separate."""
    if len(starts) == 0:
        return np.zeros(len(times))
    before = np.searchsorted(starts, times, side="right")
    total = np.concatenate([[0], np.cumsum(lengths)])
    last = np.maximum(before - 1, 0)
    ahead = np.where(before > 0, np.maximum(starts[last] + lengths[last] - times, 0), 0)
    lost: Values = (total[before] - ahead).astype(np.float64)
    return lost


def detour_spectrum(cores: Sequence[Detours], *, shorter_than_ps: int | None = None) -> Spectrum:
    """The spectrum of the time that detours take (those below `shorter_than_ps`, if given), averaged over `cores`."""
    step = 1 / (2 * HIGHEST_HZ * OVERSAMPLING)
    series = [binned_loss(core, step, shorter_than_ps) for core in cores]
    return power_spectrum(series, step, highest_hz=HIGHEST_HZ)


def power_spectrum(series: Sequence[Values], step_s: float, *, highest_hz: float | None = None) -> Spectrum:
    """The spectrum of evenly sampled lost shares, one series a core; cut to the shortest, averaged.

    It reaches up to 1 / (2 `step_s`), or `highest_hz`. Raises ValueError for fewer than 64 samples.
    """
    count = min((len(values) for values in series), default=0)
    if count < _LEAST_SAMPLES:
        raise ValueError(f"a spectrum needs at least {_LEAST_SAMPLES} samples, found {count}")
    cut = [np.asarray(values[:count], dtype=np.float64) for values in series]
    frequency = np.asarray(np.fft.rfftfreq(count, step_s), dtype=np.float64)
    top = highest_hz or 0.5 / step_s
    shown = frequency <= top * (1 + 1e-9)
    power = _periodogram(cut, step_s)[shown]
    degrees = 2.0 * len(cut)
    looked_at = max(int(shown.sum()) - _LOBE, 1)
    threshold = float(scipy.stats.chi2.isf(FALSE_ALARM / looked_at, degrees) / degrees)
    floor = noise_floor(power, degrees)
    return Spectrum(frequency[shown], power, floor, threshold, FALSE_ALARM, degrees, top, tuple(cut), step_s)


def _periodogram(series: Sequence[Values], step_s: float) -> Values:
    """The density of power at the frequencies from 0 up, the mean of `series`, each without its mean; Hann window."""
    count = len(series[0])
    window = scipy.signal.windows.hann(count, sym=False)
    powers = [np.abs(scipy.fft.rfft((values - values.mean()) * window)) ** 2 for values in series]
    power: Values = np.mean(powers, axis=0) * step_s / np.dot(window, window)
    power[1 : (count + 1) // 2] *= 2  # those of the negative frequencies
    return power


def noise_floor(power: Values, degrees: float) -> Values:
    """The mean of the power without lines, from a quantile of each stretch of the spectrum and its two neighbours.

    It is the higher of two estimates: from wide stretches, which scatter little, and from narrow ones, which follow the
    slope that long detours cause.
    """
    floor: Values = np.maximum(*(_floor(power, degrees, bins) for bins in (_FLOOR_BINS, _FLOOR_BINS // 8)))
    return floor


def _floor(power: Values, degrees: float, bins: int) -> Values:
    count = max(1, len(power) // bins)
    middles = np.concatenate([rows.mean(axis=1) for rows in _stretches(np.arange(1, len(power)), count)])
    quantiles = np.concatenate([np.quantile(rows, _QUANTILE, axis=1) for rows in _stretches(power[1:], count)])
    to_mean = degrees / scipy.stats.chi2.ppf(_QUANTILE, degrees)
    levels = np.maximum(quantiles * to_mean, np.finfo(float).tiny)
    smooth = scipy.ndimage.uniform_filter1d(np.log(levels), 3, mode="nearest")
    floor: Values = np.exp(np.interp(np.arange(len(power)), middles, smooth))
    return floor


def _stretches(values: npt.NDArray[Number], count: int) -> list[npt.NDArray[Number]]:
    """`values` in `count` stretches, which are rows of two tables: the first one has those that are longer by one."""
    size, longer = divmod(len(values), count)
    middle = longer * (size + 1)
    return [values[:middle].reshape(longer, size + 1), values[middle:].reshape(count - longer, size)]


def named_peaks(spectrum: Spectrum, most: int = 20) -> list[Peak]:
    """The significant periodic sources, the costliest first; without names (`known_periods.name_peaks` gives them).

    A source needs eight periods in the recording, and some core with eight events.
    """
    if max(map(_events, spectrum.series)) < _FEWEST_EVENTS:
        return []
    whole = _whole_transform(spectrum)
    lines = [_refined(spectrum, place, whole) for place in _candidates(spectrum)]
    halves = _halves(spectrum)
    groups = [
        group for group in _grouped(lines, spectrum) if _steady(spectrum, max(group, key=lambda x: x.ratio), halves)
    ]
    # The lines begin there, but a source may show by its multiples only.
    lowest = _FEWEST_EVENTS / (len(spectrum.series[0]) * spectrum.step_s)
    peaks = [peak for peak in (_peak(spectrum, group) for group in groups) if peak.frequency >= lowest]
    return sorted(peaks, key=lambda peak: -peak.share)[:most]


def _events(series: Values) -> int:
    """The number of stretches of time with a loss."""
    lost = series > 0
    return int(lost[0]) + int(np.count_nonzero(lost[1:] & ~lost[:-1]))


@dataclass(frozen=True)
class _Line:
    frequency: float
    uncertainty: float
    amplitude: float  # of the sine, a share of the time
    ratio: float
    multiple: int = 1
    folded: bool = False  # sampling has moved it away from its multiple


def _candidates(spectrum: Spectrum) -> list[int]:
    """Maxima above the threshold that are not side lobes of a higher one."""
    ratio = spectrum.power / spectrum.floor
    seconds = len(spectrum.series[0]) * spectrum.step_s
    ratio[: max(_LOBE, int(np.ceil(_FEWEST_EVENTS / seconds / spectrum.frequency[1])))] = 0
    places, _ = scipy.signal.find_peaks(ratio, height=spectrum.threshold)
    highest = places[np.argsort(-ratio[places], kind="stable")][:_MOST_LINES]
    kept = highest[:0]
    for place in highest:
        distance = np.abs(kept - place)
        if np.all(distance > _LOBE / 2) and not np.any(_leaked(ratio[place], ratio[kept], distance)):
            kept = np.append(kept, place)
    return sorted(kept.tolist())


def _leaked(ratio: float, others: Values, distance: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Whether the Hann window's side lobes (-31 dB beside the main lobe, then -18 dB an octave) explain it.

    Power within three lobes also counts as the line's: a drifting or jittering source has some beside its line.
    """
    lobe = 10**-3.1 * (2.4 / distance) ** 6 * 4
    explained: npt.NDArray[np.bool_] = ratio < others * np.where(distance > 3 * _LOBE, lobe, np.maximum(lobe, 0.2))
    return explained


def _refined(spectrum: Spectrum, place: int, whole: Values) -> _Line:
    """Frequency between the bins of the whole recording's Fourier transform `whole`, and the sine's amplitude there.

    With the Hann window a sine that lies d bins above the highest one shows there as sinc(d) / (1 - d²), and beside it
    (1 + d) / (2 - d) times as high. The uncertainty is the Cramér-Rao bound for a sine in white noise (D. Rife,
    R. Boorstyn: Single-tone parameter estimation, 1974), 1.5 of it for the window.
    """
    span = len(spectrum.series[0]) * spectrum.step_s
    first = max(place - 1, 1)
    best = first + int(whole[first : place + 2].argmax())
    side = 1 if whole[best + 1] >= whole[best - 1] else -1
    beside = float(whole[best + side] / whole[best])
    offset = min(max((2 * beside - 1) / (beside + 1), 0.0), 0.5)
    amplitude = float(whole[best]) * (1 - offset**2) / float(np.sinc(offset))
    ratio = float(spectrum.power[place] / spectrum.floor[place])
    bound = float(np.sqrt(6 / (ratio * spectrum.degrees / 2))) / (2 * np.pi * span)
    return _Line((best + side * offset) / span, 1.5 * bound, amplitude, ratio)


def _halves(spectrum: Spectrum) -> list[list[Values]]:
    """Both halves of the recording, each core's without its mean, in a Hann window whose sum is 2."""
    middle = len(spectrum.series[0]) // 2
    window = scipy.signal.windows.hann(middle, sym=False)
    window *= 2 / window.sum()
    parts = (slice(0, middle), slice(middle, 2 * middle))
    return [[(s[part] - s[part].mean()) * window for s in spectrum.series] for part in parts]


def _steady(spectrum: Spectrum, line: _Line, halves: list[list[Values]]) -> bool:
    """Whether both halves of the recording have the line. A burst of noise has power everywhere, and so lines by chance
    above the threshold, which is made for noise that does not change over time."""
    sine = np.exp(-2j * np.pi * line.frequency * spectrum.step_s * np.arange(len(halves[0][0])))
    powers = [np.mean([abs(np.dot(core, sine)) ** 2 for core in half]) for half in halves]
    return bool(np.sqrt(min(powers)) >= _STEADY * line.amplitude)


def _whole_transform(spectrum: Spectrum) -> Values:
    """Amplitudes of sines at the whole recording's frequencies, root of the cores' mean square; Hann window."""
    samples = len(spectrum.series[0])
    window = scipy.signal.windows.hann(samples, sym=False)
    powers = [np.abs(np.fft.rfft((s - s.mean()) * window)) ** 2 for s in spectrum.series]
    amplitudes: Values = 2 * np.sqrt(np.mean(powers, axis=0)) / window.sum()
    return np.append(amplitudes, 0.0)


def _grouped(lines: list[_Line], spectrum: Spectrum) -> list[list[_Line]]:
    """Lines with those that are whole multiples of the same frequency, and those that sampling folded back."""
    left = sorted(lines, key=lambda line: line.frequency)
    groups: list[list[_Line]] = []
    span = len(spectrum.series[0]) * spectrum.step_s
    finer = spectrum.highest_hz * spectrum.step_s < 0.25  # bins much finer than the spectrum: hardly a line folds back
    sampling = np.inf if finer else 1 / spectrum.step_s
    while left:
        base = _fundamental(left, span) or left[0]
        group: list[_Line] = []
        rest: list[_Line] = []
        for line in left:
            found = _as_multiple(base, group, line, span, sampling)
            group.append(found) if found else rest.append(line)
        if all(line.folded for line in group):
            group, rest = [left[0]], left[1:]
        groups += _divided(group)
        left = rest
    return groups


def _fundamental(left: list[_Line], span: float) -> _Line | None:
    """The frequency of which most of the lines are multiples, more than by chance, and of which few multiples between
    the lowest and the highest are missing; of several such the highest.

    Candidates are the lowest lines, parts of the lowest, and the distances between neighbours.
    """
    frequencies = np.array([line.frequency for line in left])
    tried = np.concatenate([frequencies[:40], frequencies[0] / np.array([2, 3]), np.diff(frequencies)])
    tolerance = 0.5 / span
    tried = tried[tried > 10 * tolerance]
    if len(tried) == 0:
        return None
    # The error of a candidate grows with the multiple: the nearest lines refine it for the next.
    refined = tried.copy()
    for most in (10, 40, np.inf):
        numbers = np.maximum(np.round(frequencies[None, :] / refined[:, None]), 1)
        near = (np.abs(frequencies - numbers * refined[:, None]) <= tolerance) & (numbers <= most)
        weight = np.where(near, numbers, 0)
        better = (weight * frequencies).sum(axis=1) / np.maximum((weight * numbers).sum(axis=1), 1)
        refined = np.where(np.abs(better - tried) <= tolerance, better, refined)
    numbers = np.maximum(np.round(frequencies[None, :] / refined[:, None]), 1)
    near = np.abs(frequencies - numbers * refined[:, None]) <= tolerance
    score = near.sum(axis=1) - 2 * tolerance / refined * len(frequencies)
    highest = np.where(near, numbers, 0).max(axis=1)
    lowest = np.where(near, numbers, np.inf).min(axis=1)
    # Ticks of 250 Hz and events at 100 Hz are all multiples of 50 Hz, of which most would be missing.
    score = score * near.sum(axis=1) / np.maximum(highest - lowest + 1, 1)
    if score.max() < 2:
        return None
    good = np.flatnonzero(score >= 0.9 * score.max())
    best = int(good[refined[good].argmax()])
    return _Line(float(refined[best]), tolerance / 3 / float(numbers[best][near[best]].max()), 0.0, 0.0)


def _divided(group: list[_Line]) -> list[list[_Line]]:
    """A group, and separated from it every m-th of its lines, if these exceed the others: they are a second source.

    A tick of 250 Hz is a multiple of 1 Hz, too. The contributions of both to a line are separated as for random phases.
    """
    if len(group) < _MANY or any(line.folded for line in group):
        return [group]
    logs = np.log([max(line.amplitude, np.finfo(float).tiny) for line in group])
    usual = scipy.ndimage.median_filter(logs, _MANY, mode="nearest")
    above = logs - usual
    scatter = 1.4826 * float(np.median(np.abs(above))) or 1e-3
    multiples = np.array([line.multiple for line in group])
    best, clearest = 0, _CLEAR
    for step in range(2, int(multiples.max()) // 2 + 1):
        own = above[multiples % step == 0]
        if 4 <= len(own) < len(group) / 2 and np.median(own) > np.log(1.25):
            clear = float(np.median(own)) / scatter * np.sqrt(len(own))
            best, clearest = (step, clear) if clear > clearest else (best, clearest)
    if not best:
        return [group]
    second = [
        replace(line, multiple=line.multiple // best, amplitude=_without(line.amplitude, float(np.exp(level))))
        for line, level in zip(group, usual, strict=True)
        if line.multiple % best == 0
    ]
    return [[line for line in group if line.multiple % best], second]


def _without(amplitude: float, other: float) -> float:
    return float(np.sqrt(max(amplitude**2 - other**2, 0.0)))


def _as_multiple(base: _Line, group: list[_Line], line: _Line, span: float, sampling: float) -> _Line | None:
    """The line as a multiple of `base`, which the lines of `group` refine; None if it is none.

    It counts only if few multiples lie so near by chance: within a tenth of the distance between two.
    """
    best = max((other for other in group if not other.folded), key=lambda other: other.multiple, default=base)
    fundamental, spread = best.frequency / best.multiple, best.uncertainty / best.multiple
    for multiple, seen, folded in _folds(line.frequency, fundamental, sampling):
        tolerance = 3 * float(np.hypot(line.uncertainty, multiple * spread)) + 0.5 / span
        rare = tolerance < (0.1 / _MOST_FOLDS if folded else 0.1) * fundamental
        if abs(seen - line.frequency) <= tolerance and rare:
            return replace(line, multiple=multiple, folded=folded)
    return None


def _folds(frequency: float, fundamental: float, sampling: float) -> list[tuple[int, float, bool]]:
    """Multiples that may show at `frequency`, their frequency there, and whether folded: the nearest of each kind."""
    direct = max(round(frequency / fundamental), 1)
    found = [(direct, direct * fundamental, False)]
    if np.isfinite(sampling):
        for round_trips in range(1, _MOST_FOLDS + 1):
            for fold in (round_trips * sampling - frequency, round_trips * sampling + frequency):
                multiple = round(fold / fundamental)
                found.append((multiple, abs(round_trips * sampling - multiple * fundamental), True))
    return found


def _peak(spectrum: Spectrum, group: list[_Line]) -> Peak:
    """The source whose multiples the lines are.

    Its frequency is their weighted mean. A train of events of length d, f a second, has the mean d f and lines of
    amplitude 2 d f sinc(n f d) at n f, where bins of length q weaken line n by sinc(n f q); the lowest lines give d f.
    """
    direct = [line for line in group if not line.folded]
    weights = np.array([(line.multiple / line.uncertainty) ** 2 for line in direct])
    values = np.array([line.frequency / line.multiple for line in direct])
    frequency = float((weights * values).sum() / weights.sum())
    # If lines differ by more than their uncertainties, the mean's uncertainty is larger by that factor.
    excess = float((weights * (values - frequency) ** 2).sum()) / max(len(direct) - 1, 1)
    lowest = direct[:_TELLING]
    share = _mean_from_lines(
        np.array([line.amplitude / float(np.sinc(line.frequency * spectrum.step_s)) / 2 for line in lowest]),
        np.array([line.multiple for line in lowest]),
    )
    strongest = max(line.ratio for line in group)
    looked_at = max(len(spectrum.frequency) - _LOBE, 1)
    chance = -np.expm1(-looked_at * float(scipy.stats.chi2.sf(strongest * spectrum.degrees, spectrum.degrees)))
    return Peak(
        frequency,
        float(np.sqrt(max(excess, 1.0) / weights.sum())),
        share,
        share / frequency * 1e12,
        strongest,
        float(chance),
        tuple(sorted({line.multiple for line in group})),
    )


def _mean_from_lines(halves: Values, multiples: npt.NDArray[np.int64]) -> float:
    """d f from halves of the amplitudes of lines, d f sinc(n d f) of line n.

    It has the least sum of absolute differences. For short events, whose lines are equal, that is the median, so that a
    line with another source in it has no effect. It is at most 1/2: events and the pauses between them have the same
    lines.
    """
    least = float(np.clip(halves.min(), 1e-9, 0.4))  # no line is higher than d f
    shares = np.geomspace(least, 0.5, _SHARES)
    lines = shares[:, np.newaxis] * np.abs(np.sinc(shares[:, np.newaxis] * multiples))
    return float(shares[np.argmin(np.abs(lines - halves).sum(axis=1))])
