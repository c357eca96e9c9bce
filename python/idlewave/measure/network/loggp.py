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
from .fit import Fit, Medians, RangeModel
from .observations import Array, Curves, Observations, observe
from .rules import Network, Parameters, prtt
from .switches import FEWEST_SIZES, LATE, Switch, best_split, find_switch_near, find_switches, find_threshold

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
UNSETTLED = 0.05
"""A median is uncertain when its 95 % interval reaches further than this part of it."""
WITH_RENDEZVOUS = ("mpi", "libfabric", "ucx", "emulated")
BY_SOCKET = ("tcp", "udp", "shm")
"""Transports of which a send that waits for its receiver has a rendezvous; and whose buffers are full then."""

_DECIDES = {"half": "L", "gap": "g", "send": "o_s", "receive": "o_r"}
"""Which parameter a curve that does not fit leaves undetermined."""


@dataclass(frozen=True)
class Range:
    """The parameters that hold from a message size on: times in ps, G and O in ps per byte.

    intervals: 95 % bootstrap intervals by parameter; hidden: those that no curve shows because the CPU is
    slower; tail, stall: what a send and a lone receive take beyond o_s and o_r, ps (see fit.py); scatter:
    median |relative residual| by curve. onset: the 95 % interval of `first`; cause: start, rendezvous, jump (a
    change of protocol) or bend (see switches.py).
    """

    first: int
    rendezvous: bool
    parameters: Parameters
    intervals: dict[str, tuple[float, float]]
    hidden: tuple[str, ...]
    tail: float
    stall: float
    scatter: dict[str, float]
    onset: tuple[int, int] = (1, 1)
    cause: str = "start"


@dataclass(frozen=True)
class LogGP:
    """A fit: ranges by size (the first starts at 1), S in bytes (None: no switch to rendezvous is known).

    S_bounds: the sizes between which S lies by the measurement, equal if it is known to the byte.

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
    S_bounds: tuple[int, int] | None = None

    @property
    def network(self) -> Network:
        """The same as the simulator's rules take it."""
        return Network(tuple((r.first, r.parameters) for r in self.ranges), self.S)


@dataclass(frozen=True)
class Threshold:
    """S and the sizes between which it lies, None where every message is taken as eager; what is to be said of it."""

    S: int | None
    bounds: tuple[int, int] | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Piece:
    """Sizes with one fit: indices, whether they are sent by rendezvous, and why they begin where they do."""

    sizes: slice
    rendezvous: bool
    cause: str


def estimate(samples: pd.DataFrame, eager_limit: int | None = None, seed: int = 1, transport: str = "mpi") -> LogGP:
    """Fit `samples` (columns series, size, n, delay_ns, repetition, value_ns, and disturbed if it was counted).

    S is found by the series `late`; without it (older samples) by the break that the curves have near
    `eager_limit`: what the MPI library says, in bytes, its header included or not; None if it says nothing.
    `transport` says whether a send that waits for its receiver has a rendezvous, or full buffers before it.
    `seed` draws the bootstrap's samples. Raises MeasurementError, naming the parameter, its value and its
    interval, when a parameter is negative beyond its uncertainty or a curve scatters too much.
    """
    seen = observe(samples)
    medians = Medians(seen.sizes, seen.medians(), seen.errors())
    threshold = _eager_threshold(seen, medians, eager_limit, transport)
    try:
        return _estimate(seen, medians, threshold, seed)
    except _QuickRendezvousError as error:
        note = (
            f"Beyond {threshold.S} B the library's rendezvous is quicker than the three transmissions of the "
            f"simulator's rules ({error}): such messages are taken as eager, so a simulated send does not wait for its "
            "receiver."
        )
        return _estimate(seen, medians, Threshold(None, None, (*threshold.notes, note)), seed)


class _QuickRendezvousError(MeasurementError):
    """A rendezvous whose data would have to be sent in less than no time."""


