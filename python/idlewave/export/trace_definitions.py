"""What the events of a trace refer to in an OTF2 archive: regions, hosts, ranks and communicators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _core
from ..otf2_library import Library
from ..trace_format import BLOCKING, IS_ROOT, PROC_NULL, SELF, WORLD, Call, Collective
from .otf2_archive import Strings

TICKS = 10**9  # per second
LOCATIONS, SELF_GROUP = 0, 1
"""The numbers of the group of all ranks' locations, and of that of MPI_COMM_SELF."""


@dataclass(frozen=True, slots=True)
class Communicator:
    """A communicator as one rank sees it: its number in the archive, this rank's rank in it, and with how many ranks it
    communicates, which are the other group's if it is one between two groups."""

    number: int
    rank: int
    peers: int
    between: bool = False


class Definitions:
    """Gives numbers to what the events refer to, and writes the definitions when all events are written."""

    def __init__(self, library: Library, trace: _core.Trace) -> None:
        self.library = library
        self.ranks = trace.ranks
        self._regions: dict[str, tuple[int, Any, Any]] = {}
        self._groups: dict[int, tuple[Sequence[Any], bool]] = {
            comm_id: (groups, between) for comm_id, between, groups in trace.communicators()
        }
        self._numbers = {WORLD: 0, SELF: 1}
        self._parents: dict[int, int] = {}
        self._seen: dict[int, Communicator | None] = {}
        self._seen_by = -1

    def region(self, name: str, call: int = 0) -> int:
        """The number of a region, which is a function of MPI like the call of that number; 0: the program's own."""
        found = self._regions.get(name)
        if found is None:
            paradigm = self.library.PARADIGM_MPI if call else self.library.PARADIGM_USER
            found = self._regions[name] = len(self._regions), _role(self.library, call), paradigm
        return found[0]

    def made(self, comm_id: int, parent: int) -> None:
        """A communicator was made of another one."""
        if comm_id in self._groups:
            self._numbers.setdefault(comm_id, len(self._numbers))
            self._parents.setdefault(comm_id, parent)

    def communicator(self, comm_id: int, rank: int) -> Communicator | None:
        """A communicator as `rank` sees it; None if it is not known who its members are."""
        if rank != self._seen_by:
            self._seen, self._seen_by = {}, rank
        if comm_id not in self._seen:
            self._seen[comm_id] = self._find(comm_id, rank)
        return self._seen[comm_id]

    def _find(self, comm_id: int, rank: int) -> Communicator | None:
        if comm_id == SELF:
            return Communicator(self._numbers[SELF], 0, 1)
        groups, between = self._groups.get(comm_id, ((), False))
        own = [group for group in groups if rank in group]
        others = [group for group in groups if rank not in group] if between else own
        if len(own) != 1 or len(others) != 1:
            return None
        number = self._numbers.setdefault(comm_id, len(self._numbers))
        return Communicator(number, int(np.flatnonzero(own[0] == rank)[0]), len(others[0]), between)

    def operation(self, collective: Collective) -> Any:  # noqa: ANN401 - the bindings of OTF2 have no types
        """The kind of a collective in OTF2."""
        return getattr(self.library, f"COLLECTIVE_OP_{collective.name}")

    def root(self, root: int) -> Any:  # noqa: ANN401 - the bindings of OTF2 have no types
        """The root of a collective in OTF2."""
        special = {IS_ROOT: self.library.COLLECTIVE_ROOT_SELF, PROC_NULL: self.library.COLLECTIVE_ROOT_THIS_GROUP}
        return root if root >= 0 else special.get(root, self.library.COLLECTIVE_ROOT_NONE)

    def write(self, writer: Library, ranks: Sequence[Mapping[str, Any]], events: Sequence[int], times: range) -> None:
        """Write all definitions. `ranks` are the headers of the trace, `events` the number of each rank's events, and
        `times` go from the first event to the last."""
        library, text = self.library, Strings(self.library, writer)
        none = text("")
        span = max(len(times) - 1, 0)
        library.GlobalDefWriter_WriteClockProperties(writer, TICKS, times.start, span, library.UNDEFINED_TIMESTAMP)
        library.GlobalDefWriter_WriteParadigm(writer, library.PARADIGM_MPI, text("MPI"), library.PARADIGM_CLASS_PROCESS)
        for name, (number, role, paradigm) in self._regions.items():
            named, flag = text(name), library.REGION_FLAG_NONE
            library.GlobalDefWriter_WriteRegion(
                writer, number, named, named, none, role, paradigm, flag, library.UNDEFINED_STRING, 0, 0
            )
        self._write_ranks(writer, text, [str(header["host"]) for header in ranks], events)
        self._write_communicators(writer, text)

    def _write_ranks(self, writer: Library, text: Strings, hosts: Sequence[str], events: Sequence[int]) -> None:
        """Write the machine, its nodes, and the ranks, which have one thread each."""
        library, none = self.library, self.library.UNDEFINED_SYSTEM_TREE_NODE
        nodes = {host: number for number, host in enumerate(dict.fromkeys(hosts), 1)}
        library.GlobalDefWriter_WriteSystemTreeNode(writer, 0, text("machine"), text("machine"), none)
        library.GlobalDefWriter_WriteSystemTreeNodeDomain(writer, 0, library.SYSTEM_TREE_DOMAIN_MACHINE)
        for host, number in nodes.items():
            library.GlobalDefWriter_WriteSystemTreeNode(writer, number, text(host), text("node"), 0)
            library.GlobalDefWriter_WriteSystemTreeNodeDomain(writer, number, library.SYSTEM_TREE_DOMAIN_SHARED_MEMORY)
        process, thread = library.LOCATION_GROUP_TYPE_PROCESS, library.LOCATION_TYPE_CPU_THREAD
        for rank, host in enumerate(hosts):
            library.GlobalDefWriter_WriteLocationGroup(
                writer, rank, text(f"MPI Rank {rank}"), process, nodes[host], library.UNDEFINED_LOCATION_GROUP
            )
        for rank, count in enumerate(events):
            library.GlobalDefWriter_WriteLocation(writer, rank, text("Master thread"), thread, count, rank)

    def _write_communicators(self, writer: Library, text: Strings) -> None:
        library, none = self.library, text("")
        mpi, flags = library.PARADIGM_MPI, library.GROUP_FLAG_NONE
        everyone = list(range(self.ranks))
        write = library.GlobalDefWriter_WriteGroup
        write(writer, LOCATIONS, none, library.GROUP_TYPE_COMM_LOCATIONS, mpi, flags, everyone)
        write(writer, SELF_GROUP, none, library.GROUP_TYPE_COMM_SELF, mpi, flags, [])
        numbers: dict[bytes, int] = {}

        def group(members: Any) -> int:  # noqa: ANN401 - an array
            key = members.tobytes()
            if key not in numbers:
                numbers[key] = SELF_GROUP + 1 + len(numbers)
                kind = library.GROUP_TYPE_COMM_GROUP
                write(writer, numbers[key], none, kind, mpi, flags, members.tolist())
            return numbers[key]

        names = {WORLD: text("MPI_COMM_WORLD"), SELF: text("MPI_COMM_SELF")}
        flag = library.COMM_FLAG_NONE
        for comm_id, number in self._numbers.items():
            parent = self._numbers.get(self._parents.get(comm_id, 0), library.UNDEFINED_COMM)
            name = names.get(comm_id, none)
            groups, between = self._groups.get(comm_id, ((), False))
            of_groups = [SELF_GROUP] if comm_id == SELF else [group(members) for members in groups]
            if between and len(of_groups) == 2:
                library.GlobalDefWriter_WriteInterComm(writer, number, name, *of_groups, parent, flag)
            elif of_groups:
                library.GlobalDefWriter_WriteComm(writer, number, name, of_groups[0], parent, flag)


