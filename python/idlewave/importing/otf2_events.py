"""From the events of MPI that an OTF2 archive has for a rank to the records of its file.

OTF2 does not say what a receive asked for: its source and its tag are those of the message that it took. Score-P has no
events of some calls that communicate, but regions.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeAlias

from ..errors import InputError
from ..escaping import quote
from ..trace_format import BLOCKING, IS_ROOT, NONBLOCKING, NOT_KNOWN, PROC_NULL, SENDS, Call, pair
from .otf2_collectives import BY_RANK, EQUAL_PARTS, CallsByRank, Sizes, Totals, equal_sizes
from .otf2_definitions import NS, Communicator, name_of_kind
from .otf2_messages import Messages
from .rank_file import NO_CALL, PendingRecord, RankFile

Event: TypeAlias = Any  # the bindings of OTF2 have no types

BEFORE_INIT = ("MPI_Initialized", "MPI_Finalized", "MPI_Get_version", "MPI_Get_library_version")
"""Calls that a program may make before MPI_Init."""
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
SPECIAL_ROOTS = {0xFFFFFFFF: NOT_KNOWN, 0xFFFFFFFE: IS_ROOT, 0xFFFFFFFD: PROC_NULL}
"""Roots of collectives that are no ranks: in OTF2 COLLECTIVE_ROOT_NONE, _SELF and _THIS_GROUP."""
ROOTED = ("BCAST", "REDUCE", "GATHER", "SCATTER")
"""Kinds of collectives with a root."""
MOST_BYTES = 1 << 50
"""Bytes of a message or of a collective; more is an error of the archive."""
MOST_TAG = (1 << 31) - 1
OF_MPI = ("Mpi", "NonBlockingCollective", "Rma", "Io")
"""How the names of events begin that calls of MPI have."""


class UnknownEvent:
    """An event of a kind that the bindings of OTF2 do not know."""

    def __init__(self, time: int) -> None:
        self.time = time


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
    first: PendingRecord | None = None
    """Its first record."""
    _by_kind: dict[str, list[Event]] = field(default_factory=dict)

    def add(self, event: Event) -> None:
        """An event happens in it."""
        self.events.append(event)
        self._by_kind.setdefault(type(event).__name__, []).append(event)

    def of(self, kind: str) -> Sequence[Event]:
        """The events of a kind, in order."""
        return self._by_kind.get(kind, ())


class RankEvents:
    """Makes records of the events of one rank, in order, and writes them when they are complete.

    `name` is that of the archive, for errors: all methods raise InputError about events that cannot be.
    """

    def __init__(
        self,
        file: RankFile,
        rank: int,
        name: str,
        communicators: Callable[[Event], Communicator | None],
        define: Callable[[RankFile, int], None],
        by_rank: CallsByRank,
        messages: Messages,
    ) -> None:
        self.file = file
        self.rank = rank
        self._name = name
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

    def leave(self, name: str, time: int) -> None:
        """The innermost region ends, which is that of this name."""
        if self._depth > 0:
            self._depth -= 1
        elif self._open is not None:
            call, self._open = self._open, None
            if name != call.name:
                self._fail(time, f"leaves {quote(name)}: expected the end of {quote(call.name)}")
            self._end(call, time)

    def flush(self, begin: int, end: int) -> None:
        """The tool wrote its buffer to a file, which is no time of the program; no event is earlier than its end."""
        if self._open is None and self._began:
            self._records.append(PendingRecord(Call.TRACER, begin, end, []))
            self._write()

    def event(self, event: Event, time: int) -> None:
        """Something else happens. An event of MPI outside of any call, if the archive has no regions of MPI, is a call
        itself."""
        if type(event) is UnknownEvent:
            self.left_out["events of kinds that the bindings of OTF2 do not know"] += 1
        elif self._open is not None:
            self._open.add(event)
        elif type(event).__name__.startswith(OF_MPI):
            call = OpenCall("", time)
            call.add(event)
            self._end(call, time)

    def end(self) -> None:
        """There are no more events: the sizes of nonblocking collectives that never completed remain unknown."""
        self.left_out["calls that never ended"] += self._open is not None
        self._posted = {request: posted for request, posted in self._posted.items() if posted.completion is not None}
        self._sizes_of_posted()

    def close(self) -> None:
        """Write what is left. What never completed is left out."""
        left = self._messages.left(self.rank) if self._probed else []
        for record, message in zip(self._probed, left, strict=False):
            record.words = _twice([*message])
        for record in self._probed[len(left) :]:
            record.leave_out()
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
            if self._began:
                self._fail(call.begin, f"calls {call.name} after other calls of MPI: expected it once, and first")
            self.file.write(Call.INIT, call.begin, end)
            self._begin(end)
            return
        if not self._began and call.name in BEFORE_INIT:
            return
        self._begin(call.begin)
        if call.name == "MPI_Finalize":
            self.file.finalize_begin = call.begin
            self._add(call, end, Call.FINALIZE, [])
        else:
            self._communication(call, end)
        self._write()

    def _communication(self, call: OpenCall, end: int) -> None:
        sent = call.of("MpiSend")
        received = call.of("MpiRecv")
        if len(sent) == len(received) == 1 and sent[0].communicator is received[0].communicator:
            asked, took = self._sent(sent[0], end), _twice(self._received(received[0], end))
            self._add(call, end, Call.SENDRECV, [*asked, *took[1:]])
        else:
            for event in sent:
                self._send(call, end, event)
            for event in received:
                self._add(call, end, Call.RECV, _twice(self._received(event, end)))
        for event in call.of("MpiIsend"):
            words = [*self._sent(event, end), event.request_id]
            self._add(call, end, SENDS.get(call.name.removeprefix("MPI_"), Call.ISEND), words)
        for event in call.of("MpiIrecvRequest"):
            self._incomplete[event.request_id] = self._add(call, end, Call.IRECV, None)
        for event in call.of("NonBlockingCollectiveRequest"):
            self._posted[event.request_id] = PostedCollective(self._add(call, end, NONBLOCKING, None))
        for event in call.of("MpiCollectiveEnd"):
            self._collective(call, end, event)
        self._completions(call, end)
        for kind in ("RmaPut", "RmaGet", "RmaAtomic"):
            self.left_out["one-sided operations"] += len(call.of(kind))
        self.left_out["file operations"] += len(call.of("IoOperationBegin"))
        if not call.events and call.name in RECEIVE_PROBED:
            self._probed.append(self._add(call, end, Call.RECV, None))
        elif not call.events:
            for kind, names in WITHOUT_EVENTS.items():
                self.left_out[kind] += bool(re.fullmatch(names, call.name))

    def _send(self, call: OpenCall, end: int, event: Event) -> None:
        """Without its events of nonblocking calls (the group xnonblock), Score-P has that of a blocking send in a
        nonblocking one, and nothing says when the request is complete."""
        number = SENDS.get(call.name.removeprefix("MPI_"), Call.ISEND if call.name in START else Call.SEND)
        words = self._sent(event, end)
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
                message = self._received(event, end)
                words += [event.request_id, *message[1:]]
                posted = self._incomplete.pop(event.request_id, None)
                if posted is not None:
                    posted.words = [*message, event.request_id]
            elif kind == "NonBlockingCollectiveComplete":
                words += [event.request_id, 0, 0]
                self._nonblocking_collective(event)
            elif kind == "MpiRequestCancelled":
                posted = self._incomplete.pop(event.request_id, None)
                if posted is not None:
                    posted.leave_out()
        if words:
            self._add(call, end, Call.WAIT if len(words) == 3 else Call.WAITALL, words)
        elif call.of("MpiRecv"):
            return  # a completion without the group xnonblock
        elif call.name in (*LOOK_FOR_MESSAGES, *TESTS) or call.of("MpiRequestTest"):
            polls = self._add(call, end, Call.POLLS, None)
            polls.words = [1, polls.end - polls.begin]

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
                posted.record.leave_out()
            else:
                self._find_sizes(posted.record, posted.completion, request)

    def _find_sizes(self, record: PendingRecord, event: Event, *request: int) -> None:
        communicator = self._communicator(event, record.end)
        totals = self._totals(communicator, event, record.end)

        def use(sizes: Sizes | None) -> None:
            if sizes is None:
                record.leave_out()
                self.left_out[f"collectives of the kind {totals.kind}"] += 1
                return
            self._check_bytes(max(sizes.sent, sizes.received), record.end)
            record.call += sizes.collective
            record.info = sizes.info
            root = pair(sizes.root, 0)
            record.words = [communicator.id, root, *request, sizes.sent, sizes.received, *sizes.counts]

        if totals.kind in BY_RANK and not totals.between:
            self._by_rank.add((communicator.id, communicator.members, totals.kind, record.call), totals, use)
        else:
            use(equal_sizes(totals))

    def _totals(self, communicator: Communicator, event: Event, at: int) -> Totals:
        kind = name_of_kind(event.collective_op)
        ranks, between = len(communicator.others or communicator.members), bool(communicator.others)
        root = SPECIAL_ROOTS.get(int(event.root), int(event.root))
        special = (IS_ROOT, PROC_NULL) if between else ()
        if EQUAL_PARTS.get(kind, kind) in ROOTED and not (0 <= root < ranks or root in special):
            self._fail(
                at, f"calls a collective ({kind}) with the root {int(event.root)}: expected one of {ranks} ranks"
            )
        for size in (event.size_sent, event.size_received):
            self._check_bytes(size, at)
        rank = communicator.members.index(self.rank)
        return Totals(kind, rank, ranks, root, event.size_sent, event.size_received, between)

    def _sent(self, event: Event, at: int) -> list[int]:
        """The communicator, the receiver with the tag, and the bytes of a message."""
        communicator = self._communicator(event, at)
        receivers = communicator.others or communicator.members
        message = self._message(communicator.id, event, at, event.receiver, len(receivers))
        as_received = [communicator.id, pair(communicator.members.index(self.rank), event.msg_tag), event.msg_length]
        self._messages.sent(receivers[event.receiver], as_received)
        return message

    def _received(self, event: Event, at: int) -> list[int]:
        """The communicator, the sender with the tag, and the bytes of a message."""
        communicator = self._communicator(event, at)
        senders = communicator.others or communicator.members
        message = self._message(communicator.id, event, at, event.sender, len(senders))
        self._messages.received(self.rank, message)
        return message

    def _message(self, communicator: int, event: Event, at: int, peer: int, peers: int) -> list[int]:
        if peer >= peers:
            self._fail(at, f"sends to, or receives from, rank {peer} of a communicator of {peers} ranks")
        if event.msg_tag > MOST_TAG:
            self._fail(at, f"has a message with the tag {event.msg_tag}: expected one from 0 to {MOST_TAG}")
        self._check_bytes(event.msg_length, at)
        return [communicator, pair(peer, event.msg_tag), event.msg_length]

    def _check_bytes(self, size: int, at: int) -> None:
        if size > MOST_BYTES:
            self._fail(at, f"sends or receives {size} bytes: expected 2^50 at most")

    def _communicator(self, event: Event, at: int) -> Communicator:
        found = self._communicators(event.communicator)
        if found is None:
            comm = event.communicator
            named = "an undefined communicator" if comm is None else f"the communicator {quote(comm.name)}"
            self._fail(at, f"communicates on {named}: expected one of MPI of which the rank is a member")
        return found

    def _fail(self, at: int, what: str) -> NoReturn:
        raise InputError(f"{self._name}: rank {self.rank}, {at / NS:.9f} s after the beginning: {what}")

    def _add(self, call: OpenCall, end: int, number: int, words: list[int] | None) -> PendingRecord:
        # Of several records of one call the first has its time: the others follow it at its end.
        follows = call.first is not None and call.first.call != NO_CALL
        record = PendingRecord(number, end if follows else call.begin, end, words)
        if not follows:
            call.first = record
        self._records.append(record)
        return record

    def _write(self) -> None:
        while self._records and self._records[0].words is not None:
            record = self._records.popleft()
            if record.call != NO_CALL:
                self.file.write(record.call, record.begin, record.end, record.words or [], record.info)


def _twice(words: list[int]) -> list[int]:
    """The communicator of a receive, and what it asked for and got, which is the same."""
    return [words[0], *words[1:], *words[1:]]