def _estimate(seen: Observations, medians: Medians, threshold: Threshold, seed: int) -> LogGP:
    S = threshold.S
    pieces = _divide(medians, S)
    models, fits = _fit_all(medians, pieces)
    drawn = _bootstrap(seen, medians, pieces, models, np.random.default_rng(seed))
    ranges = tuple(
        _checked(seen.sizes[piece.sizes], piece.rendezvous, fit, intervals)
        for piece, fit, intervals in zip(pieces, fits, drawn.intervals, strict=True)
    )
    ranges = _begun(ranges, seen.sizes, pieces, threshold, drawn.onsets)
    network = Network(tuple((r.first, r.parameters) for r in ranges), S)
    return LogGP(
        ranges=ranges,
        S=S,
        medians=_median_table(seen),
        predictions=_predictions(seen, medians.curves, network),
        repetitions=seen.repetitions,
        steady=int(seen.steady.sum()),
        notes=threshold.notes + _remarks(ranges) + _doubts(seen, medians),
        S_bounds=threshold.bounds,
    )


def _eager_threshold(seen: Observations, medians: Medians, limit: int | None, transport: str) -> Threshold:
    if transport not in WITH_RENDEZVOUS:
        return _without_rendezvous(seen, transport)
    if seen.late.empty:
        return _threshold_near(medians, limit)
    sizes = seen.late["size"].to_numpy(dtype=np.int64)
    waited = seen.late["share"].to_numpy() >= LATE
    eager = find_threshold(sizes, waited)
    if eager == len(sizes):
        beyond = "" if limit is None or limit > sizes[-1] else f", although the library names a limit of {limit} B"
        note = f"No send of up to {sizes[-1]} B waited for its receiver{beyond}: every message is taken as eager."
        return Threshold(None, None, (note,))
    if eager == 0:
        return Threshold(0, (0, int(sizes[0]) - 1), ("Every send waited for its receiver: no message is eager.",))
    last, beyond_it = int(sizes[eager - 1]), int(sizes[eager])
    notes = []
    if beyond_it > last + 1:
        notes.append(f"S lies between {last} and {beyond_it - 1} B: no size between was measured.")
    if limit is not None and not last - 8 <= limit <= beyond_it - 1 + HEADER:
        notes.append(
            f"The MPI library names an eager limit of {limit} B, but a send waits for its receiver from "
            f"{beyond_it} B on: S is what was measured."
        )
    return Threshold(last, (last, beyond_it - 1), tuple(notes))


def _without_rendezvous(seen: Observations, transport: str) -> Threshold:
    """A send of such a transport waits for nobody but its buffers' being emptied, if at all."""
    notes = [f"The transport {transport} has no rendezvous: every message is eager (S = inf)."]
    sizes, waited = seen.late["size"].to_numpy(dtype=np.int64), seen.late["share"].to_numpy() >= LATE
    if transport in BY_SOCKET and waited.any():
        free = find_threshold(sizes, waited)
        last = int(sizes[free - 1]) if free else 0
        notes.append(
            f"A send of more than {last} B lasts as long as its receiver is late, because the buffers between them are "
            "full; a simulated one does not."
        )
    return Threshold(None, None, tuple(notes))


def _threshold_near(medians: Medians, limit: int | None) -> Threshold:
    if limit is None:
        note = "The MPI library does not show its eager limit: every message is taken as eager (S = inf)."
        return Threshold(None, None, (note,))
    index = find_switch_near(medians, limit - HEADER - 8, limit)
    if index is None:
        note = "No break is seen at the eager limit that the MPI library names; S is that limit."
        return Threshold(limit, None, (note,))
    last, beyond = int(medians.sizes[index - 1]), int(medians.sizes[index])
    return Threshold(last, (last, beyond - 1))


