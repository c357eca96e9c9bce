"""From the events of MPI that an OTF2 archive has for a rank to the records of its file.

OTF2 does not say what a receive asked for: its source and its tag are those of the message that it took. Score-P has no
events of some calls that communicate, but regions.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ..trace_format import BLOCKING, IS_ROOT, NONBLOCKING, NOT_KNOWN, PROC_NULL, SENDS, Call, pair
from .otf2_collectives import BY_RANK, CallsByRank, Sizes, Totals, equal_sizes
from .otf2_messages import Messages
from .rank_file import PendingRecord, RankFile

Event: TypeAlias = Any  # the bindings of OTF2 have no types

LOOK_FOR_MESSAGES = ("MPI_Probe", "MPI_Mprobe", "MPI_Iprobe", "MPI_Improbe")
TESTS = ("MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome", "MPI_Request_get_status")
"""Calls that may complete nothing; their time is none of the program's then."""
MAKE_COMMUNICATORS = ("CREATE_HANDLE", "DESTROY_HANDLE", "CREATE_HANDLE_AND_ALLOCATE", "DESTROY_HANDLE_AND_DEALLOCATE")
"""Kinds of collectives that make or free communicators and windows, which no trace has as messages."""


START = ("MPI_Start", "MPI_Startall")
"""Calls that start persistent requests."""
UNKNOWN_REQUEST = 1 << 62
"""A number above those of requests that an archive has."""
RECEIVE_PROBED = ("MPI_Mrecv", "MPI_Imrecv")
"""Calls that may have no events although they receive."""
WITHOUT_EVENTS = {
    "neighbourhood collectives": "MPI_(Neighbor|Ineighbor)_.*",
    "persistent collectives": "MPI_(Allgatherv?|Allreduce|Alltoall[vw]?|Barrier|Bcast|Exscan|Gatherv?|Reduce.*|Scan|"
    "Scatterv?)_init",
    "partitioned messages": "MPI_P(send|recv)_init",
}
"""Regions that may have no events although they communicate."""
SPECIAL_ROOTS = {"NONE": NOT_KNOWN, "SELF": IS_ROOT, "THIS_GROUP": PROC_NULL}
"""Roots of collectives that are no ranks, by their names in OTF2."""
OF_MPI = ("Mpi", "NonBlockingCollective", "Rma", "Io")
"""How the names of events begin that calls of MPI have."""


@dataclass
class PostedCollective:
    """A nonblocking collective whose call has ended: its record, and the event that completes it, once it is there."""

    record: PendingRecord
    completion: Event | None = None


@dataclass
class OpenCall:
    """An MPI call that a rank has entered and not left, and the events inside it."""

    name: str
    begin: int
    events: list[Event] = field(default_factory=list)


@dataclass(frozen=True)
class Communicator:
    """A communicator: its id in the trace, its members' ranks in MPI_COMM_WORLD, and of an intercommunicator those of
    the other group."""

    id: int
    members: tuple[int, ...]
    others: tuple[int, ...] = ()


