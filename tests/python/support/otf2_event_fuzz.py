"""Events and definitions of an OTF2 archive, as its bindings give them, in ever new disorder: no file is read.

python otf2_event_fuzz.py SEED EXECUTIONS     prints how many archives were imported and refused, and by what else one
    ended; the exit status is 1 then
python otf2_event_fuzz.py SEED case=NUMBER    makes one archive again, and shows what becomes of it
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from idlewave import InputError, Schedule
from idlewave.importing.otf2_events import UnknownEvent
from idlewave.importing.otf2_ranks import write_ranks
from idlewave.output import write_json
from idlewave.trace import Trace
from otf2 import CollectiveOp, GroupType, Paradigm
from otf2.enums import CollectiveRoot
from otf2.events import (
    BufferFlush,
    Enter,
    IoOperationBegin,
    Leave,
    MpiCollectiveBegin,
    MpiCollectiveEnd,
    MpiIrecv,
    MpiIrecvRequest,
    MpiIsend,
    MpiIsendComplete,
    MpiRecv,
    MpiRequestCancelled,
    MpiRequestTest,
    MpiSend,
    NonBlockingCollectiveComplete,
    NonBlockingCollectiveRequest,
    RmaPut,
)
from otf2_archive import COLLECTIVES

RANKS = 3
SOURCE = Path("archive/traces.otf2")
NUMBERS = (0, 1, 2, 3, 5, 7, 8, 9, 127, 255, 256, 2**31 - 1, 2**31, 2**32 - 3, 2**32 - 2, 2**32 - 1)
LARGE = (2**40, 2**50, 2**50 + 1, 2**53, 2**60, 2**62, 2**63 - 1, 2**63, 2**64 - 1)
"""Those of 64 bits."""
REGIONS = (
    *("MPI_Init", "MPI_Finalize", "MPI_Send", "MPI_Recv", "MPI_Issend", "MPI_Waitall", "MPI_Test", "MPI_Mrecv"),
    *("MPI_Start", "MPI_Iprobe", "MPI_Neighbor_alltoall", "MPI_Psend_init", "MPI_Initialized", "main", "", "\x1b[31m"),
)


KINDS = (*COLLECTIVES, "CREATE_HANDLE")
"""Kinds of collectives."""


class Definition:
    """A definition of any kind."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)


