"""The LogGOPS rules, carried out one request after the other: small, slow and plain, for tests only.

Written from the rules' description (docs/model.md), not from the simulator, with which it shares no code: it reads
GOAL itself, and takes of a machine nothing but its numbers. Times are integer picoseconds.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from idlewave import Level, Machine, Noise, Parameters

ANY = -1
SHARED_BUFFER_TAG = 2**31  # from here on the tags of messages through a buffer that a node's ranks share
NO_NOTIFICATION = -1  # the tag of a put that does not notify
KINDS = ("send", "recv", "calc")
ORIGIN_KINDS = ("put", "get", "lock", "shared_lock", "unlock")  # one-sided ops that transmit something
ARRIVAL, PROTOCOL, NIC_TRANSMISSION, FIRST_OP = range(
    4
)  # whose turn it is among requests that were ready at the same time


@dataclass
class Op:
    """One line of GOAL. `needs` are (place, "start" or "end") of ops of the same rank."""

    kind: str
    size: int
    label: str
    peer: int = 0
    tag: int = 0
    cpu: int = 0
    nic: int = 0
    synchronous: bool = False
    needs: list[tuple[int, str]] = field(default_factory=list)
    followers: list[tuple[int, str]] = field(default_factory=list)  # who needs it, in the order of the text


def read_goal(text: str) -> list[list[Op]]:
    """The ranks of a schedule: one statement a line, comments only at line ends."""
    ranks: list[list[Op]] = []
    for line in text.splitlines():
        words = line.split("//")[0].replace(":", " : ").split()
        if not words or words[0] in ("num_ranks", "}"):
            continue
        if words[0] == "rank":
            ranks.append([])
            continue
        ops = ranks[-1]
        if len(words) == 3 and words[1] in ("requires", "irequires"):
            place = {op.label: i for i, op in reversed(list(enumerate(ops)))}
            edge = "end" if words[1] == "requires" else "start"
            waiting, other = place[words[0]], place[words[2]]
            ops[waiting].needs.append((other, edge))
            ops[other].followers.append((waiting, edge))
            continue
        label = words[0] if ":" in words else f"op {len(ops)}"
        words = words[2:] if ":" in words else words
        op = Op(words.pop(0), 1, label)
        if op.kind not in ("await", "lock", "shared_lock", "unlock"):
            op.size = int(words.pop(0).rstrip("b"))
        if op.kind == "put":
            op.tag = NO_NOTIFICATION
        if "synchronous" in words:
            words.remove("synchronous")
            op.synchronous = True
        attributes = dict(zip(words[::2], words[1::2], strict=True))
        op.peer = int(attributes.pop("to", attributes.pop("from", attributes.pop("at", "0"))))
        for name, value in attributes.items():
            setattr(op, name, int(value))
        ops.append(op)
    return ranks


@dataclass
class Message:
    """What travels. A request to send stays the record of its rendezvous until the data have come."""

    kind: str  # data, request, clearance, payload; put, get, lock, shared_lock, unlock, reply, acknowledgement, grant
    source: int
    number: int  # how many transmissions its source had begun before
    size: int
    tag: int = 0
    send: int = 0  # place of the send op; of the one-sided op that this belongs to
    data_size: int = 0  # of a request and a get: what it asks for
    request: Message | None = None  # of a clearance and a payload: the rendezvous they belong to
    receive: int | None = None  # place of the receive op that it met
    met: int = 0  # when
    processed: int | None = None

    @property
    def eager_tag(self) -> int:
        """The tag of an eager message, which may take it through a shared buffer; 0 of the messages of a rendezvous."""
        return self.tag if self.kind == "data" else 0

    @property
    def one_sided(self) -> bool:
        """Whether it belongs to a one-sided op."""
        return self.kind in (*ORIGIN_KINDS, "reply", "acknowledgement", "grant")


@dataclass
class Notification:
    """What a put leaves for an await."""

    source: int
    tag: int
    landed: int


class NotHeldError(Exception):
    """A rank unlocks what it has not locked."""


@dataclass
class Lock:
    """A lock of a rank: requests in the order in which they landed, and who has it."""

    queue: list[Message] = field(default_factory=list)
    holders: list[Message] = field(default_factory=list)

    def grant(self) -> Message | None:
        """The request at the head of the queue, which now has the lock; None if it must wait, or if there is none."""
        if not self.queue:
            return None
        shared = all(message.kind == "shared_lock" for message in (self.queue[0], *self.holders))
        if self.holders and not shared:
            return None
        self.holders.append(self.queue.pop(0))
        return self.holders[-1]

    def release(self, origin: int) -> None:
        """A rank gives the lock back. Raises NotHeldError if it does not have it."""
        held = next((message for message in self.holders if message.source == origin), None)
        if held is None:
            raise NotHeldError
        self.holders.remove(held)


@dataclass
class Request:
    """Something that a rank will do as soon as it is ready and all that it needs is free."""

    ready: int
    order: tuple[int, ...]
    needs: tuple[tuple[str, int], ...]
    act: Callable[[int], None]


@dataclass
class Rank:
    """What changes of a rank."""

    free: dict[tuple[str, int], int] = field(default_factory=lambda: defaultdict(int))
    requests: list[Request] = field(default_factory=list)
    posted: list[int] = field(default_factory=list)
    unexpected: list[Message] = field(default_factory=list)
    awaiting: list[int] = field(default_factory=list)
    notifications: list[Notification] = field(default_factory=list)
    locks: dict[int, Lock] = field(default_factory=lambda: defaultdict(Lock))
    nic_requests: int = 0  # how many transmissions its NICs were given
    transmissions: int = 0
    messages: int = 0
    finish: int = 0
    started: dict[int, int] = field(default_factory=dict)
    allowing: dict[int, int] = field(default_factory=dict)  # from when what irequires an op may start
    ended: dict[int, int] = field(default_factory=dict)
    waiting: set[int] = field(default_factory=set)


class Simulation:
    """One run. `ranks` holds the times afterwards; `complete` says whether anything is left.

    `detours` has the noise as (start, end), a list a rank, ascending; None: as the machine's trace has it.
    """

    def __init__(
        self, schedule: list[list[Op]], machine: Machine, detours: list[list[tuple[int, int]]] | None = None
    ) -> None:
        self.schedule = schedule
        self.machine = machine
        self.listed = detours
        self.ranks = [Rank(waiting=set(range(len(ops)))) for ops in schedule]
        self.heap: list[tuple[int, int, int, int, int, Message | None]] = []

    def run(self) -> None:
        for r in range(len(self.ranks)):
            self.make_ready(r)
            self.wake(0, r)
        while self.heap:
            now, r = self.heap[0][:2]
            self.at(now, r)

    @property
    def complete(self) -> bool:
        return not self.stuck and not any(rank.unexpected for rank in self.ranks)

    @property
    def stuck(self) -> bool:
        """Whether there are ops that never end."""
        return any(len(rank.ended) < len(ops) for rank, ops in zip(self.ranks, self.schedule, strict=True))

    def wake(self, time: int, r: int) -> None:
        heapq.heappush(self.heap, (time, r, 1, 0, 0, None))

    def at(self, now: int, r: int) -> None:
        """All that rank r does at `now`: first what arrives, then one request after the other."""
        rank = self.ranks[r]
        while True:
            while self.heap and self.heap[0][:2] == (now, r):
                message = heapq.heappop(self.heap)[-1]
                if message:
                    self.arrive(r, message, now)
            if not rank.requests:
                return

            def start(request: Request) -> int:
                return max([request.ready, *(rank.free[need] for need in request.needs)])

            first = min(rank.requests, key=lambda q: (start(q), q.ready, q.order))
            if start(first) > now:
                self.wake(start(first), r)
                return
            rank.requests.remove(first)
            first.act(now)
            if self.heap and self.heap[0][:2] < (now, r):
                self.wake(now, r)  # without a latency an earlier rank has something to do at this very time
                return

    # ---- ops

    def make_ready(self, r: int) -> None:
        """Ask for the ops whose needs are met."""
        rank, ops = self.ranks[r], self.schedule[r]
        for place in sorted(rank.waiting):
            times = [(rank.ended if edge == "end" else rank.allowing).get(other) for other, edge in ops[place].needs]
            if None in times:
                continue
            rank.waiting.remove(place)
            op = ops[place]
            kind = {"await": "recv"}.get(op.kind, "send" if op.kind in ORIGIN_KINDS else op.kind)
            posting = op.kind == "recv" and self.posts_take_cpu
            needs: tuple[tuple[str, int], ...] = (("cpu", op.cpu),)
            if op.kind == "send":
                needs = (("cpu", op.cpu), ("out", op.nic))
            elif kind == "recv" and not posting:
                needs = ()
            ready = max([0, *(t for t in times if t is not None)])
            order = (FIRST_OP + KINDS.index("send" if posting else kind), 0, place)
            act = {
                "send": self.start_send,
                "recv": self.post,
                "calc": self.start_calc,
                "await": self.start_await,
            }.get(op.kind, self.start_one_sided)
            rank.requests.append(Request(ready, order, needs, self.bound(act, r, place)))

    @staticmethod
    def bound(act: Callable[[int, int, int], None], r: int, place: int) -> Callable[[int], None]:
        return lambda now: act(r, place, now)

    def begin(self, r: int, place: int, now: int, allows: int | None = None) -> None:
        """An op starts now. Ops that irequire it are ready from then on, or from the time that is given."""
        self.ranks[r].started[place] = now
        self.ranks[r].allowing[place] = now if allows is None else allows
        self.make_ready(r)

    def end(self, r: int, place: int, time: int) -> None:
        self.ranks[r].ended[place] = time
        self.reach(r, time)
        self.make_ready(r)

    def reach(self, r: int, time: int) -> None:
        self.ranks[r].finish = max(self.ranks[r].finish, time)

    def start_calc(self, r: int, place: int, now: int) -> None:
        op = self.schedule[r][place]
        self.begin(r, place, now)
        done = self.finish(r, now, 1000 * op.size, "calc")
        self.ranks[r].free["cpu", op.cpu] = done
        self.end(r, place, done)

    def start_send(self, r: int, place: int, now: int) -> None:
        op = self.schedule[r][place]
        self.begin(r, place, now)
        level = self.level(r, op.peer, op.tag)
        limit = level.eager_limit
        if not op.synchronous and (limit is None or op.size <= limit or level is self.machine.shared_buffer):
            message = Message("data", r, 0, op.size, op.tag)
            done = self.transmit(r, op.peer, message, op, now)
            self.end_send(r, place, op, done)
        else:
            message = Message("request", r, 0, 1, op.tag, send=place, data_size=op.size)
            self.transmit(r, op.peer, message, op, now)

    def post(self, r: int, place: int, now: int) -> None:
        rank, op = self.ranks[r], self.schedule[r][place]
        self.begin(r, place, now)
        posted = now
        if self.posts_take_cpu:
            posted = self.finish(r, now, self.posting(r, op), "o_r")
            rank.free["cpu", op.cpu] = posted
            self.reach(r, posted)
        message = next((m for m in rank.unexpected if agree(op, m)), None)
        if message is None:
            rank.posted.append(place)
            return
        rank.unexpected.remove(message)
        message.receive, message.met = place, posted
        if message.processed is not None:
            self.meet(r, message)

    # ---- messages

    def transmit(self, r: int, peer: int, message: Message, op: Op, now: int) -> int:
        """Send; CPU and NIC are those of `op`. Returns when the CPU is free again."""
        rank, p = self.ranks[r], self.parameters_of(message, r, peer)
        over = self.finish(r, now, p.o_s, "o_s")
        done = self.after_bytes(r, over, bytes_cost(p.O_s, message.size))
        rank.free["cpu", op.cpu] = done
        rank.free["out", op.nic] = now + p.g + self.wire_bytes(message, r, peer, now)
        self.reach(r, done)
        rank.messages += 1
        self.leave(r, peer, message, self.arrival(message, r, peer, over))
        return done

    def leave(self, r: int, peer: int, message: Message, arrival: int) -> None:
        """Number what rank r transmits to `peer`, where it arrives at `arrival`."""
        rank = self.ranks[r]
        message.number = rank.transmissions
        rank.transmissions += 1
        heapq.heappush(self.heap, (arrival, peer, 0, r, message.number, message))

    def end_send(self, r: int, place: int, op: Op, free: int) -> None:
        """A send ends c after its CPU is free of it."""
        done = free + self.parameters(r, op.peer, op.size, op.tag).c
        self.reach(r, done)
        self.end(r, place, done)

    def arrive(self, r: int, message: Message, now: int) -> None:
        if message.one_sided:
            self.arrive_one_sided(r, message, now)
            return
        rank, op = self.ranks[r], None
        if message.kind == "clearance":
            assert message.request
            op = self.schedule[r][message.request.send]
        elif message.kind == "payload":
            assert message.request
            message.receive, message.met = message.request.receive, now
        else:
            message.receive = next((i for i in rank.posted if agree(self.schedule[r][i], message)), None)
            message.met = now
            if message.receive is None:
                rank.unexpected.append(message)
            else:
                rank.posted.remove(message.receive)
        if message.receive is not None:
            op = self.schedule[r][message.receive]
        cpu, nic = (op.cpu, op.nic) if op else (0, 0)
        self.ranks[r].requests.append(
            Request(
                now,
                (ARRIVAL, message.source, message.number),
                (("cpu", cpu), ("in", nic)),
                lambda t: self.receive(r, message, cpu, nic, t),
            )
        )

    def receive(self, r: int, message: Message, cpu: int, nic: int, now: int) -> None:
        rank, p = self.ranks[r], self.parameters_of(message, message.source, r)
        over = self.finish(r, now, p.o_r, "o_r")
        done = self.after_bytes(r, over, bytes_cost(p.O_r, message.size))
        rank.free["cpu", cpu] = done
        wire_bytes = self.wire_bytes(message, message.source, r, now)
        rank.free["in", nic] = now + p.g + wire_bytes
        message.processed = max(done, over + wire_bytes)
        self.reach(r, message.processed)
        if message.kind == "clearance":
            assert message.request
            self.ask_to_answer(r, message.processed, message.request, message.source, "payload")
        elif message.receive is not None:
            self.meet(r, message)

    def meet(self, r: int, message: Message) -> None:
        """The message is processed and its receive posted."""
        assert message.processed is not None
        assert message.receive is not None
        time = max(message.processed, message.met)
        if message.kind == "request":
            self.ask_to_answer(r, time, message, message.source, "clearance")
        else:
            self.end(r, message.receive, time)

    def ask_to_answer(self, r: int, ready: int, request: Message, peer: int, kind: str) -> None:
        """The next message of a rendezvous: by the receiver the clearance, by the sender the data."""
        op = self.schedule[r][request.send if kind == "payload" else request.receive or 0]

        def act(now: int) -> None:
            size = request.data_size if kind == "payload" else 1
            done = self.transmit(r, peer, Message(kind, r, 0, size, request=request), op, now)
            if kind == "payload":
                self.end_send(r, request.send, self.schedule[r][request.send], done)

        needs = (("cpu", op.cpu), ("out", op.nic))
        self.ranks[r].requests.append(Request(ready, (PROTOCOL, peer, request.number), needs, act))

    # ---- one-sided ops

    def start_one_sided(self, r: int, place: int, now: int) -> None:
        """A put leaves with its data, every other op with a control message."""
        op = self.schedule[r][place]
        size = op.size if op.kind == "put" else 1
        message = Message(op.kind, r, 0, size, op.tag, send=place, data_size=op.size)
        self.begin(r, place, now, self.initiate(r, op.peer, message, op.cpu, op.nic, now))

    def initiate(self, r: int, peer: int, message: Message, cpu: int, nic: int, now: int) -> int:
        """A CPU hands a message to the NIC. Returns when the NIC has it."""
        rank, p = self.ranks[r], self.parameters_of(message, r, peer)
        over = self.finish(r, now, p.o_s, "o_s")
        rank.free["cpu", cpu] = self.after_bytes(r, over, bytes_cost(p.O_s, message.size))
        self.reach(r, rank.free["cpu", cpu])
        self.hand_over(r, peer, message, nic, over)
        return over

    def hand_over(self, r: int, peer: int, message: Message, nic: int, ready: int) -> None:
        """The NIC transmits a message once it has transmitted those before it."""
        rank, p = self.ranks[r], self.parameters_of(message, r, peer)

        def act(now: int) -> None:
            rank.free["out", nic] = now + p.g + self.wire_bytes(message, r, peer, now)
            rank.messages += 1
            self.leave(r, peer, message, self.arrival(message, r, peer, now))

        rank.requests.append(Request(ready, (NIC_TRANSMISSION, rank.nic_requests), (("out", nic),), act))
        rank.nic_requests += 1

    def start_await(self, r: int, place: int, now: int) -> None:
        rank, op = self.ranks[r], self.schedule[r][place]
        self.begin(r, place, now)
        found = next((n for n in rank.notifications if awaits(op, n)), None)
        if found is None:
            rank.awaiting.append(place)
            return
        rank.notifications.remove(found)
        self.end(r, place, max(now, found.landed))

    def arrive_one_sided(self, r: int, message: Message, now: int) -> None:
        rank = self.ranks[r]
        if message.kind in ("acknowledgement", "grant"):
            self.end(r, message.send, max(now, rank.free["cpu", self.schedule[r][message.send].cpu]))
            return
        op = self.schedule[r][message.send] if message.kind == "reply" else None
        cpu, nic = (op.cpu, op.nic) if op else (0, 0)
        needs: tuple[tuple[str, int], ...] = (("in", nic),)
        if self.machine.progress == "cpu":
            needs = (("cpu", cpu), ("in", nic))
        order = (ARRIVAL, message.source, message.number)
        rank.requests.append(Request(now, order, needs, lambda t: self.receive_one_sided(r, message, cpu, nic, t)))

    def receive_one_sided(self, r: int, message: Message, cpu: int, nic: int, now: int) -> None:
        rank, p = self.ranks[r], self.parameters_of(message, message.source, r)
        wire_bytes = self.wire_bytes(message, message.source, r, now)
        rank.free["in", nic] = now + p.g + wire_bytes
        landed = now + wire_bytes
        if self.machine.progress == "cpu":
            over = self.finish(r, now, p.o_r, "o_r")
            rank.free["cpu", cpu] = self.after_bytes(r, over, bytes_cost(p.O_r, message.size))
            landed = max(rank.free["cpu", cpu], over + wire_bytes)
        self.reach(r, landed)
        if message.kind == "reply":
            self.end(r, message.send, max(landed, rank.free["cpu", cpu]))
        elif message.kind == "get":
            self.reply(r, message, landed)
        else:
            self.have_landed(r, message, landed)

    def reply(self, r: int, get: Message, landed: int) -> None:
        """The data of a get go back: by the NIC, or by the CPU first."""
        reply = Message("reply", r, 0, get.data_size, send=get.send)
        if self.machine.progress == "network":
            self.hand_over(r, get.source, reply, 0, landed)
            return

        def act(now: int) -> None:
            self.initiate(r, get.source, reply, 0, 0, now)

        self.ranks[r].requests.append(Request(landed, (PROTOCOL, get.source, get.number), (("cpu", 0),), act))

    def have_landed(self, r: int, message: Message, landed: int) -> None:
        """What a put, a lock or an unlock does at its target."""
        if message.kind == "put":
            self.notify(r, message, landed)
            self.answer(r, "acknowledgement", message, landed)
            return
        lock = self.ranks[r].locks[message.tag]
        if message.kind == "unlock":
            lock.release(message.source)
            self.answer(r, "acknowledgement", message, landed)
        else:
            lock.queue.append(message)
        while granted := lock.grant():
            self.answer(r, "grant", granted, landed)

    def notify(self, r: int, put: Message, landed: int) -> None:
        if put.tag == NO_NOTIFICATION:
            return
        rank, notification = self.ranks[r], Notification(put.source, put.tag, landed)
        place = next((i for i in rank.awaiting if awaits(self.schedule[r][i], notification)), None)
        if place is None:
            rank.notifications.append(notification)
            return
        rank.awaiting.remove(place)
        self.end(r, place, landed)

    def answer(self, r: int, kind: str, message: Message, time: int) -> None:
        """An acknowledgement or a grant leaves, which takes neither CPU nor NIC, and the L of what it answers."""
        answer = Message(kind, r, 0, 1, send=message.send)
        self.leave(r, message.source, answer, self.arrival(message, message.source, r, time))

    # ---- the machine

    def level(self, a: int, b: int, tag: int = 0) -> Level:
        machine = self.machine
        same = machine.node is None or a // machine.node_ranks == b // machine.node_ranks
        if same and machine.shared_buffer is not None and tag >= SHARED_BUFFER_TAG:
            return machine.shared_buffer
        return machine.node if same and machine.node else machine.network

    @property
    def posts_take_cpu(self) -> bool:
        """Whether the machine has o_p for messages of some size: then receives take the CPU."""
        levels = (self.machine.network, self.machine.node, self.machine.shared_buffer)
        return any(
            p.o_p for level in levels if level for p in (level.parameters, *(s.parameters for s in level.segments))
        )

    def posting(self, r: int, op: Op) -> int:
        """o_p of a receive; from any source that of another node."""
        if op.peer == ANY or op.peer >= len(self.ranks):
            level = self.machine.network
            return [level.parameters, *(s.parameters for s in level.segments if op.size >= s.start)][-1].o_p
        return self.parameters(r, op.peer, op.size, op.tag).o_p

    def parameters_of(self, message: Message, a: int, b: int) -> Parameters:
        """The parameters of what rank a transmits to rank b."""
        level = self.machine.one_sided
        if message.one_sided and level:
            return [level.parameters, *(s.parameters for s in level.segments if message.size >= s.start)][-1]
        return self.parameters(a, b, message.size, message.eager_tag)

    def parameters(self, a: int, b: int, size: int, tag: int = 0) -> Parameters:
        level = self.level(a, b, tag)
        return [level.parameters, *(s.parameters for s in level.segments if size >= s.start)][-1]

    # ---- L and G as functions of time

    def varies(self, message: Message, a: int, b: int) -> bool:
        """Whether L and G of what rank a transmits to rank b vary: between nodes, and of one-sided ops of their own."""
        machine, tag = self.machine, message.eager_tag
        if machine.variation is None:
            return False
        if message.one_sided and machine.one_sided:
            return True
        same = machine.node is None or a // machine.node_ranks == b // machine.node_ranks
        through_buffer = same and machine.shared_buffer is not None and tag >= SHARED_BUFFER_TAG
        return not through_buffer and not (same and machine.node is not None)

    def factors(self, time: int) -> tuple[float, float]:
        """The factors of L and G at `time`: those of the last row that has begun, in its period."""
        variation = self.machine.variation
        assert variation is not None
        position = time % variation.period if variation.period else time
        found = (1.0, 1.0)
        for start, *factors in zip(variation.starts.tolist(), variation.L.tolist(), variation.G.tolist(), strict=True):
            if start <= position:
                found = (factors[0], factors[1])
        return found

    def steps(self, until: int) -> Iterator[int]:
        """The times after 0, up to `until`, at which factors may change."""
        variation = self.machine.variation
        assert variation is not None
        starts = [0, *variation.starts.tolist()] if variation.period else variation.starts.tolist()
        base = 0
        while base <= until:
            yield from (base + start for start in starts if 0 < base + start <= until)
            if not variation.period:
                return
            base += variation.period

    def wire_bytes(self, message: Message, a: int, b: int, begin: int) -> int:
        """kG of what rank a transmits to rank b, where the transmission or reception begins at `begin`."""
        G = self.parameters_of(message, a, b).G
        return bytes_cost(G * self.factors(begin)[1] if self.varies(message, a, b) else G, message.size)

    def arrival(self, message: Message, a: int, b: int, departure: int) -> int:
        """When what rank a transmits to rank b arrives: never before what departed earlier with the same parameters."""
        L = self.parameters_of(message, a, b).L
        if not self.varies(message, a, b):
            return departure + L

        def latency(time: int) -> int:
            factor = self.factors(time)[0]
            return L if factor == 1 else math.floor(L * factor + 0.5)

        before_steps = (step + latency(step - 1) for step in self.steps(departure))
        return max([departure + latency(departure), *before_steps])

    def after_bytes(self, r: int, over: int, work: int) -> int:
        """When a CPU that is done with the overhead is done with the further bytes; none take nothing, noise or not."""
        return self.finish(r, over, work, "O") if work else over

    def finish(self, r: int, start: int, work: int, part: str) -> int:
        """When `work` is done that rank r begins at `start`: a walk from detour to detour."""
        if part not in self.machine.noise_reaches:
            return start + work
        time = start
        for begin, end in self.detours(r):
            if end <= time:
                continue
            if begin > time:
                if time + work <= begin:
                    break
                work -= begin - time
            time = end
        return time + work

    def detours(self, r: int) -> Iterator[tuple[int, int]]:
        """The detours of rank r that last, from before time 0 on."""
        if self.listed is not None:
            yield from (d for d in self.listed[r] if d[0] < d[1])
            return
        noise = self.machine.noise
        if noise is None or not noise.lengths.any():
            return
        assert isinstance(noise, Noise)
        assert isinstance(noise.phase, tuple), "the oracle wants its phases given"
        base = -noise.phase[r % len(noise.phase)]
        while True:
            for begin, length in zip(noise.starts.tolist(), noise.lengths.tolist(), strict=True):
                if length > 0:
                    yield base + begin, base + begin + length
            base += noise.period


def agree(receive: Op, message: Message) -> bool:
    """Whether a receive takes a message: source and tag, each of which may be any; never the size."""
    return receive.peer in (ANY, message.source) and (receive.tag in (ANY, message.tag) or message.tag == ANY)


def awaits(op: Op, notification: Notification) -> bool:
    """Whether an await takes a notification: source and tag, each of which may be any."""
    return op.peer in (ANY, notification.source) and op.tag in (ANY, notification.tag)


def bytes_cost(cost: float, size: int) -> int:
    """`cost` per byte after the first, rounded once, halves up."""
    return math.floor(max(size - 1, 0) * cost + 0.5)


def simulate(goal: str, machine: Machine, detours: list[list[tuple[int, int]]] | None = None) -> Simulation:
    """Run GOAL text on a machine, with its noise or with `detours`, (start, end) for each rank."""
    simulation = Simulation(read_goal(goal), machine, detours)
    simulation.run()
    return simulation
