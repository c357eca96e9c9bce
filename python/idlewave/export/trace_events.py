"""From the records of a rank to events of OTF2: a region for each call, with the messages and collectives in it."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .._core import call_name
from ..errors import InputError
from ..otf2_library import Library
from ..trace_format import (
    BLOCKING,
    NONBLOCKING,
    NOT_KNOWN,
    PERSISTENT,
    PROC_NULL,
    Call,
    Collective,
    halves,
    signed,
)
from .collective_bytes import Place, total_bytes
from .trace_definitions import Communicator, Definitions

PROGRAM = "program"
"""The region of what lasts from a rank's first call to its last one."""
NOT_CALLS = frozenset((Call.CORE_WAIT, Call.CART, Call.NEIGHBORS))
ONE_SIDED = ("MPI_Put", "MPI_Get", "MPI_Accumulate", "MPI_Get_accumulate", "MPI_Fetch_and_op", "MPI_Compare_and_swap")
ONE_SIDED_WITH_REQUEST = ("MPI_Rput", "MPI_Rget", "MPI_Raccumulate", "MPI_Rget_accumulate")


@dataclass(slots=True)
class Record:
    """A record of a trace, with its times on the clock of all ranks."""

    call: int
    info: int
    begin: int
    end: int
    words: list[int]


@dataclass(slots=True)
class Operation:
    """A send, a receive or a collective that a request stands for, by its number in the archive."""

    number: int
    receive: tuple[int, tuple[int, int], int] | None = None
    """The communicator of a receive, its source with the tag, and the bytes, as far as its call said them."""
    collective: tuple[Any, ...] | None = None
    cancelled: bool = False


