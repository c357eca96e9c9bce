"""Where the protocol changes: sizes at which the curves break, found on all curves jointly.

First the best division into straight pieces by dynamic programming, with more pieces than are likely; then
neighbours are joined as long as one fit by the simulator's rules explains both as well as two (Bayes's
information criterion). A bend that the rules themselves make (where the NIC overtakes the CPU) is therefore
no switch.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .observations import Array

SCATTER = 0.06
"""Relative residuals that are not held against a fit: what a machine's curves bend without changing
protocol."""
FEWEST_SIZES = 6
SPAN = 4
WIDTH = 128
"""A piece has at least so many sizes, reaches to SPAN times its first size, and over WIDTH bytes (two cache
lines, whose steps are no protocol)."""

EXPECTED = 0.1
"""A break where the library says that there is one need save only so much of what another must."""

Curves = dict[str, Array]


def find_switches(sizes: NDArray[np.int64], curves: Curves, cost: Callable[[slice], float], most: int) -> list[int]:
    """Indices into `sizes` where a new piece begins, ascending, without 0; at most `most`.

    `cost(piece)` is the sum of squared relative residuals of one fit of that piece by the rules.
    """
    bounds = [0, *_straight_pieces(sizes, curves, most + 1), len(sizes)]
    known: dict[tuple[int, int], float] = {}

    def fitted(first: int, last: int) -> float:
        if (first, last) not in known:
            known[first, last] = cost(slice(first, last))
        return known[first, last]

    while len(bounds) > 2:
        growth = [
            fitted(a, c) - fitted(a, b) - fitted(b, c) for a, b, c in zip(bounds, bounds[1:], bounds[2:], strict=False)
        ]
        least = int(np.argmin(growth))
        if growth[least] > _price(sizes, curves) and len(bounds) - 2 <= most:
            break
        del bounds[least + 1]
    return bounds[1:-1]


def find_switch_near(sizes: NDArray[np.int64], curves: Curves, lowest: int, highest: int) -> int | None:
    """The index of the first size beyond a break whose last size before it lies in [lowest, highest]; None if
    none."""
    near = np.flatnonzero((sizes >= lowest / 4) & (sizes <= highest * 4))
    if len(near) < 4:
        return None
    first, last = int(near[0]), int(near[-1]) + 1
    pieces = _Pieces(sizes, curves)
    candidates = [
        (pieces.cost(first, i) + pieces.cost(i, last), i)
        for i in range(first + 2, last - 1)
        if lowest <= sizes[i - 1] <= highest
    ]
    if not candidates:
        return None
    cost, index = min(candidates)
    saved = pieces.cost(first, last) - cost
    return index if saved > _price(sizes[near], curves) * EXPECTED else None


def _price(sizes: NDArray[np.int64], curves: Curves) -> float:
    """What one more piece must save: ln(data) for each of its parameters, times the variance allowed."""
    parameters = 2 * len(curves) + 1
    return float(SCATTER**2 * parameters * np.log(len(curves) * len(sizes)))


def _straight_pieces(sizes: NDArray[np.int64], curves: Curves, most: int) -> list[int]:
    """The best division into at most `most` + 1 straight pieces; each has FEWEST_SIZES sizes, SPAN and
    WIDTH."""
    n = len(sizes)
    costs = np.full((n, n + 1), np.inf)
    pieces = _Pieces(sizes, curves)
    for i in range(n):
        for j in range(i + FEWEST_SIZES, n + 1):
            if sizes[j - 1] >= max(0.9 * SPAN * sizes[i], sizes[i] + WIDTH - 1):
                costs[i, j] = pieces.cost(i, j)
    best = [costs[0]]
    origin: list[NDArray[np.int64]] = []
    for _ in range(most):
        totals = best[-1][:n, None] + costs
        origin.append(totals.argmin(axis=0))
        best.append(totals.min(axis=0))
    count = int(np.argmin([row[n] + i * _price(sizes, curves) / 4 for i, row in enumerate(best)]))
    bounds, end = [], n
    for level in reversed(range(count)):
        end = int(origin[level][end])
        bounds.append(end)
    return bounds[::-1]


class _Pieces:
    """The cost of one straight line a curve over sizes[i:j], by sums kept from the left."""

    def __init__(self, sizes: NDArray[np.int64], curves: Curves) -> None:
        k = np.maximum(sizes - 1, 0).astype(np.float64) / max(float(sizes[-1]), 1.0)
        self.sums = []
        for values in curves.values():
            w = 1 / values**2
            terms = [w, w * k, w * k * k, w * values, w * k * values, w * values * values]
            self.sums.append(np.stack([np.concatenate([[0.0], np.cumsum(t)]) for t in terms]))

    def cost(self, i: int, j: int) -> float:
        total = 0.0
        for sums in self.sums:
            w, wk, wkk, wy, wky, wyy = sums[:, j] - sums[:, i]
            determinant = w * wkk - wk * wk
            if determinant <= 1e-12 * w * wkk:
                total += wyy - wy * wy / w
                continue
            a, b = (wkk * wy - wk * wky) / determinant, (w * wky - wk * wy) / determinant
            total += wyy - a * wy - b * wky
        return max(total, 0.0)
