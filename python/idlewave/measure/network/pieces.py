"""The axis of sizes in pieces, each with one fit by the rules."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...errors import MeasurementError
from .fit import Fit, Medians, RangeModel
from .observations import Array
from .pages import Pages, PageStep, without_page_steps
from .switches import FEWEST_SIZES, Switch, find_switches

MOST_SWITCHES = 3
FEWEST_RENDEZVOUS = 3
"""Sizes beyond S that must have been measured for a rendezvous range."""


@dataclass(frozen=True)
class Piece:
    """Sizes with one fit: indices, whether they are sent by rendezvous, and why they begin where they do."""

    sizes: slice
    rendezvous: bool
    cause: str


def divide(medians: Medians, S: int | None, pages: Pages | None = None) -> tuple[list[Piece], list[PageStep]]:
    """The pieces of the size axis, each with one fit, the eager ones first; and the steps that pages make in them."""
    sizes = medians.sizes
    end = len(sizes) if S is None else int(np.searchsorted(sizes, S, side="right"))
    if end < FEWEST_SIZES:
        upto = "" if S is None else f" up to the eager limit of {S} B"
        raise MeasurementError(f"expected at least {FEWEST_SIZES} message sizes{upto}, found {end}")
    eager = medians.cut(slice(0, end))

    def fit_eager(piece: slice) -> _Solved:
        return _solve(RangeModel(eager.cut(piece), None, False))

    plain, steps = without_page_steps(eager, pages)
    pieces = _between(0, end, find_switches(eager, fit_eager, MOST_SWITCHES, plain), False, "start")
    if len(sizes) - end < FEWEST_RENDEZVOUS:
        return pieces, steps
    base = fit_eager(pieces[0].sizes).fit.parameters
    rest = medians.cut(slice(end, None), without="receive")

    def fit_rendezvous(piece: slice) -> _Solved:
        return _solve(RangeModel(rest.cut(piece), base, True))

    plain, more = without_page_steps(rest, pages)
    switches = find_switches(rest, fit_rendezvous, MOST_SWITCHES, plain)
    return pieces + _between(end, len(sizes), switches, True, "rendezvous"), steps + more


@dataclass(frozen=True)
class _Solved:
    """A solved model, as the search for switches takes it."""

    model: RangeModel
    fit: Fit
    cost: float

    def misfit(self, medians: Medians) -> Array:
        return self.model.misfit(medians)


def _solve(model: RangeModel) -> _Solved:
    fit = model.solve()
    return _Solved(model, fit, fit.cost)


def _between(first: int, end: int, switches: list[Switch], rendezvous: bool, cause: str) -> list[Piece]:
    bounds = [first, *(first + s.index for s in switches), end]
    causes = [cause, *("jump" if s.jump else "bend" for s in switches)]
    return [Piece(slice(a, b), rendezvous, why) for (a, b), why in zip(pairwise(bounds), causes, strict=True)]


def of_piece(medians: Medians, piece: Piece) -> Medians:
    """The medians that a piece is fitted to."""
    return medians.cut(piece.sizes, without="receive" if piece.rendezvous else "")


def fit_all(medians: Medians, pieces: list[Piece]) -> tuple[list[RangeModel], list[Fit]]:
    """Each piece's model and fit, on the base of the first."""
    models: list[RangeModel] = []
    fits: list[Fit] = []
    for piece in pieces:
        base = fits[0].parameters if fits else None
        models.append(RangeModel(of_piece(medians, piece), base, piece.rendezvous))
        fits.append(models[-1].solve())
    return models, fits
