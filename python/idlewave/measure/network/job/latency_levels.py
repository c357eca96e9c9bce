"""The levels of a network (node, switch), from the latencies between its ranks.

Ranks are joined by average linkage of log latencies (UPGMA: R. R. Sokal, C. D. Michener, 1958): where latencies differ
by level and otherwise only scatter, the heights of the joins lie close together within a level, with a gap between two.
For the widest gaps, the pairs joined below are compared with those above by Ashman's D (K. M. Ashman, C. M. Bird, S. E.
Zepf, Detecting bimodality in astronomical datasets, 1994), with medians and median deviations instead of means and
standard deviations. A gap is one between levels if

- D is at least SEPARATION, where a deviation counts as at least 3 % + 30 % / √pairs (the scatter of a few pairs is not
  known);
- it divides the ranks into at least two groups of two or more, or into the hosts (one rank that is far from all others
  is a slow rank, and no level); and
- it explains more of the variance of the log latencies than any gap does in SHUFFLES matrices in which the same
latencies are assigned to the pairs at random. This is needed because linkage joins the nearest ranks first: even if
latencies only scatter, those below a gap are shorter than those above.

So pairs that scatter by 10 % show levels that differ by a quarter, and of matrices without levels about one in SHUFFLES
shows a second level.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import cophenet, fcluster, leaves_list, linkage, optimal_leaf_ordering
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import squareform

Array = NDArray[np.float64]
Partition = tuple[tuple[int, ...], ...]

SEPARATION = 2.0
LEAST_DEVIATION = 0.03
FEW_PAIRS = 0.3
SHUFFLES = 30
FEWER_SHUFFLES = 6
MANY = 1024
"""With more ranks than this there are fewer shuffled matrices: each takes seconds, and chance has less effect."""
WIDEST = 4
"""The number of gaps that are examined."""
DEVIATION = 1.4826
"""The standard deviation of a normal distribution by its median absolute deviation."""
SLOW = 1.2
"""A slow rank or pair takes at least so many times the median of its level, ..."""
OUTLYING = 5.0
"""... and is so many deviations above it."""
ORDERED = 400
"""Up to so many ranks the order puts near ranks side by side, which takes a time of their third power."""


@dataclass(frozen=True)
class LatencyLevel:
    """One level. groups: the ranks that are joined on it, by group; pairs: which pairs (a, b) are joined on it.

    latency_ns: the median of its measured pairs; name: "node" if the groups are the hosts, else by its position.
    """

    name: str
    groups: Partition
    pairs: NDArray[np.bool_]
    latency_ns: float
    measured: int


@dataclass(frozen=True)
class Structure:
    """Levels from the innermost to the one of all ranks; `order` puts near ranks side by side, `tree` is scipy's.

    ranks: those with a measured pair; `order` and `tree` contain only them. cuts_ns: the latencies between the levels.
    slow_ranks: (rank, how many times slower than usual); slow_pairs: (a, b, times).
    """

    ranks: tuple[int, ...]
    levels: tuple[LatencyLevel, ...]
    cuts_ns: tuple[float, ...]
    order: tuple[int, ...]
    tree: Array
    slow_ranks: tuple[tuple[int, float], ...]
    slow_pairs: tuple[tuple[int, int, float], ...]
    notes: tuple[str, ...]


def find_structure(latency_ns: Array, hosts: list[str] | None = None, low_ns: Array | None = None) -> Structure:
    """The levels in a symmetric matrix of latencies; NaN is a pair that was not measured, the diagonal does not count.

    `low_ns`: the lower ends of the latencies' intervals; a pair is slow only if its lower end is, too. A pair that was
    not measured counts as near as the best chain of measured pairs between its ranks, by the chain's farthest step.
    """
    whole = np.isfinite(latency_ns) & ~np.eye(len(latency_ns), dtype=np.bool_)
    ranks = np.flatnonzero(whole.any(axis=1))
    if len(ranks) < 2:
        raise ValueError("no pair was measured")
    seen = whole[np.ix_(ranks, ranks)]
    log = np.where(seen, np.log(np.where(seen, latency_ns[np.ix_(ranks, ranks)], 1.0)), np.nan)
    parts = int(connected_components(seen, directed=False)[0])
    joins = _Joins.of(squareform(np.where(seen, log, 0.0), checks=False), squareform(seen, checks=False))
    heights = squareform(joins.heights)
    of_host = None if hosts is None else [hosts[r] for r in ranks]
    cuts = _cuts(joins, of_host)
    tree = joins.tree if len(ranks) > ORDERED else optimal_leaf_ordering(joins.tree, joins.values)
    which = np.searchsorted(cuts, heights)
    levels = tuple(_level(tree, which, log, ranks, cuts, i, of_host) for i in range(len(cuts) + 1))
    bottom = log if low_ns is None else np.log(np.where(seen, low_ns[np.ix_(ranks, ranks)], 1.0))
    slow_ranks, slow_pairs = _slow(log, bottom, which, ranks)
    return Structure(
        ranks=tuple(int(r) for r in ranks),
        levels=levels,
        cuts_ns=tuple(float(np.exp(c)) for c in cuts),
        order=tuple(int(ranks[i]) for i in leaves_list(tree)),
        tree=tree,
        slow_ranks=slow_ranks,
        slow_pairs=slow_pairs,
        notes=(*_missing(len(latency_ns), ranks, parts), *_compared(levels, hosts, {r for r, _ in slow_ranks})),
    )


def _filled(values: Array, seen: NDArray[np.bool_]) -> Array:
    """Condensed distances without gaps: a missing one is the farthest step of the best chain (single linkage)."""
    if seen.all():
        return values
    most = float(values[seen].max())
    chains = cophenet(linkage(np.where(seen, values, 2 * abs(most) + 1), method="single"))
    return np.where(seen, values, np.minimum(chains, most))


@dataclass(frozen=True)
class _Joins:
    """A tree of joins, with the pairs by their place in the condensed matrix."""

    tree: Array
    heights: Array
    values: Array
    seen: NDArray[np.bool_]

    @classmethod
    def of(cls, measured: Array, seen: NDArray[np.bool_]) -> _Joins:
        values = _filled(measured, seen)
        tree = linkage(values, method="average")
        return cls(tree, cophenet(tree), values, seen)

    def questions(self, low: int, high: int) -> list[tuple[int, float]]:
        """The widest gaps among the joins low … high − 1: the index and the middle of each."""
        joins = np.sort(self.tree[:, 2])[low:high]
        gaps = np.diff(joins)
        widest = np.argsort(-gaps, kind="stable")[:WIDEST]
        return [(int(i), float(joins[i] + joins[i + 1]) / 2) for i in widest if gaps[i] > 0]

    def divided(self, cut: float, inside: NDArray[np.bool_]) -> tuple[Array, Array]:
        """The measured log latencies of the pairs `inside` that are joined below the cut, and above."""
        below = self.heights < cut
        return self.values[inside & below & self.seen], self.values[inside & ~below & self.seen]

    def shuffled(self, inside: NDArray[np.bool_], random: np.random.Generator) -> _Joins:
        values = self.values.copy()
        dealt = inside & self.seen
        values[dealt] = random.permutation(values[dealt])
        return _Joins.of(values, self.seen)


def _cuts(joins: _Joins, hosts: list[str] | None) -> list[float]:
    """The cuts between the levels, in log latency, ascending."""
    random = np.random.default_rng(0)
    found: list[float] = []

    def divide(low: int, high: int, inside: NDArray[np.bool_]) -> None:
        """Divide the joins low … high − 1, which join the pairs `inside`."""
        for i, cut in joins.questions(low, high):
            near, far = joins.divided(cut, inside)
            if _separation(near, far) < SEPARATION or not _divides(joins.tree, cut, hosts):
                continue
            if not unusual(_explained(near, far), low, high, inside):
                continue
            found.append(cut)
            below = joins.heights < cut
            divide(low, low + i + 1, inside & below)
            divide(low + i + 1, high, inside & ~below)
            return

    def unusual(explained: float, low: int, high: int, inside: NDArray[np.bool_]) -> bool:
        """Whether no shuffled matrix has a gap that explains more."""
        for _ in range(SHUFFLES if len(joins.tree) < MANY else FEWER_SHUFFLES):
            other = joins.shuffled(inside, random)
            for _, cut in other.questions(low, high):
                by_chance = _explained(*other.divided(cut, inside))
                if by_chance > explained * (1 + 1e-9) and _divides(other.tree, cut, hosts):
                    return False
        return True

    divide(0, len(joins.tree), np.ones_like(joins.seen))
    return _that_join_groups(joins.tree, sorted(found), hosts)


def _that_join_groups(tree: Array, cuts: list[float], hosts: list[str] | None) -> list[float]:
    """The cuts without those above which, up to the next one, only single ranks are added to groups: such ranks are
    slow."""
    sizes = np.concatenate([np.ones(len(tree) + 1), tree[:, 3]])
    left, right = (sizes[tree[:, i].astype(np.intp)] for i in (0, 1))
    of_groups = tree[np.minimum(left, right) >= 2, 2]
    kept: list[float] = []
    for cut in reversed(cuts):
        above = kept[0] if kept else np.inf
        are_hosts = hosts is not None and _groups(fcluster(tree, cut, criterion="distance")) == _groups(hosts)
        if are_hosts or bool(((of_groups > cut) & (of_groups < above)).any()):
            kept.insert(0, cut)
    return kept


def _separation(near: Array, far: Array) -> float:
    """Ashman's D; 0 if one of both is empty."""
    if not len(near) or not len(far):
        return 0.0
    difference = float(np.median(far) - np.median(near))
    return float(np.sqrt(2.0) * difference / np.hypot(_deviation(near), _deviation(far)))


