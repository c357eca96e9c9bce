"""The sizes of collectives in an OTF2 archive, by the rules of Score-P.

The archive has the total that a rank sends to all ranks, and the total that it receives from them, both with what it
sends to itself; of a call in place (MPI_IN_PLACE) without that. It does not say which calls are in place. Sizes by
rank, of MPI_Gatherv and others, follow from the totals of all ranks. export/collective_bytes.py has the way back.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..trace_format import COUNTS_RECEIVED, COUNTS_SENT, IS_ROOT, NOT_KNOWN, Collective

BY_RANK = ("GATHERV", "SCATTERV", "ALLGATHERV", "ALLTOALLV", "ALLTOALLW", "REDUCE_SCATTER")
"""Kinds of collectives, by their names in OTF2, whose ranks may have different sizes."""
EQUAL_PARTS = {"ALLTOALLW": "ALLTOALL", **{kind: kind.removesuffix("V") for kind in BY_RANK if kind.endswith("V")}}
"""The kinds with equal parts that stand for those whose sizes cannot be found."""


WORD = 4
"""The bytes of the smallest data that many programs exchange."""


@dataclass(frozen=True)
class Totals:
    """A collective call of one rank as the archive has it: its kind, the rank in the communicator and how many ranks
    that has, the root, and the bytes. `between`: on an intercommunicator, of which `ranks` are those of the other
    group."""

    kind: str
    rank: int
    ranks: int
    root: int
    sent: int
    received: int
    between: bool = False


@dataclass(frozen=True)
class Sizes:
    """The same call as a trace has it (docs/trace-format.md): root NOT_KNOWN if it has none, `info` and `counts` if
    it lists sizes by rank."""

    collective: Collective
    root: int
    sent: int
    received: int
    info: int = 0
    counts: tuple[int, ...] = ()


Use = Callable[[Sizes | None], None]


class CallsByRank:
    """Finds the sizes of collectives of BY_RANK when the calls of all ranks are there."""

    def __init__(self) -> None:
        self._numbers: Counter[tuple[object, int]] = Counter()
        self._calls: defaultdict[tuple[object, int], list[tuple[Totals, Use]]] = defaultdict(list)

    def add(self, communicator: object, call: Totals, use: Use) -> None:
        """Add a call; the calls of a rank on one communicator come in their order. `use` is called with its sizes when
        they are known."""
        number = self._numbers[communicator, call.rank]
        self._numbers[communicator, call.rank] += 1
        calls = self._calls[communicator, number]
        calls.append((call, use))
        if len(calls) == call.ranks:
            del self._calls[communicator, number]
            calls.sort(key=lambda found: found[0].rank)
            for (_, use_one), sizes in zip(calls, sizes_by_rank([call for call, _ in calls]), strict=True):
                use_one(sizes)

    def close(self) -> None:
        """Use what is known of calls that some ranks lack."""
        for calls in self._calls.values():
            for call, use in calls:
                use(equal_sizes(call))
        self._calls.clear()


def sizes_by_rank(calls: Sequence[Totals]) -> list[Sizes | None]:
    """The sizes of the calls of all ranks, in their order, of one collective of BY_RANK. It counts as one with equal
    parts if the totals do not fit together."""
    alike = len({(call.kind, call.root) for call in calls}) == 1
    found = _FIND[calls[0].kind](calls) if alike else None
    return [equal_sizes(call) for call in calls] if found is None else [*found]


def _of_gather(calls: Sequence[Totals]) -> list[Sizes] | None:
    root = calls[0].root
    parts = tuple(call.sent for call in calls)
    if not 0 <= root < len(calls) or sum(parts) != calls[root].received:
        return None
    found = [Sizes(Collective.GATHERV, root, part, 0) for part in parts]
    found[root] = Sizes(Collective.GATHERV, root, parts[root], sum(parts), COUNTS_RECEIVED, parts)
    return found


def _of_scatter(calls: Sequence[Totals]) -> list[Sizes] | None:
    root = calls[0].root
    parts = tuple(call.received for call in calls)
    if not 0 <= root < len(calls) or sum(parts) != calls[root].sent:
        return None
    found = [Sizes(Collective.SCATTERV, root, 0, part) for part in parts]
    found[root] = Sizes(Collective.SCATTERV, root, sum(parts), parts[root], COUNTS_SENT, parts)
    return found


def _of_allgather(calls: Sequence[Totals]) -> list[Sizes] | None:
    for own in (1, 0):  # a rank receives its own part, or all are in place
        parts = _divided([call.sent for call in calls], len(calls) - 1 + own)
        if parts and all(
            call.received == sum(parts) - (1 - own) * part for call, part in zip(calls, parts, strict=True)
        ):
            return [Sizes(Collective.ALLGATHERV, NOT_KNOWN, part, sum(parts), COUNTS_RECEIVED, parts) for part in parts]
    return None


def _of_reduce_scatter(calls: Sequence[Totals]) -> list[Sizes] | None:
    for own in (1, 0):
        parts = _divided([call.received for call in calls], len(calls) - 1 + own)
        if parts and all(call.sent == sum(parts) - (1 - own) * part for call, part in zip(calls, parts, strict=True)):
            kind = Collective.REDUCE_SCATTER
            return [Sizes(kind, NOT_KNOWN, sum(parts), part, COUNTS_RECEIVED, parts) for part in parts]
    return None


def _of_alltoall(calls: Sequence[Totals]) -> list[Sizes] | None:
    """What a rank sends to the others is divided as all that is sent is divided among them."""
    sent, received = [call.sent for call in calls], [call.received for call in calls]
    total = sum(sent)
    if total != sum(received):
        return None
    found = []
    for call in calls:
        to = [call.sent * size // max(total, 1) for size in received]
        of = [size * call.received // max(total, 1) for size in sent]
        counts, info = (*to, *of), COUNTS_SENT | COUNTS_RECEIVED
        found.append(Sizes(Collective[call.kind], NOT_KNOWN, call.sent, call.received, info, counts))
    return found


def _divided(totals: Sequence[int], ranks: int) -> tuple[int, ...] | None:
    """Each total divided by the number of ranks to which the part goes; None if that leaves a remainder."""
    if ranks == 0 or any(total % ranks for total in totals):
        return None
    return tuple(total // ranks for total in totals)


_FIND: dict[str, Callable[[Sequence[Totals]], list[Sizes] | None]] = {
    "GATHERV": _of_gather,
    "SCATTERV": _of_scatter,
    "ALLGATHERV": _of_allgather,
    "ALLTOALLV": _of_alltoall,
    "ALLTOALLW": _of_alltoall,
    "REDUCE_SCATTER": _of_reduce_scatter,
}


def equal_sizes(call: Totals) -> Sizes | None:
    """The sizes of a collective whose parts are equal; None for a kind that is not simulated."""
    kind = EQUAL_PARTS.get(call.kind, call.kind)
    if kind == "BARRIER":
        return Sizes(Collective.BARRIER, NOT_KNOWN, 0, 0)
    if call.between:
        return _between_groups(kind, call)
    if kind in ("BCAST", "REDUCE", "GATHER", "SCATTER"):
        size = _of_rooted(kind, call)
        return Sizes(Collective[kind], call.root, size, size)
    if kind in ("ALLREDUCE", "ALLGATHER", "ALLTOALL"):
        size = _part(call.received if kind == "ALLGATHER" else call.sent, call.ranks)
        return Sizes(Collective[kind], NOT_KNOWN, size, size)
    if kind == "REDUCE_SCATTER":
        return Sizes(Collective.REDUCE_SCATTER_BLOCK, NOT_KNOWN, call.sent, call.sent // call.ranks)
    if kind == "REDUCE_SCATTER_BLOCK":
        size = _part(call.sent, call.ranks)
        return Sizes(Collective.REDUCE_SCATTER_BLOCK, NOT_KNOWN, size * call.ranks, size)
    if kind in ("SCAN", "EXSCAN"):
        size = _of_scan(call, others_only=kind == "EXSCAN")
        return Sizes(Collective[kind], NOT_KNOWN, size, size)
    return None


def _between_groups(kind: str, call: Totals) -> Sizes | None:
    """The sizes on an intercommunicator, where no rank has a part of its own: of a call with a root only that, and the
    ranks of the other group, take part."""
    if kind not in Collective.__members__ or kind in ("SCAN", "EXSCAN"):
        return None
    sent, received = call.sent // call.ranks, call.received // call.ranks
    if kind in ("BCAST", "REDUCE", "GATHER", "SCATTER"):
        to_all = kind in ("BCAST", "SCATTER")
        of_root, of_others = (sent, call.received) if to_all else (received, call.sent)
        size = of_root if call.root == IS_ROOT else of_others
        return Sizes(Collective[kind], call.root, size, size)
    if kind.startswith("REDUCE_SCATTER"):
        return Sizes(Collective.REDUCE_SCATTER_BLOCK, NOT_KNOWN, call.sent, received)
    return Sizes(Collective[kind], NOT_KNOWN, sent, received)


def _of_rooted(kind: str, call: Totals) -> int:
    """The part of a rank. A root that sends nothing to itself, or gets nothing from itself, is in place."""
    others = max(call.ranks - 1, 1)
    at_root = call.root == call.rank
    if kind == "BCAST":
        return call.received if call.received else call.sent // call.ranks
    if kind == "SCATTER":
        return call.received if not at_root else call.sent // (others if call.received == 0 else call.ranks)
    return call.sent if not at_root else call.received // (others if call.sent == 0 else call.ranks)


def _part(total: int, ranks: int) -> int:
    """The part of each rank. The call is in place where only that makes its part a whole number of bytes, or of words
    of four bytes."""
    others = ranks - 1
    if others > 0 and total % others == 0:
        part, in_place = total // ranks, total // others
        if total % ranks or (part % WORD and in_place % WORD == 0):
            return in_place
    return total // ranks


def _of_scan(call: Totals, *, others_only: bool) -> int:
    """The vector of a scan. Rank r sends it to the ranks from r on, and receives those of all up to r; of an exclusive
    scan, and in place, without its own."""
    before, after = call.rank, call.ranks - call.rank - 1
    if not others_only and call.sent * (before + 1) == call.received * (after + 1):
        return call.received // (before + 1)
    return call.received // before if before else call.sent // max(after, 1)
