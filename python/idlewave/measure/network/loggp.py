"""From a table of samples to LogGOPS parameters: pure, without input or output.

The method is PRTT(n,d,s) of T. Hoefler, T. Mehlan, A. Lumsdaine and W. Rehm (Netgauge: A network performance
measurement framework, 2007; and "LogGP in theory and practice", 2009); what is done beyond it, and why, is in
docs/measuring.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import binom

from ...errors import MeasurementError
from .fit import Curves, Fit, RangeModel, fit_range
from .observations import Array, Observations, observe
from .rules import Network, Parameters, prtt
from .switches import FEWEST_SIZES, find_switch_near, find_switches

NAMES = tuple(f.name for f in fields(Parameters))
HEADER = 96
"""A library may count its own header of up to so many bytes in its eager limit."""
LARGEST_SCATTER = 0.25
"""A range fails when the median size of a curve is further than this (relative) from the fit; the curve of a
call of which a part was set aside (tail, stall) decides nothing, and is not asked."""
MOST_SWITCHES = 3
FEWEST_RENDEZVOUS = 3
"""Sizes beyond S that must have been measured for a rendezvous range."""
RESAMPLES = 200
CONFIDENCE = 0.95

_DECIDES = {"half": "L", "gap": "g", "send": "o_s", "receive": "o_r"}
"""Which parameter a curve that does not fit leaves undetermined."""


@dataclass(frozen=True)
class Range:
    """The parameters that hold from a message size on: times in ps, G and O in ps per byte.

    intervals: 95 % bootstrap intervals by parameter; hidden: those that no curve shows because the CPU is
    slower; tail, stall: what a send and a lone receive take beyond o_s and o_r, ps (see fit.py); scatter:
    median |relative residual| by curve.
    """

    first: int
    rendezvous: bool
    parameters: Parameters
    intervals: dict[str, tuple[float, float]]
    hidden: tuple[str, ...]
    tail: float
    stall: float
    scatter: dict[str, float]


@dataclass(frozen=True)
class LogGP:
    """A fit: ranges by size (the first starts at 1), S in bytes (None: no switch to rendezvous is known).

    medians: one row a (size, curve): median_ps, low_ps, high_ps (95 %, order statistics), n.
    predictions: one row a (size, series rtt or train): measured_ps, predicted_ps by the simulator's rules,
    residual (relative). repetitions: made, and of them steady (see observations.py). notes: what a reader
    must know.
    """

    ranges: tuple[Range, ...]
    S: int | None
    medians: pd.DataFrame
    predictions: pd.DataFrame
    repetitions: int
    steady: int
    notes: tuple[str, ...]

    @property
    def network(self) -> Network:
        """The same as the simulator's rules take it."""
        return Network(tuple((r.first, r.parameters) for r in self.ranges), self.S)


def estimate(samples: pd.DataFrame, eager_limit: int | None, seed: int = 1) -> LogGP:
    """Fit `samples` (columns series, size, n, delay_ns, repetition, value_ns).

    `eager_limit` is what the MPI library says, in bytes, its header included or not; None if it says nothing.
    `seed` draws the bootstrap's samples. Raises MeasurementError, naming the parameter, its value and its
    interval, when a parameter is negative beyond its uncertainty or a curve scatters too much.
    """
    seen = observe(samples)
    medians = seen.medians()
    train = int(samples.loc[samples["series"] == "train", "n"].iloc[0])
    S, notes = _eager_threshold(seen, medians, eager_limit)
    try:
        return _estimate(seen, medians, S, notes, train, seed)
    except _QuickRendezvousError as error:
        note = (
            f"Beyond {S} B the library's rendezvous is quicker than the three transmissions of the "
            f"simulator's rules ({error}): such messages are taken as eager, so a simulated send does not wait for its "
            "receiver."
        )
        return _estimate(seen, medians, None, (*notes, note), train, seed)


class _QuickRendezvousError(MeasurementError):
    """A rendezvous whose data would have to be sent in less than no time."""


def _estimate(
    seen: Observations, medians: Curves, S: int | None, notes: tuple[str, ...], train: int, seed: int
) -> LogGP:
    pieces = _divide(seen.sizes, medians, S)
    models, fits = _fit_all(seen.sizes, medians, pieces)
    intervals = _bootstrap(seen, medians, pieces, models, np.random.default_rng(seed))
    ranges = tuple(
        _checked(seen.sizes[piece], rendezvous, fit, low_high)
        for (piece, rendezvous), fit, low_high in zip(pieces, fits, intervals, strict=True)
    )
    firsts = _first_sizes(seen.sizes, pieces, S)
    ranges = tuple(replace(r, first=first) for r, first in zip(ranges, firsts, strict=True))
    steady = int(seen.steady.sum())
    network = Network(tuple((r.first, r.parameters) for r in ranges), S)
    return LogGP(
        ranges=ranges,
        S=S,
        medians=_median_table(seen),
        predictions=_predictions(seen.sizes, medians, network, train),
        repetitions=seen.repetitions,
        steady=steady,
        notes=notes + _remarks(ranges, steady, seen.repetitions),
    )


