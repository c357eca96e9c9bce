"""Parameters fitted to patterns of messages jointly: those with which the simulator comes nearest to all of them.

For each piece of the sizes (pattern_pieces.py) the parameters of the model but S are found by least squares of the
logarithm of simulated over measured time, with a loss that counts large residuals linearly: a pattern that the model
cannot hold does not bend the others. The simulator's rules are not smooth, so a descent begins at several places.
Parameters that the patterns cannot distinguish from 0 are 0 (Occam: the information criterion of Schwarz, 1978).
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from itertools import pairwise

import numpy as np
import pandas as pd
import scipy

from ....errors import MeasurementError
from ....machine import Level, Machine, Parameters, Segment
from .observations import Array
from .pattern_pieces import pattern_pieces
from .pattern_times import NOT_FITTED, PatternItem, PatternPrograms

NAMES = tuple(f.name for f in fields(Parameters))
TIMES = ("L", "o_s", "o_r", "g", "c", "o_p")
"""The parameters that are times; the others are costs per byte."""
KEYS = ["pattern", "window", "size", "delay_ns"]
"""The columns that identify an item."""
LOSS = 0.05
"""Residuals above this (of a logarithm) count linearly."""
LIMITS = ("receiver", "sender", "NIC")
"""What may limit a stream."""
LAST = 2**62
NEVER_SENT = 2**50
"""Sizes in bytes, larger than any."""
DAMPING = 0.01
"""A single step is damped so much: what the patterns do not distinguish does not move."""
STEP, LEAST_STEP = 0.01, 0.003
"""A derivative is a difference over this share of the value, and over at least this part of a one-way time."""
NORMAL = 1.96
"""Standard errors of a 95 % interval."""
RIDGE = 1e-6
"""Directions that the patterns show less than this (relative) say nothing about an error."""
MOST_STEPS, SHORT, FEW_STEPS = 15, 6, 3
"""Steps of a descent, of one that shows whether its start is good, and of one that begins near its end."""
NARROW = 16
"""The widest window of the rows with which a place to begin is chosen."""
FEWEST = 2
"""The parameters that a piece has at least: o_s and o_r."""
STRONG = 3 * LOSS**2
"""The evidence against a fit is strong if its criterion is above the least by more: 6 in the units of Schwarz'
criterion, which are half as large (Kass and Raftery, Bayes factors, 1995)."""
NO_GAIN = 1e-4
"""A descent ends when a step lowers the cost by less than this share."""


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
    """The fit of one piece, on the pieces of smaller sizes, which are fitted already. `posts`: whether receives take
    the CPU on this machine, for o_p may be that of another piece alone."""

    def __init__(
        self,
        table: pd.DataFrame,
        below: Sequence[tuple[int, Parameters]],
        first: int,
        limit: int | None,
        posts: bool = False,
    ) -> None:
        self._table = table
        self._below = tuple(below)
        self.first = first
        self._limit = limit
        self.posts = posts
        self._programs = PatternPrograms(items_of(table))
        self._known: dict[Parameters, Array] = {}
        self._executor = ThreadPoolExecutor(os.cpu_count())  # the core simulates without the GIL
        single = table[table["pattern"] == "ping-pong"]["median_ps"] / 2
        way = float(np.exp(np.log(single if len(single) else table["median_ps"]).mean()))
        most = max(float(table["size"].max()), 1.0)
        self.scale = np.array([way if name in TIMES else way / most for name in NAMES])

    def of_rows(self, table: pd.DataFrame) -> PieceFit:
        """The fit of other rows of the same piece."""
        return PieceFit(table, self._below, self.first, self._limit, self.posts)

    def parameters(self, values: Array) -> Parameters:
        """As the simulator takes them: whole ps."""
        named = dict(zip(NAMES, (float(v) for v in np.maximum(values, 0)), strict=True))
        return Parameters(**{name: round(v) if name in TIMES else v for name, v in named.items()})  # type: ignore[arg-type]

    def residuals(self, values: Array, measured: Array) -> Array:
        """The logarithm of simulated over measured time, by row of the table."""
        return np.asarray(np.log(np.maximum(self._simulated(values), 1.0) / measured))

    def cost(self, values: Array, measured: Array) -> float:
        """The sum that a descent makes small: residuals squared, and linear above LOSS."""
        scaled = (self.residuals(values, measured) / LOSS) ** 2
        return float(LOSS**2 * (np.sqrt(1 + scaled) - 1).sum())

    def slopes(self, values: Array, measured: Array, chosen: Sequence[int]) -> Array:
        """The derivatives of the residuals by the chosen parameters (columns), in units of `scale`."""
        scaled = values / self.scale
        widths = [max(STEP * scaled[i], LEAST_STEP) for i in chosen]
        steps = [width * np.eye(len(NAMES))[i] for i, width in zip(chosen, widths, strict=True)]
        here, *others = self._executor.map(
            lambda x: self.residuals(x * self.scale, measured), [scaled, *(scaled + step for step in steps)]
        )
        return np.stack([(other - here) / width for other, width in zip(others, widths, strict=True)], axis=1)

    def descend(self, measured: Array, start: Array, free: Sequence[bool], steps: int = MOST_STEPS) -> Descent:
        """The least residuals against `measured` (ps, by row of the table) from `start`; what is not free stays 0."""
        chosen = np.flatnonzero(np.asarray(free)).tolist()

        def values_of(x: Array) -> Array:
            whole = np.zeros(len(NAMES))
            whole[chosen] = x
            return np.asarray(whole * self.scale)

        begin = np.maximum((start / self.scale)[chosen], LEAST_STEP / 10)
        found = scipy.optimize.least_squares(
            lambda x: self.residuals(values_of(x), measured),
            begin,
            jac=lambda x: self.slopes(values_of(x), measured, chosen),
            bounds=(0, np.inf),
            loss="soft_l1",
            f_scale=LOSS,
            max_nfev=steps,
            ftol=NO_GAIN,
            x_scale=np.full(len(begin), 0.1),
        )
        return Descent(values_of(found.x), float(found.cost))

    def step(self, measured: Array, values: Array, free: Sequence[bool]) -> Array:
        """The parameters after one step of a descent from `values`, near its end."""
        chosen = np.flatnonzero(np.asarray(free)).tolist()
        residuals = self.residuals(values, measured)
        weights = (1 + (residuals / LOSS) ** 2) ** -0.25  # the root of the derivative of the loss
        slopes = self.slopes(values, measured, chosen) * weights[:, None]
        at = (values / self.scale)[chosen]
        damped = np.concatenate([slopes, DAMPING * np.eye(len(chosen))])
        wanted = np.concatenate([-residuals * weights, np.zeros(len(chosen))])
        moved = scipy.optimize.lsq_linear(damped, wanted, bounds=(-at - 1e-9, np.inf)).x
        found = np.zeros(len(NAMES))
        found[chosen] = np.maximum(at + moved, 0.0)
        return np.asarray(found * self.scale)

    def starts(self, measured: Array) -> list[Array]:
        """Places to begin, from single patterns: a stream may be limited by the receiver's CPU, the
        sender's, or the NIC; and each may be so for a message or for its further bytes."""
        table = self._table.assign(ps=measured)
        way, stream, both, blocking = (
            self._line(table, pattern) for pattern in ("ping-pong", "stream", "both ways", "blocking stream")
        )
        found = []
        for limit in LIMITS:
            o_s, o_r = _ends(limit, stream[0], both[0])
            for bytes_limit in (limit, "receiver") if limit != "receiver" else (limit,):
                O_s, O_r = _ends(bytes_limit, stream[1], both[1])
                named = {
                    "L": way[0] - o_s - o_r,
                    "o_s": o_s,
                    "o_r": o_r,
                    "g": stream[0] if limit == "NIC" else 0.0,
                    "G": stream[1],
                    "O_s": O_s,
                    "O_r": O_r,
                    "c": blocking[0] - o_s,
                    "o_p": 0.0,
                }
                found.append(np.maximum([named[name] for name in NAMES], 0.0))
        return found

    def _simulated(self, values: Array) -> Array:
        own = self.parameters(values)
        if own not in self._known:
            self._known[own] = self._times(own)
        return self._known[own]

    def _times(self, own: Parameters) -> Array:
        pieces = [*self._below, (self.first, own)]
        if self.posts:  # o_p of any message makes all receives take the CPU: here, of one that is never sent
            pieces.append((NEVER_SENT, replace(pieces[-1][1], o_p=1)))
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


