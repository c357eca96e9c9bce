"""What the choices of MPI libraries, and other choices, cost by the times of every algorithm."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..algorithm_tables import LIBRARIES, OPEN_MPI, Library
from ..multiple_tests import holm
from ..open_mpi_file import open_mpi_calls
from ..open_mpi_rules import CHOICES
from .decision_tables import TOLERANCE, CollectiveTimes, Variant, as_good, chosen, decision_table, holding

LEVEL = 0.01
"""The chance of an error in what is said of a collective with noise."""
_LACKING = frozenset({("bcast", "scatter_recursive_doubling_allgather")})
"""MPICH's algorithms, by collective, for which the simulator has only the nearest."""
_SAME_MESSAGES = frozenset({("alltoall", "linear_sync"), ("scatter", "linear_nb")})
"""Open MPI's algorithms that send the messages of the nearest one; their requests are others."""
_BARRIER = ("barrier", "recursive_doubling")
"""The one that sends as many messages as a dissemination, in as many rounds, on powers of two."""
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


def slower_beyond_chance(noisy: CollectiveTimes, choose: Chooser) -> list[Call]:
    """The calls whose choice is slower with noise than another algorithm: by more than TOLERANCE, and beyond chance.

    A call is tested by Student's t, with the errors of both means, against each other algorithm; the p-values are
    corrected for these, and by Holm's method for all calls of the collective. LEVEL is the chance that any of them is
    wrong.
    """
    import pandas as pd
    from scipy.stats import t

    calls = calls_of(noisy, choose)
    chances = []
    for call in calls:
        time, best = noisy.timed(call.ranks, call.size, call.variant), noisy.fastest(call.ranks, call.size)[1]
        assert time is not None, "the choice was timed"
        behind, error = time.ps - best.ps, math.hypot(time.error, best.error)
        if behind <= TOLERANCE * best.ps:
            chances.append(1.0)
            continue
        others = len(noisy.choices(call.ranks, call.size)) - 1
        chances.append(min(1.0, others * float(t.sf(behind / error, noisy.seeds - 1))) if error else 0.0)
    corrected = holm(pd.Series(chances, dtype=float))
    return [call for call, chance in zip(calls, corrected, strict=True) if chance < LEVEL]


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


def others(times: CollectiveTimes) -> Mapping[str, Chooser]:
    """Who else chooses, by name: the machine's own rules, if it has some, and MPI libraries by themselves."""
    rows = times.rows
    if "own_choice" not in rows or rows["own_choice"].isna().all():
        return libraries(times.collective)
    own = rows[rows["own_choice"].eq(True)]
    keys = zip(own["ranks"], own["bytes"], own["algorithm"], own["segment"], strict=True)
    chosen_by = {(int(ranks), int(size)): Variant(str(name), int(segment)) for ranks, size, name, segment in keys}
    name = f"{rows['machine'].iloc[0]}'s own rules"
    return {name: lambda ranks, size: chosen_by.get((ranks, size)), **libraries(times.collective)}


def libraries(collective: str) -> Mapping[str, Chooser]:
    """What MPI libraries choose by themselves, by their names; those only that choose for this collective.

    Where Open MPI's algorithm calls another one, it is that one; where the simulator lacks it, it is not known.
    """
    found: dict[str, Chooser] = {}
    for library in LIBRARIES:
        if any(rule.collective == collective for rule in library.rules()):
            found[library.title] = _by_library(library, collective)
    return found


def by_one(times: CollectiveTimes) -> tuple[Variant, Chooser]:
    """The variant that costs least if it is chosen always, and that choice."""
    always: dict[Variant, float] = {}
    for variant in times.variants:
        cost = cost_of(calls_of(times, _always(variant)))
        if cost is not None and cost.calls == len(times.ranks) * len(times.sizes):
            always[variant] = cost.mean
    best = min(always, key=lambda variant: always[variant])
    return best, _always(best)


def _always(variant: Variant) -> Chooser:
    return lambda _ranks, _size: variant


def _by_library(library: Library, collective: str) -> Chooser:
    rules = [rule for rule in library.rules() if rule.collective == collective]
    names = library.own_names()

    def choose(ranks: int, size: int) -> Variant | None:
        rule = holding(rules, ranks, size)
        if rule is None or _lacks(library, collective, names[collective, rule.ranks, rule.bytes], ranks):
            return None
        calls = open_mpi_calls(collective, rule.algorithm, ranks, size) if library == OPEN_MPI else rule.algorithm
        return None if calls is None else Variant(calls, rule.segment)

    return choose


def _lacks(library: Library, collective: str, own_name: str, ranks: int) -> bool:
    """Whether the simulator has only an algorithm that is near the library's, with other messages."""
    key = (collective, own_name)
    if library != OPEN_MPI:
        return key in _LACKING
    if key in _SAME_MESSAGES or (key == _BARRIER and ranks & (ranks - 1) == 0):
        return False
    return any(choice.name == own_name and choice.nearest for choice in CHOICES[collective])
