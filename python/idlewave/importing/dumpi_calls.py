"""From the calls of one rank in a DUMPI trace to the records of its file."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..trace_format import ANY, BLOCKING, LATEST, MEMBERS, NOT_KNOWN, PROC_NULL, SELF, SENDS, Call, pair, pairs
from .dumpi_collectives import COLLECTIVES, Place, Sizes
from .dumpi_communicators import MAKE, NULL_HANDLE, PARENT, SELF_HANDLE, WORLD_HANDLE, Communicator
from .dumpi_file import NS, RankTrace, Record, Status
from .dumpi_layouts import FUNCTIONS
from .rank_file import PendingRecord, RankFile

_NULL_REQUEST = 1
_MAKE_SENDS = ("Send_init", "Bsend_init", "Ssend_init", "Rsend_init")
_INFO_OF_MODE = {"Bsend_init": 1, "Ssend_init": 2}
"""The info of the record of a persistent send (docs/trace-format.md)."""
_SENDS = {**SENDS, **dict.fromkeys(_MAKE_SENDS, Call.SEND_INIT)}
_WAITS = {
    "Wait": Call.WAIT,
    "Waitall": Call.WAITALL,
    "Waitany": Call.WAITANY,
    "Waitsome": Call.WAITSOME,
    "Test": Call.TEST,
    "Testall": Call.TESTALL,
    "Testany": Call.TESTANY,
    "Testsome": Call.TESTSOME,
}
_LEFT_OUT = (
    (
        "one-sided calls",
        re.compile("Accumulate|Get|Put|Win_(?:complete|create|fence|free|(?:un)?lock|post|start|wait)"),
    ),
    ("calls of files", re.compile("IO_.*|File_(?:open|close|i?read.*|i?write.*|set_view|set_size|sync|preallocate)")),
    ("calls that start or join processes", re.compile("Comm_(?:accept|connect|join|spawn|spawn_multiple)")),
)
_LEFT_OUT_BY_NAME = {
    name: next((kind for kind, names in _LEFT_OUT if names.fullmatch(name)), "") for name, _ in FUNCTIONS
}


@dataclass
class _Request:
    """A request: what a receive asked for, and its record, if its words are still to come."""

    source: int = PROC_NULL
    tag: int = ANY
    receive: bool = False
    left_out: bool = False
    """Its communicator is not known."""
    held: PendingRecord | None = None
    words: tuple[int, ...] = ()
    """Those of a held record: communicator, bytes and request."""


class RankCalls:
    """Makes the records of one rank, which of the communicators that the trace makes has `made`.

    `null_is_any`: a receive of which the program did not ask the status is from MPI_PROC_NULL if its source is −1.
    """

    def __init__(
        self,
        trace: RankTrace,
        file: RankFile,
        world: Place,
        made: Iterable[Communicator | None],
        *,
        null_is_any: bool,
    ) -> None:
        self._trace, self._file, self._rank = trace, file, world.rank
        self._made = iter(made)
        self._null_is_any = null_is_any
        self._sizes = Sizes(trace.sizes)
        self._places: dict[int, Place | None] = {WORLD_HANDLE: world, SELF_HANDLE: Place(SELF, 0, 1)}
        self._open: dict[int, deque[_Request]] = {}
        self._persistent: dict[int, _Request] = {}
        self._records: deque[PendingRecord] = deque()
        self._polls = PendingRecord(Call.POLLS, 0, 0, [0, 0])
        self._began = self._ended = False
        self.left_out: Counter[str] = Counter()

    def convert(self, shift: int) -> None:
        """Write all records; `shift` is added to the rank's clock, in ns. Raises InputError."""
        shift += self._trace.wall_offset * NS
        for record in self._trace.records():
            begin, end = record.begin + shift, record.end + shift
            try:
                self._call(record, begin, end)
            except (ValueError, IndexError) as error:
                self._trace.fail(record.at, f"MPI_{record.name} is not as DUMPI writes it: {error}")
        for request in [*self._persistent.values(), *(one for queue in self._open.values() for one in queue)]:
            self._settle(request, null=self._null_is_any)
        self._flush_polls()
        self._file.close()

    def _call(self, record: Record, begin: int, end: int) -> None:
        name, fields = record.name, record.fields
        if name in ("Init", "Init_thread"):
            self._began = True
            self._file.init_end = end
            begin = min(begin, end)
        if not self._began or self._ended:
            return
        if not 0 < begin <= end <= LATEST:
            raise ValueError(f"it lies {end / NS:g} s after the beginning")
        if name in ("Init", "Init_thread"):
            self._add(Call.INIT, begin, end, [])
        elif name == "Finalize":
            self._ended = True
            self._file.finalize_begin = begin
            self._add(Call.FINALIZE, begin, end, [])
        elif name in _SENDS:
            self._send(_SENDS[name], fields, begin, end, _INFO_OF_MODE.get(name, 0))
        elif name in _WAITS:
            self._wait(name, fields, begin, end)
        elif name in COLLECTIVES:
            self._collective(name, fields, begin, end)
        elif name in MAKE:
            self._communicator(name, fields, begin, end)
        elif name in _OTHERS:
            _OTHERS[name](self, fields, begin, end)
        self._count_left_out(name)

    def _count_left_out(self, name: str) -> None:
        kind = _LEFT_OUT_BY_NAME[name]
        if kind:
            self.left_out[kind] += 1

    def _add(self, call: int, begin: int, end: int, words: list[int] | None, info: int = 0) -> PendingRecord:
        self._flush_polls()
        written = PendingRecord(call, begin, end, words, info)
        self._records.append(written)
        self._write_known()
        return written

    def _write_known(self) -> None:
        while self._records and self._records[0].words is not None:
            known = self._records.popleft()
            self._file.write(known.call, known.begin, known.end, known.words or [], known.info)

    def _poll(self, begin: int, end: int) -> None:
        """A test or probe that found nothing."""
        polls = self._polls
        count, inside = polls.words or [0, 0]
        words = [count + 1, inside + end - begin]
        self._polls = PendingRecord(polls.call, polls.begin if count else begin, end, words)

    def _flush_polls(self) -> None:
        if self._polls.words != [0, 0]:
            self._records.append(self._polls)
            self._polls = PendingRecord(Call.POLLS, 0, 0, [0, 0])
            self._write_known()

    def _place(self, handle: int) -> Place | None:
        """The communicator of a call; None if it is not known who is on it."""
        place = self._places.get(handle)
        self.left_out["calls on communicators whose members the trace does not say"] += place is None
        return place

    def _send(self, call: Call, fields: list[Any], begin: int, end: int, info: int) -> None:
        count, datatype, destination, tag, comm, *request = fields
        place = self._place(comm)
        if place is not None:
            words = [place.comm, _to(destination, tag, place), self._sizes.of(count, datatype), *request]
            self._add(call, begin, end, words, info)
        if request:
            self._opened(request[0], _Request(left_out=place is None), persistent=call == Call.SEND_INIT)

    def _receive(self, fields: list[Any], begin: int, end: int) -> None:
        count, datatype, source, tag, comm, statuses = fields
        place = self._place(comm)
        if place is not None:
            _check_rank(source, place)
            size = self._sizes.of(count, datatype)
            asked, received, found = self._outcome(source, tag, _first(statuses))
            self._add(Call.RECV, begin, end, [place.comm, pair(asked, tag), size, received, found])

    def _begin_receive(self, fields: list[Any], begin: int, end: int) -> None:
        self._post(Call.IRECV, fields, begin, end)

    def _make_receive(self, fields: list[Any], begin: int, end: int) -> None:
        self._post(Call.RECV_INIT, fields, begin, end)

    def _post(self, call: Call, fields: list[Any], begin: int, end: int) -> None:
        count, datatype, source, tag, comm, number = fields
        place = self._place(comm)
        request = _Request(source, tag, receive=True, left_out=place is None)
        self._opened(number, request, persistent=call == Call.RECV_INIT)
        if place is None:
            return
        _check_rank(source, place)
        request.words = (place.comm, self._sizes.of(count, datatype), number)
        request.held = self._add(call, begin, end, None)
        if source != ANY:
            self._settle(request, null=source < 0)

    def _settle(self, request: _Request, *, null: bool) -> None:
        """It is known whether a receive is from MPI_PROC_NULL."""
        if request.held is None:
            return
        comm, size, number = request.words
        request.held.words = [comm, pair(PROC_NULL if null else request.source, request.tag), size, number]
        request.held = None
        self._write_known()

    def _opened(self, number: int, request: _Request, *, persistent: bool) -> None:
        if persistent:
            self._persistent[number] = request
        else:
            self._open.setdefault(number, deque()).append(request)

    def _outcome(self, source: int, tag: int, status: Status | None) -> tuple[int, int, int]:
        """The source that a receive asked for, the source and tag of its message, and its bytes."""
        if source < ANY or (source == ANY and (self._null_is_any if status is None else status.source < 0)):
            return PROC_NULL, pair(PROC_NULL, ANY), 0
        if status is not None and status.cancelled:
            return source, pair(NOT_KNOWN, NOT_KNOWN), -1
        if status is not None and status.source >= 0 and status.tag >= 0:
            return source, pair(status.source, status.tag), max(status.bytes, -1)
        self.left_out["messages that receives without a source took"] += source == ANY
        return source, pair(NOT_KNOWN if source == ANY else source, NOT_KNOWN if tag == ANY else tag), -1

    def _send_and_receive(self, fields: list[Any], begin: int, end: int) -> None:
        sent_count, sent_type, destination, sent_tag, count, datatype, source, tag, comm, statuses = fields
        place = self._place(comm)
        if place is None:
            return
        _check_rank(source, place)
        sent, size = self._sizes.of(sent_count, sent_type), self._sizes.of(count, datatype)
        asked, received, found = self._outcome(source, tag, _first(statuses))
        words = [place.comm, _to(destination, sent_tag, place), sent, pair(asked, tag), size, received, found]
        self._add(Call.SENDRECV, begin, end, words)

    def _send_and_receive_replace(self, fields: list[Any], begin: int, end: int) -> None:
        self._send_and_receive([*fields[:4], *fields[:2], *fields[4:]], begin, end)

    def _wait(self, name: str, fields: list[Any], begin: int, end: int) -> None:
        """What a wait or test completed. One that completed nothing is a poll, or waits for what is not recorded."""
        completed = [
            word for request, status in _completions(name, fields) for word in self._completed(request, status)
        ]
        if completed or name.startswith("Wait"):
            self._add(_WAITS[name], begin, end, completed)
        else:
            self._poll(begin, end)

    def _completed(self, number: int, status: Status | None) -> list[int]:
        queue = self._open.get(number)
        if not queue:
            unknown = number != _NULL_REQUEST and number not in self._persistent
            self.left_out["completions of requests that no recorded call started"] += unknown
            return []
        request = queue.popleft()
        if not queue:
            del self._open[number]
        if request.left_out:
            return []
        if not request.receive:
            return [number, 0, 0]
        asked, received, found = self._outcome(request.source, request.tag, status)
        self._settle(request, null=asked == PROC_NULL)
        return [number, received, found]

    def _free_request(self, fields: list[Any], begin: int, end: int) -> None:
        number = fields[0]
        request = self._persistent.pop(number, None)
        if request is None:
            queue = self._open.get(number)
            request = queue.popleft() if queue else None
        if request is not None and not request.left_out:
            self._settle(request, null=self._null_is_any)
            self._add(Call.REQUEST_FREE, begin, end, [number])

    def _cancel(self, fields: list[Any], begin: int, end: int) -> None:
        queue = self._open.get(fields[0])
        if queue and not queue[0].left_out:
            self._add(Call.CANCEL, begin, end, [fields[0]])

    def _start(self, fields: list[Any], begin: int, end: int) -> None:
        self._start_all([1, fields], begin, end)

    def _start_all(self, fields: list[Any], begin: int, end: int) -> None:
        for number in fields[1]:
            request = self._persistent.get(number)
            if request is None:
                continue
            self._opened(number, request, persistent=False)
            if not request.left_out:
                self._add(Call.START, begin, end, [number])
                begin = end

    def _probe(self, fields: list[Any], begin: int, end: int) -> None:
        source, tag, comm, statuses = fields
        place, status = self._place(comm), _first(statuses)
        if place is None:
            return
        if status is None:
            asked, found, size = source, pair(NOT_KNOWN, NOT_KNOWN), -1
        else:
            asked, found, size = self._outcome(source, tag, status)
        self._add(Call.PROBE, begin, end, [place.comm, pair(asked, tag), found, size])

    def _immediate_probe(self, fields: list[Any], begin: int, end: int) -> None:
        source, tag, comm, found, statuses = fields
        if found:
            self._probe([source, tag, comm, statuses], begin, end)
        else:
            self._poll(begin, end)

    def _collective(self, name: str, fields: list[Any], begin: int, end: int) -> None:
        kind = COLLECTIVES[name]
        place = self._place(fields[kind.comm])
        if place is not None:
            found = kind.arguments(fields, place, self._sizes)
            _check_rank(found.root, place)
            words = [place.comm, pair(found.root, 0), found.sent, found.received, *found.counts]
            self._add(BLOCKING + kind.number, begin, end, words, found.info)

    def _communicator(self, name: str, fields: list[Any], begin: int, end: int) -> None:
        handle, made = fields[MAKE[name]], next(self._made)
        if made is None:
            parent = self._places.get(fields[PARENT[name]]) if name in PARENT else None
            if handle == NULL_HANDLE and parent is not None:
                self._add(Call.COMM_DEF, begin, end, [0, parent.comm, pair(0, NOT_KNOWN)])
            self._places[handle] = None
            return
        own = made.members.index(self._rank)
        self._places[handle] = Place(made.id, own, len(made.members))
        listed = pairs(made.members) if own == 0 else []
        words = [made.id, made.parent, pair(len(made.members), own), *listed]
        self._add(Call.COMM_DEF, begin, end, words, MEMBERS if own == 0 else 0)
        if made.extents:
            grid = [pair(*dimension) for dimension in zip(made.extents, made.periods, strict=True)]
            self._add(Call.CART, end, end, [made.id, len(grid), *grid])

    def _free_communicator(self, fields: list[Any], begin: int, end: int) -> None:
        place = self._places.get(fields[0])
        if place is not None:
            self._add(Call.COMM_FREE, begin, end, [place.comm])


