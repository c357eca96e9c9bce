"""The speeds of a machine while its patterns of messages were measured.

Two processors of a virtual machine may share a core, a cache or nothing, and change that within seconds; a network may
have two routes. Before and after each sample the probe times a ping-pong of one byte, the pilot. Where the pilots fall
into groups, the machine had several speeds, and a sample belongs to the speed that both of its pilots show.

Something else may use a core, too: another virtual machine on its second hardware thread (SMT), or another rank. A
ping-pong hardly shows that. So each rank also times a reference computation. Where the slowest rank's took longer than
on an unshared core, both before and after a sample, a core was shared, and such samples have speeds of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ....errors import UsageError
from ....formatting import percent_text, plain_time

BIN = 0.05
"""Width of a bin of pilots, octaves."""
SMOOTHED = 1.5
"""Standard deviation of the smoothing of their histogram, bins."""
LEAST_SHARE = 0.05
"""Share of the pilots below which a group is no speed of the machine."""
LEAST_UNSHARED = 0.01
"""The same of samples on unshared cores: few are enough, as they scatter little."""
LEAST_ROWS = 0.6
"""Share of what was measured that needs a sample on unshared cores for a fit of that speed."""
ROWS = ("pattern", "back_end", "operation", "links", "window", "delay_ns", "collective", "size")
"""The columns, of those that there are, that say what a sample is of."""
VALLEY = 0.5
"""Two groups are two speeds if the histogram between them falls below this share of the lower peak."""
OFF = 0.35
"""Octaves from the nearest speed beyond which a pilot was disturbed."""
LEAST_PART = 0.2
"""Share of a speed's samples below which they are too few for a fit of their own."""
PILOTS = ("pilot_before_ns", "pilot_after_ns")
"""The columns of samples with the pilots just before and after."""
REFERENCES = ("reference_before_ns", "reference_after_ns")
"""Those with the times of the reference computation, of the slowest rank; earlier versions did not record them."""
UNSHARED_QUANTILE = 0.02
"""This quantile of these times is taken for that of unshared cores: what shares a core comes and goes within
milliseconds. Of cores that are always shared nothing shows it."""
SHARED_RATIO = 1.12
"""A core was shared where the reference computation took more than this many times as long as on an unshared one. On
unshared cores nearly all times are within 1.08; where it took 1.16 to 1.25 times as long, messages already take 1.1 to
1.7 times as long. A lower clock frequency looks the same."""
NONE = -1
"""The speed of a sample before and after which the machine had different speeds, or was disturbed."""

Samples = NDArray[np.int64]


@dataclass(frozen=True)
class Reference:
    """The median time of the reference computation at a speed, ns, and the longest on unshared cores."""

    median_ns: float
    limit_ns: float

    @property
    def shared(self) -> bool:
        """Whether cores were shared at this speed."""
        return self.median_ns > self.limit_ns


@dataclass(frozen=True)
class Speed:
    """A speed of the machine: the median of the pilots, ns, and what the reference computation says, None where it was
    not recorded."""

    pilot_ns: float
    reference: Reference | None = None

    @property
    def shared(self) -> bool:
        """Whether cores were shared at this speed; False where that is not known."""
        return self.reference is not None and self.reference.shared

    def has(self, samples: pd.DataFrame, factor: float) -> pd.Series:
        """Whether each sample has this speed: whether both of its pilots are this one's, but for a `factor`, and its
        cores were shared or not as at this speed, where that is known."""
        before, after = (samples[name].between(self.pilot_ns / factor, self.pilot_ns * factor) for name in PILOTS)
        found = before & after
        if self.reference is not None and has_references(samples):
            shared = samples[[*REFERENCES]] > self.reference.limit_ns
            found &= (shared == self.reference.shared).all(axis=1)
        return found


def has_references(samples: pd.DataFrame) -> bool:
    """Whether the reference computation was recorded beside all samples."""
    return set(REFERENCES) <= set(samples.columns) and bool(samples[[*REFERENCES]].notna().all(axis=None))


