"""The files of the ranks of an OTF2 archive, from its definitions and events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import NoReturn

from ..errors import InputError
from ..escaping import name_of, quote
from ..trace_format import LATEST, MEMBERS, TWO_GROUPS, WORLD, Call, pair, pairs
from .otf2_collectives import CallsByRank
from .otf2_definitions import NS, Communicator, Definition, Definitions
from .otf2_events import Event, RankEvents
from .otf2_messages import Messages
from .rank_file import RankFile

_STEP_BACK = NS
"""By how much an event may be earlier than the one before it, in ns, to count as at the same time: clocks that were
corrected may step back."""


def write_ranks(
    definitions: Definition, events: Iterable[tuple[Definition, Event]], source: Path, folder: Path
) -> Counter[str]:
    """Write the files of the ranks to `folder`. Returns what was left out.

    `definitions` and `events`, each with its location, are those of the archive `source`, as OTF2's bindings give them.
    Raises InputError if they are not those of an MPI program, or if no program can have made them.
    """
    with ExitStack() as files:
        return _RankFiles(Definitions(definitions, name_of(source)), folder, files).write(events)


class _RankFiles:
    def __init__(self, definitions: Definitions, folder: Path, files: ExitStack) -> None:
        self.definitions = definitions
        self.by_rank = CallsByRank()
        self.messages = Messages()
        self.events_of_rank = [self._begin(rank, folder, files) for rank in range(len(definitions.locations))]
        self.last_time = [0] * len(self.events_of_rank)
        """Of the last event of each rank, ns."""
        self.counts = [0] * len(self.events_of_rank)
        """How many events each rank has had."""

    def write(self, events: Iterable[tuple[Definition, Event]]) -> Counter[str]:
        """Write the file of each rank."""
        rank_of = self.definitions.rank_of
        for location, event in events:
            rank = rank_of.get(location)
            if rank is not None:
                self._event(rank, event)
            elif type(event).__name__.startswith("Mpi"):
                name = None if location is None else location.name
                self._fail(f"{quote(name)} calls MPI and is no rank: expected calls of one thread a rank")
        self._check_event_counts()
        left_out: Counter[str] = Counter()
        for one in self.events_of_rank:
            one.end()
        self.by_rank.close()
        for one in self.events_of_rank:
            one.close()
            left_out += one.left_out
        return left_out

    def _event(self, rank: int, event: Event) -> None:
        self.counts[rank] += 1
        time = self.definitions.ns(event.time)
        if not self.last_time[rank] - _STEP_BACK <= time <= LATEST:
            self._fail_at(rank, time)
        self.last_time[rank] = time = max(time, self.last_time[rank])
        kind = type(event).__name__
        if kind == "Enter":
            self.events_of_rank[rank].enter(self._region(rank, event), time)
        elif kind == "Leave":
            self.events_of_rank[rank].leave(self._region(rank, event), time)
        elif kind == "BufferFlush":
            self.last_time[rank] = max(time, min(self.definitions.ns(event.stop_time), LATEST))
            self.events_of_rank[rank].flush(time, self.last_time[rank])
        else:
            self.events_of_rank[rank].event(event, time)

    def _region(self, rank: int, event: Event) -> str:
        if event.region is None:
            self._fail(f"rank {rank}, event {self.counts[rank]}: is in a region that the archive does not define")
        return str(event.region.name)

    def _check_event_counts(self) -> None:
        """A file that is cut off or missing may have fewer events than the definitions say."""
        for rank, location in enumerate(self.definitions.locations):
            if self.counts[rank] < location.number_of_events:
                self._fail(
                    f"rank {rank} has {self.counts[rank]} events: expected {location.number_of_events}, as many as "
                    "the archive's definitions say"
                )

    def _begin(self, rank: int, folder: Path, files: ExitStack) -> RankEvents:
        file = files.enter_context((folder / f"rank-{rank:07}.iwtrace").open("w+b"))
        definitions = self.definitions
        written = RankFile(file, rank, len(definitions.locations), definitions.host(rank), "imported from OTF2")
        own = definitions.of_rank(rank)

        def define(file: RankFile, at: int) -> None:
            for communicator in own:
                _define(file, communicator, rank, at)

        find = partial(definitions.communicator, rank)
        return RankEvents(written, rank, definitions.name, find, define, self.by_rank, self.messages)

    def _fail_at(self, rank: int, time: int) -> NoReturn:
        least, most = (ns / NS for ns in (self.last_time[rank], LATEST))
        self._fail(
            f"rank {rank}, event {self.counts[rank]}: happens {time / NS:.9g} s after the beginning: expected a time "
            f"from that of the event before it ({least:.9g} s) to {most:.4g} s"
        )

    def _fail(self, what: str) -> NoReturn:
        raise InputError(f"{self.definitions.name}: {what}")


def _define(file: RankFile, communicator: Communicator, rank: int, at: int) -> None:
    own = communicator.members.index(rank)
    members = communicator.others or communicator.members
    listed = pairs(members) if own == 0 else []
    words = [communicator.id, WORLD, pair(len(members), own), *listed]
    file.write(Call.COMM_DEF, at, at, words, MEMBERS * (own == 0) | TWO_GROUPS * bool(communicator.others))
