"""The distribution of latency, its drift, and the overheads by size."""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from .loggp import median_interval
from .observations import Array

QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
FEWEST_FOR_MODES = 50
"""The fewest samples of a size that have modes."""
SHARE = 0.05
DEPTH = 0.3
"""A mode has at least SHARE of the samples; between two modes the density falls by at least DEPTH of the lower one."""
WINDOWS = 20


def latencies(samples: pd.DataFrame) -> pd.DataFrame:
    """The half round trips: one row a sample: size, start_ns (NaN in older samples), half_ns. Disturbed samples are
    included, because a message may be disturbed, too."""
    single = samples[(samples["series"] == "rtt") & (samples["size"] > 0)]
    start = single["start_ns"] if "start_ns" in single.columns else np.nan
    table = pd.DataFrame({"size": single["size"], "start_ns": start, "half_ns": single["value_ns"] / 2})
    return table.reset_index(drop=True)


def latency_quantiles(samples: pd.DataFrame) -> pd.DataFrame:
    """One row a size: n, min_ns, q01_ns to q99_ns, max_ns of half a round trip, and modes_ns: the modes (a tuple, the
    most frequent first; for few samples only the median)."""
    rows = []
    for size, own in latencies(samples).groupby("size")["half_ns"]:
        values = own.to_numpy(dtype=np.float64)
        quantiles = {f"q{round(100 * q):02d}_ns": float(np.quantile(values, q)) for q in QUANTILES}
        row = {"size": size, "n": len(values), "min_ns": values.min(), **quantiles, "max_ns": values.max()}
        rows.append(row | {"modes_ns": modes(values)})
    return pd.DataFrame(rows)


def modes(values: Array) -> tuple[float, ...]:
    """The modes of positive values, the most frequent first: peaks of their density over the logarithm.

    A peak counts if SHARE of the values are nearer to it than to others, and the density between it and a higher one
    falls by DEPTH of it. The width of the kernel is Silverman's, with the quartiles for the spread, so that a long tail
    does not widen narrow peaks.
    """
    if len(values) < FEWEST_FOR_MODES:
        return (float(np.median(values)),)
    logs = np.log(values[values > 0])
    low, high = np.quantile(logs, [0.25, 0.75])
    deviation = float(np.std(logs))
    spread = max(min(deviation, (high - low) / 1.34), 0.1 * deviation, 1e-6)
    grid = np.linspace(np.quantile(logs, 0.002) - 3 * spread, np.quantile(logs, 0.998) + 3 * spread, 1024)
    if deviation < 1e-9:
        return (float(np.median(values)),)
    density = scipy.stats.gaussian_kde(logs, bw_method=0.9 * spread * len(logs) ** -0.2 / deviation)(grid)
    peaks, found = scipy.signal.find_peaks(np.concatenate([[0.0], density, [0.0]]), prominence=0.0)
    chosen = peaks[found["prominences"] >= DEPTH * density[peaks - 1]] - 1
    if not len(chosen):
        return (float(np.median(values)),)
    nearest = np.abs(logs[:, None] - grid[chosen][None, :]).argmin(axis=1)
    shares = np.bincount(nearest, minlength=len(chosen)) / len(logs)
    order = [i for i in np.argsort(-shares) if shares[i] >= SHARE]
    return tuple(float(np.exp(grid[chosen[i]])) for i in order)


def over_time(samples: pd.DataFrame) -> pd.DataFrame:
    """Latency over the time of the measurement: one row a window: start_s, end_s, n, and low, middle, high, the
    quartiles of half round trips divided by the median of their size. No rows if the samples have no times."""
    table = latencies(samples).dropna(subset=["start_ns"])
    if table.empty:
        return pd.DataFrame(columns=["start_s", "end_s", "n", "low", "middle", "high"])
    relative = table["half_ns"] / table.groupby("size")["half_ns"].transform("median")
    seconds = (table["start_ns"] - table["start_ns"].min()) / 1e9
    edges = np.linspace(0.0, max(float(seconds.max()), 1e-9), WINDOWS + 1)
    window: NDArray[np.int64] = np.clip(np.searchsorted(edges, seconds, side="right") - 1, 0, WINDOWS - 1)
    rows = []
    for i in np.unique(window):
        own = relative[window == i]
        low, middle, high = np.quantile(own, [0.25, 0.5, 0.75])
        rows.append((edges[i], edges[i + 1], len(own), low, middle, high))
    return pd.DataFrame(rows, columns=["start_s", "end_s", "n", "low", "middle", "high"])


def overheads(samples: pd.DataFrame) -> pd.DataFrame:
    """o_s(s) and o_r(s) by single calls: one row a (call, size): call (send: one send to a waiting receiver; receive:
    the completion of a receive whose message has come; whole receive: a receive called after it has come), size,
    median_ps, low_ps, high_ps (95 %, order statistics), n."""
    rows = []
    for series, call in (("send", "send"), ("wait", "receive"), ("recv", "whole receive")):
        chosen = samples[(samples["series"] == series) & (samples["size"] > 0)]
        for size, own in chosen.groupby("size")["value_ns"]:
            rows.append((call, size, *median_interval(own.to_numpy(dtype=np.float64) * 1000.0)))
    return pd.DataFrame(rows, columns=["call", "size", "median_ps", "low_ps", "high_ps", "n"])