Piece = tuple[slice, bool]


def _eager_threshold(seen: Observations, medians: Curves, limit: int | None) -> tuple[int | None, tuple[str, ...]]:
    if limit is None:
        note = "The MPI library does not show its eager limit: every message is taken as eager (S = inf)."
        return None, (note,)
    index = find_switch_near(seen.sizes, medians, limit - HEADER - 8, limit)
    if index is None:
        return limit, ("No break is seen at the eager limit that the MPI library names; S is that limit.",)
    return int(seen.sizes[index - 1]), ()


def _divide(sizes: NDArray[np.int64], medians: Curves, S: int | None) -> list[Piece]:
    """The pieces of the size axis, each with one fit; the eager ones first."""
    end = len(sizes) if S is None else int(np.searchsorted(sizes, S, side="right"))
    if end < FEWEST_SIZES:
        raise MeasurementError(f"only {end} message sizes up to the eager limit of {S} B were measured")

    def eager_cost(piece: slice) -> float:
        return fit_range(sizes[piece], _cut(medians, piece), None, False).cost

    eager = _cut(medians, slice(0, end))
    bounds = [0, *find_switches(sizes[:end], eager, eager_cost, MOST_SWITCHES), end]
    pieces: list[Piece] = [(slice(a, b), False) for a, b in pairwise(bounds)]
    if len(sizes) - end < FEWEST_RENDEZVOUS:
        return pieces
    base = fit_range(sizes[pieces[0][0]], _cut(medians, pieces[0][0]), None, False).parameters
    rest = {name: values[end:] for name, values in medians.items() if name != "receive"}

    def rendezvous_cost(piece: slice) -> float:
        return fit_range(sizes[end:][piece], _cut(rest, piece), base, True).cost

    bounds = [0, *find_switches(sizes[end:], rest, rendezvous_cost, MOST_SWITCHES), len(sizes) - end]
    return pieces + [(slice(end + a, end + b), True) for a, b in pairwise(bounds)]


def _cut(curves: Curves, piece: slice) -> Curves:
    return {name: values[piece] for name, values in curves.items()}


def _fit_all(sizes: NDArray[np.int64], curves: Curves, pieces: list[Piece]) -> tuple[list[RangeModel], list[Fit]]:
    models: list[RangeModel] = []
    fits: list[Fit] = []
    for piece, rendezvous in pieces:
        models.append(RangeModel(sizes[piece], fits[0].parameters if fits else None, rendezvous))
        fits.append(models[-1].solve(_cut(curves, piece)))
    return models, fits


def _bootstrap(
    seen: Observations,
    medians: Curves,
    pieces: list[Piece],
    models: list[RangeModel],
    random: np.random.Generator,
) -> list[dict[str, tuple[float, float]]]:
    """95 % percentile intervals: repetitions are drawn anew with replacement, and the fit follows by one
    step."""
    rows = np.flatnonzero(seen.steady)
    steps = [m.step(_cut(medians, piece)) for m, (piece, _) in zip(models, pieces, strict=True)]
    drawn: list[list[Parameters]] = [[] for _ in pieces]
    for _ in range(RESAMPLES):
        resampled = seen.medians(random.choice(rows, len(rows)))
        base: Parameters | None = None
        for i, (piece, _) in enumerate(pieces):
            curves = _cut(resampled, piece)
            model = models[i].with_base(base)
            drawn[i].append(model.finish(steps[i](model.flat(curves)), curves).parameters)
            base = base or drawn[i][-1]
    tails = [50 * (1 - CONFIDENCE), 50 * (1 + CONFIDENCE)]
    result = []
    for found in drawn:
        spread = {name: np.percentile([getattr(p, name) for p in found], tails) for name in NAMES}
        result.append({name: (float(low), float(high)) for name, (low, high) in spread.items()})
    return result


