"""From raw samples to what a fit works on: the steady repetitions, and per size the four LogGP curves.

A virtual machine changes its speed by a factor of two within seconds (another tenant, a sibling thread).
Medians over such a mixture belong to no machine. So the repetitions, each of which visits every size and
series, are compared with each other, and the largest group that runs alike is kept; how many were set aside
is said.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...errors import MeasurementError

Array = NDArray[np.float64]

COLUMNS = ("series", "size", "n", "delay_ns", "repetition", "value_ns")
SERIES = ("rtt", "train", "paced", "wait")
CURVES = ("half", "gap", "send", "receive")
ALIKE = 0.2
"""Repetitions are alike when, in each series, their levels differ by less than this many octaves (15 %)."""
FEWEST = 5


@dataclass(frozen=True)
class Observations:
    """Per repetition (rows) and size (columns), in ps; NaN where there is no sample, which no steady one has.

    half: PRTT(1,0,s)/2; gap: (PRTT(n,0,s) - PRTT(1,0,s))/(n-1); send: (PRTT(n,d,s) - PRTT(1,0,s))/(n-1) - d;
    receive: the completion of a receive that was posted before its message came.
    """

    sizes: NDArray[np.int64]
    curves: dict[str, Array]
    repetitions: int
    steady: NDArray[np.bool_]

    def medians(self, rows: NDArray[np.int64] | None = None) -> dict[str, Array]:
        """The median of each curve by size, over the steady repetitions or over the given ones."""
        chosen = np.flatnonzero(self.steady) if rows is None else rows
        return {name: np.median(values[chosen], axis=0) for name, values in self.curves.items()}


def observe(samples: pd.DataFrame) -> Observations:
    """The curves of `samples` (columns as in COLUMNS). Raises MeasurementError when there are too few."""
    missing = [c for c in COLUMNS if c not in samples.columns]
    if missing:
        raise MeasurementError(f"the network samples lack the columns {', '.join(missing)}")
    absent = [s for s in SERIES if not (samples["series"] == s).any()]
    if absent:
        raise MeasurementError(f"the network samples hold none of the series {', '.join(absent)}")
    tables = {s: _table(samples, s, "value_ns") for s in SERIES}
    delays, train = _table(samples, "paced", "delay_ns"), _messages(samples, "train")
    repetitions = sorted({int(r) for t in tables.values() for r in t.index})
    sizes = sorted(set.intersection(*({int(c) for c in t.columns} for t in tables.values())))
    if not sizes:
        raise MeasurementError("no message size was measured in every series")
    raw = {s: _grid(t, repetitions, sizes) for s, t in tables.items()}
    steady = _steady(raw)
    if steady.sum() < FEWEST:
        raise MeasurementError(
            f"of {len(repetitions)} repetitions of the network measurement no {FEWEST} ran alike (within "
            "15 %): the machine was too busy, or the time too short"
        )
    curves = {
        "half": raw["rtt"] / 2,
        "gap": (raw["train"] - raw["rtt"]) / (train - 1),
        "send": (raw["paced"] - raw["rtt"]) / (_messages(samples, "paced") - 1) - _grid(delays, repetitions, sizes),
        "receive": raw["wait"],
    }
    return Observations(np.array(sizes, dtype=np.int64), curves, len(repetitions), steady)


def _table(samples: pd.DataFrame, series: str, column: str) -> pd.DataFrame:
    chosen = samples[samples["series"] == series]
    return chosen.pivot_table(index="repetition", columns="size", values=column, aggfunc="median") * 1000.0


def _messages(samples: pd.DataFrame, series: str) -> int:
    counts = samples.loc[samples["series"] == series, "n"].unique()
    if len(counts) != 1 or counts[0] < 2:
        raise MeasurementError(
            f"the series {series} needs one number of messages of at least 2, found {counts.tolist()}"
        )
    return int(counts[0])


def _grid(table: pd.DataFrame, repetitions: list[int], sizes: list[int]) -> Array:
    grid: Array = table.reindex(index=repetitions, columns=sizes).to_numpy(dtype=np.float64)
    return grid


def _steady(raw: dict[str, Array]) -> NDArray[np.bool_]:
    """Which repetitions belong to the largest group that runs alike in every series."""
    levels = np.stack([_levels(values) for values in raw.values()], axis=1)
    whole = np.isfinite(np.concatenate(list(raw.values()), axis=1)).all(axis=1)
    distance = np.abs(levels[:, None, :] - levels[None, :, :]).max(axis=2)
    alike = (distance < ALIKE) & np.outer(whole, whole)
    return np.asarray(alike[int(np.sum(alike, axis=1).argmax())], dtype=np.bool_)


def _levels(values: Array) -> Array:
    """How much slower each repetition is than the median one, in octaves: the median over sizes."""
    padded = np.where(np.any(np.isfinite(values), axis=1, keepdims=True), values, 1.0)
    levels: Array = np.nanmedian(np.log2(padded / np.nanmedian(values, axis=0)), axis=1)
    return levels
