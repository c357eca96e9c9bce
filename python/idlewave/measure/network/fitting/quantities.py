"""The quantities by which a fit is shown: half a round trip, the gap, and the overheads; measured and predicted.

Predictions are computed as measurements are, from PRTT(1,0,s), PRTT(n,0,s) and PRTT(n,d,s).
Hoefler, Lichei, Rehm: Low-Overhead LogGP Parameter Assessment (2007).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .loggp import LogGP
from .prediction import FINER, Exchange, Network, prtts

QUANTITIES = ("half_rtt", "gap", "o_s", "o_r")
OF_CURVE = {"half": "half_rtt", "gap": "gap", "send": "o_s", "receive": "o_r"}
CURVES = {series: curve for curve, series in OF_CURVE.items()}
MESSAGES = 16  # n of PRTT(n,d,s), as the probes send it


def predictions_ps(
    network: Network, series: str, sizes: Sequence[int], messages: Sequence[int] | None = None
) -> NDArray[np.float64]:
    """A quantity (one of QUANTITIES) by the simulator's rules at each size, ps, from trains of so many messages; o_r is
    o_r + kO. A rendezvous shows no receive overhead: NaN."""
    if series == "o_r":
        return _receive_overheads(network, np.asarray(sizes, dtype=np.uint64))
    counts = [MESSAGES] * len(sizes) if messages is None else messages
    single = prtts(network, [Exchange(1, 0.0, size) for size in sizes])
    if series == "half_rtt":
        return single / 2
    delays = np.zeros(len(sizes))
    if series == "o_s":
        delays = prtts(network, [Exchange(2, 0.0, size) for size in sizes])
    several = prtts(network, list(map(Exchange, counts, delays, sizes)))
    return np.asarray((several - single) / (np.asarray(counts) - 1) - delays)


def _receive_overheads(network: Network, sizes: NDArray[np.uint64]) -> NDArray[np.float64]:
    costs = network.finer().network.costs(sizes)
    eager = True if network.S is None else sizes <= network.S
    return np.where(eager, (costs.o_r + costs.over_r) / FINER, np.nan)


def quantities_of(fit: LogGP) -> pd.DataFrame:
    """series (of QUANTITIES), size, median_ns, low_ns, high_ns (95 %), n: the medians that were fitted."""
    medians = fit.medians[fit.medians["curve"].isin(list(OF_CURVE))]
    return pd.DataFrame(
        {
            "series": medians["curve"].map(OF_CURVE),
            "size": medians["size"],
            "median_ns": medians["median_ps"] / 1e3,
            "low_ns": medians["low_ps"] / 1e3,
            "high_ns": medians["high_ps"] / 1e3,
            "n": medians["n"],
        }
    )


def residuals_of(fit: LogGP) -> pd.DataFrame:
    """One row a size and series (of QUANTITIES): measured_ns, predicted_ns, aside_ns.

    aside_ns is the part of a measured call that deliberately is no overhead in the model (`Range.tail` of a send,
    `Range.stall` of a receive): by the fit, predicted_ns + aside_ns is measured. A rendezvous shows no receive
    overhead: its predicted_ns is NaN.
    """
    trains = fit.predictions[fit.predictions["series"] == "train"].set_index("size")["n"]
    rows = []
    for series, own in quantities_of(fit).groupby("series", sort=False):
        sizes = [int(size) for size in own["size"]]
        # The real length of a train. Paced trains are compared as if they had it, too: by the rules that is the same.
        counts = [int(trains.get(size, MESSAGES)) for size in sizes]
        predicted = predictions_ps(fit.network, str(series), sizes, counts) / 1e3
        for size, measured, by_rules in zip(sizes, own["median_ns"], predicted, strict=True):
            rows.append((size, series, measured, by_rules, _aside_ps(fit, str(series), size) / 1e3))
    table = pd.DataFrame(rows, columns=["size", "series", "measured_ns", "predicted_ns", "aside_ns"])
    return table.dropna(subset=["measured_ns"], ignore_index=True)


def _aside_ps(fit: LogGP, series: str, size: int) -> float:
    own = [r for r in fit.ranges if size >= r.first][-1]
    return {"o_s": own.tail, "o_r": own.stall}.get(series, 0.0)
