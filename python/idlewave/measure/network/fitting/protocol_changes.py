"""Changes of protocol: sizes at which the curves break, found on all curves jointly.

Two things end a piece that one fit by the simulator's rules explains. At a *jump* some curve continues from another
value than the sizes before lead to. This is a library's change of protocol; it is found however small, if it is beyond
doubt. At a *bend* the curves change gradually, as caches fill; a separate piece must then explain much more than the
one piece did (Bayes's information criterion). A break that follows from the rules themselves (where the NIC becomes
slower than the CPU, where a request may overtake data) is neither.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .observations import Array
from .range_model import Medians

SCATTER = 0.06
"""Relative residuals that are allowed in a fit: the curvature of a machine's curves without a change of protocol."""
FEWEST_SIZES = 6
SPAN = 4
WIDTH = 128
"""A piece has at least FEWEST_SIZES sizes and spans WIDTH bytes (two cache lines, whose steps are no protocol). One
that a bend ends also extends to SPAN times its first size."""
JUMP = 0.04
SURE = 6.0
"""A jump has at least this relative height, and this many standard errors."""
NEAR = 2.0
NEIGHBOURS = 4
"""A jump is evaluated by the sizes up to this factor away on both sides, and by at least so many."""
JUMP_SCATTER = 0.01
"""Relative residuals that are allowed in the comparison of fits at a jump."""
LATE = 0.5
"""A send that takes this share of its receiver's delay has waited for it."""


class Fitted(Protocol):
    """A fit of a piece."""

    @property
    def cost(self) -> float:
        """The sum of squared relative residuals."""

    def misfit(self, medians: Medians) -> Array:
        """The distances of the medians of other sizes from it, by size."""


@dataclass(frozen=True)
class Switch:
    """A size's index from which a new piece begins; whether a curve jumps there."""

    index: int
    jump: bool


@dataclass(frozen=True)
class Step:
    """The difference between a curve from a size on and its continuation from the sizes before, ps: its height, which
    is negative downwards, its standard error, and the level from which or to which it leads."""

    height: float
    error: float
    level: float


def find_switches(
    medians: Medians, fitted: Callable[[int, int], Fitted], most: int, plain: Medians, jumps: list[int]
) -> list[Switch]:
    """The begins of new pieces, ascending; at most `most`. `fitted` returns the fit by the rules of a piece of
    `medians`, by its first index and the one after its last, and may be called repeatedly for the same piece; `plain`
    are the same medians without the steps that are known to be no change of protocol (page_steps.py), and `jumps` is
    where these jump (`find_jumps`)."""
    n = len(medians.sizes)
    bends = [b for b in _straight_pieces(plain, most + 1) if all(abs(b - j) > 2 for j in jumps)]
    bounds = [0, *sorted({*jumps, *bends}), n]
    while len(bounds) > 2:
        triples = list(zip(bounds, bounds[1:], bounds[2:], strict=False))
        surplus = [_surplus(medians, fitted, triple, jumps) for triple in triples]
        least = int(np.argmin(surplus))
        if surplus[least] > 1 and len(bounds) - 2 <= most:
            break
        del bounds[least + 1]
    for _ in range(3):
        bounds = _settle(medians, fitted, bounds)
    return [Switch(b, _is_near(b, jumps)) for b in bounds[1:-1]]


def find_threshold(sizes: NDArray[np.int64], waited: NDArray[np.bool_]) -> int:
    """The number of the ascending `sizes` before the one from which sends wait for their receivers, chosen so that the
    fewest sizes are on the wrong side."""
    before = np.concatenate([[0], np.cumsum(waited)])
    beyond = np.concatenate([np.cumsum(~waited[::-1])[::-1], [0]])
    wrong = before + beyond
    return int(np.flatnonzero(wrong == wrong.min())[-1]) if len(sizes) else 0