class Archive:
    """The definitions and the events of a program of three ranks: of one that uses all that is imported, or, with
    `draw`, one stretch of it and some collectives."""

    def __init__(self, draw: random.Random | None = None) -> None:
        self.regions: dict[str, Definition] = {}
        self.nodes = [Definition(name="node0"), Definition(name="node1")]
        self.locations = [
            Definition(
                name=f"rank {rank}", number_of_events=0, group=Definition(system_tree_parent=self.nodes[rank % 2])
            )
            for rank in range(RANKS)
        ]
        self.thread = Definition(name="thread", number_of_events=0, group=self.locations[0].group)
        self.groups = [
            self._group(GroupType.COMM_LOCATIONS, self.locations),
            self._group(GroupType.COMM_GROUP, self.locations),
            self._group(GroupType.COMM_GROUP, self.locations[:2]),
            self._group(GroupType.COMM_GROUP, self.locations[2:]),
            self._group(GroupType.COMM_SELF, []),
        ]
        self.world = Definition(name="world", group=self.groups[1], parent=None)
        self.pair = Definition(name="pair", group=self.groups[2], parent=self.world)
        self.alone = Definition(name="self", group=self.groups[4], parent=None)
        self.between = Definition(name="both", groupA=self.groups[2], groupB=self.groups[3], parent=self.world)
        self.comms = [self.world, self.pair, self.alone, self.between]
        self.clock_properties = Definition(timer_resolution=10**9, global_offset=1000, trace_length=10**6)
        self.events: list[tuple[Any, Any]] = []
        self.now = 1000
        self._run(draw)
        for rank, location in enumerate(self.locations):
            if draw is None or draw.random() < 0.1:
                location.number_of_events = sum(found is self.locations[rank] for found, _ in self.events)

    def region(self, name: str) -> Definition:
        """The region of a function."""
        return self.regions.setdefault(name, Definition(name=name))

    def call(self, rank: int, name: str, *events: Callable[[int], Any]) -> None:
        """A call of a rank, with the events in it."""
        made: list[Callable[[int], Any]] = [lambda at: Enter(at, self.region(name)), *events]
        for make in (*made, lambda at: Leave(at, self.region(name))):
            self.now += 100
            self.events.append((self.locations[rank], make(self.now)))

    def _group(self, kind: Any, members: list[Definition]) -> Definition:
        return Definition(name="group", group_type=kind, paradigm=Paradigm.MPI, members=members)

    def _run(self, draw: random.Random | None) -> None:
        stretches = [self._messages, self._between, self._collectives, self._nonblocking, self._others]
        kinds = [*KINDS]
        if draw is not None:
            stretches, kinds = [draw.choice(stretches)], draw.sample(kinds, 2)
        for rank in range(RANKS):
            self.call(rank, "MPI_Init")
            self.call(rank, "main")
            for stretch in stretches:
                stretch(rank)
            for kind in kinds:
                self._collective(rank, self.world, kind)
            self.call(rank, "MPI_Finalize")

    def _messages(self, rank: int) -> None:
        after, before, world = (rank + 1) % RANKS, (rank - 1) % RANKS, self.world
        self.call(
            rank,
            "MPI_Sendrecv",
            lambda at: MpiSend(at, after, world, 3, 8),
            lambda at: MpiRecv(at, before, world, 3, 8),
        )
        self.call(rank, "MPI_Irecv", lambda at: MpiIrecvRequest(at, 7))
        self.call(rank, "MPI_Issend", lambda at: MpiIsend(at, after, world, 4, 16, 8))
        done = (lambda at: MpiIrecv(at, before, world, 4, 16, 7), lambda at: MpiIsendComplete(at, 8))
        self.call(rank, "MPI_Waitall", *done)
        self.call(rank, "MPI_Start", lambda at: MpiSend(at, after, world, 5, 0))
        self.call(rank, "MPI_Wait", lambda at: MpiRecv(at, before, world, 5, 0))
        self.call(rank, "MPI_Send", lambda at: MpiSend(at, after, world, 6, 4))
        self.call(rank, "MPI_Mrecv")
        self.call(rank, "MPI_Irecv", lambda at: MpiIrecvRequest(at, 9))
        self.call(rank, "MPI_Test", lambda at: MpiRequestTest(at, 9))
        self.call(rank, "MPI_Wait", lambda at: MpiRequestCancelled(at, 9))

    def _between(self, rank: int) -> None:
        peers = (2,) if rank < 2 else (0, 1)
        for peer in peers:
            there = self.groups[3 if rank < 2 else 2].members.index(self.locations[peer])
            self.call(rank, "MPI_Bsend", lambda at, to=there: MpiSend(at, to, self.between, 1, 1))
        for peer in peers:
            there = self.groups[3 if rank < 2 else 2].members.index(self.locations[peer])
            self.call(rank, "MPI_Recv", lambda at, of=there: MpiRecv(at, of, self.between, 1, 1))

        self._collective(rank, self.between, "BCAST")
        self._collective(rank, self.between, "ALLREDUCE")

    def _collectives(self, rank: int) -> None:
        for kind in ("GATHERV", "ALLTOALL", "SCAN"):
            self._collective(rank, self.alone, kind)
            if rank < 2:
                self._collective(rank, self.pair, kind)

    def _nonblocking(self, rank: int) -> None:
        for request, kind in ((10, "BARRIER"), (11, "ALLGATHERV"), (12, "CREATE_HANDLE"), (13, "ALLREDUCE")):
            self.call(rank, "MPI_I", lambda at, request=request: NonBlockingCollectiveRequest(at, request))
            ended = (getattr(CollectiveOp, kind), self.world, CollectiveRoot.NONE.value, 12, 12, request)
            self.call(rank, "MPI_Wait", lambda at, ended=ended: NonBlockingCollectiveComplete(at, *ended))

    def _collective(self, rank: int, comm: Definition, kind: str) -> None:
        root = CollectiveRoot.NONE.value
        if kind.removesuffix("V") in ("BCAST", "REDUCE", "GATHER", "SCATTER"):
            between = (CollectiveRoot.SELF.value, CollectiveRoot.THIS_GROUP.value, 0)[rank]
            root = between if comm is self.between else 0
        ended = (getattr(CollectiveOp, kind), comm, root, 24, 24)
        self.call(rank, "MPI_" + kind, MpiCollectiveBegin, lambda at: MpiCollectiveEnd(at, *ended))

    def _others(self, rank: int) -> None:
        self.events.append((self.locations[rank], BufferFlush(self.now, self.now + 50)))
        self.events.append((self.thread, Enter(self.now, self.region("main"))))
        self.call(rank, "MPI_Put", lambda at: RmaPut(at, None, 0, 8, 1))
        self.call(rank, "MPI_File_write", lambda at: IoOperationBegin(at, None, None, None, 8, 1))
        self.call(rank, "MPI_Neighbor_alltoall")


