"""The earlier methods of assessing LogP and LogGP, beside PRTT(n,d,s), from samples of the same run.

Culler and others (LogP Performance Assessment of Fast Network Interfaces, 1996), Iannello and others (1998): o_s by
issuing few sends; o_r by a delay longer than a round trip, less the delay and o_s; g by a flood;
L = RTT/2 - o_r - o_s. Kielmann and others (Fast Measurement of LogP Parameters for Message Passing Platforms, 2000):
pLogP, all by size; L = (RTT(0) - 2 g(0))/2. Bell and others (An Evaluation of Current High-Performance Networks, 2003):
the delay between sends is raised until the time grows: d + o = g + (s-1)G; L is not measured, EEL is the round trip.
T. Hoefler, A. Lichei and W. Rehm (2007) describe the errors of each.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from .loggp import LogGP
from .observations import Array, column_medians, undisturbed

PRTT, CULLER, KIELMANN, BELL = "PRTT", "Culler/Iannello", "Kielmann (pLogP)", "Bell"
METHODS = (PRTT, CULLER, KIELMANN, BELL)
RESAMPLES = 200
FEWEST = 3
"""The fewest samples of a series at a size that give an interval, and so a value."""
MOST_GAPS = 3
"""A longer wait has a detour in it: no delay that was asked for is longer than two gaps."""
COLUMNS = ["method", "parameter", "size", "value_ps", "low_ps", "high_ps"]
_PRTT_CURVES = {"o_s": "send", "o_r": "receive", "g": "gap"}


def compare_methods(samples: pd.DataFrame, fit: LogGP, seed: int = 1) -> pd.DataFrame:
    """One row a (method, parameter, size): value_ps, low_ps, high_ps (95 %).

    Parameters: o_s, o_r and g by size (g is the time for which a message of that size occupies the NIC, g + (s-1)G), L,
    and EEL. The size of L is 0 with Kielmann, else the smallest. A method whose series were not recorded has no rows.
    """
    cells = _Cells(undisturbed(samples), np.random.default_rng(seed))
    rows = _by_prtt(fit)
    for size in cells.sizes():
        rows += _culler(cells, size)
        rows += _kielmann(cells, size)
        rows += _bell(cells, size)
    return pd.DataFrame(rows, columns=COLUMNS)


Interval = tuple[float, float, float]


def at_smallest_size(table: pd.DataFrame) -> dict[str, dict[str, Interval]]:
    """Method by parameter at the smallest message: (value, low, high) in ps; a method's unknown parameters are left
    out.

    L is Kielmann's at size 0.
    """
    sizes = table.loc[table["size"] > 0, "size"]
    first = int(sizes.min()) if len(sizes) else 1
    result: dict[str, dict[str, Interval]] = {method: {} for method in METHODS}
    for row in table[table["size"].isin([0, first])].sort_values("size").to_dict(orient="records"):
        result[row["method"]][row["parameter"]] = (row["value_ps"], row["low_ps"], row["high_ps"])
    return result


class _Cells:
    """Medians of a series at a size, and of its bootstrap resamples: arrays of 1 + RESAMPLES values in ps, so that
    every value computed from them has its interval."""

    def __init__(self, samples: pd.DataFrame, random: np.random.Generator) -> None:
        other = samples[samples["series"].isin(["send", "few", "delayed", "flood", "spaced", "recv", "rtt"])]
        self.cells = {
            (str(series), size): own[own["size"] == size]
            for series, own in other.groupby("series")
            for size in own["size"].unique().tolist()
        }
        self.random = random
        self.known: dict[tuple[str, int], Array] = {}

    def sizes(self) -> list[int]:
        named = {"few", "delayed", "flood", "send"}
        return sorted({int(size) for series, size in self.cells if series in named})

    def table(self, series: str, size: int) -> pd.DataFrame | None:
        return self.cells.get((series, size))

    def median(self, series: str, size: int) -> Array | None:
        """The median of the samples less their delays; None if there are too few."""
        key = (series, size)
        if key not in self.known:
            table = self.table(*key)
            if table is None or len(table) < FEWEST:
                return None
            waited = table["delay_ns"] if series == "delayed" else 0.0
            self.known[key] = self.resample(((table["value_ns"] - waited) * 1000.0).to_numpy())
        return self.known[key]

    def messages(self, series: str, size: int) -> int:
        return int(self.cells[series, size]["n"].iloc[0])

    def resample(self, values: Array) -> Array:
        drawn = values[self.random.integers(0, len(values), (len(values), RESAMPLES))]
        return np.concatenate([[np.median(values)], column_medians(drawn)])


Row = tuple[str, str, int, float, float, float]


def _row(method: str, name: str, size: int, values: Array) -> Row:
    low, high = np.percentile(values[1:], [2.5, 97.5])
    return method, name, size, float(values[0]), float(min(low, values[0])), float(max(high, values[0]))


def _by_prtt(fit: LogGP) -> list[Row]:
    """The curves of PRTT at every size, and L as it was fitted."""
    rows: list[Row] = []
    for name, curve in _PRTT_CURVES.items():
        for row in fit.medians[fit.medians["curve"] == curve].to_dict(orient="records"):
            rows.append((PRTT, name, row["size"], row["median_ps"], row["low_ps"], row["high_ps"]))
    first = fit.ranges[0]
    rows.append((PRTT, "L", 1, first.parameters.L, *first.intervals["L"]))
    return rows


def _flood(cells: _Cells, size: int) -> Array | None:
    """The time of a flood divided by its messages; it includes the way of the answer, as in these methods."""
    total = cells.median("flood", size)
    return None if total is None else total / cells.messages("flood", size)


def _culler(cells: _Cells, size: int) -> list[Row]:
    few, delayed, single = (cells.median(series, size) for series in ("few", "delayed", "rtt"))
    gap = _flood(cells, size)
    if size < 1 or few is None or delayed is None or single is None or gap is None:
        return []
    o_s = few / cells.messages("few", size)
    o_r = delayed - o_s
    rows = [_row(CULLER, "o_s", size, o_s), _row(CULLER, "o_r", size, o_r), _row(CULLER, "g", size, gap)]
    return [*rows, _row(CULLER, "L", size, single / 2 - o_r - o_s)]


def _kielmann(cells: _Cells, size: int) -> list[Row]:
    rows = []
    for name, series in (("o_s", "send"), ("o_r", "recv")):
        values = cells.median(series, size)
        if values is not None:
            rows.append(_row(KIELMANN, name, size, values))
    gap, single = _flood(cells, size), cells.median("rtt", size)
    if gap is not None:
        rows.append(_row(KIELMANN, "g", size, gap))
    if size == 0 and gap is not None and single is not None:
        rows.append(_row(KIELMANN, "L", 0, (single - 2 * gap) / 2))
    return rows


def _bell(cells: _Cells, size: int) -> list[Row]:
    spaced, gap, single = cells.table("spaced", size), _flood(cells, size), cells.median("rtt", size)
    if size < 1 or spaced is None or gap is None or single is None:
        return []
    delays, times = _by_delay(cells, spaced)
    messages = int(spaced["n"].iloc[0])
    rows = [_row(BELL, "g", size, gap), _row(BELL, "EEL", size, single)]
    if len(delays) >= 3:
        rows.append(_row(BELL, "o_s", size, gap - _knees(delays, times / messages, (messages - 1) / messages)))
    delayed, send = cells.median("delayed", size), cells.median("send", size)
    if delayed is not None and send is not None:
        rows.append(_row(BELL, "o_r", size, delayed - send))
    return rows


def _by_delay(cells: _Cells, spaced: pd.DataFrame) -> tuple[Array, Array]:
    """The delays, ps, and by delay (rows) the medians of the totals. The real lengths of equal delays differ, so delays
    are grouped by eighths of a gap; the median of all delays is 3/4 of a gap. A pause with a detour in it is left out:
    it is longer than MOST_GAPS, or in a group of few samples."""
    waited = spaced["delay_ns"].to_numpy()
    gap = max(float(np.median(waited)) / 0.75, 1e-9)
    delays, times = [], []
    for eighths, own in spaced.groupby(np.round(8 * waited / gap)):
        if float(str(eighths)) > 8 * MOST_GAPS:
            break
        if len(own) >= FEWEST:
            delays.append(float(own["delay_ns"].median()) * 1000.0)
            times.append(cells.resample((own["value_ns"] * 1000.0).to_numpy()))
    return np.array(delays), np.array(times)


def _knees(delays: Array, times: Array, slope: float) -> Array:
    """For each column of `times` (by delay) the delay at which they begin to grow: level + slope * max(0, d - knee)."""
    candidates = np.linspace(0.0, float(delays[-1]), 400)
    growth = slope * np.maximum(delays[:, None] - candidates, 0.0)
    off = times[:, :, None] - growth[:, None, :]
    off = (off - off.mean(axis=0)) / times.mean(axis=0)[None, :, None]
    knees: Array = candidates[(off**2).sum(axis=0).argmin(axis=1)]
    return knees
