"""The speeds of a machine while its patterns of messages were measured.

Two processors of a virtual machine may share a core, a cache or nothing, and change that within seconds; a network may
have two routes. Before and after each sample the probe times a ping-pong of one byte, the pilot. Where the pilots fall
into groups, the machine had several speeds, and a sample belongs to the speed that both of its pilots show.
"""

from __future__ import annotations

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
NONE = -1
"""The speed of a sample whose pilots disagree, or were disturbed."""

Samples = NDArray[np.int64]


@dataclass(frozen=True)
class Speeds:
    """The speeds, the fastest first, as their median pilots, ns; the speed of each sample, or NONE."""

    pilots_ns: tuple[float, ...]
    of_sample: Samples

    @property
    def usual(self) -> int:
        """The number of the speed that most samples had."""
        return int(np.argmax(self._counts()))

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
        """A row a speed: pilot_ns, and share, of the samples that have a speed."""
        counts = self._counts()
        return pd.DataFrame({"pilot_ns": self.pilots_ns, "share": counts / max(int(counts.sum()), 1)})

    def _counts(self) -> Samples:
        return np.bincount(self.of_sample[self.of_sample != NONE], minlength=len(self.pilots_ns)).astype(np.int64)


def usual_or(speeds: Speeds, number: int | None) -> int:
    """The number of a speed, None for the usual one. Raises UsageError for a speed that the machine did not have."""
    if number is None:
        return speeds.usual
    if not 0 <= number < len(speeds.pilots_ns):
        raise UsageError(f"expected a speed from 0 to {len(speeds.pilots_ns) - 1}, found {number}")
    return number


FEW_AT_SPEED = "PRTT has too few samples at the speed of the parameters: its fit is of all."


def at_speed(samples: pd.DataFrame, pilot_ns: float | None = None) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The samples at the speed whose pilots are nearest to `pilot_ns` (None: the usual one), and a note if there were
    several. Samples without pilots, and those of a machine of one speed, are all left."""
    if not set(PILOTS) <= set(samples.columns) or samples[PILOTS[0]].isna().any():
        return samples, ()
    speeds = find_speeds(samples)
    if pilot_ns is not None and np.abs(np.log2(np.array(speeds.pilots_ns) / pilot_ns)).min() > OFF:
        return samples, ("PRTT was measured at another speed than the patterns: its fit is of that.",)
    if len(speeds.pilots_ns) == 1:
        return samples, ()
    chosen = speeds.usual if pilot_ns is None else int(np.abs(np.log(np.array(speeds.pilots_ns) / pilot_ns)).argmin())
    own = samples[speeds.of_sample == chosen]
    if len(own) < LEAST_PART * len(samples):
        return samples, (FEW_AT_SPEED,)
    return own, (
        f"The machine had {len(speeds.pilots_ns)} speeds while PRTT was measured; its fit is of the "
        f"{percent_text(len(own) / len(samples))} of the samples at that with round trips of "
        f"{plain_time(speeds.pilots_ns[chosen] * 1000)}.",
    )


def find_speeds(samples: pd.DataFrame, columns: tuple[str, str] = PILOTS) -> Speeds:
    """The speeds in `samples`, which has the times of what shows them, ns, just before and after each sample in these
    columns."""
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
        return Speeds((float(np.exp2(np.median(octaves))),), np.zeros(len(before), dtype=np.int64))
    return Speeds(tuple(float(x) for x in np.exp2(centres)), alike)


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