class RankEvents:
    """Writes the events of one rank; its records come in order, some at a time."""

    def __init__(
        self,
        library: Library,
        writer: Library,
        rank: int,
        definitions: Definitions,
        left_out: Counter[str],
        place: str,
    ) -> None:
        """`place` is what messages call the trace; what has no events is counted in `left_out`."""
        self.place = place
        self.library = library
        self.writer = writer
        self.rank = rank
        self.definitions = definitions
        self.left_out = left_out
        self.first = -1
        """The time of the first event; −1: there is none."""
        self.now = 0
        """That of the last one."""
        self._requests = 0
        self._open: defaultdict[int, deque[list[Operation]]] = defaultdict(deque)
        """What the requests of each handle stand for, the oldest first: finished requests may share a handle."""
        self._persistent: dict[int, Record] = {}
        self._probed: dict[int, tuple[int, tuple[int, int], int]] = {}

    def add(self, columns: Mapping[str, Any]) -> None:
        """Write the events of some records, which are columns of the trace."""
        call, info, begin, end, first, words = (
            columns[name].tolist() for name in ("call", "info", "begin_ns", "end_ns", "first_word", "words")
        )
        for i in range(len(call)):
            times = max(begin[i], 0), max(end[i], 0)  # a time of OTF2 has no sign
            self._add(Record(call[i], info[i], *times, words[first[i] : first[i + 1]]))

    def close(self) -> None:
        """The program of this rank ends."""
        if self.first >= 0:
            self._leave(self.now, self.definitions.region(PROGRAM))

    def _add(self, record: Record) -> None:
        if record.call in NOT_CALLS:
            return
        if self.first < 0:
            self.first = record.begin
            self._enter(record.begin, self.definitions.region(PROGRAM))
        if record.call == Call.TRACER:
            begin = max(record.begin, self.now)
            self.now = max(record.end, begin)
            self.library.EvtWriter_BufferFlush(self.writer, None, begin, self.now)
            return
        if record.call == Call.POLLS:
            record.begin = max(record.end - max(signed(record.words[1]), 0), self.now)
            record.end = max(record.begin, record.end)
        elif record.begin < self.now:
            raise InputError(
                f"{self.place}: rank {self.rank}: {call_name(record.call)} overlaps the call before it: "
                "expected calls one after another, as of one thread"
            )
        region = self.definitions.region(*_region(record))
        self._enter(record.begin, region)
        use = _USES.get(record.call)
        if use is not None:
            use(self, record)
        self._leave(record.end, region)

    def _enter(self, time: int, region: int) -> None:
        self.now = time
        self.library.EvtWriter_Enter(self.writer, None, time, region)

    def _leave(self, time: int, region: int) -> None:
        self.now = time
        self.library.EvtWriter_Leave(self.writer, None, time, region)

    def _communicator(self, comm_id: int) -> Communicator | None:
        found = self.definitions.communicator(comm_id, self.rank)
        if found is None:
            self.left_out["calls on communicators whose members are not known"] += 1
        return found

    def _message(self, comm_id: int, peer_tag: tuple[int, int], size: int) -> tuple[int, int, int, int] | None:
        """The arguments of an event of a message: peer, communicator, tag, bytes. None if there is no message, or it
        is not known."""
        peer, tag = peer_tag
        if peer == PROC_NULL:
            return None
        found = self._communicator(comm_id)
        if found is None:
            return None
        if min(peer, tag, size) < 0:
            self.left_out["messages of which the peer, the tag or the size is not known"] += 1
            return None
        if peer >= found.peers:
            raise InputError(
                f"{self.place}: rank {self.rank} has a message with rank {peer} of a communicator of {found.peers}"
            )
        return peer, found.number, tag, size

    def _new(self) -> int:
        self._requests += 1
        return self._requests

    def _commdef(self, record: Record) -> None:
        self.definitions.made(record.words[0], record.words[1])

    def _send(self, record: Record) -> None:
        if message := self._message(record.words[0], halves(record.words[1]), signed(record.words[2])):
            self.library.EvtWriter_MpiSend(self.writer, None, record.begin, *message)

    def _receive(self, record: Record) -> None:
        self._received(record, record.words[0], 3)

    def _received(self, record: Record, comm_id: int, word: int) -> None:
        if message := self._message(comm_id, halves(record.words[word]), signed(record.words[word + 1])):
            self.library.EvtWriter_MpiRecv(self.writer, None, record.end, *message)

    def _sendrecv(self, record: Record) -> None:
        self._send(record)
        self._received(record, record.words[0], 5)

    def _mprobe(self, record: Record) -> None:
        words = record.words
        self._probed[words[4]] = words[0], halves(words[2]), signed(words[3])

    def _mrecv(self, record: Record) -> None:
        if probed := self._probed.pop(record.words[0], None):
            self._received(record, probed[0], 1)

    def _imrecv(self, record: Record) -> None:
        probed = self._probed.pop(record.words[0], None)
        self._open[record.words[1]].append([] if probed is None else self._posted(record, *probed))

    def _isend(self, record: Record) -> None:
        self._open[record.words[3]].append(self._sent(record))

    def _irecv(self, record: Record) -> None:
        comm_id, size, request = record.words[0], signed(record.words[2]), record.words[3]
        self._open[request].append(self._posted(record, comm_id, halves(record.words[1]), size))

    def _isendrecv(self, record: Record) -> None:
        words = record.words
        sent = self._sent(record)
        self._open[words[5]].append([*sent, *self._posted(record, words[0], halves(words[3]), signed(words[4]))])

    def _sent(self, record: Record) -> list[Operation]:
        message = self._message(record.words[0], halves(record.words[1]), signed(record.words[2]))
        if message is None:
            return []
        operation = Operation(self._new())
        self.library.EvtWriter_MpiIsend(self.writer, None, record.begin, *message, operation.number)
        return [operation]

    def _posted(self, record: Record, comm_id: int, peer_tag: tuple[int, int], size: int) -> list[Operation]:
        if peer_tag[0] == PROC_NULL or self._communicator(comm_id) is None:
            return []
        operation = Operation(self._new(), receive=(comm_id, peer_tag, size))
        self.library.EvtWriter_MpiIrecvRequest(self.writer, None, record.end, operation.number)
        return [operation]

    def _made_persistent(self, record: Record) -> None:
        collective = record.call >= PERSISTENT
        self._persistent[record.words[2 if collective else 3]] = record

    def _start(self, record: Record) -> None:
        made = self._persistent.get(record.words[0])
        if made is None:
            return
        started = Record(made.call, made.info, record.begin, record.end, made.words)
        if made.call in (Call.PSEND_INIT, Call.PRECV_INIT):
            self._without_events(record.words[0], "partitioned messages")
        elif made.call == Call.SEND_INIT:
            self._isend(started)
        elif made.call == Call.RECV_INIT:
            self._irecv(started)
        else:
            self._nonblocking_collective(started)

    def _free(self, record: Record) -> None:
        self._persistent.pop(record.words[0], None)
        if opened := self._open.get(record.words[0]):
            opened.pop()
            self._forget(record.words[0])

    def _cancel(self, record: Record) -> None:
        if opened := self._open.get(record.words[0]):
            for operation in opened[-1]:
                operation.cancelled = True

    def _complete(self, record: Record) -> None:
        words = record.words
        for i in range(0, len(words) - 2, 3):
            opened = self._open.get(words[i])
            if not opened:
                continue  # made by a call that is not recorded
            operations = opened.popleft()
            self._forget(words[i])
            for operation in operations:
                self._completed(record.end, operation, halves(words[i + 1]), signed(words[i + 2]))

    def _forget(self, request: int) -> None:
        if not self._open[request]:
            del self._open[request]

    def _completed(self, time: int, operation: Operation, peer_tag: tuple[int, int], size: int) -> None:
        library, writer = self.library, self.writer
        if operation.collective is not None:
            library.EvtWriter_NonBlockingCollectiveComplete(writer, None, time, *operation.collective, operation.number)
        elif operation.receive is None:
            library.EvtWriter_MpiIsendComplete(writer, None, time, operation.number)
        elif operation.cancelled and peer_tag[0] == NOT_KNOWN:
            library.EvtWriter_MpiRequestCancelled(writer, None, time, operation.number)
        else:
            comm_id, asked, most = operation.receive
            if peer_tag[0] == NOT_KNOWN:  # of MPI_Isendrecv some MPIs do not say more
                peer_tag, size = asked, most
            if message := self._message(comm_id, peer_tag, size):
                library.EvtWriter_MpiIrecv(writer, None, time, *message, operation.number)

    def _without_events(self, request: int, kind: str) -> None:
        """A request of something that has no events here."""
        self.left_out[kind] += 1
        self._open[request].append([])

    def _one_sided(self, record: Record) -> None:
        self.left_out["one-sided operations"] += 1
        if len(record.words) > 4:
            self._open[record.words[4]].append([])

    def _file(self, record: Record) -> None:
        self.left_out["file operations"] += 1
        if len(record.words) > 3:
            self._open[record.words[3]].append([])

    def _collective(self, record: Record) -> None:
        arguments = self._collective_arguments(record, 2)
        if arguments is not None:
            self.library.EvtWriter_MpiCollectiveBegin(self.writer, None, record.begin)
            self.library.EvtWriter_MpiCollectiveEnd(self.writer, None, record.end, *arguments)

    def _nonblocking_collective(self, record: Record) -> None:
        arguments = self._collective_arguments(record, 3)
        operations = [] if arguments is None else [Operation(self._new(), collective=arguments)]
        for operation in operations:
            self.library.EvtWriter_NonBlockingCollectiveRequest(self.writer, None, record.begin, operation.number)
        self._open[record.words[2]].append(operations)

    def _collective_arguments(self, record: Record, word: int) -> tuple[Any, ...] | None:
        """The arguments of the event that ends a collective; its sizes begin with that word."""
        collective = Collective(record.call % 64)
        if collective == Collective.NEIGHBOR:
            self.left_out["neighbourhood collectives"] += 1
            return None
        found = self._communicator(record.words[0])
        if found is None:
            return None
        root = halves(record.words[1])[0]
        at = Place(found.rank, found.peers, root, found.between)
        sizes = total_bytes(collective, at, signed(record.words[word]), signed(record.words[word + 1]))
        if sizes is None:
            self.left_out["collectives whose sizes are not known"] += 1
            return None
        return self.definitions.operation(collective), found.number, self.definitions.root(root), *sizes