@dataclass(frozen=True)
class Speeds:
    """The speeds, and the number of each sample's, or NONE. Those of unshared cores come first, `unshared` of them, the
    fastest first; then the others in the same order. Without reference computations all are unshared. rows: the share
    of what was measured that has a sample at each speed."""

    each: tuple[Speed, ...]
    of_sample: Samples
    unshared: int
    rows: tuple[float, ...]

    @property
    def usual(self) -> int:
        """The number of the speed that most samples had on unshared cores, if it has enough rows; else of all."""
        counts = self._counts()
        if self.unshared and self.rows[best := int(np.argmax(counts[: self.unshared]))] >= LEAST_ROWS:
            return best
        return int(np.argmax(counts))

    @property
    def changed(self) -> float:
        """The share of the samples that have no speed: it changed beside them, or was rare, or they were disturbed."""
        return float((self.of_sample == NONE).mean())

    @property
    def is_usual(self) -> NDArray[np.bool_]:
        """Whether a sample had no other speed than the usual one."""
        return np.isin(self.of_sample, (self.usual, NONE))

    @property
    def others(self) -> float:
        """The share of the samples that had another speed than the usual one."""
        return float(1 - self.is_usual.mean())

    @property
    def table(self) -> pd.DataFrame:
        """A row a speed: pilot_ns, share of the samples that have a speed, and reference_ns (missing where it was not
        recorded)."""
        counts = self._counts()
        rows = [
            (
                speed.pilot_ns,
                float(count / max(int(counts.sum()), 1)),
                None if speed.reference is None else speed.reference.median_ns,
            )
            for speed, count in zip(self.each, counts, strict=True)
        ]
        return pd.DataFrame(rows, columns=["pilot_ns", "share", "reference_ns"])

    def _counts(self) -> Samples:
        return np.bincount(self.of_sample[self.of_sample != NONE], minlength=len(self.each)).astype(np.int64)


def usual_or(speeds: Speeds, number: int | None) -> int:
    """The number of a speed, None for the usual one. Raises UsageError for a speed that the machine did not have."""
    if number is None:
        return speeds.usual
    if not 0 <= number < len(speeds.each):
        raise UsageError(f"expected a speed from 0 to {len(speeds.each) - 1}, found {number}")
    return number


FEW_AT_SPEED = "PRTT has too few samples at the speed of the parameters: its fit is of all."