def _explained(near: Array, far: Array) -> float:
    """The share of the variance that is between both."""
    both = np.concatenate([near, far])
    total = float(((both - both.mean()) ** 2).sum()) if len(near) and len(far) else 0.0
    if total == 0.0:
        return 0.0
    return float(len(near) * (near.mean() - both.mean()) ** 2 + len(far) * (far.mean() - both.mean()) ** 2) / total


def _deviation(values: Array) -> float:
    spread = DEVIATION * float(np.median(np.abs(values - np.median(values))))
    return max(spread, LEAST_DEVIATION + FEW_PAIRS / float(np.sqrt(len(values))))


def _divides(tree: Array, cut: float, hosts: list[str] | None) -> bool:
    cluster = fcluster(tree, cut, criterion="distance")
    _, sizes = np.unique(cluster, return_counts=True)
    if int((sizes >= 2).sum()) >= 2:
        return True
    return hosts is not None and len(set(hosts)) > 1 and _groups(cluster) == _groups(hosts)


def _groups(labels: list[str] | NDArray[np.int32]) -> set[tuple[int, ...]]:
    members: dict[object, list[int]] = {}
    for i, label in enumerate(labels):
        members.setdefault(label, []).append(i)
    return {tuple(m) for m in members.values()}


def _level(
    tree: Array,
    which: NDArray[np.intp],
    log: Array,
    ranks: NDArray[np.intp],
    cuts: list[float],
    number: int,
    hosts: list[str] | None,
) -> LatencyLevel:
    top = number == len(cuts)
    cluster = np.ones(len(ranks), dtype=np.int32) if top else fcluster(tree, cuts[number], criterion="distance")
    groups = sorted(_groups(cluster))
    pairs = (which == number) & ~np.eye(len(ranks), dtype=np.bool_)
    measured = np.triu(pairs & np.isfinite(log), 1)
    is_node = not top and hosts is not None and set(groups) == _groups(hosts)
    inside_node = number + 1 == len(cuts) + 1 and hosts is not None and len(set(hosts)) == 1
    name = "node" if is_node or inside_node else "network" if top else f"level {number + 1}"
    return LatencyLevel(
        name=name,
        groups=tuple(tuple(int(ranks[i]) for i in group) for group in groups),
        pairs=_expanded(pairs, ranks),
        latency_ns=float(np.exp(np.median(log[measured]))) if measured.any() else float("nan"),
        measured=int(measured.sum()),
    )