_Use = Callable[[RankEvents, Record], None]
_USES: dict[int, _Use] = {
    Call.COMM_DEF: RankEvents._commdef,
    **dict.fromkeys((Call.SEND, Call.BSEND, Call.SSEND, Call.RSEND), RankEvents._send),
    **dict.fromkeys((Call.ISEND, Call.IBSEND, Call.ISSEND, Call.IRSEND), RankEvents._isend),
    Call.RECV: RankEvents._receive,
    Call.IRECV: RankEvents._irecv,
    Call.SENDRECV: RankEvents._sendrecv,
    Call.ISENDRECV: RankEvents._isendrecv,
    Call.MPROBE: RankEvents._mprobe,
    Call.MRECV: RankEvents._mrecv,
    Call.IMRECV: RankEvents._imrecv,
    **dict.fromkeys(
        (Call.SEND_INIT, Call.RECV_INIT, Call.PSEND_INIT, Call.PRECV_INIT, *(PERSISTENT + c for c in Collective)),
        RankEvents._made_persistent,
    ),
    Call.START: RankEvents._start,
    Call.REQUEST_FREE: RankEvents._free,
    Call.CANCEL: RankEvents._cancel,
    **dict.fromkeys(range(Call.WAIT, Call.TESTSOME + 1), RankEvents._complete),
    Call.ONE_SIDED: RankEvents._one_sided,
    Call.FILE: RankEvents._file,
    **dict.fromkeys((BLOCKING + c for c in Collective), RankEvents._collective),
    **dict.fromkeys((NONBLOCKING + c for c in Collective), RankEvents._nonblocking_collective),
}
"""What is done with a call beside its region."""


def _region(record: Record) -> tuple[str, int]:
    """The name of a call's region, and the number of a call with the same role."""
    call = record.call
    if call == Call.POLLS:
        return "MPI_Test", Call.TEST
    if call == Call.ONE_SIDED:
        names = ONE_SIDED_WITH_REQUEST if len(record.words) > 4 else ONE_SIDED
        operation = halves(record.words[1])[1]
        return names[operation] if 0 <= operation < len(names) else call_name(call), call
    if call == Call.UNMODELLED:
        text = b"".join(word.to_bytes(8, "little") for word in record.words[:8]).rstrip(b"\0").decode(errors="replace")
        return text if text.isprintable() and text.startswith("MPI_") else call_name(call), call
    return call_name(call), call