def find_jumps(medians: Medians) -> list[int]:
    """Indices of the sizes at which some curve jumps: the lines through the sizes on both sides differ there."""
    n = len(medians.sizes)
    scores = np.array([_jump(medians, i) if NEIGHBOURS <= i <= n - NEIGHBOURS else 0.0 for i in range(n)])
    found: list[int] = []
    for i in np.argsort(-scores):
        size = medians.sizes[i]
        if scores[i] <= 1:
            break
        if all(not size / NEAR < medians.sizes[j] < size * NEAR for j in found):
            found.append(int(i))
    return sorted(found)


def find_switch_near(medians: Medians, lowest: int, highest: int) -> int | None:
    """The index of the first size beyond a break whose last size before it lies in [lowest, highest]; None if
    none."""
    sizes = medians.sizes
    near = np.flatnonzero((sizes >= lowest / 4) & (sizes <= highest * 4))
    if len(near) < 4:
        return None
    first, last = int(near[0]), int(near[-1]) + 1
    pieces = _Pieces(medians)
    candidates = [
        (pieces.cost(first, i) + pieces.cost(i, last), i)
        for i in range(first + 2, last - 1)
        if lowest <= sizes[i - 1] <= highest
    ]
    if not candidates:
        return None
    cost, index = min(candidates)
    saved = pieces.cost(first, last) - cost
    return index if saved > _price(medians.cut(slice(first, last)), EXPECTED_SCATTER) else None


EXPECTED_SCATTER = 0.02
"""The scatter allowed at a break that the library's limit predicts; it is smaller than SCATTER."""


def _surplus(
    medians: Medians, fitted: Callable[[int, int], Fitted], triple: tuple[int, int, int], jumps: list[int]
) -> float:
    """How much more two fits explain than one, divided by what is required: above 1 the boundary between them
    remains."""
    first, middle, last = triple
    if min(middle - first, last - middle) < FEWEST_SIZES:
        return -1.0
    jump = _is_near(middle, jumps)
    span = 1 if jump else SPAN
    if not (_wide(medians, first, middle, span) and _wide(medians, middle, last, span)):
        return -1.0
    gain = fitted(first, last).cost - fitted(first, middle).cost - fitted(middle, last).cost
    return gain / _price(medians, JUMP_SCATTER if jump else SCATTER)


def _settle(medians: Medians, fitted: Callable[[int, int], Fitted], bounds: list[int]) -> list[int]:
    """Each bound, moved to where the fits before and behind it are closest to the sizes between them."""
    settled = list(bounds)
    for i in range(1, len(bounds) - 1):
        first, middle, last = settled[i - 1], bounds[i], bounds[i + 1]
        near = medians.cut(slice(first, last))
        left, right = fitted(bounds[i - 1], middle).misfit(near), fitted(middle, last).misfit(near)
        settled[i] = first + best_split(left, right, FEWEST_SIZES)
    return settled


def best_split(left: Array, right: Array, fewest: int) -> int:
    """The number of sizes that belong to the left fit, at least `fewest` on both sides, with the least misfit."""
    total = np.concatenate([[0.0], np.cumsum(left)]) + np.concatenate([np.cumsum(right[::-1])[::-1], [0.0]])
    return fewest + int(np.argmin(total[fewest : len(total) - fewest]))


def _is_near(index: int, jumps: list[int]) -> bool:
    return any(abs(index - j) <= 2 for j in jumps)


def _price(medians: Medians, scatter: float) -> float:
    """The reduction of cost that one more piece needs: ln(data) for each of its parameters, times the variance
    allowed."""
    curves = len(medians.curves)
    return float(scatter**2 * (2 * curves + 1) * np.log(curves * len(medians.sizes)))


def _wide(medians: Medians, first: int, last: int, span: int = SPAN) -> bool:
    low, high = medians.sizes[first], medians.sizes[last - 1]
    return bool(high >= max(0.9 * span * low, low + WIDTH - 1))


def _jump(medians: Medians, i: int) -> float:
    """The clearest jump of a curve between sizes i - 1 and i, divided by the required height."""
    scores = [0.0]
    for name in medians.curves:
        step = step_at(medians, name, i)
        scores.append(min(abs(step.height) / (SURE * step.error), abs(step.height) / (JUMP * step.level)))
    return max(scores)