def _ends(limit: str, stream: float, both: float) -> tuple[float, float]:
    """The costs at the sender and at the receiver, of which `both` is the sum, if `limit` makes a stream so slow."""
    if limit == "NIC":
        return both / 2, both / 2
    slower = min(stream, both)
    return (slower, both - slower) if limit == "sender" else (both - slower, slower)


@dataclass(frozen=True)
class _Fitted:
    """A piece with its fit: its rows of the table, and which parameters are free."""

    piece: PieceFit
    rows: pd.DataFrame
    found: Descent
    free: tuple[bool, ...]
    others: tuple[Descent, ...] = ()
    """Fits with other parameters free, against which there is no strong evidence."""
    near: tuple[Array, ...] = ()
    whole_cost: float = math.inf
    whole: tuple[bool, ...] = ()

    @property
    def first(self) -> int:
        return self.piece.first

    @property
    def criterion(self) -> float:
        """The cost, and the price of the free parameters (Schwarz, 1978)."""
        return self.found.cost + sum(self.free) * _price(self.rows)

    @property
    def parameters(self) -> Parameters:
        return self.piece.parameters(self.found.values)


class PieceFits:
    """The fits of pieces to a table of items: each is made once, also where the larger sizes are fitted in two ways.

    `whole` has a row an item: KEYS and median_ps. Raises MeasurementError if there are no rows but of patterns that no
    parameter is for.
    """

    def __init__(self, whole: pd.DataFrame) -> None:
        self.whole = whole[~whole["pattern"].isin(NOT_FITTED)].reset_index(drop=True)
        if self.whole.empty:
            raise MeasurementError("no pattern with warm buffers was measured: the time was too short")
        self._made: dict[tuple[object, ...], _Fitted | None] = {}

    def fit(
        self,
        below: Sequence[_Fitted],
        first: int,
        end: int,
        limit: int | None,
        starts: Sequence[Array] = (),
        posts: bool = False,
        most: float = math.inf,
    ) -> _Fitted | None:
        """The piece of the sizes from `first` to below `end`, by descents from `starts`, or from several places; None if
        its criterion cannot come below `most`."""
        rows = self.whole[(self.whole["size"] >= first) & (self.whole["size"] < end)].reset_index(drop=True)
        eager = limit is None or int(rows["size"].max()) <= limit
        # Beside messages of their size, the patterns have some of a byte: those of the first piece.
        smallest = tuple((p.first, p.parameters) for p in below[:1])
        made_of = (smallest, first, end, None if eager else limit, tuple(map(tuple, starts)), posts, most)
        if made_of not in self._made:
            piece = PieceFit(rows, smallest, first, None if eager else limit, posts)
            self._made[made_of] = _fit(piece, rows, starts, most)
        return self._made[made_of]


