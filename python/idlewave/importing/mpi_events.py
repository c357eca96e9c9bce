"""From the events of MPI that an OTF2 archive has for a rank to the records of its file.

What OTF2 does not say, and what is assumed: the source and the tag of a receive are those of the message that it took,
so wildcards are not known. The sizes of collectives are totals, by the rule of Score-P: what a rank sends to all ranks,
itself included. Whether a call was in place is not there; its sizes are then too small by one part. Collectives with
different sizes for different ranks become those with equal parts.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ..trace_format import BLOCKING, NONBLOCKING, NOT_KNOWN, SENDS, Call, Collective, pair
from .rank_file import RankFile

Event: TypeAlias = Any  # the bindings of OTF2 have no types

LOOK_FOR_MESSAGES = ("MPI_Probe", "MPI_Mprobe", "MPI_Iprobe", "MPI_Improbe")
TESTS = ("MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome", "MPI_Request_get_status")
"""Calls that may complete nothing; their time is none of the program's then."""
MAKE_COMMUNICATORS = ("CREATE_HANDLE", "DESTROY_HANDLE", "CREATE_HANDLE_AND_ALLOCATE", "DESTROY_HANDLE_AND_DEALLOCATE")
"""Kinds of collectives that make or free communicators and windows, which no trace has as messages."""


@dataclass
class Record:
    """A record; of a receive that is not complete yet, `words` are still to come."""

    call: int
    begin: int
    end: int
    words: list[int] | None


@dataclass
class OpenCall:
    """An MPI call that a rank has entered and not left, and the events inside it."""

    name: str
    begin: int
    events: list[Event] = field(default_factory=list)


@dataclass(frozen=True)
class Communicator:
    """A communicator: its id in the trace, and its members' ranks in MPI_COMM_WORLD."""

    id: int
    members: tuple[int, ...]


class RankEvents:
    """Makes records of the events of one rank, in order, and writes them when they are complete."""

    def __init__(
        self,
        file: RankFile,
        rank: int,
        communicators: Callable[[Event], Communicator],
        define: Callable[[RankFile, int], None],
    ) -> None:
        self.file = file
        self.rank = rank
        self._define = define
        self._began = False
        self.left_out: Counter[str] = Counter()
        self._communicators = communicators
        self._open: OpenCall | None = None
        self._depth = 0
        self._records: deque[Record] = deque()
        self._incomplete: dict[int, Record] = {}
        """Records of receives and nonblocking collectives that are not complete yet, by request."""

    def enter(self, name: str, time: int) -> None:
        """A region begins."""
        if self._open is not None:
            self._depth += 1
        elif name.startswith("MPI_"):
            self._open = OpenCall(name, time)

    def leave(self, time: int) -> None:
        """The innermost region ends."""
        if self._depth > 0:
            self._depth -= 1
        elif self._open is not None:
            call, self._open = self._open, None
            self._end(call, time)

    def flush(self, begin: int, end: int) -> None:
        """The tool wrote its buffer to a file, which is no time of the program."""
        if self._open is None and self._began:
            self._records.append(Record(Call.TRACER, begin, end, []))
            self._write()

    def event(self, event: Event, time: int) -> None:
        """Something else happens; outside of any call, if the archive has no regions of MPI, it is one itself."""
        if self._open is not None:
            self._open.events.append(event)
        else:
            self._end(OpenCall("", time, [event]), time)

    def close(self) -> None:
        """Write what is left. What never completed is left out."""
        for record in self._incomplete.values():
            self._records.remove(record)
            self.left_out["receives and nonblocking collectives that never completed"] += 1
        self._incomplete.clear()
        self._write()
        self.file.close()

    def _begin(self, at: int) -> None:
        """The rank leaves MPI_Init, or the archive begins later: communicators are defined then."""
        if not self._began:
            self._began = True
            self.file.init_end = at
            self._define(self.file, at)

    def _end(self, call: OpenCall, end: int) -> None:
        if call.name in ("MPI_Init", "MPI_Init_thread"):
            self.file.write(Call.INIT, call.begin, end)
            self._begin(end)
            return
        self._begin(call.begin)
        if call.name == "MPI_Finalize":
            self.file.finalize_begin = call.begin
            self._add(call, end, Call.FINALIZE, [])
        else:
            self._communication(call, end)
        self._write()

    def _communication(self, call: OpenCall, end: int) -> None:
        sent = _of(call, "MpiSend")
        received = _of(call, "MpiRecv")
        if len(sent) == len(received) == 1:
            self._add(call, end, Call.SENDRECV, [*self._message(sent[0]), *_twice(self._message(received[0]))[1:]])
        else:
            for event in sent:
                self._add(call, end, SENDS.get(call.name.removeprefix("MPI_"), Call.SEND), self._message(event))
            for event in received:
                self._add(call, end, Call.RECV, _twice(self._message(event)))
        for event in _of(call, "MpiIsend"):
            words = [*self._message(event), event.request_id]
            self._add(call, end, SENDS.get(call.name.removeprefix("MPI_"), Call.ISEND), words)
        for event in _of(call, "MpiIrecvRequest"):
            self._incomplete[event.request_id] = self._add(call, end, Call.IRECV, None)
        for event in _of(call, "NonBlockingCollectiveRequest"):
            self._incomplete[event.request_id] = self._add(call, end, NONBLOCKING, None)
        for event in _of(call, "MpiCollectiveEnd"):
            self._collective(call, end, event)
        self._completions(call, end)
        for kind in ("RmaPut", "RmaGet", "RmaAtomic"):
            self.left_out["one-sided operations"] += len(_of(call, kind))
        self.left_out["file operations"] += len(_of(call, "IoOperationBegin"))

    def _completions(self, call: OpenCall, end: int) -> None:
        words: list[int] = []
        for event in call.events:
            kind = type(event).__name__
            if kind == "MpiIsendComplete":
                words += [event.request_id, 0, 0]
            elif kind == "MpiIrecv":
                words += [event.request_id, pair(event.sender, event.msg_tag), event.msg_length]
                posted = self._incomplete.pop(event.request_id, None)
                if posted is not None:
                    posted.words = [*self._message(event), event.request_id]
            elif kind == "NonBlockingCollectiveComplete":
                words += [event.request_id, 0, 0]
                self._nonblocking_collective(event)
            elif kind == "MpiRequestCancelled":
                posted = self._incomplete.pop(event.request_id, None)
                if posted is not None:
                    self._records.remove(posted)
        if words:
            self._add(call, end, Call.WAIT if len(words) == 3 else Call.WAITALL, words)
        elif call.name in (*LOOK_FOR_MESSAGES, *TESTS) or _of(call, "MpiRequestTest"):
            self._add(call, end, Call.POLLS, [1, end - call.begin])

    def _collective(self, call: OpenCall, end: int, event: Event) -> None:
        found = self._of_collective(event)
        if found is not None:
            communicator, collective, root, *sizes = found
            self._add(call, end, BLOCKING + collective, [communicator, pair(root, 0), *sizes])

    def _nonblocking_collective(self, event: Event) -> None:
        posted = self._incomplete.pop(event.request_id, None)
        found = self._of_collective(event)
        if posted is None or found is None:
            if posted is not None:
                self._records.remove(posted)
            return
        communicator, collective, root, *sizes = found
        posted.call = NONBLOCKING + collective
        posted.words = [communicator, pair(root, 0), event.request_id, *sizes]

    def _of_collective(self, event: Event) -> tuple[int, Collective, int, int, int] | None:
        communicator = self._communicators(event.communicator)
        if name_of_kind(event.collective_op) in MAKE_COMMUNICATORS:
            return None
        found = collective_of(event, len(communicator.members), communicator.members.index(self.rank))
        if found is None:
            self.left_out[f"collectives of the kind {name_of_kind(event.collective_op)}"] += 1
            return None
        return communicator.id, *found

    def _message(self, event: Event) -> list[int]:
        """The communicator, the peer with the tag, and the bytes of a message."""
        peer = event.sender if hasattr(event, "sender") else event.receiver
        return [self._communicators(event.communicator).id, pair(peer, event.msg_tag), event.msg_length]

    def _add(self, call: OpenCall, end: int, number: int, words: list[int] | None) -> Record:
        # Of several records of one call the first has its time: the others follow it at its end.
        same = bool(self._records) and self._records[-1].end == end and self._records[-1].begin == call.begin
        record = Record(number, end if same else call.begin, end, words)
        self._records.append(record)
        return record

    def _write(self) -> None:
        while self._records and self._records[0].words is not None:
            record = self._records.popleft()
            self.file.write(record.call, record.begin, record.end, record.words or [])


