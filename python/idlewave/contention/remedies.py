"""Remedies of contention: throttling the traffic at its origin against reserving a core for it, by a model of both.

A computation that takes one second without traffic has a volume to transfer beside it: the demand, in bytes per second
of this computation. Traffic at a rate r makes the computation s(r) times as long while it lasts; s is measured, with
the traffic handled on the victim's core (nothing reserved) and on a core of its own (reserved). The time of a remedy is
until both the computation and the transfer have ended:

- untreated: handled on the victim's core, at the highest rate that is reached there;
- throttled: the same at that measured rate for which both end first;
- reserved: handled on a core of its own, at the highest rate; the computation has lost a core of `node_cores`, so it is
  n/(n-1) times as long (it scales over all its cores), or has lost none if a spare core is there;
- both: reserved, and throttled to the best rate.

A computation of several cores is taken to wait for the one that also handles the traffic.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..errors import InputError, UsageError
from ..formatting import percent_text, volume_text
from ..measurement_parameters import ContentionParameters
from ..parameters import takes
from .defaults import RATES, REMEDIED, SEED
from .impact import contention_impact
from .slowdowns import DRAWS, confidence_interval, expanded_level, mean_draws, pair_draws
from .table import chosen_victim, complete_pairs, has_traffic

if TYPE_CHECKING:
    from rich.progress import Progress

UNTREATED, THROTTLED, RESERVED, BOTH = "untreated", "throttled", "reserved", "both"
REMEDIES = (UNTREATED, THROTTLED, RESERVED, BOTH)
DEMANDS = 40
"""Demands for which the remedies are compared, from a hundredth of the highest rate that was reached up to it."""


@dataclass(frozen=True)
class Slowdowns:
    """Slowdowns of a victim at rates that were reached, ascending: a row a rate; the first column is what was measured,
    the others draws of a bootstrap."""

    rates: NDArray[np.float64]
    values: NDArray[np.float64]


@dataclass(frozen=True)
class Remedies:
    """What the remedies cost.

    table: a row a demand and remedy: demand_Bps, remedy, rate_Bps (that of the traffic), overhead (the time beyond one
    second of computation, in seconds) with its 95 % confidence interval (low, high). threshold: the lowest demand
    from which on reserving is better than throttling, None: none was found; its confidence interval is from
    threshold_low to threshold_high, inf: none was found in a part of the draws. found_share: the share of draws that
    have one. highest: the highest rate that was reached. All are in bytes per second.
    """

    victim: str
    node_cores: int
    spare: bool
    table: pd.DataFrame
    threshold: float | None
    threshold_low: float
    threshold_high: float
    found_share: float
    highest: float

    @property
    def sentence(self) -> str:
        """The threshold in words."""
        lost = "a spare core" if self.spare else f"one of {self.node_cores} cores"
        what = f"{self.victim}: reserving {lost}"
        share = percent_text(self.found_share)
        if self.threshold is None:
            highest = volume_text(self.highest)
            none = f"beats throttling at no demand up to {highest}/s"
            return f"{what} {none}: none found (one was in {share} of the draws)."
        high = f"{volume_text(self.threshold_high)}/s" if math.isfinite(self.threshold_high) else "none found"
        return (
            f"{what} beats throttling from a demand of {volume_text(self.threshold)}/s on "
            f"(95 %: {volume_text(self.threshold_low)}/s to {high}; found in {share} of the draws)."
        )


@takes(ContentionParameters)
def contention_remedies(
    victim: str = REMEDIED,
    rates: Sequence[float] = RATES,
    *,
    node_cores: int | None = None,
    spare: bool = False,
    folder: str | Path | None = None,
    progress: Progress | None = None,
    **given: Unpack[ContentionParameters],
) -> Remedies:
    """Measure `victim` beside traffic on its own core and on another at each of `rates`, and compare the remedies.

    `node_cores`: the cores over which a computation scales, of which a reserved one is lost (default: this process's);
    `spare`: a core is there that nothing computes on. `folder` gets the measurement, which continues there. Raises what
    `contention_impact` raises.
    """
    table = contention_impact([victim], rates, (0, 1), folder=folder, progress=progress, **given)
    return remedies_of(table, victim, node_cores=node_cores, spare=spare, seed=given["seed"])


def remedies_of(
    table: pd.DataFrame,
    victim: str | None = None,
    *,
    node_cores: int | None = None,
    spare: bool = False,
    draws: int = DRAWS,
    seed: int = SEED,
) -> Remedies:
    """The remedies from a table of contention that has traffic of writers on the victim's core and on one other.

    `victim`: None for the only one. Raises InputError if the table lacks one of the two, UsageError for a victim that
    it has not and for fewer than two cores.
    """
    cores = node_cores or len(os.sched_getaffinity(0))
    if cores < 2 and not spare:
        raise UsageError(f"expected a node of at least two cores, one of which is reserved, found {cores}")
    chosen = chosen_victim(table, victim)
    own = complete_pairs(table[table["victim"] == chosen])
    shared, reserved = _slowdowns(own, 0, draws, seed), _slowdowns(own, 1, draws, seed)
    highest = float(max(shared.rates[-1], reserved.rates[-1]))
    demands = np.geomspace(highest / 100, highest, DEMANDS)
    work = 1.0 if spare else cores / (cores - 1)
    times = {
        UNTREATED: _times(demands, shared, 1.0, best=False),
        THROTTLED: _times(demands, shared, 1.0, best=True),
        RESERVED: _times(demands, reserved, work, best=False),
        BOTH: _times(demands, reserved, work, best=True),
    }
    level = _level(own)
    found = _thresholds(demands, times[THROTTLED][0], times[RESERVED][0])
    low, high = _infinite_interval(found[1:], level)
    return Remedies(
        chosen,
        cores,
        spare,
        _table(demands, times, level),
        None if math.isinf(found[0]) else float(found[0]),
        low,
        high,
        float(np.isfinite(found[1:]).mean()),
        highest,
    )


def _table(
    demands: NDArray[np.float64], times: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]], level: float
) -> pd.DataFrame:
    """The table of `Remedies` from the times, and the rates, by remedy."""
    rows = []
    for remedy, (overhead, rate) in times.items():
        for place, demand in enumerate(demands):
            low, high = confidence_interval(overhead[place, 1:] - 1, level)
            rows.append((demand, remedy, rate[place], overhead[place, 0] - 1, low, high))
    return pd.DataFrame(rows, columns=["demand_Bps", "remedy", "rate_Bps", "overhead", "low", "high"])


def _slowdowns(own: pd.DataFrame, cores: int, draws: int, seed: int) -> Slowdowns:
    """The slowdowns of the rows with this number of cores that write, by the rate that was reached."""
    rates, values = [], []
    for place, (_, rows) in enumerate(own[own["cores"] == cores].groupby("pair_rate_Bps")):
        rates.append(float(rows.loc[has_traffic(rows), "achieved_rate_Bps"].median()))
        values.append(np.exp(mean_draws(pair_draws(rows, draws, seed + place), seed + place)))
    if not rates:
        where = "the victim's own core (--cores 0)" if cores == 0 else "one core of its own (--cores 1)"
        raise InputError(f"the table of contention has no pair of runs with traffic on {where}")
    order = np.argsort(rates)
    return Slowdowns(np.array(rates)[order], np.array(values)[order])


def completion(demand: float, rate: float, slowdown: NDArray[np.float64], work: float) -> NDArray[np.float64]:
    """The time until a computation of `work` seconds and the transfer of `demand` bytes at `rate` have both ended.

    A slowdown below 1 counts as 1: traffic speeds up nothing, and what was measured so is scatter.
    """
    transfer = demand / rate
    slowed = np.maximum(slowdown, 1.0)
    whole = work * slowed
    return np.where(whole <= transfer, transfer, work + transfer * (1 - 1 / slowed))


def _times(
    demands: NDArray[np.float64], slowdowns: Slowdowns, work: float, *, best: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """By demand and draw the time at the highest rate, or at the `best` of all; and the rate of what was measured."""
    rates = slowdowns.rates if best else slowdowns.rates[-1:]
    values = slowdowns.values if best else slowdowns.values[-1:]
    every = np.array(
        [
            [completion(demand, rate, value, work) for rate, value in zip(rates, values, strict=True)]
            for demand in demands
        ]
    )
    return every.min(axis=1), rates[every[:, :, 0].argmin(axis=1)]


def _thresholds(
    demands: NDArray[np.float64], throttled: NDArray[np.float64], reserved: NDArray[np.float64]
) -> NDArray[np.float64]:
    """By draw the lowest demand from which on reserving is better, inf if it is not so at the highest demand."""
    worse = reserved >= throttled
    last = np.where(worse.any(axis=0), len(demands) - 1 - np.argmax(worse[::-1], axis=0), -1)
    ends = np.append(demands, math.inf)
    found: NDArray[np.float64] = ends[last + 1]
    return found


def _infinite_interval(values: NDArray[np.float64], level: float) -> tuple[float, float]:
    """The percentile interval of values that may be infinite."""
    ordered = np.sort(values)
    low = math.floor((1 - level) / 2 * (len(ordered) - 1))
    return float(ordered[low]), float(ordered[len(ordered) - 1 - low])


def _level(own: pd.DataFrame) -> float:
    pairs = own.groupby(["cores", "pair_rate_Bps"])[["run", "pair"]].apply(lambda rows: len(rows.drop_duplicates()))
    return expanded_level(int(pairs.min()))
