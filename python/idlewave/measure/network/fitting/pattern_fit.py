"""Parameters fitted to patterns of messages jointly: those with which the simulator comes nearest to all of them.

For each piece of the sizes (pattern_pieces.py) the nine parameters of the model but S are found by least squares of the
logarithm of simulated over measured time, with a loss that counts large residuals linearly: a pattern that the model
cannot hold does not bend the others. The simulator's rules are not smooth, so a descent begins at several places.
Parameters that the patterns cannot tell from 0 are 0 (Occam: the information criterion of Schwarz, 1978).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import pandas as pd
import scipy

from ....machine import Level, Machine, Parameters, Segment
from .observations import Array
from .pattern_pieces import pattern_pieces
from .pattern_times import COLD, PatternItem, PatternPrograms

NAMES = tuple(f.name for f in fields(Parameters))
TIMES = ("L", "o_s", "o_r", "g", "c")
"""The parameters that are times; the others are costs per byte."""
KEYS = ["pattern", "window", "size", "delay_ns"]
"""The columns that tell one item from another."""
LOSS = 0.05
"""Residuals above this (of a logarithm) count linearly."""
STEP, LEAST_STEP = 0.01, 0.003
"""A derivative is a difference over this share of the value, and over at least this part of a one-way time."""
MOST_STEPS, FEW_STEPS = 15, 5
"""Steps of a descent, and of one that begins near its end."""


@dataclass(frozen=True)
class PatternRange:
    """The parameters that hold for messages of at least `first` bytes, and their 95 % intervals by name."""

    first: int
    parameters: Parameters
    intervals: dict[str, tuple[float, float]]


def level_of_ranges(ranges: Sequence[PatternRange], eager_limit: int | None) -> Level:
    """The ranges as a level of a machine's network."""
    later = tuple(Segment(r.first, r.parameters) for r in ranges[1:])
    return Level(ranges[0].parameters, later, eager_limit)


def items_of(table: pd.DataFrame) -> list[PatternItem]:
    """The items of the rows of a table with the columns KEYS."""
    return [
        PatternItem(str(pattern), int(window), int(size), int(delay))
        for pattern, window, size, delay in table[KEYS].itertuples(index=False)
    ]


@dataclass(frozen=True)
class Descent:
    """The end of a descent: the parameters by NAMES (ps, ps per byte), and its cost."""

    values: Array
    cost: float


class PieceFit:
    """The fit of one piece, on the pieces of smaller sizes, which are fitted already."""

    def __init__(
        self, table: pd.DataFrame, below: Sequence[tuple[int, Parameters]], first: int, limit: int | None
    ) -> None:
        self._table = table
        self._below = tuple(below)
        self._first = first
        self._limit = limit
        self._programs = PatternPrograms(items_of(table))
        single = table[table["pattern"] == "ping-pong"]["median_ps"] / 2
        way = float(np.exp(np.log(single if len(single) else table["median_ps"]).mean()))
        most = max(float(table["size"].max()), 1.0)
        self.scale = np.array([way if name in TIMES else way / most for name in NAMES])

    def parameters(self, values: Array) -> Parameters:
        """As the simulator takes them: whole ps."""
        named = dict(zip(NAMES, (float(v) for v in np.maximum(values, 0)), strict=True))
        return Parameters(**{name: round(v) if name in TIMES else v for name, v in named.items()})  # type: ignore[arg-type]

    def descend(self, measured: Array, start: Array, free: Sequence[bool], steps: int = MOST_STEPS) -> Descent:
        """The least residuals against `measured` (ps, by row of the table) from `start`; what is not free stays 0."""
        chosen = np.flatnonzero(np.asarray(free))

        def values_of(x: Array) -> Array:
            whole = np.zeros(len(NAMES))
            whole[chosen] = x
            return np.asarray(whole * self.scale)

        def residuals(x: Array) -> Array:
            return np.log(np.maximum(self._simulated(values_of(x)), 1.0) / measured)

        def slopes(x: Array) -> Array:
            here = residuals(x)
            widths = np.maximum(STEP * x, LEAST_STEP)
            return np.stack(
                [
                    (residuals(x + width * unit) - here) / width
                    for width, unit in zip(widths, np.eye(len(x)), strict=True)
                ],
                axis=1,
            )

        begin = np.maximum((start / self.scale)[chosen], LEAST_STEP / 10)
        found = scipy.optimize.least_squares(
            residuals,
            begin,
            jac=slopes,
            bounds=(0, np.inf),
            loss="soft_l1",
            f_scale=LOSS,
            max_nfev=steps,
            x_scale=np.full(len(begin), 0.1),
        )
        return Descent(values_of(found.x), float(found.cost))

    def starts(self, measured: Array) -> list[Array]:
        """Places to begin: what single patterns tell, with the CPU's time given to either end."""
        table = self._table.assign(ps=measured)
        way, stream, both, blocking = (
            self._line(table, pattern) for pattern in ("ping-pong", "stream", "both ways", "blocking stream")
        )
        found = []
        for share in (0.3, 0.7):
            for once in (False, True):  # whether one copy is made, by the receiver
                o_s, o_r = share * both[0], (1 - share) * both[0]
                at_sender, at_receiver = (0.0, stream[1]) if once else (share * both[1], (1 - share) * both[1])
                named = {
                    "L": way[0] - o_s - o_r,
                    "o_s": o_s,
                    "o_r": o_r,
                    "g": stream[0],
                    "G": stream[1],
                    "O_s": at_sender,
                    "O_r": at_receiver,
                    "c": blocking[0] - o_s,
                }
                found.append(np.maximum([named[name] for name in NAMES], 0.0))
        return found

    def _simulated(self, values: Array) -> Array:
        pieces = [*self._below, (self._first, self.parameters(values))]
        later = tuple(Segment(first, parameters) for first, parameters in pieces[1:])
        return self._programs.times(Machine("fitted", Level(pieces[0][1], later, self._limit)))

    @staticmethod
    def _line(table: pd.DataFrame, pattern: str) -> tuple[float, float]:
        """Time and cost per byte of a message in the pattern's widest window that all sizes have; 0 without it."""
        rows = table[table["pattern"] == pattern]
        counts = rows.groupby("window")["size"].nunique()
        if not len(rows):
            return 0.0, 0.0
        window = int(counts[counts == counts.max()].index.max())
        rows = rows[rows["window"] == window]
        ways = 2 if pattern == "ping-pong" else window
        sizes, times = rows["size"].to_numpy(dtype=np.float64), rows["ps"].to_numpy(dtype=np.float64) / ways
        if len(sizes) < 2:
            return float(times[0]), 0.0
        weighted = np.stack([np.ones(len(sizes)), sizes], axis=1) / times[:, None]
        line = np.linalg.lstsq(weighted, np.ones(len(sizes)), rcond=None)[0]
        return max(float(line[0]), 0.0), max(float(line[1]), 0.0)