def fit_patterns(
    tables: Sequence[pd.DataFrame], fits: PieceFits, changes: Sequence[int], eager_limit: int | None = None
) -> list[PatternRange]:
    """The parameters by range of sizes.

    `tables` has a table like that of `fits` for each epoch of the measurement, for the intervals. `changes`: the first
    sizes of known protocols. `eager_limit`: S, None if every message is eager.
    """
    pieces = _fit_pieces(fits, changes, eager_limit)
    posting = _with_posting(fits, pieces, eager_limit)
    if any(p.parameters.o_p for p in posting) and _criterion(posting) < _criterion(pieces):
        pieces = posting
    return [PatternRange(p.first, p.parameters, _intervals(p, tables)) for p in pieces]


def _fit_pieces(fits: PieceFits, changes: Sequence[int], eager_limit: int | None) -> list[_Fitted]:
    """The pieces, without o_p."""
    pieces: list[_Fitted] = []
    starts = pattern_pieces(fits.whole, changes)
    for first, end in pairwise([*starts, LAST]):
        next_one = fits.fit(pieces, first, end, eager_limit)
        assert next_one is not None
        largest_before = fits.whole.loc[fits.whole["size"] < first, "size"].max()
        if pieces and not any(largest_before < change <= first for change in changes):
            # A curve bends, too, where another of the same parameters begins to limit it: then one piece does for both.
            last, most = pieces[-1], pieces[-1].criterion + next_one.criterion
            ends = (last.found.values, next_one.found.values)
            both = fits.fit(pieces[:-1], last.first, end, eager_limit, ends, most=most)
            if both is not None and both.criterion <= most:
                pieces[-1] = both
                continue
        pieces.append(next_one)
    return pieces


