"""Who is on the communicators of a DUMPI trace.

The trace of a rank has the calls that make communicators and groups, with handles that are the rank's own; what
MPI_Comm_split makes depends on the colours and keys of all ranks. The calls of all ranks are therefore followed
together, each rank until it waits for the others at a split. The n-th communicator that is made from one is the same on
all its members, by MPI's rules.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, NamedTuple

from ..trace_format import SELF, WORLD
from .dumpi_file import Record

NULL_HANDLE, WORLD_HANDLE, SELF_HANDLE = 1, 2, 3
_EMPTY_GROUP = 2
_FIRST_OTHER = 16
"""The id of the first communicator beside MPI_COMM_WORLD and MPI_COMM_SELF."""


class Communicator(NamedTuple):
    """A communicator: its id in the trace, that of its parent, its members' ranks in MPI_COMM_WORLD, and the extents
    and periods of its grid, if it has one."""

    id: int
    parent: int
    members: tuple[int, ...]
    extents: tuple[int, ...] = ()
    periods: tuple[int, ...] = ()


MAKE = {
    "Comm_dup": 1,
    "Comm_create": 2,
    "Comm_split": 3,
    "Cart_create": 5,
    "Cart_sub": 3,
    "Graph_create": 6,
    "Intercomm_create": 5,
    "Intercomm_merge": 2,
    "Comm_accept": 4,
    "Comm_connect": 4,
    "Comm_get_parent": 0,
    "Comm_join": 1,
    "Comm_spawn": 3,
    "Comm_spawn_multiple": 4,
}
"""The calls that make a communicator, and which field of their records is its handle."""
PARENT = {"Comm_dup": 0, "Comm_create": 0, "Comm_split": 0, "Cart_create": 0, "Cart_sub": 1, "Graph_create": 1}
"""Which field is the handle of the communicator from which one is made."""
_GROUPS = {
    "Comm_group": 1,
    "Group_incl": 3,
    "Group_excl": 3,
    "Group_range_incl": 3,
    "Group_range_excl": 3,
    "Group_union": 2,
    "Group_intersection": 2,
    "Group_difference": 2,
    "Comm_remote_group": 1,
    "Win_get_group": 1,
    "File_get_group": 1,
}
"""The calls that make a group, and which field of their records is its handle."""
CALLS = frozenset(MAKE) | frozenset(_GROUPS)


def communicators_of(calls: Sequence[Sequence[Record]]) -> list[list[Communicator | None]]:
    """For each rank what the calls that make communicators have made, in their order, from its records of CALLS.

    None: it is not known, or the rank is no member."""
    return _Following(calls).result()


@dataclass
class _Rank:
    calls: deque[Record]
    communicators: dict[int, Communicator | None]
    groups: dict[int, tuple[int, ...] | None]
    made: list[Communicator | None] = field(default_factory=list)
    from_parent: Counter[int] = field(default_factory=Counter)


class _Following:
    """Follows the calls of all ranks."""

    def __init__(self, calls: Sequence[Sequence[Record]]) -> None:
        world = Communicator(WORLD, 0, tuple(range(len(calls))))
        self._ranks = [
            _Rank(
                deque(records),
                {WORLD_HANDLE: world, SELF_HANDLE: Communicator(SELF, 0, (rank,))},
                {_EMPTY_GROUP: ()},
            )
            for rank, records in enumerate(calls)
        ]
        self._ids: dict[tuple[int, int, int], int] = {}
        self._splits: dict[tuple[int, int], dict[int, Record]] = {}
        self._ready = deque(range(len(calls)))

    def result(self) -> list[list[Communicator | None]]:
        while self._ready:
            self._follow(self._ready.popleft())
            if not self._ready:
                self._give_up_splits()
        return self._agreed([rank.made for rank in self._ranks])

    @staticmethod
    def _agreed(made: list[list[Communicator | None]]) -> list[list[Communicator | None]]:
        """Without the communicators on whose members the ranks do not agree, or that their first member lacks."""
        listed = {
            one.id: one
            for number, ones in enumerate(made)
            for one in ones
            if one is not None and one.members[0] == number
        }
        return [[one if one is None or listed.get(one.id) == one else None for one in ones] for ones in made]

    def _follow(self, number: int) -> None:
        """Up to the end of a rank's calls, or to a split for which others are missing."""
        rank = self._ranks[number]
        while rank.calls:
            record = rank.calls.popleft()
            if record.name in _GROUPS:
                rank.groups[record.fields[_GROUPS[record.name]]] = _group(rank, record)
                continue
            parent = rank.communicators.get(record.fields[PARENT[record.name]]) if record.name in PARENT else None
            if parent is None:
                self._made(rank, record, None)
                continue
            ordinal = rank.from_parent[parent.id]
            rank.from_parent[parent.id] += 1
            if record.name == "Comm_split":
                if not self._split(number, parent, ordinal, record):
                    return
                continue
            self._made(rank, record, self._one_of_its_own(rank, number, parent, ordinal, record))

    def _made(self, rank: _Rank, record: Record, made: Communicator | None) -> None:
        handle = record.fields[MAKE[record.name]]
        made = None if handle == NULL_HANDLE else made
        rank.made.append(made)
        rank.communicators[handle] = made

    def _named(self, parent: Communicator, ordinal: int, made: Communicator) -> Communicator:
        key = (parent.id, ordinal, made.members[0])
        return made._replace(id=self._ids.setdefault(key, _FIRST_OTHER + len(self._ids)), parent=parent.id)

    def _one_of_its_own(
        self, rank: _Rank, number: int, parent: Communicator, ordinal: int, record: Record
    ) -> Communicator | None:
        """What a call makes that says itself who is on the communicator."""
        found = _MEMBERS[record.name](rank, number, parent, record.fields)
        if found is None or number not in found.members:
            return None
        return self._named(parent, ordinal, found)

    def _split(self, number: int, parent: Communicator, ordinal: int, record: Record) -> bool:
        """Whether all have arrived at a split; the last one to arrive makes what all get."""
        here = self._splits.setdefault((parent.id, ordinal), {})
        here[number] = record
        if len(here) < len(parent.members):
            return False
        del self._splits[parent.id, ordinal]
        place = {member: at for at, member in enumerate(parent.members)}
        colours: dict[int, list[tuple[int, int, int]]] = {}
        for member, call in here.items():
            _, colour, key, handle = call.fields
            if handle != NULL_HANDLE:
                colours.setdefault(colour, []).append((key, place[member], member))
        made = {
            colour: self._named(parent, ordinal, Communicator(0, 0, tuple(member for *_, member in sorted(keys))))
            for colour, keys in colours.items()
        }
        for member, call in here.items():
            self._made(self._ranks[member], call, made.get(call.fields[1]))
            if member != number:
                self._ready.append(member)
        return True

    def _give_up_splits(self) -> None:
        """Of splits that some members have not called nobody knows what they made."""
        waiting, self._splits = self._splits, {}
        for here in waiting.values():
            for member, call in here.items():
                self._made(self._ranks[member], call, None)
                self._ready.append(member)


