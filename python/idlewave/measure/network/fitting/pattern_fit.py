"""Parameters fitted to patterns of messages jointly: those with which the simulator comes nearest to all of them.

The sizes are divided into pieces (pattern_pieces.py), each with parameters of its own (fitted_piece.py). The criterion
decides whether one piece does for two, and whether receives take the CPU; so do sizes that are held out of the fit.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from ....errors import MeasurementError
from ....machine import Level, Parameters, Segment
from .fitted_piece import NARROW, STRONG, FittedPiece, fit_piece, is_possible, with_other_limit
from .observations import Array
from .parameter_intervals import parameter_intervals
from .pattern_pieces import pattern_pieces
from .pattern_times import KEYS, NOT_FITTED
from .piece_fit import NAMES, PieceFit

LAST = 2**62
"""A size in bytes, larger than any."""
T = TypeVar("T")
MANY_SIZES = 5
"""The fewest sizes of a piece of which some are held out."""


@dataclass(frozen=True)
class PatternRange:
    """The parameters that hold for messages of at least `first` bytes, and their 95 % intervals by name."""

    first: int
    parameters: Parameters
    intervals: dict[str, tuple[float, float]]


def level_of_ranges(ranges: Sequence[PatternRange | FittedPiece], eager_limit: int | None) -> Level:
    """The ranges, or the pieces, as a level of a machine's network."""
    later = tuple(Segment(r.first, r.parameters) for r in ranges[1:])
    return Level(ranges[0].parameters, later, eager_limit)


class PieceFits:
    """The fits of pieces to a table of items: each is made once, also where the larger sizes are fitted in two ways.

    `whole` has a row an item: KEYS and median_ps; `rows` are those to which the pieces are fitted, with those of wide
    windows twice. `changes`: the first sizes of known protocols. `epochs`: a table like `whole` for each epoch of the
    measurement. Raises MeasurementError if there are no rows but of patterns that no parameter is for.
    """

    def __init__(self, whole: pd.DataFrame, changes: Sequence[int] = (), epochs: Sequence[pd.DataFrame] = ()) -> None:
        fitted = whole[~whole["pattern"].isin(NOT_FITTED)].reset_index(drop=True)
        if fitted.empty:
            raise MeasurementError("no pattern with warm buffers was measured: the time was too short")
        self.changes = tuple(changes)
        self._epochs = [table.set_index(KEYS)["median_ps"] for table in epochs]
        self.starts = pattern_pieces(fitted, changes)
        kept = fitted["size"].isin(_fitted_sizes(fitted["size"], self.starts))
        self.rows = _with_wide_windows_twice(fitted[kept])
        self.held_out = _with_wide_windows_twice(fitted[~kept])
        self._executor = ThreadPoolExecutor(os.cpu_count())
        self._made: dict[tuple[object, ...], Future[FittedPiece | None]] = {}

    def begin(
        self,
        below: Sequence[FittedPiece],
        first: int,
        end: int,
        limit: int | None,
        starts: Sequence[Array] = (),
        posts: bool = False,
        most: float = math.inf,
    ) -> Future[FittedPiece | None]:
        """The piece of the sizes from `first` to below `end`, by descents from `starts`, or from several places; in
        another thread, because a descent often leaves a core idle.

        None if it is seen early that its criterion exceeds `most`; that of the result may exceed it, too.
        """
        rows = _between(self.rows, first, end)
        eager = limit is None or int(rows["size"].max()) <= limit
        # Beside messages of their size, the patterns have some of a byte: those of the first piece.
        smallest = tuple((p.first, p.parameters) for p in below[:1])
        made_of = (smallest, first, end, None if eager else limit, tuple(map(tuple, starts)), posts, most)
        if made_of not in self._made:
            piece = PieceFit(rows, smallest, first, None if eager else limit, posts)
            self._made[made_of] = self._executor.submit(self._fit, piece, rows, starts, most, end)
        return self._made[made_of]

    def map(self, function: Callable[..., T], *arguments: Iterable[Any]) -> list[T]:
        """The results of calls that do not depend on each other, in their order."""
        return list(self._executor.map(function, *arguments))

    def _fit(
        self, piece: PieceFit, rows: pd.DataFrame, starts: Sequence[Array], most: float, end: int
    ) -> FittedPiece | None:
        fitted = fit_piece(piece, rows, starts, most)
        return None if fitted is None else self._checked(fitted, end)

    def with_other_limit(self, fitted: FittedPiece, end: int) -> FittedPiece:
        """The piece, of the sizes to below `end`, if something else limits its streams."""
        return self._checked(with_other_limit(fitted), end)

    def _by_epoch(self, rows: pd.DataFrame) -> Array:
        """The times of each epoch for these rows, ps (epochs by rows); NaN where an epoch has none."""
        keys = pd.MultiIndex.from_frame(rows[KEYS])
        each = [own.reindex(keys).to_numpy(dtype=np.float64) for own in self._epochs]
        return np.array(each).reshape(len(each), len(rows))

    def _checked(self, fitted: FittedPiece, end: int) -> FittedPiece:
        """The piece with the times of the epochs, and with what it costs of the rows that were held out."""
        fitted = replace(fitted, by_epoch=self._by_epoch(fitted.rows))
        rows = _between(self.held_out, fitted.first, end)
        if rows.empty:
            return fitted
        measured = rows["median_ps"].to_numpy(dtype=np.float64)
        return replace(fitted, held_out=fitted.piece.of_rows(rows).cost(fitted.found.values, measured))


def _between(table: pd.DataFrame, first: int, end: int) -> pd.DataFrame:
    """The rows of sizes from `first` to below `end`."""
    return table[(table["size"] >= first) & (table["size"] < end)].reset_index(drop=True)


