"""Which algorithm to choose for which ranks and size: decision tables, made from the times of every algorithm.

An algorithm that is as good as the fastest stays chosen over as many sizes and numbers of ranks as it can, so that the
tables are short, and differences that are none make no rule.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..algorithm_rules import AlgorithmRule
from ..algorithm_tables import rules_table
from ..formatting import plain_percent, size_text
from ..open_mpi_file import OPEN_MPI_COLLECTIVES, OpenMpiCollective, open_mpi_file
from ..open_mpi_rules import OF_ALL_RANKS

if TYPE_CHECKING:
    import pandas as pd

TOLERANCE = 0.01
"""An algorithm is as good as the fastest if it takes at most this much longer."""
UNSURE = 0.1
"""With noise also one that takes up to this much longer, if that may be chance: within SURE standard errors."""
SURE = 3.0
QUIET, NOISY = "time_ps", "mean_ps"
"""The columns of times that tables are made from: without noise, and the mean with it."""
RULES, OPEN_MPI_RULES = "rules.csv", "open-mpi.conf"
NOISY_RULES, NOISY_OPEN_MPI_RULES = "rules-noise.csv", "open-mpi-noise.conf"
"""The files of rules: the first of each is for any schedule of Idlewave, the second for Open MPI."""


@dataclass(frozen=True, order=True)
class Variant:
    """An algorithm with its segments; `segment` 0: whole messages."""

    algorithm: str
    segment: int = 0

    @property
    def text(self) -> str:
        """Its name, such as "chain in 8 KiB"."""
        return f"{self.algorithm} in {size_text(self.segment)}" if self.segment else self.algorithm


@dataclass(frozen=True)
class Timed:
    """A time, and its standard error, ps."""

    ps: float
    error: float = 0.0


Allowed = Callable[[Variant, int], bool]
"""Whether a variant may be chosen on so many ranks."""


def any_variant(_variant: Variant, _ranks: int) -> bool:
    """Every variant may be chosen."""
    return True


class CollectiveTimes:
    """The times of a collective by ranks, size and variant; `column` is QUIET or NOISY."""

    def __init__(self, rows: pd.DataFrame, column: str) -> None:
        self.rows = rows
        self.collective = str(rows["collective"].iloc[0])
        self.ranks = [int(count) for count in sorted(rows["ranks"].unique())]
        self.sizes = [int(size) for size in sorted(rows["bytes"].unique())]
        self.seeds = int(rows["seeds"].max())
        errors = rows["error_ps"] if column == NOISY else [0.0] * len(rows)
        self._times: dict[tuple[int, int, Variant], Timed] = {}
        variants: dict[Variant, None] = {}
        keys = zip(rows["ranks"], rows["bytes"], rows["algorithm"], rows["segment"], rows[column], errors, strict=True)
        for ranks, size, algorithm, segment, time, error in keys:
            variant = Variant(str(algorithm), int(segment))
            variants[variant] = None
            self._times[int(ranks), int(size), variant] = Timed(float(time), float(error))
        self.variants = list(variants)

    def timed(self, ranks: int, size: int, variant: Variant) -> Timed | None:
        """The time on so many ranks; None if they do not have the variant.

        A message that is no longer than a segment is sent whole. Between two sizes the time is on a line.
        """
        below = max((known for known in self.sizes if known <= size), default=self.sizes[0])
        at_below = self._at(ranks, below, variant)
        above = min((known for known in self.sizes if known >= size), default=below)
        at_above = self._at(ranks, above, variant)
        if above == below or at_below is None or at_above is None:
            return at_below
        share = (size - below) / (above - below)
        return Timed(*(a + share * (b - a) for a, b in ((at_below.ps, at_above.ps), (at_below.error, at_above.error))))

    def choices(self, ranks: int, size: int, allowed: Allowed = any_variant) -> dict[Variant, Timed]:
        """The times of the variants that may be chosen."""
        found = {variant: self.timed(ranks, size, variant) for variant in self.variants if allowed(variant, ranks)}
        return {variant: time for variant, time in found.items() if time is not None}

    def fastest(self, ranks: int, size: int, allowed: Allowed = any_variant) -> tuple[Variant, Timed]:
        """The fastest variant; of equal ones the first."""
        return min(self.choices(ranks, size, allowed).items(), key=lambda item: item[1].ps)

    def slowdown(self, ranks: int, size: int, variant: Variant) -> float | None:
        """The variant's time by that of the fastest, minus 1; None if so many ranks do not have it."""
        time, best = self.timed(ranks, size, variant), self.fastest(ranks, size)[1]
        if time is None:
            return None
        return time.ps / best.ps - 1 if best.ps else (0.0 if time.ps == 0 else math.inf)

    def good(self, ranks: int, size: int, allowed: Allowed = any_variant) -> list[Variant]:
        """The variants that are as good as the fastest of those that may be chosen."""
        best = self.fastest(ranks, size, allowed)[1]
        return [variant for variant, time in self.choices(ranks, size, allowed).items() if as_good(time, best)]

    def _at(self, ranks: int, size: int, variant: Variant) -> Timed | None:
        whole = Variant(variant.algorithm)
        return self._times.get((ranks, size, variant if size > variant.segment else whole))


