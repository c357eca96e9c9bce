"""The speeds of a machine while its patterns of messages were measured.

Two processors of a virtual machine may share a core, a cache or nothing, and change that within seconds; a network may
have two routes. Before and after each sample the probe times a ping-pong of one byte, the pilot. Where the pilots fall
into groups, the machine had several speeds, and a sample belongs to the speed that both of its pilots show.

Other work on a core's second hardware thread, such as that of another virtual machine, takes arithmetic units away, and
a ping-pong hardly shows that. So each rank also times a fixed piece of work. Where the slowest rank's took longer than
on a core of its own, both before and after a sample, a core was shared, and these samples have speeds of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
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
VALLEY = 0.5
"""Two groups are two speeds if the histogram between them falls below this share of the lower peak."""
OFF = 0.35
"""Octaves from the nearest speed beyond which a pilot was disturbed."""
LEAST_PART = 0.2
"""Share of a speed's samples below which they are too few for a fit of their own."""
PILOTS = ("pilot_before_ns", "pilot_after_ns")
"""The columns of samples with the pilots just before and after."""
WORKS = ("work_before_ns", "work_after_ns")
"""Those with the times of the fixed work, of the slowest rank; earlier versions did not record them."""
OWN_CORE = 0.05
"""The share of the times of the fixed work of which the longest is that of cores that are not shared: what shares a
core comes and goes within milliseconds."""
SHARED_CORE = 1.25
"""How many times as long the work takes on a shared core, at least: two hardware threads of a core take 1.4 to 2 times
as long as one; clock frequencies differ by less."""
NONE = -1
"""The speed of a sample before and after which the machine had different speeds, or was disturbed."""

Samples = NDArray[np.int64]


@dataclass(frozen=True)
class Speed:
    """A speed of the machine, as the medians of what shows it, ns: the pilot, and the fixed work of the slowest rank,
    None where it was not recorded."""

    pilot_ns: float
    work_ns: float | None = None

    def has(self, samples: pd.DataFrame, factor: float) -> pd.Series:
        """Whether each sample has this speed: whether both of its pilots are this one's, but for a `factor`, and a core
        was shared or not as at this speed."""
        found = _within(samples, PILOTS, self.pilot_ns, factor)
        if self.work_ns is not None and set(WORKS) <= set(samples.columns):
            found &= _within(samples, WORKS, self.work_ns, SHARED_CORE)
        return found


def _within(samples: pd.DataFrame, columns: tuple[str, str], time_ns: float, factor: float) -> pd.Series:
    before, after = (samples[name].between(time_ns / factor, time_ns * factor) for name in columns)
    return before & after


@dataclass(frozen=True)
class Speeds:
    """The speeds, and the speed of each sample, or NONE. Those of cores that were not shared are first, `own_cores` of
    them, the fastest first; then the others in the same order."""

    found: tuple[Speed, ...]
    of_sample: Samples
    own_cores: int

    @property
    def usual(self) -> int:
        """The number of the speed that most samples had, of those whose cores were not shared if they are enough: what
        shared them is not the machine's."""
        counts = self._counts()
        own = counts[: self.own_cores]
        return int(np.argmax(own if own.sum() >= LEAST_PART * len(self.of_sample) else counts))

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
        """A row a speed: pilot_ns, work_ns (None where it was not recorded), and share, of the samples that have a
        speed."""
        counts = self._counts()
        rows = [
            (speed.pilot_ns, speed.work_ns, float(count / max(int(counts.sum()), 1)))
            for speed, count in zip(self.found, counts, strict=True)
        ]
        return pd.DataFrame(rows, columns=["pilot_ns", "work_ns", "share"])

    def _counts(self) -> Samples:
        return np.bincount(self.of_sample[self.of_sample != NONE], minlength=len(self.found)).astype(np.int64)


def usual_or(speeds: Speeds, number: int | None) -> int:
    """The number of a speed, None for the usual one. Raises UsageError for a speed that the machine did not have."""
    if number is None:
        return speeds.usual
    if not 0 <= number < len(speeds.found):
        raise UsageError(f"expected a speed from 0 to {len(speeds.found) - 1}, found {number}")
    return number


FEW_AT_SPEED = "PRTT has too few samples at the speed of the parameters: its fit is of all."


def at_speed(samples: pd.DataFrame, pilot_ns: float | None = None) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The samples at the speed whose pilots are nearest to `pilot_ns` (None: the usual one), and a note if there were
    several. Samples without pilots, and those of a machine of one speed, are all left."""
    if not set(PILOTS) <= set(samples.columns) or samples[PILOTS[0]].isna().any():
        return samples, ()
    speeds = find_speeds(samples)
    pilots = np.array([speed.pilot_ns for speed in speeds.found])
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
    columns, and those of the fixed work in WORKS if it was recorded."""
    if not set(WORKS) <= set(samples.columns) or samples[[*WORKS]].isna().any(axis=None):
        return _speeds_of([(np.ones(len(samples), dtype=np.bool_), None)], samples, columns)
    works = samples[[*WORKS]].to_numpy(dtype=np.float64)
    shared = works > SHARED_CORE * np.quantile(works, OWN_CORE)
    parts = []
    for alike in (~shared.any(axis=1), shared.all(axis=1)):
        enough = alike.sum() >= LEAST_SHARE * len(samples)
        parts.append((alike if enough else np.zeros_like(alike), float(np.median(works[alike])) if enough else None))
    if not any(where.any() for where, _ in parts):
        parts = [(np.ones(len(samples), dtype=np.bool_), float(np.median(works)))]
    return _speeds_of(parts, samples, columns)


def _speeds_of(
    parts: Sequence[tuple[NDArray[np.bool_], float | None]], samples: pd.DataFrame, columns: tuple[str, str]
) -> Speeds:
    """The speeds of the parts of the samples: of those whose cores were not shared, and of those whose were. Each is
    where its samples are, and the time of its work."""
    found: list[Speed] = []
    of_sample = np.full(len(samples), NONE, dtype=np.int64)
    own_cores = 0
    for number, (where, work_ns) in enumerate(parts):
        if where.any():
            pilots_ns, of_part = _groups(samples[where], columns)
            of_sample[where] = np.where(of_part == NONE, NONE, of_part + len(found))
            found += [Speed(pilot_ns, work_ns) for pilot_ns in pilots_ns]
        if number == 0:
            own_cores = len(found)
    return Speeds(tuple(found), of_sample, own_cores)


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