def _expanded(pairs: NDArray[np.bool_], ranks: NDArray[np.intp]) -> NDArray[np.bool_]:
    size = int(ranks.max()) + 1
    whole = np.zeros((size, size), dtype=np.bool_)
    whole[np.ix_(ranks, ranks)] = pairs
    return whole


def _slow(
    log: Array, bottom: Array, which: NDArray[np.intp], ranks: NDArray[np.intp]
) -> tuple[tuple[tuple[int, float], ...], tuple[tuple[int, int, float], ...]]:
    """Ranks whose pairs mostly take longer than the median pair of their level, and such pairs of other ranks."""
    beyond = np.full_like(log, np.nan)
    score = np.full_like(log, np.nan)
    for level in np.unique(which):
        chosen = (which == level) & np.isfinite(log)
        if chosen.any():
            beyond[chosen] = log[chosen] - np.median(log[chosen])
            score[chosen] = beyond[chosen] / _deviation(log[chosen & np.triu(np.ones_like(chosen), 1)])
    by_rank = np.array([np.median(row[np.isfinite(row)]) for row in beyond])
    enough = np.isfinite(beyond).sum(axis=1) >= 3
    usual = float(np.median(by_rank))
    slow = enough & (by_rank > np.log(SLOW)) & (by_rank - usual > OUTLYING * _deviation(by_rank))
    certain = bottom - (log - beyond) > np.log(SLOW)
    pairs = np.triu(certain & (score > OUTLYING) & ~slow[:, None] & ~slow[None, :], 1)
    worst = sorted(np.argwhere(pairs).tolist(), key=lambda p: -beyond[p[0], p[1]])
    return (
        tuple(
            (int(ranks[i]), float(np.exp(by_rank[i]))) for i in sorted(np.flatnonzero(slow), key=lambda i: -by_rank[i])
        ),
        tuple((int(ranks[a]), int(ranks[b]), float(np.exp(beyond[a, b]))) for a, b in worst),
    )