def disorder(archive: Archive, draw: random.Random) -> None:
    """Change an archive here and there."""
    changes = (_drop, _double, _swap, _elsewhere, _field, _field, _field, _field, _add, _add, _define)
    for _ in range(draw.choice((1, 1, 1, 2, 3, 8))):
        draw.choice(changes)(archive, draw)


def _drop(archive: Archive, draw: random.Random) -> None:
    at = draw.randrange(len(archive.events))
    del archive.events[at : at + draw.choice((1, 1, 2, 9, 200))]
    if not archive.events:
        archive.events.append((archive.thread, UnknownEvent(archive.now)))


def _double(archive: Archive, draw: random.Random) -> None:
    archive.events.insert(draw.randrange(len(archive.events)), draw.choice(archive.events))


def _swap(archive: Archive, draw: random.Random) -> None:
    one, other = (draw.randrange(len(archive.events)) for _ in range(2))
    archive.events[one], archive.events[other] = archive.events[other], archive.events[one]


def _elsewhere(archive: Archive, draw: random.Random) -> None:
    at = draw.randrange(len(archive.events))
    archive.events[at] = draw.choice((*archive.locations, archive.thread, None)), archive.events[at][1]


def _field(archive: Archive, draw: random.Random) -> None:
    event = draw.choice(archive.events)[1]
    names = [name for name in vars(event) if name != "attributes"]
    name = draw.choice(names)
    setattr(event, name, _value(archive, draw, name))


def _value(archive: Archive, draw: random.Random, name: str) -> Any:
    if name in ("time", "stop_time"):
        return draw.choice((draw.choice(NUMBERS), draw.choice(LARGE), archive.now, draw.randrange(archive.now)))
    if name == "region":
        return draw.choice((*(archive.region(known) for known in REGIONS), None))
    if name == "communicator":
        return draw.choice((*archive.comms, None))
    if name == "collective_op":
        return type(CollectiveOp.BARRIER)(draw.randrange(40))
    wide = name in ("msg_length", "size_sent", "size_received", "request_id")
    return draw.choice((draw.choice(NUMBERS), draw.choice(LARGE if wide else NUMBERS), draw.randrange(32)))


_ENDED = ("collective_op", "communicator", "root", "size_sent", "size_received")
_KINDS: dict[Any, tuple[str, ...]] = {
    Enter: ("region",),
    Leave: ("region",),
    BufferFlush: ("stop_time",),
    MpiSend: ("receiver", "communicator", "msg_tag", "msg_length"),
    MpiRecv: ("sender", "communicator", "msg_tag", "msg_length"),
    MpiIsend: ("receiver", "communicator", "msg_tag", "msg_length", "request_id"),
    MpiIrecv: ("sender", "communicator", "msg_tag", "msg_length", "request_id"),
    MpiIrecvRequest: ("request_id",),
    MpiIsendComplete: ("request_id",),
    MpiRequestTest: ("request_id",),
    MpiRequestCancelled: ("request_id",),
    MpiCollectiveEnd: _ENDED,
    NonBlockingCollectiveRequest: ("request_id",),
    NonBlockingCollectiveComplete: (*_ENDED, "request_id"),
    UnknownEvent: (),
}


def _add(archive: Archive, draw: random.Random) -> None:
    """Another event, at the time of the one before which it stands, with some fields as they may be."""
    at = draw.randrange(len(archive.events))
    kind, names = draw.choice([*_KINDS.items()])
    given = [draw.randrange(RANKS) if name in ("receiver", "sender") else _value(archive, draw, name) for name in names]
    location, next_one = archive.events[at]
    archive.events.insert(at, (location, kind(next_one.time, *given)))