def _with_posting(fits: PieceFits, pieces: Sequence[_Fitted], eager_limit: int | None) -> list[_Fitted]:
    """The same pieces on a machine whose receives take the CPU, with o_p, from where they are."""
    found: list[_Fitted] = []
    for p, (first, end) in zip(pieces, pairwise([*(p.first for p in pieces), LAST]), strict=True):
        posting = fits.fit(found, first, end, eager_limit, (p.found.values,), posts=True)
        assert posting is not None
        found.append(posting)
    return found


def _criterion(pieces: Sequence[_Fitted]) -> float:
    return sum(p.criterion for p in pieces)


def _fit(piece: PieceFit, rows: pd.DataFrame, starts: Sequence[Array], most: float) -> _Fitted | None:
    """The fit of a piece with these rows; None if its criterion cannot come below `most`."""
    measured = rows["median_ps"].to_numpy(dtype=np.float64)
    several = rows["size"].nunique() > 1
    free = [(several or name in TIMES) and (piece.posts or name != "o_p") for name in NAMES]
    bound = most - FEWEST * _price(rows)
    nearest = [*starts]
    if len(nearest) != 1:
        nearest = _nearest(piece, rows, measured, free, starts or piece.starts(measured), bound)
    if not nearest:
        return None
    whole = piece.descend(measured, nearest[0], free)
    return None if whole.cost > bound else _with_fewest(piece, rows, whole, free, nearest[1:])


def _price(rows: pd.DataFrame) -> float:
    """What a parameter has to lower the cost by, so that it is worth having."""
    return LOSS**2 * math.log(len(rows)) / 2