def _missing(size: int, ranks: NDArray[np.intp], parts: int) -> list[str]:
    notes = []
    absent = sorted(set(range(size)) - set(ranks.tolist()))
    if absent:
        notes.append(f"No pair of rank {listed(absent)} was measured.")
    if parts > 1:
        notes.append(
            f"The measured pairs fall into {parts} parts that no chain of pairs joins; how far those are from each "
            "other is not known, and taken as the longest latency seen."
        )
    return notes


def _compared(levels: tuple[LatencyLevel, ...], hosts: list[str] | None, slow: set[int]) -> list[str]:
    """Notes that compare the groups with the hosts."""
    if hosts is None:
        return []
    ranks = sorted(r for group in levels[-1].groups for r in group)
    by_host: dict[str, list[int]] = {}
    for rank in ranks:
        by_host.setdefault(hosts[rank], []).append(rank)
    if len(by_host) == 1 or len(by_host) == len(ranks) or any(level.name == "node" for level in levels):
        return []
    if len(levels) == 1:
        return [f"The ranks run on {len(by_host)} hosts, but the latencies show one level only."]
    apart = []
    for host, members in by_host.items():
        nearest = max(levels[0].groups, key=lambda group: len(set(group) & set(members)))
        if set(nearest) - slow != set(members) - slow:
            apart.append(host)
    if not apart:
        return []
    verb = "is" if len(apart) == 1 else "are"
    return [f"The innermost groups are not the hosts: {', '.join(apart[:8])} {verb} divided or joined."]


def listed(numbers: list[int]) -> str:
    """The first of them, and how many more there are."""
    shown = ", ".join(map(str, numbers[:8]))
    return shown if len(numbers) <= 8 else f"{shown} and {len(numbers) - 8} more"