def _fitted_sizes(sizes: pd.Series[int], starts: Sequence[int]) -> set[int]:
    """The sizes to which the pieces are fitted. Within a piece each time is a line over size: where it has many sizes,
    every second inner one is held out."""
    kept = set()
    for low, high in pairwise([*starts, LAST]):
        own = np.unique(sizes[(sizes >= low) & (sizes < high)]).tolist()
        kept |= {*own[::2], own[-1]} if len(own) >= MANY_SIZES else set(own)
    return kept


def _with_wide_windows_twice(rows: pd.DataFrame) -> pd.DataFrame:
    """`rows`, and those of wide windows a second time. A library takes less time for each of many messages than for
    one, which the model does not hold, and most rows of a size have few messages on the way."""
    wide = rows[rows["window"] > NARROW]
    return pd.concat([rows, wide]).sort_index(kind="stable").reset_index(drop=True)


def fit_patterns(fits: PieceFits, eager_limit: int | None = None) -> list[FittedPiece]:
    """The pieces of the sizes with their parameters. `eager_limit`: S, None if every message is eager."""
    pieces = _fit_pieces(fits, eager_limit)
    others = _with_posting(fits, pieces, eager_limit)
    better = _criterion(others) < _criterion(pieces) and _held_out(others) <= _held_out(pieces)
    if better and any(p.parameters.o_p for p in others):
        pieces, others = others, pieces
    threshold = max(p.threshold for p in pieces)
    more = np.sum([other.criteria - p.criteria for p, other in zip(pieces, others, strict=True)], axis=0)
    if is_possible(more + _held_out(others) - _held_out(pieces), threshold):
        pieces = [p.or_as(other) for p, other in zip(pieces, others, strict=True)]
    return _with_better_limits(fits, pieces)


def with_intervals(fits: PieceFits, pieces: Sequence[FittedPiece]) -> list[PatternRange]:
    """The parameters by range of sizes, with their intervals."""
    intervals = fits.map(parameter_intervals, pieces)
    return [PatternRange(p.first, p.parameters, own) for p, own in zip(pieces, intervals, strict=True)]


def _fit_pieces(fits: PieceFits, eager_limit: int | None) -> list[FittedPiece]:
    """The pieces, without o_p."""
    pieces: list[FittedPiece] = []
    edges = [*pairwise([*fits.starts, LAST])]
    for (first, end), later in zip_longest(edges, edges[1:]):
        next_one = fits.begin(pieces, first, end, eager_limit).result()
        assert next_one is not None
        if later is not None and len(pieces) != 1:  # the first piece, to which all others are fitted, may still grow
            fits.begin(pieces or [next_one], later[0], later[1], eager_limit)
        largest_before = fits.rows.loc[fits.rows["size"] < first, "size"].max()
        if pieces and not any(largest_before < change <= first for change in fits.changes):
            # A curve bends, too, where another of the same parameters begins to limit it: then one piece does for both.
            last, most = pieces[-1], pieces[-1].criterion + next_one.criterion
            ends = (last.found.values, next_one.found.values)
            threshold = max(last.threshold, next_one.threshold)
            both = fits.begin(pieces[:-1], last.first, end, eager_limit, ends, most=most + 2 * threshold).result()
            if both and both.held_out <= last.held_out + next_one.held_out + STRONG:
                more = both.criteria - last.criteria - next_one.criteria
                if both.criterion <= most:
                    pieces[-1] = both.or_as(last, next_one) if is_possible(-more, threshold) else both
                    continue
                if is_possible(more, threshold):
                    pieces[-1], next_one = last.or_as(both), next_one.or_as(both)
        pieces.append(next_one)
    return pieces


def _with_posting(fits: PieceFits, pieces: Sequence[FittedPiece], eager_limit: int | None) -> list[FittedPiece]:
    """The same pieces on a machine whose receives take the CPU, with o_p: from where they are, and from where o_s and
    o_r are half as large, since without o_p they have its time."""
    starts = [(p.found.values, _half_posting(p.found.values)) for p in pieces]
    edges = [*pairwise([*(p.first for p in pieces), LAST])]
    smallest = fits.begin((), *edges[0], eager_limit, starts[0], posts=True).result()
    assert smallest is not None
    begun = [
        fits.begin([smallest], *edge, eager_limit, start, posts=True)
        for edge, start in zip(edges[1:], starts[1:], strict=True)
    ]
    found = [smallest]
    for future in begun:
        larger = future.result()
        assert larger is not None
        found.append(larger)
    return found


def _half_posting(values: Array) -> Array:
    """The parameters with half of o_s and of o_r, and with an o_p of the mean of these halves."""
    half = values.copy()
    ends = [NAMES.index("o_s"), NAMES.index("o_r")]
    half[ends] /= 2
    half[NAMES.index("o_p")] += half[ends].mean()
    return half


def _with_better_limits(fits: PieceFits, pieces: Sequence[FittedPiece]) -> list[FittedPiece]:
    """Each piece with what limits its streams; of the first, if others are fitted to it, the parameters stay."""
    smallest, *larger = pieces
    smallest_other, *others = fits.map(fits.with_other_limit, pieces, [*(p.first for p in larger), LAST])
    if not larger:
        return [smallest.or_better(smallest_other)]
    found = [p.or_better(other) for p, other in zip(larger, others, strict=True)]
    return [smallest.unless_excluded(smallest_other), *found]


def _criterion(pieces: Sequence[FittedPiece]) -> float:
    return sum(p.criterion for p in pieces)


def _held_out(pieces: Sequence[FittedPiece]) -> float:
    return sum(p.held_out for p in pieces)