def at_speed(samples: pd.DataFrame, pilot_ns: float | None = None) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The samples at the speed whose pilots are nearest to `pilot_ns` (None: the usual one), and a note if there were
    several. Samples without pilots, and those of a machine of one speed, are all left."""
    if not set(PILOTS) <= set(samples.columns) or samples[PILOTS[0]].isna().any():
        return samples, ()
    speeds = find_speeds(samples)
    pilots = np.array([speed.pilot_ns for speed in speeds.each])
    if pilot_ns is not None and np.abs(np.log2(pilots / pilot_ns)).min() > OFF:
        return samples, ("PRTT was measured at another speed than the patterns: its fit is of that.",)
    if len(pilots) == 1:
        return samples, ()
    chosen = speeds.usual if pilot_ns is None else int(np.abs(np.log(pilots / pilot_ns)).argmin())
    own = samples[speeds.of_sample == chosen]
    if len(own) < LEAST_PART * len(samples):
        return samples, (FEW_AT_SPEED,)
    return own, (
        f"The machine had {len(pilots)} speeds while PRTT was measured; its fit is of the "
        f"{percent_text(len(own) / len(samples))} of the samples at that with round trips of "
        f"{plain_time(pilots[chosen] * 1000)}.",
    )


def find_speeds(samples: pd.DataFrame, columns: tuple[str, str] = PILOTS) -> Speeds:
    """The speeds in `samples`, which has the times of what shows them, ns, just before and after each sample in these
    columns, and those of the reference computation in REFERENCES if it was recorded."""
    if not has_references(samples):
        return _speeds_of({False: np.ones(len(samples), dtype=np.bool_)}, None, samples, columns)
    times = samples[[*REFERENCES]].to_numpy(dtype=np.float64)
    limit_ns = float(SHARED_RATIO * np.quantile(times, UNSHARED_QUANTILE))
    shared = times > limit_ns
    parts = {False: np.asarray(~shared.any(axis=1)), True: np.asarray(shared.all(axis=1))}
    least = {False: LEAST_UNSHARED * len(samples), True: LEAST_SHARE * len(samples)}
    kept = {is_shared: part for is_shared, part in parts.items() if part.sum() >= max(least[is_shared], 1)}
    if not kept:
        return _speeds_of({False: np.ones(len(samples), dtype=np.bool_)}, None, samples, columns)
    return _speeds_of(kept, limit_ns, samples, columns)


def _speeds_of(
    parts: Mapping[bool, NDArray[np.bool_]], limit_ns: float | None, samples: pd.DataFrame, columns: tuple[str, str]
) -> Speeds:
    """The speeds of the samples on unshared cores, and of those on shared ones (True). `limit_ns`: of the reference
    computation."""
    each: list[Speed] = []
    of_sample = np.full(len(samples), NONE, dtype=np.int64)
    unshared = 0
    for is_shared, part in parts.items():
        own = samples[part]
        reference = None
        if limit_ns is not None:
            reference = Reference(float(np.median(own[[*REFERENCES]].to_numpy(dtype=np.float64))), limit_ns)
        pilots_ns, of_part = _groups(own, columns)
        of_sample[part] = np.where(of_part == NONE, NONE, of_part + len(each))
        each += [Speed(pilot_ns, reference) for pilot_ns in pilots_ns]
        unshared += 0 if is_shared else len(pilots_ns)
    return Speeds(tuple(each), of_sample, unshared, _rows_with(samples, of_sample, len(each)))


def _rows_with(samples: pd.DataFrame, of_sample: Samples, speeds: int) -> tuple[float, ...]:
    """By speed, the share of the rows that have a sample with it, of which `of_sample` has the numbers."""
    keys = [name for name in ROWS if name in samples.columns]
    if not keys:
        return (1.0,) * speeds
    row = samples.groupby(keys).ngroup().to_numpy()
    return tuple(len(np.unique(row[of_sample == speed])) / len(np.unique(row)) for speed in range(speeds))


def _groups(samples: pd.DataFrame, columns: tuple[str, str]) -> tuple[tuple[float, ...], Samples]:
    """The medians of the groups of the pilots in these columns, ns, ascending; the group of each sample, or NONE."""
    before, after = (np.log2(np.maximum(samples[name].to_numpy(dtype=np.float64), 1)) for name in columns)
    octaves = np.concatenate([before, after])
    centres = _centres(octaves)
    kinds = []
    for pilots in (before, after):
        off = np.abs(pilots[:, None] - centres[None, :])
        nearest = off.argmin(axis=1)
        kinds.append(np.where(off.min(axis=1) <= OFF, nearest, NONE))
    alike = np.where(kinds[0] == kinds[1], kinds[0], NONE)
    if (alike == NONE).all():
        return (float(np.exp2(np.median(octaves))),), np.zeros(len(before), dtype=np.int64)
    return tuple(float(x) for x in np.exp2(centres)), alike


def _centres(octaves: NDArray[np.float64]) -> NDArray[np.float64]:
    """The medians of the groups of pilots, in octaves, ascending."""
    edges = np.arange(octaves.min() - 4 * BIN, octaves.max() + 5 * BIN, BIN)
    counts = np.histogram(octaves, edges)[0].astype(np.float64)
    height = smoothed(counts)
    rises, falls = height[1:-1] > height[:-2], height[1:-1] >= height[2:]
    bounds: list[float] = []
    kept: list[int] = []
    for peak in (np.flatnonzero(rises & falls) + 1).tolist():
        if kept:
            valley = kept[-1] + int(height[kept[-1] : peak + 1].argmin())
            if height[valley] > VALLEY * min(height[kept[-1]], height[peak]):
                kept[-1] = max(kept[-1], peak, key=lambda at: float(height[at]))
                continue
            bounds.append(float(edges[valley] + BIN / 2))
        kept.append(peak)
    groups = np.split(np.sort(octaves), np.searchsorted(np.sort(octaves), bounds))
    found = [float(np.median(g)) for g in groups if len(g) >= LEAST_SHARE * len(octaves)]
    return np.array(found or [float(np.median(octaves))])


def smoothed(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weighted means about each bin by a Gaussian, as scipy.ndimage has them, which takes half a second to load."""
    reach = round(4 * SMOOTHED)
    weights = np.exp(-0.5 / SMOOTHED**2 * np.arange(-reach, reach + 1) ** 2)
    weights /= weights.sum()
    near = np.lib.stride_tricks.sliding_window_view(np.pad(counts, reach, mode="symmetric"), len(weights))
    total = near[:, reach] * weights[reach]
    for i in range(reach):
        total += (near[:, i] + near[:, -1 - i]) * weights[i]
    return np.asarray(total)
