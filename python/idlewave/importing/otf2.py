"""OTF2 archives, as Score-P writes them, with the events of MPI."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from ..errors import InputError, LibraryError
from ..escaping import name_of, quote
from ..export.library_stderr import LibraryLines, captured_lines
from ..export.otf2_archive import load_library
from ..trace_format import LATEST, MEMBERS, SELF, TWO_GROUPS, WORLD, Call, pair, pairs
from .otf2_collectives import CallsByRank
from .otf2_events import Communicator, Event, RankEvents, name_of_kind
from .otf2_messages import Messages
from .rank_file import RankFile

NS = 10**9
FIRST_OTHER = 16
"""The id of the first communicator beside MPI_COMM_WORLD and MPI_COMM_SELF."""


def import_otf2(source: Path, folder: Path) -> Counter[str]:
    """Write the rank files of the archive with the anchor file `source` to `folder`. Returns what was left out.

    Raises InputError if the archive cannot be read or has no events of MPI, LibraryError without the package otf2.
    """
    library = load_library()
    try:
        import otf2
    except (ImportError, OSError) as error:
        raise LibraryError("an OTF2 archive", "otf2", error) from error
    _mend_definitions(otf2.definitions)
    with (
        captured_lines("") as said,  # its bindings print tracebacks, too
        _refusals(source, said, library.Error, otf2.error.Error),
        otf2.reader.open(str(source)) as archive,
        ExitStack() as files,
    ):
        return _Archive(archive, source).write(folder, files)


def _mend_definitions(definitions: Any) -> None:  # noqa: ANN401 - a library without types
    """Let the bindings read intercommunicators: up to version 3.2 they take the fields of their definition for those of
    a communicator of one group, which come first."""
    kind = definitions.InterComm
    fields = {field.name: field for field in reversed(kind._fields)}  # the first one of each name
    kind._fields = tuple(fields[name] for name in ("name", "groupA", "groupB", "parent", "flags"))


@contextmanager
def _refusals(source: Path, said: LibraryLines, *errors: type[Exception]) -> Iterator[None]:
    """What the library refuses is an error of the file. It raises other errors, too, where definitions are missing."""
    refusals: tuple[type[Exception], ...] = (*errors, KeyError, IndexError, ValueError, AttributeError)
    try:
        yield
    except InputError:
        raise
    except refusals as error:
        line = next((line for line in said.lines() if line.startswith("[OTF2]")), f"{type(error).__name__}: {error}")
        raise InputError(f"{name_of(source)}: cannot be read as an OTF2 archive: {quote(line.strip())}") from error


class _Archive:
    def __init__(self, archive: Any, source: Path) -> None:  # noqa: ANN401 - a library without types
        self.archive = archive
        self.source = source
        definitions = archive.definitions
        locations = [
            group
            for group in definitions.groups
            if name_of_kind(group.group_type) == "COMM_LOCATIONS" and name_of_kind(group.paradigm) == "MPI"
        ]
        if not locations:
            raise InputError(f"{name_of(source)}: has no ranks of MPI: expected an archive of an MPI program")
        self.locations = list(locations[0].members)
        self.ranks = {location: rank for rank, location in enumerate(self.locations)}
        self.by_rank = CallsByRank()
        self.messages = Messages()
        self.communicators: dict[Event, Communicator] = {}
        self.between: dict[Event, list[Communicator]] = {}
        """Each intercommunicator, as the ranks of either group see it."""
        for number, comm in enumerate(definitions.comms):
            if hasattr(comm, "groupA"):
                groups = [self._members(comm.groupA), self._members(comm.groupB)]
                self.between[comm] = [Communicator(FIRST_OTHER + number, *way) for way in (groups, groups[::-1])]
            elif name_of_kind(comm.group.paradigm) == "MPI":
                self._add_communicator(comm, number)

    def _add_communicator(self, comm: Any, number: int) -> None:  # noqa: ANN401
        kind = name_of_kind(comm.group.group_type)
        if kind == "COMM_SELF":
            self.communicators[comm] = Communicator(SELF, ())
            return
        members = self._members(comm.group)
        everyone = members == tuple(range(len(self.locations)))
        is_world = everyone and comm.parent is None and all(c.id != WORLD for c in self.communicators.values())
        self.communicators[comm] = Communicator(WORLD if is_world else FIRST_OTHER + number, members)

    def _members(self, group: Any) -> tuple[int, ...]:  # noqa: ANN401
        return tuple(self.ranks[location] for location in group.members)

    def _communicator(self, rank: int) -> Callable[[Event], Communicator]:
        """Finds the communicators that a rank uses."""

        def find(comm: Event) -> Communicator:
            found = self.communicators.get(comm)
            if found is None:
                found = next((one for one in self.between.get(comm, []) if rank in one.members), None)
            if found is None:
                raise InputError(
                    f"{name_of(self.source)}: rank {rank} communicates on {quote(str(comm))}: expected a communicator "
                    "of MPI of which it is a member"
                )
            return Communicator(SELF, (rank,)) if found.id == SELF else found

        return find

    def write(self, folder: Path, files: ExitStack) -> Counter[str]:
        """Write the file of each rank."""
        ranks = [self._begin(rank, folder, files) for rank in range(len(self.locations))]
        clock = self.archive.definitions.clock_properties
        resolution, zero = int(clock.timer_resolution), int(clock.global_offset)

        def ns(ticks: Any) -> int:  # noqa: ANN401 - a library without types
            return 1 + (int(ticks) - zero) * NS // resolution

        for location, event in self.archive.events:
            kind = type(event).__name__
            rank = self.ranks.get(location)
            if rank is None:
                if kind.startswith("Mpi"):
                    raise InputError(
                        f"{name_of(self.source)}: {quote(str(location.name))} calls MPI and is no rank: expected "
                        "calls of one thread a rank"
                    )
                continue
            time = ns(event.time)
            if time > LATEST:
                raise InputError(
                    f"{name_of(self.source)}: rank {rank} has an event {time / NS:g} s after the beginning"
                )
            if kind == "Enter":
                ranks[rank].enter(event.region.name, time)
            elif kind == "Leave":
                ranks[rank].leave(time)
            elif kind == "BufferFlush":
                ranks[rank].flush(time, max(time, min(ns(event.stop_time), LATEST)))
            else:
                ranks[rank].event(event, time)
        left_out: Counter[str] = Counter()
        for events in ranks:
            events.end()
        self.by_rank.close()
        for events in ranks:
            events.close()
            left_out += events.left_out
        return left_out

    def _begin(self, rank: int, folder: Path, files: ExitStack) -> RankEvents:
        file = files.enter_context((folder / f"rank-{rank:07}.iwtrace").open("w+b"))
        group = self.locations[rank].group
        node = group.system_tree_parent if group is not None else None
        host = "" if node is None else node.name
        written = RankFile(file, rank, len(self.locations), host, "imported from OTF2")
        known = (*self.communicators.values(), *(one for ways in self.between.values() for one in ways))
        own = [c for c in known if c.id >= FIRST_OTHER and rank in c.members]

        def define(file: RankFile, at: int) -> None:
            for communicator in own:
                _define(file, communicator, rank, at)

        return RankEvents(written, rank, self._communicator(rank), define, self.by_rank, self.messages)


def _define(file: RankFile, communicator: Communicator, rank: int, at: int) -> None:
    own = communicator.members.index(rank)
    members = communicator.others or communicator.members
    listed = pairs(members) if own == 0 else []
    words = [communicator.id, WORLD, pair(len(members), own), *listed]
    file.write(Call.COMM_DEF, at, at, words, MEMBERS * (own == 0) | TWO_GROUPS * bool(communicator.others))
