"""The division of the axis of sizes into pieces, each with one fit by the rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np

from ....errors import MeasurementError
from .observations import Array
from .page_steps import Pages, PageStep, without_page_steps
from .prediction import FittedParameters
from .protocol_changes import FEWEST_SIZES, Switch, find_switches
from .range_model import Medians, RangeModel

MOST_SWITCHES = 3
FEWEST_RENDEZVOUS = 3
"""The fewest measured sizes beyond S for a rendezvous range."""


@dataclass(frozen=True)
class SizePiece:
    """Sizes with one fit: their indices, whether they are sent by rendezvous, and the cause of their begin."""

    sizes: slice
    rendezvous: bool
    cause: str


@dataclass(frozen=True)
class Division:
    """The pieces of the size axis, the eager ones first; the solved model of each, on the base of the first; and the
    page steps in them."""

    pieces: list[SizePiece]
    models: list[RangeModel]
    steps: list[PageStep]


def divide(medians: Medians, S: int | None, pages: Pages | None = None) -> Division:
    """Divide the curves into pieces with fits by the rules."""
    sizes = medians.sizes
    end = len(sizes) if S is None else int(np.searchsorted(sizes, S, side="right"))
    if end < FEWEST_SIZES:
        upto = "" if S is None else f" up to the eager limit of {S} B"
        raise MeasurementError(f"expected at least {FEWEST_SIZES} message sizes{upto}, found {end}")
    eager = medians.cut(slice(0, end))
    solved = _solver(eager, None, False)
    plain = without_page_steps(eager, pages)
    switches = find_switches(eager, solved, MOST_SWITCHES, plain.medians, plain.jumps)
    pieces = _between(switches, end, False, "start")
    models = [solved(p.sizes.start, p.sizes.stop).model for p in pieces]
    base = models[0].fit().parameters
    models[1:] = [model.with_base(base) for model in models[1:]]
    if len(sizes) - end < FEWEST_RENDEZVOUS:
        return Division(pieces, models, plain.steps)
    rest = medians.cut(slice(end, None), without="receive")
    solved = _solver(rest, base, True)
    flat = without_page_steps(rest, pages)
    switches = find_switches(rest, solved, MOST_SWITCHES, flat.medians, flat.jumps)
    beyond = _between(switches, len(rest.sizes), True, "rendezvous")
    models += [solved(p.sizes.start, p.sizes.stop).model for p in beyond]
    shifted = [SizePiece(slice(end + p.sizes.start, end + p.sizes.stop), True, p.cause) for p in beyond]
    return Division(pieces + shifted, models, plain.steps + flat.steps)


@dataclass(frozen=True)
class _Solved:
    """A solved model for the search for boundaries."""

    model: RangeModel
    cost: float

    def misfit(self, medians: Medians) -> Array:
        return self.model.misfit(medians)


def _solver(medians: Medians, base: FittedParameters | None, rendezvous: bool) -> Callable[[int, int], _Solved]:
    """The function from sizes (the index of the first, and of the one after the last) to their model; solves each
    once."""

    @cache
    def solved(first: int, end: int) -> _Solved:
        model = RangeModel(medians.cut(slice(first, end)), base, rendezvous)
        return _Solved(model, model.solve().cost)

    return solved


def _between(switches: list[Switch], end: int, rendezvous: bool, cause: str) -> list[SizePiece]:
    bounds = [0, *(s.index for s in switches), end]
    causes = [cause, *("jump" if s.jump else "bend" for s in switches)]
    return [SizePiece(slice(a, b), rendezvous, why) for (a, b), why in zip(pairwise(bounds), causes, strict=True)]


def of_piece(medians: Medians, piece: SizePiece) -> Medians:
    """The medians to which a piece is fitted."""
    return medians.cut(piece.sizes, without="receive" if piece.rendezvous else "")