def as_good(time: Timed, best: Timed) -> bool:
    """Whether a time is as good as the best: equal but for TOLERANCE, or for what may be chance."""
    if time.ps <= best.ps * (1 + TOLERANCE):
        return True
    return time.ps <= best.ps * (1 + UNSURE) and time.ps - best.ps <= SURE * math.hypot(time.error, best.error)


def decision_table(
    times: CollectiveTimes, allowed: Allowed = any_variant, *, by_size: bool = True
) -> list[AlgorithmRule]:
    """The rules that choose a good variant on all the ranks and sizes that were timed; with `by_size` False one
    whatever the size.

    A rule begins where the times of two variants cross, on lines between the sizes that were timed.
    """
    found: list[AlgorithmRule] = []
    current: list[AlgorithmRule] = []
    often = _good_often(times, allowed)
    for ranks in times.ranks:
        if current and _hold(times, current, ranks, allowed, by_size=by_size):
            continue
        switches = (
            switch_points(times, ranks, allowed, often) if by_size else [(0, _best_of_all(times, ranks, allowed))]
        )
        current = [
            AlgorithmRule(times.collective, variant.algorithm, ranks, size, segment=variant.segment)
            for size, variant in switches
        ]
        found += current
    return found


def chosen(rules: Sequence[AlgorithmRule], ranks: int, size: int) -> Variant:
    """What the rules of a collective choose."""
    rule = holding(rules, ranks, size)
    assert rule is not None, "a table's first rule is for 0 bytes"
    return Variant(rule.algorithm, rule.segment)


def holding(rules: Sequence[AlgorithmRule], ranks: int, size: int) -> AlgorithmRule | None:
    """The rule of a collective that holds: of those for the most ranks the one for the most bytes."""
    least = max((rule.ranks for rule in rules if rule.ranks <= ranks), default=min(rule.ranks for rule in rules))
    own = (rule for rule in rules if rule.ranks == least and rule.bytes <= size)
    return max(own, key=lambda rule: rule.bytes, default=None)


def _hold(
    times: CollectiveTimes, rules: Sequence[AlgorithmRule], ranks: int, allowed: Allowed, *, by_size: bool
) -> bool:
    """Whether rules for fewer ranks choose a good variant here too, at each size and on both sides of each switch."""
    if not by_size:
        return chosen(rules, ranks, 0) == _best_of_all(times, ranks, allowed)
    switches = [size for rule in rules if rule.bytes > 0 for size in (rule.bytes - 1, rule.bytes)]
    return all(chosen(rules, ranks, size) in times.good(ranks, size, allowed) for size in (*times.sizes, *switches))


def _good_often(times: CollectiveTimes, allowed: Allowed) -> Counter[Variant]:
    """On how many numbers of ranks and sizes each variant is good."""
    calls = ((ranks, size) for ranks in times.ranks for size in times.sizes)
    return Counter(variant for ranks, size in calls for variant in times.good(ranks, size, allowed))


def switch_points(
    times: CollectiveTimes, ranks: int, allowed: Allowed, often: Mapping[Variant, int] | None = None
) -> list[tuple[int, Variant]]:
    """From which size on which variant is chosen: as few variants as possible, and of several that are good on the same
    sizes the one that is good most `often`."""
    sizes = times.sizes
    good = [times.good(ranks, size, allowed) for size in sizes]
    found: list[tuple[int, Variant]] = []
    begin = 0
    while begin < len(sizes):
        lengths = {variant: _run(good, begin, variant) for variant in good[begin]}
        longest = max(lengths.values())
        variant = min(
            (variant for variant, length in lengths.items() if length == longest),
            key=lambda variant: (
                -(often or {}).get(variant, 0),
                _mean_slowdown(times, ranks, sizes[begin : begin + longest], variant),
            ),
        )
        found.append((_crossing(times, ranks, begin, found[-1][1], variant) if found else 0, variant))
        begin += longest
    return found


def _run(good: Sequence[Sequence[Variant]], begin: int, variant: Variant) -> int:
    """On how many sizes after one another, from `begin` on, the variant is good."""
    length = 0
    while begin + length < len(good) and variant in good[begin + length]:
        length += 1
    return length


def _crossing(times: CollectiveTimes, ranks: int, index: int, old: Variant, new: Variant) -> int:
    """The size from which on `new` is the faster one, after the size before number `index` and not after that."""
    before, after = times.sizes[index - 1], times.sizes[index]
    ahead = [_lead(times, ranks, size, old, new) for size in (before, after)]
    if ahead[0] <= 0:
        return before + 1
    if ahead[1] >= 0:
        return after
    crossing = before + math.ceil((after - before) * ahead[0] / (ahead[0] - ahead[1]))
    return min(max(crossing, before + 1), after)


