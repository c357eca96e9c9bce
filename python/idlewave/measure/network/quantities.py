"""The quantities that a fit is looked at by: half a round trip, the gap, and the overheads; measured and predicted.

Made as they are measured, from PRTT(1,0,s), PRTT(n,0,s) and PRTT(n,d,s).
Hoefler, Lichei, Rehm: Low-Overhead LogGP Parameter Assessment (2007).
"""

from __future__ import annotations

import math

import pandas as pd

from .loggp import LogGP
from .rules import Network, prtt

QUANTITIES = ("half_rtt", "gap", "o_s", "o_r")
OF_CURVE = {"half": "half_rtt", "gap": "gap", "send": "o_s", "receive": "o_r"}
CURVES = {series: curve for curve, series in OF_CURVE.items()}
MESSAGES = 16  # n of PRTT(n,d,s), as the probes send it


def predicted_ps(network: Network, series: str, size: int, messages: int = MESSAGES) -> float:
    """What the simulator's rules give for a quantity (one of QUANTITIES), ps, from a train of so many messages; o_r is
    o_r + kO. Of a rendezvous no receive overhead is seen: not a number."""
    if series == "o_r":
        own = network.of(size)
        eager = network.S is None or size <= network.S
        return own.o_r + max(size - 1, 0) * own.O if eager else math.nan
    single = prtt(network, 1, 0.0, size)
    if series == "half_rtt":
        return single / 2
    delay = prtt(network, 2, 0.0, size) if series == "o_s" else 0.0
    return (prtt(network, messages, delay, size) - single) / (messages - 1) - delay


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

    aside_ns is the part of a measured call that the model has deliberately not as overhead (`Range.tail` of a send,
    `Range.stall` of a receive): the fit says that predicted_ns + aside_ns is measured. Of a rendezvous no receive
    overhead is seen: its predicted_ns is not a number.
    """
    trains = fit.predictions[fit.predictions["series"] == "train"].set_index("size")["n"]
    rows = []
    for series, own in quantities_of(fit).groupby("series", sort=False):
        for size, measured in zip(own["size"], own["median_ns"], strict=True):
            # A train's real length; paced ones are compared as if they had it too, which is the same by the rules.
            predicted = predicted_ps(fit.network, str(series), int(size), int(trains.get(size, MESSAGES)))
            rows.append((int(size), series, measured, predicted / 1e3, _aside_ps(fit, str(series), int(size)) / 1e3))
    table = pd.DataFrame(rows, columns=["size", "series", "measured_ns", "predicted_ns", "aside_ns"])
    return table.dropna(subset=["measured_ns"], ignore_index=True)


def _aside_ps(fit: LogGP, series: str, size: int) -> float:
    own = [r for r in fit.ranges if size >= r.first][-1]
    return {"o_s": own.tail, "o_r": own.stall}.get(series, 0.0)