def _divide(medians: Medians, S: int | None) -> list[Piece]:
    """The pieces of the size axis, each with one fit; the eager ones first."""
    sizes = medians.sizes
    end = len(sizes) if S is None else int(np.searchsorted(sizes, S, side="right"))
    if end < FEWEST_SIZES:
        raise MeasurementError(f"only {end} message sizes up to the eager limit of {S} B were measured")
    eager = medians.cut(slice(0, end))

    def fit_eager(piece: slice) -> _Solved:
        return _solve(RangeModel(eager.cut(piece), None, False))

    pieces = _between(0, end, find_switches(eager, fit_eager, MOST_SWITCHES), False, "start")
    if len(sizes) - end < FEWEST_RENDEZVOUS:
        return pieces
    base = fit_eager(pieces[0].sizes).fit.parameters
    rest = medians.cut(slice(end, None), without="receive")

    def fit_rendezvous(piece: slice) -> _Solved:
        return _solve(RangeModel(rest.cut(piece), base, True))

    switches = find_switches(rest, fit_rendezvous, MOST_SWITCHES)
    return pieces + _between(end, len(sizes), switches, True, "rendezvous")


@dataclass(frozen=True)
class _Solved:
    """A solved model, as the search for switches takes it."""

    model: RangeModel
    fit: Fit
    cost: float

    def misfit(self, medians: Medians) -> Array:
        return self.model.misfit(medians)


def _solve(model: RangeModel) -> _Solved:
    fit = model.solve()
    return _Solved(model, fit, fit.cost)


def _between(first: int, end: int, switches: list[Switch], rendezvous: bool, cause: str) -> list[Piece]:
    bounds = [first, *(first + s.index for s in switches), end]
    causes = [cause, *("jump" if s.jump else "bend" for s in switches)]
    return [Piece(slice(a, b), rendezvous, why) for (a, b), why in zip(pairwise(bounds), causes, strict=True)]


def _of_piece(medians: Medians, piece: Piece) -> Medians:
    return medians.cut(piece.sizes, without="receive" if piece.rendezvous else "")


def _fit_all(medians: Medians, pieces: list[Piece]) -> tuple[list[RangeModel], list[Fit]]:
    models: list[RangeModel] = []
    fits: list[Fit] = []
    for piece in pieces:
        base = fits[0].parameters if fits else None
        models.append(RangeModel(_of_piece(medians, piece), base, piece.rendezvous))
        fits.append(models[-1].solve())
    return models, fits


@dataclass(frozen=True)
class _Drawn:
    """By range: the parameters' 95 % intervals, and that of the index at which it begins."""

    intervals: list[dict[str, tuple[float, float]]]
    onsets: list[tuple[int, int]]


def _bootstrap(
    seen: Observations,
    medians: Medians,
    pieces: list[Piece],
    models: list[RangeModel],
    random: np.random.Generator,
) -> _Drawn:
    """95 % percentile intervals: repetitions are drawn anew with replacement, the fit follows by one step, and a
    switch goes where the fits on both sides then meet the sizes best."""
    rows = np.flatnonzero(seen.steady)
    steps = [m.step(m.medians.curves) for m in models]
    drawn: list[list[Parameters]] = [[] for _ in pieces]
    begun: list[list[int]] = [[] for _ in pieces]
    for _ in range(RESAMPLES):
        curves = seen.medians(random.choice(rows, len(rows)))
        curves = {name: np.where(np.isfinite(v), v, medians.curves[name]) for name, v in curves.items()}
        resampled = Medians(medians.sizes, curves, medians.errors)
        base: Parameters | None = None
        for i, piece in enumerate(pieces):
            own = _of_piece(resampled, piece).curves
            model = models[i].with_base(base)
            drawn[i].append(model.finish(steps[i](model.flat(own)), own).parameters)
            base = base or drawn[i][-1]
            begun[i].append(_onset(resampled, pieces, models, i))
    tails = [50 * (1 - CONFIDENCE), 50 * (1 + CONFIDENCE)]
    intervals = []
    for found in drawn:
        spread = {name: np.percentile([getattr(p, name) for p in found], tails) for name in NAMES}
        intervals.append({name: (float(low), float(high)) for name, (low, high) in spread.items()})
    ends = [np.percentile(indices, tails, method="nearest") for indices in begun]
    return _Drawn(intervals, [(int(low), int(high)) for low, high in ends])


