"""The fit of one piece of the sizes: what parameters cost, and descents to those that cost least.

The cost is that of the logarithms of simulated over measured time, with a loss that counts large residuals linearly: a
pattern that the model cannot hold does not bend the others.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace

import numpy as np
import pandas as pd
import scipy

from ....machine import Level, Machine, Parameters, Segment
from .observations import Array
from .pattern_times import PatternPrograms, items_of
from .updated_slopes import UpdatedSlopes

NAMES = tuple(f.name for f in fields(Parameters))
TIMES = ("L", "o_s", "o_r", "g", "c", "o_p")
"""The parameters that are times; the others are costs per byte."""
LOSS = 0.05
"""Residuals above this (of a logarithm) count linearly."""
NEVER_SENT = 2**50
"""A size in bytes, larger than any."""
DAMPING = 0.01
"""A single step is damped so much: what the patterns do not distinguish does not move."""
STEP, LEAST_STEP = 0.01, 0.003
"""A derivative is a difference over this share of the value, and over at least this part of a one-way time."""
MOST_STEPS = 15
"""Steps of a descent."""
NO_GAIN = 1e-3
"""A descent ends when a step lowers the cost by less than this share."""


def loss(residuals: Array) -> float:
    """The sum that a descent makes small: residuals squared, and linear above LOSS."""
    return float(LOSS**2 * (np.sqrt(1 + (residuals / LOSS) ** 2) - 1).sum())


def weights_of(residuals: Array) -> Array:
    """The root of the derivative of the loss by half the square of a residual: what large residuals count for less."""
    return np.asarray((1 + (residuals / LOSS) ** 2) ** -0.25)


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
        self._below = tuple(below)
        self.first = first
        self._limit = limit
        self.posts = posts
        items = items_of(table)
        # An item that has two rows is simulated once.
        numbers = {item: number for number, item in enumerate(dict.fromkeys(items))}
        self._programs = PatternPrograms(list(numbers))
        self.price = LOSS**2 * math.log(len(numbers)) / 2
        """What a parameter has to lower the cost by, so that it is worth having (Schwarz, 1978)."""
        self._item_of_row = np.array([numbers[item] for item in items], dtype=np.int64)
        self.most_counted = int(np.bincount(self._item_of_row).max())
        """The most rows of an item."""
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
        """The loss of these parameters."""
        return loss(self.residuals(values, measured))

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

        taken = 0

        def residuals(x: Array) -> Array:
            nonlocal taken
            taken += 1
            return self.residuals(values_of(x), measured)

        updated = UpdatedSlopes(lambda x: self.slopes(values_of(x), measured, chosen))

        def slopes(x: Array) -> Array:
            if taken == steps:  # the slopes at the end of the last step are for a report that nobody reads
                return np.zeros((len(measured), len(chosen)))
            return updated.at(x, self.residuals(values_of(x), measured))

        begin = np.maximum((start / self.scale)[chosen], LEAST_STEP / 10)
        found = scipy.optimize.least_squares(
            residuals,
            begin,
            jac=slopes,
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
        slopes = self.slopes(values, measured, chosen)
        return self._stepped(self.residuals(values, measured), values, chosen, slopes)[0]

    def costs_without(self, measured: Array, values: Array, free: Sequence[bool]) -> Array:
        """By parameter, what a fit without it costs, as far as the slopes at `values` say; `free` without it."""
        chosen = np.flatnonzero(np.asarray(free)).tolist()
        slopes, residuals = self.slopes(values, measured, chosen), self.residuals(values, measured)
        costs = np.zeros(len(NAMES))
        for column, i in enumerate(chosen):
            others, dropped = [j for j in chosen if j != i], slopes[:, column] * values[i] / self.scale[i]
            rest = np.delete(slopes, column, axis=1)
            costs[i] = loss(self._stepped(residuals - dropped, values, others, rest)[1])
        return costs

    def _stepped(self, residuals: Array, values: Array, chosen: Sequence[int], slopes: Array) -> tuple[Array, Array]:
        """The parameters after one step from `values`, and the residuals that these slopes make of `residuals`."""
        weights = weights_of(residuals)
        at = (values / self.scale)[chosen]
        damped = np.concatenate([slopes * weights[:, None], DAMPING * np.eye(len(chosen))])
        wanted = np.concatenate([-residuals * weights, np.zeros(len(chosen))]) + damped @ at
        there, _ = scipy.optimize.nnls(damped, wanted)
        found = np.zeros(len(NAMES))
        found[chosen] = there
        return np.asarray(found * self.scale), np.asarray(residuals + slopes @ (there - at))

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
        return self._programs.times(Machine("fitted", Level(pieces[0][1], later, self._limit)))[self._item_of_row]
