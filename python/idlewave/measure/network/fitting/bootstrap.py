"""95 % intervals of a fit by bootstrap over repetitions, and the parameters that a range's sizes do not determine."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields

import numpy as np

from .observations import Array, Observations
from .prediction import FittedParameters
from .protocol_changes import best_split
from .range_model import Medians, RangeModel
from .size_ranges import SizePiece, of_piece

NAMES = tuple(f.name for f in fields(FittedParameters))
RESAMPLES = 200
CONFIDENCE = 0.95
TAILS = (50 * (1 - CONFIDENCE), 50 * (1 + CONFIDENCE))


DETERMINED = 0.02
DETERMINED_PS = 20_000.0
DETERMINED_PER_BYTE = 5.0
"""A range determines a parameter if half its interval is below this relative width, or below 20 ns, or 5 ps a byte."""
ALIKE = 2.6
"""Standard errors within which an undetermined parameter may have the value of the range below, or 0."""

Intervals = dict[str, tuple[float, float]]


@dataclass(frozen=True)
class Drawn:
    """By range: the parameters of each resample (rows; columns as in NAMES), and the 95 % interval of the index at
    which it begins."""

    parameters: list[Array]
    onsets: list[tuple[int, int]]


@dataclass(frozen=True)
class Estimate:
    """A range's parameters and their intervals; kept: those taken from the range below."""

    parameters: FittedParameters
    intervals: Intervals
    kept: tuple[str, ...] = ()


def bootstrap(
    seen: Observations,
    medians: Medians,
    pieces: list[SizePiece],
    models: list[RangeModel],
    random: np.random.Generator,
) -> Drawn:
    """95 % percentile intervals: repetitions are drawn with replacement, the fit is updated by one step, and each
    boundary is moved to where the fits on both sides are then closest to the sizes."""
    steps = [m.step(m.medians.curves) for m in models]
    drawn: list[list[FittedParameters]] = [[] for _ in pieces]
    begun: list[list[int]] = [[] for _ in pieces]
    for found in seen.resampled(RESAMPLES, random):
        curves = {name: np.where(np.isfinite(v), v, medians.curves[name]) for name, v in found.items()}
        resampled = Medians(medians.sizes, curves, medians.errors)
        base: FittedParameters | None = None
        for i, piece in enumerate(pieces):
            own = of_piece(resampled, piece).curves
            model = models[i].with_base(base)
            drawn[i].append(model.finish(steps[i](model.flat(own)), own).parameters)
            base = base or drawn[i][-1]
            begun[i].append(_onset(resampled, pieces, models, i))
    ends = [np.percentile(indices, TAILS, method="nearest") for indices in begun]
    onsets = [(int(low), int(high)) for low, high in ends]
    return Drawn([np.array([astuple(p) for p in found]) for found in drawn], onsets)


def determined(
    free: FittedParameters, drawn: Array, below: FittedParameters | None, hidden: tuple[str, ...]
) -> Estimate:
    """The parameters of a range; those that its sizes do not determine have the values of the range below.

    Large messages alone do not determine a latency: it is a small part of each time. A parameter whose interval is wide
    and holds the value of the range below has that value; a negative one whose interval holds 0 is 0; the others follow
    by their joint distribution (that of `drawn`). So a machine's segments differ only in measured differences.
    """
    values, samples = np.array(astuple(free)), drawn.copy()
    intervals = _intervals(samples)
    kept: list[str] = []
    zero: list[str] = []
    if below is not None and {"g", "o_r"} <= set(hidden) and below.g <= free.g:  # a rendezvous that does not show g
        kept.append("g")
        values[NAMES.index("g")] = samples[:, NAMES.index("g")] = below.g
        intervals["g"] = (0.0, free.g)
    while True:
        choice = _least_determined(values, samples, below, {*hidden, *kept, *zero})
        if choice is None:
            break
        i, target = choice
        spread = np.cov(samples.T)
        gain = spread[:, i] / spread[i, i]
        moved = values + gain * (target - values[i])
        if np.any((moved < 0) & (values >= 0) & (moved < -1.0)):
            break
        samples = samples + np.outer(target - samples[:, i], gain)
        values = np.where(np.arange(len(values)) == i, target, moved)
        (zero if target == 0 else kept).append(NAMES[i])
    narrower = _intervals(samples)
    settled = {*kept, *zero}
    shown = {name: intervals[name] if name in settled else narrower[name] for name in NAMES}
    return Estimate(FittedParameters(*map(float, values)), shown, tuple(kept))


def _least_determined(
    values: Array, samples: Array, below: FittedParameters | None, settled: set[str]
) -> tuple[int, float] | None:
    """The least determined parameter of those that may be 0 or have the value of the range below, and that value."""
    best: tuple[float, int, float] | None = None
    for i, name in enumerate(NAMES):
        deviation = float(np.std(samples[:, i]))
        if name in settled or deviation == 0:
            continue
        former = None if below is None else float(getattr(below, name))
        if former is not None and abs(values[i] - former) <= ALIKE * deviation:
            target = former
        elif -2 * ALIKE * deviation <= values[i] < 0:
            target = 0.0
        else:
            continue
        least = DETERMINED_PER_BYTE if name in ("G", "O") else DETERMINED_PS
        doubt = np.inf if values[i] < 0 else 1.96 * deviation / max(DETERMINED * values[i], least)
        if doubt > 1 and (best is None or doubt > best[0]):
            best = (float(doubt), i, target)
    return None if best is None else best[1:]


def _intervals(samples: Array) -> Intervals:
    low, high = np.percentile(samples, TAILS, axis=0)
    return {name: (float(a), float(b)) for name, a, b in zip(NAMES, low, high, strict=True)}


def _onset(medians: Medians, pieces: list[SizePiece], models: list[RangeModel], i: int) -> int:
    """The index at which piece i begins by these medians."""
    piece = pieces[i]
    if piece.cause in ("start", "rendezvous"):
        return int(piece.sizes.start)
    first, last = pieces[i - 1].sizes.start, piece.sizes.stop
    near = of_piece(medians, SizePiece(slice(first, last), piece.rendezvous, ""))
    return int(first) + best_split(models[i - 1].misfit(near), models[i].misfit(near), 1)