def _nearest(
    piece: PieceFit,
    rows: pd.DataFrame,
    measured: Array,
    free: Sequence[bool],
    starts: Sequence[Array],
    most: float,
) -> list[Array]:
    """The ends of short descents on a part of the rows, the best first, and those with no strong evidence against them.

    The part has three sizes, and no wide windows, which are most of the ops and show little more than narrower ones.
    Nothing if that part alone costs more than `most` already: all rows seldom cost less than a part of them."""
    sizes = np.unique(rows["size"])
    part = ((rows["window"] <= NARROW) & rows["size"].isin(sizes[[0, len(sizes) // 2, -1]])).to_numpy()
    if not part.any():
        part[:] = True
    thin, own = piece.of_rows(rows[part].reset_index(drop=True)), measured[part]
    tried = sorted((thin.descend(own, each, free, SHORT) for each in starts), key=lambda descent: descent.cost)
    if tried[0].cost > most:
        return []
    return [each.values for each in tried if each.cost <= tried[0].cost + STRONG]


def _with_fewest(
    piece: PieceFit, rows: pd.DataFrame, found: Descent, free: Sequence[bool], near: Sequence[Array]
) -> _Fitted:
    """Without the parameters whose absence costs less than their price, the smallest first; o_s and o_r stay."""
    measured, price = rows["median_ps"].to_numpy(dtype=np.float64), _price(rows)
    kept, seen, whole = list(free), [found], found
    for i in np.argsort(found.values / piece.scale):
        if not kept[i] or NAMES[i] in ("o_s", "o_r"):
            continue
        fewer = [k and j != i for j, k in enumerate(kept)]
        without = found.values * np.asarray(fewer)
        other = Descent(without, piece.cost(without, measured))
        if other.cost > found.cost + price:
            other = piece.descend(measured, without, fewer, FEW_STEPS)
        seen.append(other)
        if other.cost <= found.cost + price:
            found, kept = other, fewer
    if kept != list(free):  # without one, the others' best values are others
        seen.append(piece.descend(measured, found.values, kept, FEW_STEPS))
        found = min(found, seen[-1], key=lambda descent: descent.cost)
    others = tuple(other for other in seen if other.cost <= found.cost + price + STRONG)
    return _Fitted(piece, rows, found, tuple(kept), others, tuple(near), whole.cost, tuple(free))


def _by_epoch(tables: Sequence[pd.DataFrame], rows: pd.DataFrame) -> list[Array]:
    """The measured times of each epoch, by row; that of all where an epoch has none."""
    measured = rows["median_ps"].to_numpy(dtype=np.float64)
    found = []
    for table in tables:
        own = rows[KEYS].merge(table[[*KEYS, "median_ps"]], on=KEYS, how="left")["median_ps"].to_numpy(dtype=np.float64)
        if np.isfinite(own).mean() >= 0.5:
            found.append(np.where(np.isfinite(own), own, measured))
    return found


def _intervals(fitted: _Fitted, tables: Sequence[pd.DataFrame]) -> dict[str, tuple[float, float]]:
    """95 % intervals for the result of another run of as many epochs; none without two epochs.

    Two parts, as squares: Student's t of the scatter of the epochs' own fits, for the difference of two means; and how
    well the patterns distinguish the parameters, by the residuals that the model leaves and their derivatives
    (the covariance of least squares). The second is what another run may shift between parameters.
    """
    values = fitted.found.values
    rows = fitted.rows["median_ps"].to_numpy(dtype=np.float64)
    elsewhere = [fitted.piece.descend(rows, start, fitted.whole) for start in fitted.near]
    others = [*fitted.others, *(d for d in elsewhere if d.cost <= fitted.whole_cost + STRONG)]
    fits = np.stack([values, *(other.values for other in others)])
    measured = _by_epoch(tables, fitted.rows)
    if len(measured) < 2:
        return {}
    each = np.asarray([fitted.piece.step(own, values, fitted.free) for own in measured])
    n = len(each)
    between = scipy.stats.t.ppf(0.975, n - 1) * each.std(axis=0, ddof=1) * math.sqrt(2 / n)
    half = np.hypot(between, NORMAL * _indistinct(fitted))
    return {
        name: (float(max(least - width, 0.0)), float(most + width))
        for name, least, most, width in zip(NAMES, fits.min(axis=0), fits.max(axis=0), half, strict=True)
    }


def _indistinct(fitted: _Fitted) -> Array:
    """The standard errors of the parameters by the covariance of least squares, those among them that are 0, too; an
    o_p of 0 has none, since the least o_p changes the rules."""
    measured = fitted.rows["median_ps"].to_numpy(dtype=np.float64)
    chosen = [i for i, name in enumerate(NAMES) if name != "o_p" or fitted.free[i]]
    if fitted.rows["size"].nunique() == 1:
        chosen = [i for i in chosen if NAMES[i] in TIMES]
    slopes = fitted.piece.slopes(fitted.found.values, measured, chosen)
    residuals = np.minimum(np.abs(fitted.piece.residuals(fitted.found.values, measured)), LOSS)
    variance = float((residuals**2).sum()) / max(len(measured) - sum(fitted.free), 1)
    errors = np.zeros(len(NAMES))
    errors[chosen] = np.sqrt(variance * np.diag(np.linalg.pinv(slopes.T @ slopes, rcond=RIDGE)).clip(min=0))
    return np.asarray(errors * fitted.piece.scale)
