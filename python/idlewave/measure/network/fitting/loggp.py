"""From a table of samples to LogGOPS parameters: pure, without input or output.

The method is PRTT(n,d,s) of T. Hoefler, T. Mehlan, A. Lumsdaine and W. Rehm (Netgauge: A network performance
measurement framework, 2007; and "LogGP in theory and practice", 2009). docs/measuring.md describes what is done beyond
it, and why.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from ....errors import MeasurementError
from ..transports import Transport
from .bootstrap import CONFIDENCE, bootstrap
from .eager_threshold import Threshold, eager_threshold
from .fit_notes import doubts, remarks
from .fitted_ranges import LARGEST_SCATTER, FailedFit, QuickRendezvousError, Range, checked
from .observations import FEWEST, Alike, Array, Curves, Observations, observe
from .page_steps import Pages
from .prediction import Exchange, Network, prtts
from .range_model import Medians
from .size_ranges import SizePiece, divide

TWO_SIDED = Transport()


@dataclass(frozen=True)
class LogGP:
    """A fit: ranges by size (the first starts at 1), S in bytes (None: no switch to rendezvous is known).

    seen_limit: the largest message whose send was not seen to wait for its receiver; None if all were or none was. S
    may be None all the same. S_bounds: the sizes between which S lies by the measurement, equal if it is known to the
    byte.

    medians: one row a (size, curve): median_ps, low_ps, high_ps (95 %, order statistics), n. predictions: one row a
    (size, series rtt or train): measured_ps, predicted_ps by the simulator's rules, residual (relative). repetitions:
    those made. steady: how many of them ran alike (see observations.py); the fit is to these, or to all if they are too
    few. notes: sentences about the fit.
    """

    ranges: tuple[Range, ...]
    S: int | None
    medians: pd.DataFrame
    predictions: pd.DataFrame
    repetitions: int
    steady: int
    notes: tuple[str, ...]
    S_bounds: tuple[int, int] | None = None
    seen_limit: int | None = None
    failures: tuple[str, ...] = ()

    @property
    def ran_alike(self) -> bool:
        """Whether the fit is to repetitions that ran alike, and not to all because those were too few."""
        return self.steady >= FEWEST

    @property
    def network(self) -> Network:
        """The same for the simulator's rules."""
        return Network(tuple((r.first, r.parameters) for r in self.ranges), self.S)


def estimate(
    samples: pd.DataFrame,
    eager_limit: int | None = None,
    seed: int = 1,
    transport: Transport = TWO_SIDED,
    pages: Pages | None = None,
    failed_fit: FailedFit = "refused",
    alike: Alike | None = None,
) -> LogGP:
    """Fit `samples` (columns series, size, n, delay_ns, repetition, value_ns, and disturbed if it was counted).

    S is found by the series `late`; without it (older samples) by the break that the curves have near
    `eager_limit`: the MPI library's limit in bytes, with or without its header; None if it is not known.
    `transport`: its traits show whether a send that waits for its receiver runs a rendezvous or waits for room in a
    buffer. `pages`: the position of messages in pages, None if that does not matter or is not known.
    `seed` draws the bootstrap's samples. `alike`: which repetitions count (see `observe`); None: those that ran alike,
    and where a failed fit is noted, all if those are too few. Raises MeasurementError, naming the parameter, its value
    and its interval, if a parameter is negative beyond its uncertainty or a curve scatters too much; if the fit is far
    from the measured round trips or trains; and if too few repetitions ran alike; unless `failed_fit` is "noted": then
    the failures say so.
    """
    seen = observe(samples, transport.passive, alike or ("preferred" if failed_fit == "noted" else "demanded"))
    medians = Medians(seen.sizes, seen.medians(), seen.errors())
    threshold = eager_threshold(seen, medians, eager_limit, transport)
    try:
        return _estimate(seen, medians, threshold, seed, pages, failed_fit)
    except QuickRendezvousError as error:
        note = (
            f"Beyond {threshold.S} B the library's rendezvous is quicker than the three transmissions of the "
            f"simulator's rules ({error}): such messages are taken as eager, so a simulated send does not wait for its "
            "receiver."
        )
        eager = Threshold(None, None, (*threshold.notes, note))
        return replace(_estimate(seen, medians, eager, seed, pages, failed_fit), seen_limit=threshold.S)