def _onset(medians: Medians, pieces: list[Piece], models: list[RangeModel], i: int) -> int:
    """The index at which piece i begins by these medians."""
    piece = pieces[i]
    if piece.cause in ("start", "rendezvous"):
        return int(piece.sizes.start)
    first, last = pieces[i - 1].sizes.start, piece.sizes.stop
    near = _of_piece(medians, Piece(slice(first, last), piece.rendezvous, ""))
    return int(first) + best_split(models[i - 1].misfit(near), models[i].misfit(near), 1)


def _begun(
    ranges: tuple[Range, ...],
    sizes: NDArray[np.int64],
    pieces: list[Piece],
    threshold: Threshold,
    onsets: list[tuple[int, int]],
) -> tuple[Range, ...]:
    """The ranges with the sizes at which they begin: the first at 1, the rendezvous beyond S, each other at the first
    size that was measured in it, or between that and the size before."""
    result = []
    for r, piece, (low, high) in zip(ranges, pieces, onsets, strict=True):
        if piece.cause == "start":
            result.append(replace(r, first=1))
        elif piece.cause == "rendezvous" and threshold.S is not None:
            bounds = threshold.bounds or (threshold.S, threshold.S)
            result.append(replace(r, first=threshold.S + 1, onset=(bounds[0] + 1, bounds[1] + 1), cause=piece.cause))
        else:
            onset = (int(sizes[low - 1]) + 1, int(sizes[high]))
            result.append(replace(r, onset=onset, cause=piece.cause))
    return tuple(result)


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


def _shown(name: str, parameters: Parameters, intervals: dict[str, tuple[float, float]]) -> str:
    unit = "ns/B" if name in "GO" else "ns"
    low, high = intervals[name]
    return f"{getattr(parameters, name) / 1000:.4g} {unit} [{low / 1000:.4g}, {high / 1000:.4g}] (95 %)"


def _remarks(ranges: tuple[Range, ...]) -> tuple[str, ...]:
    notes = []
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


def _doubts(seen: Observations, medians: Medians) -> tuple[str, ...]:
    """What the samples themselves make uncertain."""
    notes = []
    steady = int(seen.steady.sum())
    if steady < 0.8 * seen.repetitions:
        notes.append(
            f"The machine changed its speed during the measurement: {seen.repetitions - steady} of {seen.repetitions} "
            "repetitions were set aside because they ran unlike the others."
        )
    if seen.disturbed:
        notes.append(f"{seen.disturbed} of {seen.samples} samples were set aside: a rank lost its core during them.")
    if seen.left_out:
        shown = ", ".join(map(str, seen.left_out[:5])) + (" …" if len(seen.left_out) > 5 else "")
        notes.append(f"{len(seen.left_out)} sizes have too few samples that ran alike, and are left out: {shown} B.")
    reach = {name: 1.96 * medians.errors[name] / medians.curves[name] for name in ("half", "gap")}
    unsure = np.any([np.abs(values) > UNSETTLED for values in reach.values()], axis=0)
    if unsure.any():
        notes.append(
            f"At {int(unsure.sum())} of {len(unsure)} sizes the median round trip or gap is uncertain by more than "
            f"{UNSETTLED:.0%}: a longer measurement, or a quieter machine, would tell more."
        )
    return tuple(notes)


def _median_table(seen: Observations) -> pd.DataFrame:
    rows = []
    for curve, values in seen.curves().items():
        for size, column in zip(seen.sizes, values.T, strict=True):
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


def _predictions(seen: Observations, medians: Curves, network: Network) -> pd.DataFrame:
    rows = []
    for i, size in enumerate(seen.sizes):
        single = 2 * float(medians["half"][i])
        many = single + (seen.train - 1) * float(medians["gap"][i])
        for series, n, measured in (("rtt", 1, single), ("train", seen.train, many)):
            predicted = prtt(network, n, 0.0, int(size))
            if not math.isfinite(measured) or measured <= 0:
                continue
            rows.append((int(size), series, n, measured, predicted, predicted / measured - 1))
    return pd.DataFrame(rows, columns=["size", "series", "n", "measured_ps", "predicted_ps", "residual"])