def name_of_kind(value: object) -> str:
    """The name of a value of one of OTF2's enumerations."""
    return str(value).rpartition(".")[2]


def _of(call: OpenCall, kind: str) -> list[Event]:
    return [event for event in call.events if type(event).__name__ == kind]


def _twice(words: list[int]) -> list[int]:
    """The communicator of a receive, and what it asked for and got, which is the same."""
    return [words[0], *words[1:], *words[1:]]


def collective_of(event: Event, ranks: int, rank: int) -> tuple[Collective, int, int, int] | None:
    """The collective, its root (NOT_KNOWN: it has none), and the two sizes that the trace format has for it; None for a
    kind that is not simulated."""
    kind = re.sub("^(GATHER|SCATTER|ALLGATHER|ALLTOALL)[VW]$", r"\1", name_of_kind(event.collective_op))
    sent, received = event.size_sent, event.size_received
    at_root = event.root == rank
    others = max(ranks - 1, 1)

    def part(of_all: int, nothing_own: bool) -> int:
        return of_all // (others if nothing_own else ranks)

    if kind == "BARRIER":
        return Collective.BARRIER, NOT_KNOWN, 0, 0
    if kind == "BCAST":
        size = received if received else part(sent, nothing_own=False)
        return Collective.BCAST, event.root, size, size
    if kind in ("REDUCE", "GATHER"):
        size = part(received, nothing_own=sent == 0) if at_root else sent
        return Collective[kind], event.root, size, size
    if kind == "SCATTER":
        size = part(sent, nothing_own=received == 0) if at_root else received
        return Collective.SCATTER, event.root, size, size
    if kind in ("ALLREDUCE", "ALLGATHER", "ALLTOALL"):
        size = part(received if kind == "ALLGATHER" else sent, nothing_own=False)
        return Collective[kind], NOT_KNOWN, size, size
    if kind in ("REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK"):
        return Collective.REDUCE_SCATTER_BLOCK, NOT_KNOWN, sent, sent // ranks
    if kind == "SCAN":
        return Collective.SCAN, NOT_KNOWN, received // (rank + 1), received // (rank + 1)
    if kind == "EXSCAN":
        size = received // rank if rank > 0 else sent // others
        return Collective.EXSCAN, NOT_KNOWN, size, size
    return None