def _checked(sizes: NDArray[np.int64], rendezvous: bool, fit: Fit, intervals: dict[str, tuple[float, float]]) -> Range:
    where = f"for messages of {sizes[0]} to {sizes[-1]} B"
    scatter = {curve: float(np.median(np.abs(r))) for curve, r in fit.residuals.items()}
    unused = {"send": fit.tail, "receive": fit.stall}
    for curve, value in scatter.items():
        if value > LARGEST_SCATTER and not unused.get(curve):
            name = _DECIDES[curve]
            raise MeasurementError(
                f"{name} {where} is not determined: its curve '{curve}' is {value:.0%} from the "
                f"fit at the median size, more than {LARGEST_SCATTER:.0%}; the fit gave "
                f"{_shown(name, fit.parameters, intervals)}"
            )
    for name in NAMES:
        if getattr(fit.parameters, name) < 0 and intervals[name][1] < 0:
            shown = _shown(name, fit.parameters, intervals)
            if rendezvous and name == "o_s":
                raise _QuickRendezvousError(f"o_s would be {shown}")
            raise MeasurementError(f"{name} {where} came out negative: {shown}; a negative parameter is a failed fit")
    values = {name: max(getattr(fit.parameters, name), 0.0) for name in NAMES}
    zero = [name for name in NAMES if getattr(fit.parameters, name) < 0]
    intervals = {n: (min(low, values[n]), max(high, values[n])) for n, (low, high) in intervals.items()}
    hidden = fit.hidden + tuple(f"{name}≈0" for name in zero)
    return Range(int(sizes[0]), rendezvous, Parameters(**values), intervals, hidden, fit.tail, fit.stall, scatter)


def _first_sizes(sizes: NDArray[np.int64], pieces: list[Piece], S: int | None) -> list[int]:
    """Where each range begins: at the first size that was measured in it; at 1, and beyond S."""
    firsts = [int(sizes[piece][0]) for piece, _ in pieces]
    for i, (_, rendezvous) in enumerate(pieces):
        if rendezvous and S is not None:
            firsts[i] = S + 1
            break
    return [1, *firsts[1:]]


def _shown(name: str, parameters: Parameters, intervals: dict[str, tuple[float, float]]) -> str:
    unit = "ns/B" if name in "GO" else "ns"
    low, high = intervals[name]
    return f"{getattr(parameters, name) / 1000:.4g} {unit} [{low / 1000:.4g}, {high / 1000:.4g}] (95 %)"


def _remarks(ranges: tuple[Range, ...], steady: int, repetitions: int) -> tuple[str, ...]:
    notes = []
    if steady < 0.8 * repetitions:
        notes.append(
            f"The machine changed its speed during the measurement: {repetitions - steady} of {repetitions} "
            "repetitions were set aside because they ran unlike the others."
        )
    for r in ranges:
        where = f"from {r.first} B on"
        if "g" in r.hidden:
            notes.append(f"g {where} cannot be seen, because the CPU is slower than the network; it is an upper bound.")
        if "G" in r.hidden:
            notes.append(f"G {where} cannot be seen, because the CPU is slower than the network; it is set to O.")
        for name in (h.removesuffix("≈0") for h in r.hidden if h.endswith("≈0")):
            notes.append(f"{name} {where} cannot be told from 0 (its interval holds 0) and is 0.")
        if r.stall > 0:
            notes.append(
                f"A lone receive {where} takes {r.stall / 1000:.0f} ns more than one of a train: it waits "
                "for the message's memory; that part is in L, not in o_r."
            )
        if r.tail > 0:
            notes.append(
                f"A send call {where} goes on for {r.tail / 1000:.0f} ns after its message has "
                "left; that part is in g, not in o_s."
            )
    return tuple(notes)


def _median_table(seen: Observations) -> pd.DataFrame:
    rows = []
    for curve, values in seen.curves.items():
        for size, column in zip(seen.sizes, values[seen.steady].T, strict=True):
            rows.append((int(size), curve, *median_interval(column[np.isfinite(column)])))
    return pd.DataFrame(rows, columns=["size", "curve", "median_ps", "low_ps", "high_ps", "n"])


def median_interval(values: Array, confidence: float = CONFIDENCE) -> tuple[float, float, float, int]:
    """Median, its nonparametric interval by order statistics (binomial), and n; the extremes when n is
    small."""
    ordered = np.sort(values)
    n = len(ordered)
    below = int(binom.ppf((1 - confidence) / 2, n, 0.5))
    low, high = ordered[max(below - 1, 0)], ordered[min(n - below, n - 1)]
    return float(np.median(ordered)), float(low), float(high), n


def _predictions(sizes: NDArray[np.int64], medians: Curves, network: Network, train: int) -> pd.DataFrame:
    rows = []
    for i, size in enumerate(sizes):
        single = 2 * float(medians["half"][i])
        many = single + (train - 1) * float(medians["gap"][i])
        for series, n, measured in (("rtt", 1, single), ("train", train, many)):
            predicted = prtt(network, n, 0.0, int(size))
            if not math.isfinite(measured) or measured <= 0:
                continue
            rows.append((int(size), series, n, measured, predicted, predicted / measured - 1))
    return pd.DataFrame(rows, columns=["size", "series", "n", "measured_ps", "predicted_ps", "residual"])
