"""A piece of the sizes with its fit: the parameters that the patterns show, and the fits that they do not exclude.

The simulator's rules are not smooth, so a descent begins at several places. Parameters that the patterns cannot
distinguish from 0 are 0 (Occam: the information criterion of Schwarz, 1978).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pandas as pd

from ....machine import Parameters
from .evidence import cost_of_epochs, residuals_per_observation
from .fit_starts import fit_starts
from .observations import Array
from .piece_fit import LOSS, NAMES, TIMES, Descent, PieceFit

SHORT, FEW_STEPS = 6, 3
"""Steps of a descent that shows whether its start is good, and of one that begins near its end."""
NARROW = 16
"""The widest window of the rows that choose where a descent begins. Wider ones count twice in the fit."""
FEWEST = 2
"""The parameters that a piece has at least: o_s and o_r."""
STRONG = 3 * LOSS**2
"""The evidence against a fit is strong if it costs so much more: 6 in the units of Schwarz' criterion, which are half
as large (Kass and Raftery, Bayes factors, 1995)."""
NEAR = 3 * STRONG
"""A descent may end as low as another if it costs no more than this above it after SHORT steps."""
NEARLY = 2.0
"""What the slopes expect a fit without a parameter to cost is right to this factor."""


@dataclass(frozen=True)
class FittedPiece:
    """A piece with its fit.

    rows: of the table, to which it is fitted. found, free: the parameters, and which of them the patterns show; the
    others are 0. whole, all_free: the same before any was dropped. seen: further fits to the same rows; those with more
    parameters cost less. others: fits from elsewhere or to other rows, against which there is no strong evidence.
    near: where other descents begin that may end as low. by_epoch: the measured times of each epoch (ps, epochs by
    rows; NaN where an epoch has none). held_out: the cost of the rows that were held out of the fit.
    """

    piece: PieceFit
    rows: pd.DataFrame
    found: Descent
    free: tuple[bool, ...]
    whole: Descent
    all_free: tuple[bool, ...]
    seen: tuple[Descent, ...]
    near: tuple[Array, ...]
    others: tuple[FittedPiece, ...] = ()
    by_epoch: Array = field(default_factory=lambda: np.empty((0, 0)))
    held_out: float = 0.0

    @property
    def first(self) -> int:
        """The smallest size of the piece, bytes; 0 for the first piece."""
        return self.piece.first

    def or_as(self, *others: FittedPiece) -> FittedPiece:
        """The same piece, of which the patterns do not exclude the parameters of the others: of those with the same
        parameters to choose from, since in a piece of one size L has the time of the bytes."""
        one_size = self.rows["size"].nunique() == 1
        comparable = (other for other in others if one_size or other.rows["size"].nunique() > 1)
        return replace(self, others=(*self.others, *comparable))

    @property
    def criterion(self) -> float:
        """The cost, and the price of the free parameters."""
        return self.found.cost + sum(self.free) * self.piece.price

    @cached_property
    def criteria(self) -> Array:
        """The criterion with the times of all epochs together (first), and with those of each."""
        return self.costs(self.found.values) + sum(self.free) * self.piece.price

    def costs(self, values: Array) -> Array:
        """The cost of parameters with the times of all epochs together (first), and with those of each, of which
        missing ones are those of all."""
        each = (np.where(np.isnan(own), self.measured, own) for own in self.by_epoch)
        return np.array([self.piece.cost(values, measured) for measured in (self.measured, *each)])

    @property
    def measured(self) -> Array:
        """The measured times, ps, by row."""
        return self.rows["median_ps"].to_numpy(dtype=np.float64)

    @property
    def residuals(self) -> Array:
        """The logarithm of simulated over measured time, by row."""
        return self.piece.residuals(self.found.values, self.measured)

    @cached_property
    def threshold(self) -> float:
        """What a fit to these rows has to cost more, so that there is strong evidence against it: STRONG if each
        residual is evidence of its own, and more where epochs differ, where neighbouring sizes are alike, or where rows
        count twice: these alone may show a parameter."""
        factor = residuals_per_observation(self.rows, self.residuals) * cost_of_epochs(self.by_epoch)
        return STRONG * self.piece.most_counted * factor

    def or_better(self, other: FittedPiece) -> FittedPiece:
        """The better of two fits to the same rows, and the other one unless it is excluded. The other one is better if
        its criterion is, and if it is no worse on the rows that were held out."""
        if other.criterion >= self.criterion or other.held_out > self.held_out:
            return self.unless_excluded(other)
        seen, near = (*other.seen, *self.seen), (*other.near, *self.near)
        return replace(other, seen=seen, near=near, others=(*other.others, *self.others)).unless_excluded(self)

    def unless_excluded(self, other: FittedPiece) -> FittedPiece:
        """The same piece, and another fit to its rows if there is no strong evidence against that."""
        more = other.criteria - self.criteria + other.held_out - self.held_out
        return self.or_as(other) if is_possible(more, self.threshold) else self

    @property
    def parameters(self) -> Parameters:
        """As the simulator takes them."""
        return self.piece.parameters(self.found.values)


def is_possible(more: Array, threshold: float) -> bool:
    """Whether a fit that costs so much more than another, with the times of all epochs and with those of each, is not
    excluded: the machine changes between epochs as between runs, so that has to be seen in all of them."""
    return bool(more.min() <= threshold)


def fit_piece(piece: PieceFit, rows: pd.DataFrame, starts: Sequence[Array], most: float) -> FittedPiece | None:
    """The fit of a piece with these rows; None if it is seen early that its criterion exceeds `most`."""
    measured = rows["median_ps"].to_numpy(dtype=np.float64)
    several = rows["size"].nunique() > 1
    free = [(several or name in TIMES) and (piece.posts or name != "o_p") for name in NAMES]
    bound = most - FEWEST * piece.price
    nearest = _nearest(piece, rows, measured, free, starts or fit_starts(rows), bound)
    if not nearest:
        return None
    whole = piece.descend(measured, nearest[0], free)
    return None if whole.cost > bound else _with_fewest(piece, rows, whole, free, nearest[1:])


def with_other_limit(fitted: FittedPiece) -> FittedPiece:
    """The same rows, fitted from where something else limits streams: the ends if the NIC does, the NIC if they do.

    The parameters of both may give nearly the same times, and a descent seldom finds its way from one to the other."""
    values, free = fitted.found.values.copy(), list(fitted.all_free)
    g, G, o_r, O_r = (NAMES.index(name) for name in ("g", "G", "o_r", "O_r"))
    if fitted.free[g] or fitted.free[G]:
        values[o_r] += values[g]
        values[O_r] += values[G]
        values[[g, G]] = 0.0
        free[g] = free[G] = False
    else:
        values[g] = max(values[NAMES.index("o_s")], values[o_r])
        values[G] = max(values[NAMES.index("O_s")], values[O_r])
        values[[o_r, O_r]] /= 2
        free[g], free[G] = True, fitted.all_free[O_r]
    whole = fitted.piece.descend(fitted.measured, values, free)
    found = _with_fewest(fitted.piece, fitted.rows, whole, free, ())
    return replace(found, all_free=tuple(a or b for a, b in zip(fitted.all_free, free, strict=True)))


def _nearest(
    piece: PieceFit,
    rows: pd.DataFrame,
    measured: Array,
    free: Sequence[bool],
    starts: Sequence[Array],
    most: float,
) -> list[Array]:
    """The ends of short descents on a part of the rows, the best first, and those of which a longer one may be it.

    The part has three sizes, and no wide windows, which are most of the ops.
    Nothing if that part alone costs more than `most` already: all rows seldom cost less than a part of them."""
    sizes = np.unique(rows["size"])
    part = ((rows["window"] <= NARROW) & rows["size"].isin(sizes[[0, len(sizes) // 2, -1]])).to_numpy()
    if not part.any():
        part = np.ones(len(rows), dtype=np.bool_)
    thin, own = piece.of_rows(rows[part].reset_index(drop=True)), measured[part]
    tried = sorted((thin.descend(own, each, free, SHORT) for each in starts), key=lambda descent: descent.cost)
    if tried[0].cost > most:
        return []
    return [each.values for each in tried if each.cost <= tried[0].cost + NEAR]


def _with_fewest(
    piece: PieceFit, rows: pd.DataFrame, found: Descent, free: Sequence[bool], near: Sequence[Array]
) -> FittedPiece:
    """Without the parameters whose absence costs less than their price, the smallest first; o_s and o_r stay."""
    measured, price = rows["median_ps"].to_numpy(dtype=np.float64), piece.price
    kept, seen, whole = list(free), [found], found
    expected: Array | None = None
    for i in np.argsort(found.values / piece.scale):
        if not kept[i] or NAMES[i] in ("o_s", "o_r"):
            continue
        fewer = [k and j != i for j, k in enumerate(kept)]
        without = found.values * np.asarray(fewer)
        other = Descent(without, piece.cost(without, measured))
        if other.cost > found.cost + price:
            if expected is None:
                expected = piece.costs_without(measured, found.values, kept)
            if expected[i] > found.cost + NEARLY * (price + STRONG):
                continue
            other = piece.descend(measured, without, fewer, FEW_STEPS)
        seen.append(other)
        if other.cost <= found.cost + price:
            found, kept, expected = other, fewer, None
    if kept != list(free):  # without one, the others' best values are others
        seen.append(piece.descend(measured, found.values, kept, FEW_STEPS))
        found = min(found, seen[-1], key=lambda descent: descent.cost)
    return FittedPiece(piece, rows, found, tuple(kept), whole, tuple(free), tuple(seen), tuple(near))