def _estimate(
    seen: Observations, medians: Medians, threshold: Threshold, seed: int, pages: Pages | None, failed_fit: FailedFit
) -> LogGP:
    S = threshold.S
    division = divide(medians, S, pages)
    pieces = division.pieces
    drawn = bootstrap(seen, medians, pieces, division.models, np.random.default_rng(seed))
    found: list[Range] = []
    for piece, model, parameters in zip(pieces, division.models, drawn.parameters, strict=True):
        below = found[-1].parameters if found else None
        found.append(checked(seen.sizes[piece.sizes], piece.rendezvous, model.fit(), parameters, below, failed_fit))
    ranges = _begun(tuple(found), seen.sizes, pieces, threshold, drawn.onsets)
    network = Network(tuple((r.first, r.parameters) for r in ranges), S)
    predictions = _predictions(seen, medians.curves, network)
    far = _far_off(predictions)
    if far and failed_fit == "refused":
        raise MeasurementError(f"by the fit, {far[0]}")
    unlike = [] if seen.ran_alike else [_ran_unlike(seen)]
    of_ranges = (failure for r in ranges for failure in r.failures)
    failures = [*unlike, *of_ranges, *(f"By PRTT's fit, {why}." for why in far)]
    return LogGP(
        ranges=ranges,
        S=S,
        medians=_median_table(seen),
        predictions=predictions,
        repetitions=seen.repetitions,
        steady=int(seen.steady.sum()),
        notes=(*threshold.notes, *remarks(ranges, division.steps), *doubts(seen, medians)),
        S_bounds=threshold.bounds,
        seen_limit=S,
        failures=tuple(failures),
    )


def _ran_unlike(seen: Observations) -> str:
    return (
        f"Of the {seen.repetitions} repetitions of PRTT too few ran alike (within 15 %) with all sizes: its fit is to "
        "all of them, at whatever speed they ran."
    )


def _begun(
    ranges: tuple[Range, ...],
    sizes: NDArray[np.int64],
    pieces: list[SizePiece],
    threshold: Threshold,
    onsets: list[tuple[int, int]],
) -> tuple[Range, ...]:
    """The ranges with the sizes at which they begin: the first at 1, the rendezvous beyond S, each other at its first
    measured size, or between that and the size before."""
    result = []
    for r, piece, (low, high) in zip(ranges, pieces, onsets, strict=True):
        if piece.cause == "start":
            result.append(replace(r, first=1))
        elif piece.cause == "rendezvous" and threshold.S is not None:
            bounds = threshold.bounds or (threshold.S, threshold.S)
            result.append(replace(r, first=threshold.S + 1, onset=(bounds[0] + 1, bounds[1] + 1), cause=piece.cause))
        else:
            onset = (int(sizes[low - 1]) + 1, int(sizes[high]))
            exact = onset[0] == onset[1]  # a change of protocol is at one byte; one that is not enclosed may be none
            result.append(replace(r, onset=onset, cause=piece.cause if exact else "bend"))
    return tuple(result)


def _median_table(seen: Observations) -> pd.DataFrame:
    rows = []
    for curve, values in seen.curves().items():
        for size, column in zip(seen.sizes, values.T, strict=True):
            rows.append((int(size), curve, *median_interval(column[np.isfinite(column)])))
    return pd.DataFrame(rows, columns=["size", "curve", "median_ps", "low_ps", "high_ps", "n"])


def median_interval(values: Array, confidence: float = CONFIDENCE) -> tuple[float, float, float, int]:
    """Median, its nonparametric interval by order statistics (binomial), and n; the interval of few values is their
    range."""
    ordered = np.sort(values)
    n = len(ordered)
    below = _order(n, confidence)
    low, high = ordered[max(below - 1, 0)], ordered[min(n - below, n - 1)]
    return float((ordered[(n - 1) // 2] + ordered[n // 2]) / 2), float(low), float(high), n


@cache
def _order(n: int, confidence: float) -> int:
    """The lower quantile of the binomial distribution (n, 1/2), from which the ends of the median's interval follow."""
    return int(np.argmax(scipy.special.bdtr(np.arange(n + 1.0), n, 0.5) >= (1 - confidence) / 2))


def _far_off(predictions: pd.DataFrame) -> list[str]:
    """What makes a fit fail that is far from the measured exchanges, even if the uncertainty of the medians allows
    it."""
    found = []
    for series, residuals in predictions.groupby("series", sort=False)["residual"]:
        off = float(residuals.abs().median())
        if off > LARGEST_SCATTER:
            found.append(
                f"times of the series '{series}' are {off:.0%} from those measured at the median size, "
                f"more than {LARGEST_SCATTER:.0%}: they scatter too much"
            )
    return found


def _predictions(seen: Observations, medians: Curves, network: Network) -> pd.DataFrame:
    rows: list[tuple[int, str, int, float]] = []
    for i, size in enumerate(seen.sizes):
        single = 2 * float(medians["half"][i])
        many = single + float((seen.train[i] - 1) * medians["gap"][i])
        for series, n, measured in (("rtt", 1, single), ("train", int(seen.train[i]), many)):
            if math.isfinite(measured) and measured > 0:
                rows.append((int(size), series, n, measured))
    table = pd.DataFrame(rows, columns=["size", "series", "n", "measured_ps"])
    exchanges = [Exchange(n, 0.0, size) for size, n in zip(table["size"], table["n"], strict=True)]
    table["predicted_ps"] = prtts(network, exchanges)
    table["residual"] = table["predicted_ps"] / table["measured_ps"] - 1
    return table
