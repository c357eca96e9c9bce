"""What the choices of MPI libraries, and other choices, cost by the times of every algorithm."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from ..algorithm_rules import core_rules
from ..algorithm_tables import LIBRARIES, OPEN_MPI
from ..open_mpi_file import open_mpi_calls
from .decision_tables import CollectiveTimes, Variant, as_good, chosen, decision_table

if TYPE_CHECKING:
    from .. import _core

Chooser = Callable[[int, int], Variant | None]
"""What is chosen on so many ranks for so many bytes; None where that is not known."""


@dataclass(frozen=True)
class Call:
    """A call of a collective, and what was chosen for it. `slowdown` is its time by that of the fastest, minus 1."""

    ranks: int
    size: int
    variant: Variant
    slowdown: float
    good: bool


@dataclass(frozen=True)
class Cost:
    """What a chooser costs over all calls: the geometric mean of the slowdowns, and the worst call."""

    mean: float
    worst: Call
    calls: int
    slow: int
    """Calls for which another algorithm is better."""


def calls_of(times: CollectiveTimes, choose: Chooser) -> list[Call]:
    """Every call that was timed, with what is chosen for it and was timed, too."""
    found = []
    for ranks in times.ranks:
        for size in times.sizes:
            variant = choose(ranks, size)
            if variant is None:
                continue
            time, slowdown = times.timed(ranks, size, variant), times.slowdown(ranks, size, variant)
            if time is not None and slowdown is not None:
                good = as_good(time, times.fastest(ranks, size)[1])
                found.append(Call(ranks, size, variant, slowdown, good))
    return found


def cost_of(calls: list[Call]) -> Cost | None:
    """The cost of these choices; None without a call."""
    if not calls:
        return None
    mean = math.expm1(sum(math.log1p(call.slowdown) for call in calls) / len(calls))
    worst = max(calls, key=lambda call: call.slowdown)
    return Cost(mean, worst, len(calls), sum(not call.good for call in calls))


def by_table(times: CollectiveTimes) -> Chooser:
    """What the decision table of these times chooses."""
    rules = decision_table(times)
    return lambda ranks, size: chosen(rules, ranks, size)


def libraries(collective: str) -> Mapping[str, Chooser]:
    """What MPI libraries choose by themselves, by their names; those only that choose for this collective.

    Where Open MPI's algorithm calls another one, it is that one.
    """
    found: dict[str, Chooser] = {}
    for library in LIBRARIES:
        if any(rule.collective == collective for rule in library.rules()):
            found[library.title] = _by_library(library.option, collective)
    return found


def by_one(times: CollectiveTimes) -> tuple[Variant, Chooser]:
    """The variant that costs least if it is chosen always, and that choice."""
    always: dict[Variant, float] = {}
    for variant in times.variants:
        calls = calls_of(times, lambda _ranks, _size, variant=variant: variant)
        cost = cost_of(calls)
        if cost is not None and cost.calls == len(times.ranks) * len(times.sizes):
            always[variant] = cost.mean
    best = min(always, key=lambda variant: always[variant])
    return best, lambda _ranks, _size: best


def _by_library(option: str, collective: str) -> Chooser:
    rules = _rules_of(option)

    def choose(ranks: int, size: int) -> Variant | None:
        name = rules.algorithm(collective, ranks, size)
        if name is not None and option == OPEN_MPI.option:
            name = open_mpi_calls(collective, name, ranks, size)
        return None if name is None else Variant(name)  # none of these rules has segments

    return choose


@cache
def _rules_of(option: str) -> _core.AlgorithmRules:
    return core_rules(next(library for library in LIBRARIES if library.option == option).rules())
