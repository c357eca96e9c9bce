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
MESSAGES = 32  # n of a predicted PRTT(n,d,s): enough that the first message's way hardly counts


def predicted_ps(network: Network, series: str, size: int) -> float:
    """What the simulator's rules give for a quantity (one of QUANTITIES), ps; o_r is o_r + kO. Of a rendezvous no
    receive overhead is seen: not a number."""
    if series == "o_r":
        own = network.of(size)
        eager = network.S is None or size <= network.S
        return own.o_r + max(size - 1, 0) * own.O if eager else math.nan
    single = prtt(network, 1, 0.0, size)
    if series == "half_rtt":
        return single / 2
    delay = single if series == "o_s" else 0.0
    return (prtt(network, MESSAGES, delay, size) - single) / (MESSAGES - 1) - delay


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
    """size, series, measured_ns, predicted_ns: half round trips, and the gap that a train of n messages amounts to."""
    wide = fit.predictions.pivot(index="size", columns="series", values=["measured_ps", "predicted_ps", "n"])
    rows = []
    for size, row in wide.iterrows():
        rtt = (row["measured_ps", "rtt"], row["predicted_ps", "rtt"])
        train = (row["measured_ps", "train"], row["predicted_ps", "train"])
        between = row["n", "train"] - 1
        rows.append((size, "half_rtt", rtt[0] / 2e3, rtt[1] / 2e3))
        rows.append((size, "gap", (train[0] - rtt[0]) / between / 1e3, (train[1] - rtt[1]) / between / 1e3))
    table = pd.DataFrame(rows, columns=["size", "series", "measured_ns", "predicted_ns"])
    return table.dropna(ignore_index=True)