def fit_patterns(
    tables: Sequence[pd.DataFrame], whole: pd.DataFrame, changes: Sequence[int], eager_limit: int | None = None
) -> list[PatternRange]:
    """The parameters by range of sizes.

    `whole` has a row an item: KEYS and median_ps. `tables` has such a table for each epoch of the measurement, for the
    intervals. `changes`: the first sizes of known protocols. `eager_limit`: S, None if every message is eager.
    """
    whole = whole[whole["pattern"] != COLD].reset_index(drop=True)
    starts = pattern_pieces(whole, changes)
    ends = [*starts[1:], 2**62]
    ranges: list[PatternRange] = []
    for first, end in zip(starts, ends, strict=True):
        rows = whole[(whole["size"] >= first) & (whole["size"] < end)].reset_index(drop=True)
        below = [(r.first, r.parameters) for r in ranges]
        piece = PieceFit(rows, below, first, eager_limit)
        measured = rows["median_ps"].to_numpy(dtype=np.float64)
        free = [len(rows["size"].unique()) > 1 or name in TIMES for name in NAMES]
        found = min((piece.descend(measured, start, free) for start in piece.starts(measured)), key=lambda d: d.cost)
        found, free = _fewest(piece, measured, found, free)
        each = [
            piece.descend(values, found.values, free, FEW_STEPS).values for values in _by_epoch(tables, rows, measured)
        ]
        parameters = piece.parameters(found.values)
        ranges.append(PatternRange(first, parameters, _intervals(found.values, each)))
    return ranges


def _fewest(piece: PieceFit, measured: Array, found: Descent, free: Sequence[bool]) -> tuple[Descent, list[bool]]:
    """Without the parameters whose absence costs less than the information criterion's price of a parameter."""
    price = LOSS**2 * math.log(len(measured)) / 2
    kept = list(free)
    order = np.argsort(found.values / piece.scale)  # the smallest first
    for i in order:
        if not kept[i] or NAMES[i] in ("o_s", "o_r"):
            continue
        fewer = [k and j != i for j, k in enumerate(kept)]
        start = found.values * np.asarray(fewer)
        other = piece.descend(measured, start, fewer, FEW_STEPS)
        if other.cost <= found.cost + price:
            found, kept = other, fewer
    return found, kept


def _by_epoch(tables: Sequence[pd.DataFrame], rows: pd.DataFrame, measured: Array) -> list[Array]:
    """The measured times of each epoch, by row; that of all where an epoch has none."""
    found = []
    for table in tables:
        own = rows[KEYS].merge(table[[*KEYS, "median_ps"]], on=KEYS, how="left")["median_ps"].to_numpy(dtype=np.float64)
        if np.isfinite(own).mean() >= 0.5:
            found.append(np.where(np.isfinite(own), own, measured))
    return found


def _intervals(values: Array, epochs: Sequence[Array]) -> dict[str, tuple[float, float]]:
    """95 % intervals for the result of another run of as many epochs: Student's t of the epochs' scatter, for the
    difference of two means."""
    if len(epochs) < 2:
        return {}
    n = len(epochs)
    each = np.asarray(epochs)
    half = scipy.stats.t.ppf(0.975, n - 1) * each.std(axis=0, ddof=1) * math.sqrt(2 / n)
    return {
        name: (float(max(value - width, 0.0)), float(value + width))
        for name, value, width in zip(NAMES, values, half, strict=True)
    }