def _to(destination: int, tag: int, place: Place) -> int:
    """The destination and tag of a send; every negative rank is MPI_PROC_NULL."""
    _check_rank(destination, place)
    return pair(destination if destination >= 0 else PROC_NULL, tag)


def _check_rank(rank: int, place: Place) -> None:
    if rank >= place.size:
        raise ValueError(f"expected a rank of a communicator of {place.size}, found {rank}")


def _first(statuses: list[Status]) -> Status | None:
    return statuses[0] if statuses else None


def _completions(name: str, fields: list[Any]) -> list[tuple[int, Status | None]]:
    """The requests that a wait or test completed, each with its status, if the program asked for it."""
    statuses = fields[-1]
    if name in ("Wait", "Test"):
        done = name == "Wait" or fields[1]
        return [(fields[0], _first(statuses))] if done else []
    requests = fields[1]
    if name in ("Waitall", "Testall"):
        indices = range(len(requests)) if name == "Waitall" or fields[2] else range(0)
    elif name in ("Waitany", "Testany"):
        done = fields[2] >= 0 and (name == "Waitany" or fields[3])
        indices = range(fields[2], fields[2] + 1) if done else range(0)
        return [(requests[i], _first(statuses)) for i in indices]
    else:
        indices = fields[3] if fields[2] > 0 else range(0)
    if indices and not 0 <= min(indices) <= max(indices) < len(requests):
        raise ValueError(f"expected places among {len(requests)} requests, found {max(indices)}")
    known = len(statuses) == len(indices)
    return [(requests[i], statuses[at] if known else None) for at, i in enumerate(indices)]


_OTHERS: dict[str, Callable[[RankCalls, list[Any], int, int], None]] = {
    "Recv": RankCalls._receive,
    "Irecv": RankCalls._begin_receive,
    "Recv_init": RankCalls._make_receive,
    "Sendrecv": RankCalls._send_and_receive,
    "Sendrecv_replace": RankCalls._send_and_receive_replace,
    "Start": RankCalls._start,
    "Startall": RankCalls._start_all,
    "Request_free": RankCalls._free_request,
    "Comm_free": RankCalls._free_communicator,
    "Comm_disconnect": RankCalls._free_communicator,
    "Cancel": RankCalls._cancel,
    "Probe": RankCalls._probe,
    "Iprobe": RankCalls._immediate_probe,
}
