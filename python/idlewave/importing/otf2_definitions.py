"""The ranks of an OTF2 archive, their communicators and their clock, from the definitions of the archive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

from ..errors import InputError
from ..escaping import quote
from ..trace_format import SELF, WORLD

Definition: TypeAlias = Any  # the bindings of OTF2 have no types

NS = 10**9
FIRST_OTHER = 16
"""The id of the first communicator beside MPI_COMM_WORLD and MPI_COMM_SELF."""


@dataclass(frozen=True)
class Communicator:
    """A communicator: its id in the trace, its members' ranks in MPI_COMM_WORLD, and of an intercommunicator those of
    the other group."""

    id: int
    members: tuple[int, ...]
    others: tuple[int, ...] = ()


def name_of_kind(value: Any) -> str:  # noqa: ANN401
    """The name of a value of one of OTF2's enumerations; of a value that the bindings do not know, its number."""
    try:
        return str(value).rpartition(".")[2]
    except KeyError:
        return f"number {value.value}"


class Definitions:
    """What the definitions of an archive say. Raises InputError if they are not those of an MPI program.

    `name` is that of the archive, for errors. `locations` are the ranks in order, and `ranks` has the rank of each.
    """

    def __init__(self, definitions: Definition, name: str) -> None:
        self.name = name
        self.locations = self._locations(definitions)
        self.rank_of = {location: rank for rank, location in enumerate(self.locations)}
        clock = definitions.clock_properties
        self._resolution, self._zero = int(clock.timer_resolution), int(clock.global_offset)
        if self._resolution < 1:
            self._fail("has a clock without a resolution: expected ticks a second")
        self._one_group: dict[Definition, Communicator] = {}
        self._two_groups: dict[Definition, list[Communicator]] = {}
        """Each intercommunicator, as the ranks of either group see it."""
        for number, comm in enumerate(definitions.comms):
            if hasattr(comm, "groupA"):
                groups = [self._members(group, comm) for group in (comm.groupA, comm.groupB)]
                if not (groups[0] and groups[1] and set(groups[0]).isdisjoint(groups[1])):
                    self._fail(f"communicator {quote(comm.name)}: expected two groups of different ranks")
                self._two_groups[comm] = [Communicator(FIRST_OTHER + number, *way) for way in (groups, groups[::-1])]
            elif comm.group is None or name_of_kind(comm.group.paradigm) == "MPI":
                self._one_group[comm] = self._intracommunicator(comm, number)

    def ns(self, ticks: int) -> int:
        """The time of an event, in ns after the beginning."""
        return 1 + (int(ticks) - self._zero) * NS // self._resolution

    def host(self, rank: int) -> str:
        """The name of the node of a rank, or ""."""
        group = self.locations[rank].group
        node = None if group is None else group.system_tree_parent
        return "" if node is None else str(node.name)

    def communicator(self, rank: int, comm: Definition) -> Communicator | None:
        """A communicator as a rank sees it; None if it is none of MPI, or the rank is no member."""
        found = self._one_group.get(comm)
        if found is None:
            return next((one for one in self._two_groups.get(comm, []) if rank in one.members), None)
        if found.id == SELF:
            return Communicator(SELF, (rank,))
        return found if rank in found.members else None

    def of_rank(self, rank: int) -> list[Communicator]:
        """The communicators of a rank beside MPI_COMM_WORLD and MPI_COMM_SELF."""
        known = (*self._one_group.values(), *(one for ways in self._two_groups.values() for one in ways))
        return [one for one in known if one.id >= FIRST_OTHER and rank in one.members]

    def _locations(self, definitions: Definition) -> list[Definition]:
        lists = [
            group.members
            for group in definitions.groups
            if name_of_kind(group.group_type) == "COMM_LOCATIONS" and name_of_kind(group.paradigm) == "MPI"
        ]
        if not lists or not lists[0]:
            self._fail("has no ranks of MPI: expected an archive of an MPI program")
        found = list(lists[0])
        if len(lists) > 1 or None in found or len(set(found)) < len(found):
            self._fail("expected one list of MPI's ranks, in which each location is defined and there once")
        return found

    def _intracommunicator(self, comm: Definition, number: int) -> Communicator:
        if comm.group is not None and name_of_kind(comm.group.group_type) == "COMM_SELF":
            return Communicator(SELF, ())
        members = self._members(comm.group, comm)
        everyone = members == tuple(range(len(self.locations)))
        is_world = everyone and comm.parent is None and all(c.id != WORLD for c in self._one_group.values())
        return Communicator(WORLD if is_world else FIRST_OTHER + number, members)

    def _members(self, group: Definition, comm: Definition) -> tuple[int, ...]:
        members = None if group is None else [self.rank_of.get(member) for member in group.members]
        found = [member for member in members or () if member is not None]
        if members is None or len(set(found)) < len(members):
            self._fail(f"communicator {quote(comm.name)}: expected a group of ranks of MPI, each there once")
        return tuple(found)

    def _fail(self, what: str) -> NoReturn:
        raise InputError(f"{self.name}: {what}")