def _lead(times: CollectiveTimes, ranks: int, size: int, old: Variant, new: Variant) -> float:
    """By how much `old` is faster, ps; `new` counts as faster everywhere if so many ranks do not have `old`."""
    old_time, new_time = times.timed(ranks, size, old), times.timed(ranks, size, new)
    return 0.0 if old_time is None or new_time is None else new_time.ps - old_time.ps


def _mean_slowdown(times: CollectiveTimes, ranks: int, sizes: Sequence[int], variant: Variant) -> float:
    """The mean logarithm of the slowdown."""
    slowdowns = [times.slowdown(ranks, size, variant) for size in sizes]
    return sum(math.inf if slower is None else math.log1p(slower) for slower in slowdowns) / len(slowdowns)


def _best_of_all(times: CollectiveTimes, ranks: int, allowed: Allowed) -> Variant:
    """The variant with the least mean slowdown over all sizes."""
    allowed_here = times.choices(ranks, times.sizes[0], allowed)
    return min(allowed_here, key=lambda variant: _mean_slowdown(times, ranks, times.sizes, variant))


def times_by_collective(table: pd.DataFrame, column: str) -> dict[str, CollectiveTimes]:
    """The times of each collective of a table of the study."""
    groups = table.groupby("collective", sort=False)
    return {str(name): CollectiveTimes(rows, column) for name, rows in groups}


def decision_files(table: pd.DataFrame) -> Mapping[str, str]:
    """The files of rules that the study writes: by times without noise, and by those with noise if there are some."""
    files = _files(table, QUIET, RULES, OPEN_MPI_RULES)
    return files | _files(table, NOISY, NOISY_RULES, NOISY_OPEN_MPI_RULES) if has_noise(table) else files


def has_noise(table: pd.DataFrame) -> bool:
    """Whether the study was made with noise."""
    return bool(table[NOISY].notna().all())


def _files(table: pd.DataFrame, column: str, rules: str, open_mpi: str) -> dict[str, str]:
    known = times_by_collective(table, column)
    own = [rule for times in known.values() for rule in decision_table(times)]
    tables = open_mpi_tables(known)
    what = "the mean times with noise" if column == NOISY else "times without noise"
    head = (
        f"The fastest algorithms on {table['machine'].iloc[0]}, by {what}: idlewave study algorithms",
        *(note for times in known.values() for note in missing_in_open_mpi(times)),
    )
    return {rules: rules_table(own), open_mpi: open_mpi_file(tables, head)}


def open_mpi_tables(known: Mapping[str, CollectiveTimes]) -> dict[OpenMpiCollective, list[AlgorithmRule]]:
    """For each collective of Open MPI the rules that choose among the algorithms which it has.

    Where Open MPI counts the blocks of all ranks, each number of ranks that was timed has rules of its own: sizes of
    one block from which rules hold on several numbers of ranks are different sizes there.
    """
    found = {}
    for own in OPEN_MPI_COLLECTIVES:
        if own.collective in known:
            times = known[own.collective]
            rules = decision_table(times, allowed_in(own), by_size=own.counts_size)
            found[own] = for_each_ranks(rules, times.ranks) if own.collective in OF_ALL_RANKS else rules
    return found


def for_each_ranks(rules: Sequence[AlgorithmRule], scales: Sequence[int]) -> list[AlgorithmRule]:
    """The rules of a collective that hold on each of these numbers of ranks, as rules for it."""
    found = []
    for ranks in scales:
        least = max(rule.ranks for rule in rules if rule.ranks <= ranks)
        found += [replace(rule, ranks=ranks) for rule in rules if rule.ranks == least]
    return found


def allowed_in(own: OpenMpiCollective) -> Allowed:
    """Which variants Open MPI has."""

    def allowed(variant: Variant, ranks: int) -> bool:
        return own.number(variant.algorithm, ranks) is not None

    return allowed


def missing_in_open_mpi(times: CollectiveTimes) -> list[str]:
    """A sentence for each fastest algorithm that a collective of Open MPI lacks, with what that costs at most."""
    said = []
    for own in OPEN_MPI_COLLECTIVES:
        if own.collective != times.collective:
            continue
        lost: dict[str, list[float]] = {}
        for ranks in times.ranks:
            for size in times.sizes:
                has = times.fastest(ranks, size, allowed_in(own))[1]
                variant, best = times.fastest(ranks, size)
                if not as_good(has, best) and best.ps:
                    lost.setdefault(variant.algorithm, []).append(has.ps / best.ps - 1)
        for name, costs in lost.items():
            calls = len(times.ranks) * len(times.sizes)
            said.append(
                f"{own.name}: no algorithm of Open MPI is {name}, the fastest for {len(costs)} of {calls} calls; the "
                f"best that it has takes up to {plain_percent(max(costs))} longer"
            )
    return said