def _define(archive: Archive, draw: random.Random) -> None:
    known = (*archive.locations, archive.thread, None)
    draw.choice(
        (
            lambda: setattr(
                draw.choice(archive.groups), "members", [draw.choice(known) for _ in range(draw.randrange(5))]
            ),
            lambda: setattr(draw.choice(archive.groups), "paradigm", type(Paradigm.MPI)(draw.randrange(256))),
            lambda: setattr(draw.choice(archive.groups), "group_type", type(GroupType.METRIC)(draw.randrange(12))),
            lambda: archive.groups.pop(draw.randrange(len(archive.groups))) if archive.groups else None,
            lambda: archive.groups.append(draw.choice(archive.groups)) if archive.groups else None,
            lambda: setattr(draw.choice(archive.comms[:3]), "group", draw.choice((*archive.groups, None))),
            lambda: setattr(archive.between, draw.choice(("groupA", "groupB")), draw.choice((*archive.groups, None))),
            lambda: setattr(draw.choice(archive.comms), "parent", draw.choice((*archive.comms, None))),
            lambda: setattr(archive.clock_properties, "timer_resolution", draw.choice((*NUMBERS, *LARGE))),
            lambda: setattr(archive.clock_properties, "global_offset", draw.choice((*NUMBERS, *LARGE))),
            lambda: setattr(draw.choice(archive.locations), "number_of_events", draw.choice((*NUMBERS, *LARGE))),
            lambda: setattr(draw.choice(archive.locations), "group", None),
            lambda: setattr(archive.thread.group, "system_tree_parent", None),
            lambda: setattr(draw.choice(archive.nodes), "name", draw.choice(("", "x" * 200, "\x1b[31m", "é" * 40))),
        )
    )()


def attempt(archive: Archive, folder: Path) -> tuple[str, str]:
    """What becomes of an archive: whether it is imported, refused, or, what may not be, neither; and why."""
    for file in folder.glob("*.iwtrace"):
        file.unlink()
    try:
        write_ranks(archive, iter(archive.events), SOURCE, folder)
    except InputError as error:
        return ("refused", str(error)) if str(error).startswith(f"{SOURCE}: ") else ("neither", f"no name: {error}")
    except Exception as error:
        return "neither", f"{type(error).__name__}: {error}"
    try:
        Schedule.from_trace(Trace.load(folder))
    except InputError as error:
        cut = "never reached MPI_Finalize" in str(error)
        return ("imported, of a run that did not end", "") if cut else ("neither", f"as a trace: {error}")
    except Exception as error:
        return "neither", f"as a trace: {type(error).__name__}: {error}"
    return "imported", ""


def disordered(seed: int, number: int) -> Archive:
    """The archive of this number."""
    draw = random.Random(f"{seed}-{number}")
    archive = Archive(draw)
    disorder(archive, draw)
    return archive


def executed(seed: int, executions: int, folder: Path) -> tuple[Counter[str], str]:
    """How often there was which outcome, and the first one that may not be."""
    outcomes: Counter[str] = Counter()
    for number in range(executions):
        outcome, why = attempt(disordered(seed, number), folder)
        outcomes[outcome] += 1
        if outcome == "neither":
            return outcomes, f"case={number}: {why}"
    return outcomes, ""


def sample_folder(made: str) -> Path:
    """A folder for the files of ranks."""
    folder = Path(made)
    write_json(folder / "trace.json", {"format": 1, "command": []})
    return folder


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="idlewave-fuzz-") as made:
        place = sample_folder(made)
        if sys.argv[2].startswith("case="):
            shown = disordered(int(sys.argv[1]), int(sys.argv[2].removeprefix("case=")))
            write_ranks(shown, iter(shown.events), SOURCE, place)
            sys.exit()
        outcomes, said = executed(int(sys.argv[1]), int(sys.argv[2]), place)
    counted = ", ".join(f"{number} {outcome}" for outcome, number in outcomes.items())
    sys.stdout.write(f"{sum(outcomes.values())} executions: {counted}; seed {sys.argv[1]}{said and '; ' + said}\n")
    sys.exit(bool(said))
