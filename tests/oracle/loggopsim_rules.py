"""LogGOPSim's rules without noise, one event after the other: small, slow and plain, for tests only.

Written from the rules' description (docs/loggopsim.md), not from the simulator, with which it shares no code. Whatever
waits goes back into the one heap, as in LogGOPSim, and clocks have no sign. Times are picoseconds.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

from idlewave import Machine
from loggops_rules import ANY, Op, read_goal

UNSIGNED = 2**64
KINDS = ("send", "recv", "calc")


@dataclass
class Clocks:
    """From when on a rank's CPUs and both sides of its NICs are free."""

    cpu: list[int]
    out: list[int]
    into: list[int]


@dataclass(frozen=True)
class Half:
    """A posted receive, or a message without one."""

    source: int
    tag: int
    place: int  # of the receive, or of the send on rank `source`


@dataclass(frozen=True)
class Event:
    """An op that became free, or (kind "message") what rank `source`'s op `place` sent to `rank`."""

    kind: str
    rank: int
    place: int
    source: int = 0


class Simulation:
    """One run. Afterwards `finish` holds a time a rank, and `left` how many things have not come to their end."""

    def __init__(self, schedule: list[list[Op]], machine: Machine) -> None:
        self.schedule = schedule
        self.network = machine.network
        self.costs = machine.network.parameters
        every = [op for ops in schedule for op in ops]
        cpus = 1 + max((op.cpu for op in every), default=0)
        nics = 1 + max((op.nic for op in every), default=0)
        self.clocks = [Clocks([0] * cpus, [0] * nics, [0] * nics) for _ in schedule]
        self.posted: list[list[Half]] = [[] for _ in schedule]
        self.unexpected: list[list[Half]] = [[] for _ in schedule]
        self.needs = [[len(op.needs) for op in ops] for ops in schedule]
        self.released: list[tuple[int, int]] = []
        self.heap: list[tuple[int, int, Event]] = []
        self.created = 0
        self.messages = 0
        self.nonsense = False  # something needed a clock that had gone below 0

    def run(self) -> None:
        self.released = [(r, i) for r, needs in enumerate(self.needs) for i, n in enumerate(needs) if n == 0]
        self.start_released()
        while self.heap:
            time, number, event = heapq.heappop(self.heap)
            free = max(self.needed(event), default=0)
            self.nonsense = self.nonsense or is_below_0(free)
            if free > time:
                heapq.heappush(self.heap, (free, number, event))
                continue
            {"send": self.send, "recv": self.post, "calc": self.calc, "message": self.receive}[event.kind](event, time)
            self.start_released()

    @property
    def finish(self) -> list[int]:
        return [max(clocks.cpu) for clocks in self.clocks]

    @property
    def complete(self) -> bool:
        return not self.stuck and not self.unmatched

    @property
    def stuck(self) -> int:
        """Ops that never became free."""
        return sum(n > 0 for needs in self.needs for n in needs)

    @property
    def unmatched(self) -> int:
        """Receives and messages that never met; LogGOPSim then prints no times."""
        return sum(map(len, self.posted)) + sum(map(len, self.unexpected))

    def op(self, event: Event) -> Op:
        return self.schedule[event.source if event.kind == "message" else event.rank][event.place]

    def needed(self, event: Event) -> list[int]:
        """When what the event takes is free. A message asks for the CPU and NIC that its send names."""
        op, clocks = self.op(event), self.clocks[event.rank]
        return {
            "send": [clocks.cpu[op.cpu], clocks.out[op.nic]],
            "message": [clocks.cpu[op.cpu], clocks.into[op.nic]],
            "calc": [clocks.cpu[op.cpu]],
            "recv": [],
        }[event.kind]

    def add(self, time: int, event: Event) -> None:
        heapq.heappush(self.heap, (time % UNSIGNED, self.created, event))
        self.created += 1

    # ---- ops

    def calc(self, event: Event, now: int) -> None:
        op = self.op(event)
        self.clocks[event.rank].cpu[op.cpu] = now + 1000 * op.size
        self.release(event.rank, event.place, "start")
        self.release(event.rank, event.place, "end")

    def send(self, event: Event, now: int) -> None:
        op, clocks = self.op(event), self.clocks[event.rank]
        clocks.cpu[op.cpu] = (now + self.costs.o_s + self.further(self.costs.O_s, op)) % UNSIGNED
        clocks.out[op.nic] = (now + self.costs.g + self.further(self.costs.G, op)) % UNSIGNED
        self.release(event.rank, event.place, "start")
        self.add(now + self.costs.o_s + self.costs.L, Event("message", op.peer, event.place, event.rank))
        self.messages += 1
        if not self.is_rendezvous(op.size):
            self.release(event.rank, event.place, "end")

    def post(self, event: Event, now: int) -> None:
        op = self.op(event)
        self.release(event.rank, event.place, "start")
        receive = Half(op.peer, op.tag, event.place)
        message = take(self.unexpected[event.rank], receive)
        if message is None:
            self.posted[event.rank].append(receive)
            return
        if self.is_rendezvous(op.size):
            self.let_send_end(message.source, message.place, op, now)
        self.release(event.rank, event.place, "end")

    # ---- messages

    def receive(self, event: Event, now: int) -> None:
        op, clocks = self.op(event), self.clocks[event.rank]
        longer = max(self.further(self.costs.O_s, op) % UNSIGNED, self.further(self.costs.G, op) % UNSIGNED)
        clocks.cpu[op.cpu] = (now + self.costs.o_r + longer) % UNSIGNED
        clocks.into[op.nic] = (now + self.costs.g + self.further(self.costs.G, op)) % UNSIGNED
        message = Half(event.source, op.tag, event.place)
        receive = take(self.posted[event.rank], message)
        if receive is None:
            self.unexpected[event.rank].append(message)
            return
        if self.is_rendezvous(op.size):
            self.let_send_end(event.source, event.place, op, now)
        self.release(event.rank, receive.place, "end")

    def let_send_end(self, rank: int, place: int, at_hand: Op, now: int) -> None:
        """What the matching does to a rendezvous' sender; CPU and NIC are those of the op `at_hand`."""
        self.release(rank, place, "end")
        clocks = self.clocks[rank]
        clocks.cpu[at_hand.cpu] = max(clocks.cpu[at_hand.cpu], now)
        clocks.out[at_hand.nic] = max(clocks.out[at_hand.nic], now)

    # ---- what waits for what

    def release(self, rank: int, place: int, edge: str) -> None:
        for follower, of in self.schedule[rank][place].followers:
            if of != edge:
                continue
            self.needs[rank][follower] -= 1
            if self.needs[rank][follower] == 0:
                self.released.append((rank, follower))

    def start_released(self) -> None:
        """Ops that this event made free: by rank, then by kind, else as they came; from when their CPU and NIC are."""

        def turn(op: tuple[int, int]) -> tuple[int, int]:
            return op[0], KINDS.index(self.schedule[op[0]][op[1]].kind)

        for rank, place in sorted(self.released, key=turn):
            op, clocks = self.schedule[rank][place], self.clocks[rank]
            time = max(clocks.cpu[op.cpu], clocks.out[op.nic]) if op.kind == "send" else clocks.cpu[op.cpu]
            self.add(time, Event(op.kind, rank, place))
        self.released = []

    # ---- costs

    def further(self, cost: float, op: Op) -> int:
        assert cost == int(cost)
        return int(cost) * (op.size - 1)

    def is_rendezvous(self, size: int) -> bool:
        return self.network.eager_limit is not None and size > self.network.eager_limit


def is_below_0(time: int) -> bool:
    """A clock without a sign that went below 0: what comes of it is refused."""
    return time >= UNSIGNED // 2


def take(queue: list[Half], half: Half) -> Half | None:
    """The oldest of the queue that agrees in source and tag, each of which may be any on both sides."""
    for other in queue:
        if all(ANY in pair or pair[0] == pair[1] for pair in ((other.source, half.source), (other.tag, half.tag))):
            queue.remove(other)
            return other
    return None


def simulate(goal: str, machine: Machine) -> Simulation:
    """Run GOAL text on a machine without noise, segments and a node level, with o_s = o_r, O_s = O_r and whole
    costs."""
    simulation = Simulation(read_goal(goal), machine)
    simulation.run()
    return simulation