def step_at(medians: Medians, name: str, i: int) -> Step:
    """The step of the curve `name` between sizes i - 1 and i, by lines through the sizes on both sides."""
    sizes, values, weights = medians.sizes, medians.curves[name], medians.exact_weights(name)
    at = (sizes[i - 1] + sizes[i]) / 2
    first = min(int(np.searchsorted(sizes, sizes[i - 1] / NEAR)), i - NEIGHBOURS)
    last = max(int(np.searchsorted(sizes, sizes[i] * NEAR, side="right")), i + NEIGHBOURS)
    left = _end(sizes[first:i], values[first:i], weights[first:i], at)
    right = _end(sizes[i:last], values[i:last], weights[i:last], at)
    level = max(abs(left[0]), abs(right[0]), 1e-9)
    return Step(right[0] - left[0], float(np.hypot(left[1], right[1])), level)


def _end(sizes: NDArray[np.int64], values: Array, weights: Array, at: float) -> tuple[float, float]:
    """The line through the sizes at `at`, and its standard error there, by the scatter about it if that is larger."""
    x = (sizes - at) / max(abs(sizes[0] - at), abs(sizes[-1] - at), 1.0)
    (slope, value), covariance = np.polyfit(x, values, 1, w=weights, cov="unscaled")
    off = (values - value - slope * x) * weights
    scatter = max(1.0, float(np.sqrt((off @ off) / max(len(sizes) - 2, 1))))
    return float(value), scatter * float(np.sqrt(covariance[1, 1]))


def _straight_pieces(medians: Medians, most: int) -> list[int]:
    """The best division into at most `most` + 1 straight pieces; each has at least FEWEST_SIZES sizes, SPAN and
    WIDTH."""
    n = len(medians.sizes)
    costs = np.full((n, n + 1), np.inf)
    pieces = _Pieces(medians)
    for i in range(n - FEWEST_SIZES + 1):
        ends = [j for j in range(i + FEWEST_SIZES, n + 1) if _wide(medians, i, j)]
        costs[i, ends] = pieces.costs(i)[ends]
    best = [costs[0]]
    origin: list[NDArray[np.int64]] = []
    for _ in range(most):
        totals = best[-1][:n, None] + costs
        origin.append(totals.argmin(axis=0))
        best.append(totals.min(axis=0))
    count = int(np.argmin([row[n] + i * _price(medians, SCATTER) / 4 for i, row in enumerate(best)]))
    bounds, end = [], n
    for level in reversed(range(count)):
        end = int(origin[level][end])
        bounds.append(end)
    return bounds[::-1]


class _Pieces:
    """The cost of one straight line a curve over sizes[i:j]: the sum of squared weighted deviations."""

    def __init__(self, medians: Medians) -> None:
        self.k = np.maximum(medians.sizes - 1, 0).astype(np.float64)
        weights = medians.weights()
        self.weights = np.array([weight**2 for weight in weights.values()])
        self.values = np.array([medians.curves[name] for name in weights])

    def cost(self, i: int, j: int) -> float:
        return float(self.costs(i)[j])

    def costs(self, i: int) -> Array:
        """That of sizes[i:j] for each j, at once, as there are thousands. Each row of a table is a piece, which has a
        weight of 0 beyond its end."""
        n = len(self.k)
        inside = np.tri(n - i)
        k = self.k[i:]
        found = np.zeros(n + 1)
        for weights, values in zip(self.weights[:, i:], self.values[:, i:], strict=True):
            weight = inside * weights
            total = weight.sum(axis=1)
            x = k - (weight @ k / total)[:, None]
            y = values - (weight @ values / total)[:, None]
            weighted = weight * x
            spread = (weighted * x).sum(axis=1)
            slope = (weighted * y).sum(axis=1) / np.where(spread > 0, spread, 1.0)
            found[i + 1 :] += (weight * (y - slope[:, None] * x) ** 2).sum(axis=1)
        return found