class RankEvents:
    """Makes records of the events of one rank, in order, and writes them when they are complete."""

    def __init__(
        self,
        file: RankFile,
        rank: int,
        communicators: Callable[[Event], Communicator],
        define: Callable[[RankFile, int], None],
        by_rank: CallsByRank,
        messages: Messages,
    ) -> None:
        self.file = file
        self.rank = rank
        self._define = define
        self._began = False
        self.left_out: Counter[str] = Counter()
        self._communicators = communicators
        self._by_rank = by_rank
        self._messages = messages
        self._unknown_requests = 0
        self._probed: list[PendingRecord] = []
        """Receives of probed messages that have no event."""
        self._open: OpenCall | None = None
        self._depth = 0
        self._records: deque[PendingRecord] = deque()
        self._incomplete: dict[int, PendingRecord] = {}
        """Records of receives that are not complete yet, by request."""
        self._posted: dict[int, PostedCollective] = {}
        """Nonblocking collectives by request, in the order of their calls."""

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
            self._records.append(PendingRecord(Call.TRACER, begin, end, []))
            self._write()

    def event(self, event: Event, time: int) -> None:
        """Something else happens. An event of MPI outside of any call, if the archive has no regions of MPI, is a call
        itself."""
        if self._open is not None:
            self._open.events.append(event)
        elif type(event).__name__.startswith(OF_MPI):
            self._end(OpenCall("", time, [event]), time)

    def end(self) -> None:
        """There are no more events: the sizes of nonblocking collectives that never completed remain unknown."""
        self._posted = {request: posted for request, posted in self._posted.items() if posted.completion is not None}
        self._sizes_of_posted()

    def close(self) -> None:
        """Write what is left. What never completed is left out."""
        left = self._messages.left(self.rank) if self._probed else []
        for record, message in zip(self._probed, left, strict=False):
            record.words = _twice([*message])
        for record in self._probed[len(left) :]:
            self._records.remove(record)
            self.left_out["receives of MPI_Mrecv and MPI_Imrecv"] += 1
        complete = deque(record for record in self._records if record.words is not None)
        never = len(self._records) - len(complete)
        self.left_out["receives and nonblocking collectives that never completed"] += never
        self._records = complete
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
            self._add(call, end, Call.SENDRECV, [*self._sent(sent[0]), *_twice(self._received(received[0]))[1:]])
        else:
            for event in sent:
                self._send(call, end, event)
            for event in received:
                self._add(call, end, Call.RECV, _twice(self._received(event)))
        for event in _of(call, "MpiIsend"):
            words = [*self._sent(event), event.request_id]
            self._add(call, end, SENDS.get(call.name.removeprefix("MPI_"), Call.ISEND), words)
        for event in _of(call, "MpiIrecvRequest"):
            self._incomplete[event.request_id] = self._add(call, end, Call.IRECV, None)
        for event in _of(call, "NonBlockingCollectiveRequest"):
            self._posted[event.request_id] = PostedCollective(self._add(call, end, NONBLOCKING, None))
        for event in _of(call, "MpiCollectiveEnd"):
            self._collective(call, end, event)
        self._completions(call, end)
        for kind in ("RmaPut", "RmaGet", "RmaAtomic"):
            self.left_out["one-sided operations"] += len(_of(call, kind))
        self.left_out["file operations"] += len(_of(call, "IoOperationBegin"))
        if not call.events and call.name in RECEIVE_PROBED:
            self._probed.append(self._add(call, end, Call.RECV, None))
        elif not call.events:
            for kind, names in WITHOUT_EVENTS.items():
                self.left_out[kind] += bool(re.fullmatch(names, call.name))

    def _send(self, call: OpenCall, end: int, event: Event) -> None:
        """Without its events of nonblocking calls (the group xnonblock), Score-P has that of a blocking send in a
        nonblocking one, and nothing says when the request is complete."""
        number = SENDS.get(call.name.removeprefix("MPI_"), Call.ISEND if call.name in START else Call.SEND)
        words = self._sent(event)
        if number >= Call.ISEND:
            self._unknown_requests += 1
            words.append(UNKNOWN_REQUEST + self._unknown_requests)
        self._add(call, end, number, words)

    def _completions(self, call: OpenCall, end: int) -> None:
        words: list[int] = []
        for event in call.events:
            kind = type(event).__name__
            if kind == "MpiIsendComplete":
                words += [event.request_id, 0, 0]
            elif kind == "MpiIrecv":
                words += [event.request_id, pair(event.sender, event.msg_tag), event.msg_length]
                posted = self._incomplete.pop(event.request_id, None)
                message = self._received(event)
                if posted is not None:
                    posted.words = [*message, event.request_id]
            elif kind == "NonBlockingCollectiveComplete":
                words += [event.request_id, 0, 0]
                self._nonblocking_collective(event)
            elif kind == "MpiRequestCancelled":
                posted = self._incomplete.pop(event.request_id, None)
                if posted is not None:
                    self._records.remove(posted)
        if words:
            self._add(call, end, Call.WAIT if len(words) == 3 else Call.WAITALL, words)
        elif _of(call, "MpiRecv"):
            return  # a completion without the group xnonblock
        elif call.name in (*LOOK_FOR_MESSAGES, *TESTS) or _of(call, "MpiRequestTest"):
            self._add(call, end, Call.POLLS, [1, end - call.begin])

    def _collective(self, call: OpenCall, end: int, event: Event) -> None:
        if name_of_kind(event.collective_op) not in MAKE_COMMUNICATORS:
            self._find_sizes(self._add(call, end, BLOCKING, None), event)

    def _nonblocking_collective(self, event: Event) -> None:
        posted = self._posted.get(event.request_id)
        if posted is not None:
            posted.completion = event
            self._sizes_of_posted()

    def _sizes_of_posted(self) -> None:
        """Find the sizes of nonblocking collectives in the order of their calls, which is that of the other ranks."""
        while self._posted:
            request, posted = next(iter(self._posted.items()))
            if posted.completion is None:
                return
            del self._posted[request]
            if name_of_kind(posted.completion.collective_op) in MAKE_COMMUNICATORS:
                self._records.remove(posted.record)
            else:
                self._find_sizes(posted.record, posted.completion, request)

    def _find_sizes(self, record: PendingRecord, event: Event, *request: int) -> None:
        communicator = self._communicators(event.communicator)
        kind, members = name_of_kind(event.collective_op), communicator.members
        rank, root = members.index(self.rank), SPECIAL_ROOTS.get(name_of_kind(event.root), event.root)
        ranks, between = len(communicator.others or members), bool(communicator.others)
        totals = Totals(kind, rank, ranks, root, event.size_sent, event.size_received, between)

        def use(sizes: Sizes | None) -> None:
            if sizes is None:
                self._records.remove(record)
                self.left_out[f"collectives of the kind {kind}"] += 1
                return
            record.call += sizes.collective
            record.info = sizes.info
            root = pair(sizes.root, 0)
            record.words = [communicator.id, root, *request, sizes.sent, sizes.received, *sizes.counts]

        if kind in BY_RANK and not between:
            self._by_rank.add((communicator.id, members, kind, record.call), totals, use)
        else:
            use(equal_sizes(totals))

    def _sent(self, event: Event) -> list[int]:
        """The communicator, the receiver with the tag, and the bytes of a message."""
        communicator = self._communicators(event.communicator)
        tag, size = event.msg_tag, event.msg_length
        to = (communicator.others or communicator.members)[event.receiver]
        self._messages.sent(to, [communicator.id, pair(communicator.members.index(self.rank), tag), size])
        return [communicator.id, pair(event.receiver, tag), size]

    def _received(self, event: Event) -> list[int]:
        """The communicator, the sender with the tag, and the bytes of a message."""
        message = [self._communicators(event.communicator).id, pair(event.sender, event.msg_tag), event.msg_length]
        self._messages.received(self.rank, message)
        return message

    def _add(self, call: OpenCall, end: int, number: int, words: list[int] | None) -> PendingRecord:
        # Of several records of one call the first has its time: the others follow it at its end.
        same = bool(self._records) and self._records[-1].end == end and self._records[-1].begin == call.begin
        record = PendingRecord(number, end if same else call.begin, end, words)
        self._records.append(record)
        return record

    def _write(self) -> None:
        while self._records and self._records[0].words is not None:
            record = self._records.popleft()
            self.file.write(record.call, record.begin, record.end, record.words or [], record.info)


def name_of_kind(value: object) -> str:
    """The name of a value of one of OTF2's enumerations."""
    return str(value).rpartition(".")[2]


def _of(call: OpenCall, kind: str) -> list[Event]:
    return [event for event in call.events if type(event).__name__ == kind]


def _twice(words: list[int]) -> list[int]:
    """The communicator of a receive, and what it asked for and got, which is the same."""
    return [words[0], *words[1:], *words[1:]]