def _role(library: Library, call: int) -> Any:  # noqa: ANN401 - the bindings of OTF2 have no types
    """The role of the region of a call."""
    if not call:
        return library.REGION_ROLE_CODE
    if call >= BLOCKING:
        return _role_of_collective(library, Collective(call % 64))
    if Call.SEND <= call <= Call.PARRIVED or Call.RECV <= call <= Call.TESTSOME or call == Call.START:
        return library.REGION_ROLE_POINT2POINT
    if Call.FILE_OPEN <= call <= Call.FILE:
        return library.REGION_ROLE_FILE_IO
    if call in (Call.WINDOW, Call.WINDOW_FREE, Call.ONE_SIDED) or Call.WIN_FENCE <= call <= Call.PASSIVE_TARGET:
        return library.REGION_ROLE_RMA
    return library.REGION_ROLE_FUNCTION


def _role_of_collective(library: Library, collective: Collective) -> Any:  # noqa: ANN401 - as above
    kind = Collective
    if collective == kind.BARRIER:
        return library.REGION_ROLE_BARRIER
    if collective in (kind.BCAST, kind.SCATTER, kind.SCATTERV):
        return library.REGION_ROLE_COLL_ONE2ALL
    if collective in (kind.REDUCE, kind.GATHER, kind.GATHERV):
        return library.REGION_ROLE_COLL_ALL2ONE
    if collective in (kind.SCAN, kind.EXSCAN, kind.NEIGHBOR):
        return library.REGION_ROLE_COLL_OTHER
    return library.REGION_ROLE_COLL_ALL2ALL