def _group(rank: _Rank, record: Record) -> tuple[int, ...] | None:
    """The members of a group that a call makes, as ranks in MPI_COMM_WORLD; None if they are not known."""
    name, fields = record.name, record.fields
    if name == "Comm_group":
        communicator = rank.communicators.get(fields[0])
        return None if communicator is None else communicator.members
    first = rank.groups.get(fields[0])
    if first is None or name not in ("Group_union", "Group_intersection", "Group_difference"):
        return None if first is None else _chosen(name, first, fields)
    second = rank.groups.get(fields[1])
    if second is None:
        return None
    in_first, in_second = set(first), set(second)
    if name == "Group_union":
        return first + tuple(member for member in second if member not in in_first)
    return tuple(member for member in first if (member in in_second) == (name == "Group_intersection"))


def _chosen(name: str, group: tuple[int, ...], fields: list[Any]) -> tuple[int, ...] | None:
    if name in ("Group_incl", "Group_excl"):
        listed = fields[2]
    elif name in ("Group_range_incl", "Group_range_excl"):
        ranges = [range(r[0], r[1] + (1 if r[2] > 0 else -1), r[2]) for r in fields[2] if len(r) == 3 and r[2]]
        if sum(map(len, ranges)) > len(group):
            return None
        listed = [member for r in ranges for member in r]
    else:
        return None
    if any(not 0 <= member < len(group) for member in listed):
        return None
    if name.endswith("incl"):
        return tuple(group[member] for member in listed)
    left_out = set(listed)
    return tuple(member for at, member in enumerate(group) if at not in left_out)


def _copy(_rank: _Rank, _number: int, parent: Communicator, _fields: list[Any]) -> Communicator:
    return parent


def _of_group(rank: _Rank, _number: int, _parent: Communicator, fields: list[Any]) -> Communicator | None:
    group = rank.groups.get(fields[1])
    return Communicator(0, 0, group) if group else None


def _grid(_rank: _Rank, _number: int, parent: Communicator, fields: list[Any]) -> Communicator | None:
    extents, periods = tuple(fields[2]), tuple(int(period != 0) for period in fields[3])
    if len(extents) != len(periods) or any(extent < 1 for extent in extents) or prod(extents) > len(parent.members):
        return None
    return Communicator(0, 0, parent.members[: prod(extents)], extents, periods)


def _sub_grid(_rank: _Rank, number: int, parent: Communicator, fields: list[Any]) -> Communicator | None:
    """The ranks whose places differ only in the dimensions that remain; the last dimension counts fastest."""
    remain = fields[2]
    if not parent.extents or len(remain) != len(parent.extents):
        return None
    strides = [prod(parent.extents[i + 1 :]) for i in range(len(remain))]
    own = parent.members.index(number)
    first = own
    kept = [i for i, remains in enumerate(remain) if remains]
    for i in kept:
        first -= own // strides[i] % parent.extents[i] * strides[i]
    places = [first]
    for i in kept:
        places = [place + step * strides[i] for place in places for step in range(parent.extents[i])]
    return Communicator(
        0,
        0,
        tuple(parent.members[place] for place in places),
        tuple(parent.extents[i] for i in kept),
        tuple(parent.periods[i] for i in kept),
    )


def _graph(_rank: _Rank, _number: int, parent: Communicator, fields: list[Any]) -> Communicator | None:
    return Communicator(0, 0, parent.members[: max(fields[2], 0)])


_MEMBERS: dict[str, Callable[[_Rank, int, Communicator, list[Any]], Communicator | None]] = {
    "Comm_dup": _copy,
    "Comm_create": _of_group,
    "Cart_create": _grid,
    "Cart_sub": _sub_grid,
    "Graph_create": _graph,
}
