"""The data in the figure of a network's curves: its medians, its residuals, and the limits of its axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ....plot_limits import Limits, bulk_limits
from ..fitting.observations import Array
from ..fitting.prediction import Network
from ..fitting.quantities import predictions_ps

FURTHER = 2.0
"""Intervals extend the axis of times by at most this factor beyond the medians."""
STRIP_ROOM = 0.25
LEAST_REACH = 5.0
"""The axis of residuals extends to at least ±5 %: smaller residuals do not matter."""


@dataclass(frozen=True)
class Compared:
    """shown: series, size, median_ns, low_ns, high_ns, of medians above 0, which a logarithmic axis can show.

    residuals: series, size, percent (of measured; predicted + aside - measured), aside_ns. not_positive: the number of
    medians that are not above 0.
    """

    shown: pd.DataFrame
    residuals: pd.DataFrame
    not_positive: int

    @property
    def times(self) -> Limits:
        """The axis of times, ns."""
        limits = bulk_limits(self.shown["median_ns"], log=True)
        return limits.reaching(self.shown[["low_ns", "high_ns"]].to_numpy(dtype=float), FURTHER).with_margin()

    @property
    def percents(self) -> Limits:
        """The axis of residuals, %: as far above 0 as below."""
        found = bulk_limits(self.residuals["percent"], room=STRIP_ROOM)
        reach = 1.12 * max(-found.low, found.high, LEAST_REACH)
        return Limits(-reach, reach)


@dataclass(frozen=True)
class CutOff:
    """The numbers of medians, intervals and residuals beyond the axes, and of medians that are not above 0."""

    medians: int
    intervals: int
    residuals: int
    not_positive: int


def compared(quantities: pd.DataFrame, residuals: pd.DataFrame | None = None) -> Compared:
    """The data to show from both tables, which are as in `plot_curves`."""
    known = quantities[np.isfinite(quantities["median_ns"].astype(float)) & (quantities["size"] > 0)]
    positive = known["median_ns"] > 0
    shown = known[positive].sort_values(["series", "size"], ignore_index=True)
    return Compared(shown, residual_percents(residuals), int((~positive).sum()))


def cut_off(seen: Compared) -> CutOff:
    """Count the data beyond the axes."""
    times, shown = seen.times, seen.shown
    beyond = times.above(shown["median_ns"]) | times.below(shown["median_ns"])
    wide = times.above(shown["high_ns"]) | times.below(shown["low_ns"])
    residuals = seen.percents.outside(seen.residuals["percent"])
    return CutOff(int(beyond.sum()), int((wide & ~beyond).sum()), residuals, seen.not_positive)


def residual_percents(residuals: pd.DataFrame | None) -> pd.DataFrame:
    """series, size, percent (of measured; predicted + aside - measured), aside_ns: the rows of a table of residuals
    with a measured value above 0 and a prediction."""
    columns = ["series", "size", "percent", "aside_ns"]
    if residuals is None or residuals.empty:
        return pd.DataFrame(columns=columns).astype({"percent": float, "aside_ns": float})
    aside = residuals["aside_ns"] if "aside_ns" in residuals.columns else pd.Series(0.0, residuals.index)
    table = residuals.assign(aside_ns=aside.where(aside > 0, 0.0))
    measured = table["measured_ns"].where(table["measured_ns"] > 0)
    table["percent"] = 100 * ((table["predicted_ns"] + table["aside_ns"]) / measured - 1)
    return table.loc[np.isfinite(table["percent"].astype(float)) & (table["size"] > 0), columns]


def aside_parts(residuals: pd.DataFrame, network: Network, series: str) -> list[tuple[int, float]]:
    """By range of `network` the part of a call that is no overhead in the model: the range's first size, and ns.

    `residuals` as in `Compared`. The result has only ranges with such a part, ascending.
    """
    own = residuals[residuals["series"] == series]
    firsts = [first for first, _ in network.ranges]
    place = np.searchsorted(firsts, own["size"].to_numpy(dtype=float), side="right") - 1
    parts = []
    for index, first in enumerate(firsts):
        found = own["aside_ns"].to_numpy(dtype=float)[place == index]
        if len(found) and np.median(found) > 0:
            parts.append((first, float(np.median(found))))
    return parts


def aside_at(parts: list[tuple[int, float]], network: Network, sizes: list[int]) -> Array:
    """`parts`, as `aside_parts` gives them, at each of `sizes`, ns."""
    firsts = [first for first, _ in network.ranges]
    known = dict(parts)
    return np.array([known.get([f for f in firsts if max(size, 1) >= f][-1], 0.0) for size in sizes])


def line_sizes(sizes: pd.Series, network: Network) -> list[int]:
    """Enough sizes for a smooth line, and both sides of each step."""
    low, high = int(sizes.min()), int(sizes.max())
    dense = {round(value) for value in np.geomspace(low, high, 200)}
    near = {size for step in steps(network) for size in (step - 1, step, step + 1)}
    return sorted(dense | {size for size in near if low <= size <= high})


def steps(network: Network) -> list[int]:
    """The sizes from which other parameters or another protocol hold."""
    return [first for first, _ in network.ranges[1:]] + ([] if network.S is None else [network.S + 1])


def line_of(network: Network, series: str, sizes: list[int]) -> Array:
    """The prediction by the rules at each size, ns; NaN if there is none, and at a step, where a line ends."""
    line = predictions_ps(network, series, [int(size) for size in sizes]) / 1000
    line[~(line > 0) | np.isin(sizes, steps(network))] = np.nan
    return line


def not_modelled(network: Network, series: str, sizes: pd.Series) -> pd.Series:
    """The sizes for which the model does not have a quantity: the receive overhead of a rendezvous."""
    predicted = predictions_ps(network, series, [int(size) for size in sizes])
    return pd.Series(np.isnan(predicted), index=sizes.index)
