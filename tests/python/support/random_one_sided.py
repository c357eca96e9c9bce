"""Random schedules with one-sided ops, and machines for them: small, odd, and the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from idlewave import Level, Machine, Parameters, Segment
from random_goal import COSTS, Limits, random_level, random_noise, random_reaches

TAGS = (0, 1, 2, 2**31, 2**32 - 2)


def random_one_sided_machine(dice: random.Random, limits: Limits) -> Machine:
    """Half of the machines have parameters of one-sided ops, and half of these complete them by a CPU.

    With `limits.lookahead` every L is at least 1 ps, since acknowledgements take no overhead.
    """

    def with_latency(level: Level) -> Level:
        if not limits.lookahead:
            return level
        segments = tuple(replace(s, parameters=_with_latency(s.parameters)) for s in level.segments)
        return replace(level, parameters=_with_latency(level.parameters), segments=segments)

    node = with_latency(random_level(dice, limits)) if dice.random() < 0.3 else None
    network = with_latency(random_level(dice, limits))
    machine = Machine("random", network, node, dice.randint(1, 3), random_noise(dice))
    if dice.random() < 0.2:
        machine = replace(machine, shared_buffer=random_level(dice, limits))
    if dice.random() < 0.5:
        by_cpu = dice.random() < 0.5
        level = with_latency(_random_one_sided_level(dice, by_cpu=by_cpu))
        machine = replace(machine, one_sided=level, progress="cpu" if by_cpu else "network")
    return machine if dice.random() < 0.7 else machine.with_noise_reaches(random_reaches(dice))


def _with_latency(p: Parameters) -> Parameters:
    return replace(p, L=max(p.L, 1))


def _random_one_sided_level(dice: random.Random, *, by_cpu: bool) -> Level:
    def time(most: int) -> int:
        return 1000 * dice.randint(0, 4) if dice.random() < 0.5 else dice.randint(0, most)

    def parameters() -> Parameters:
        G, O_s, O_r = (100 * dice.choice(COSTS) for _ in range(3))
        o_s, o_r = time(3000), time(5000)
        return Parameters(time(9000), o_s, o_r if by_cpu else 0, time(6000), G, O_s, O_r if by_cpu else 0.0)

    segments, start = [], 0
    while dice.random() < 0.3:
        start += dice.randint(1, 20)
        segments.append(Segment(start, parameters()))
    return Level(parameters(), tuple(segments))


def random_one_sided_goal(dice: random.Random, limits: Limits) -> str:
    """GOAL text: puts, gets, locks, messages and computation. Most such schedules end.

    What waits for another rank never waits for what comes later in the making of the schedule, and whoever has a lock
    waits for nothing but a lock of a higher number until it gives the lock back. So only wildcards, and a put or an
    await that is (rarely) missing, can keep the schedule from its end.
    """
    making = _Making(dice, dice.randint(1, limits.ranks))
    for _ in range(dice.randint(1, limits.messages)):
        making.computation()
        dice.choice((making.notified_put, making.notified_put, making.access, making.message, making.epoch))()
    return making.text()


class _Making:
    """A schedule that is being made."""

    def __init__(self, dice: random.Random, ranks: int) -> None:
        self.dice = dice
        self.ranks = ranks
        self.cpus, self.nics = dice.choice((1, 1, 2, 3)), dice.choice((1, 1, 2))
        self.wildcards = dice.random() < 0.2
        self.waits = dice.choice(((0, 0, 1, 1, 2), (0, 0, 0, 0, 1)))
        self.lines: list[list[str]] = [[] for _ in range(ranks)]
        self.counts = [0] * ranks

    def text(self) -> str:
        lines = [f"num_ranks {self.ranks}"]
        for rank, ops in enumerate(self.lines):
            lines += [f"rank {rank} {{", *ops, "}"]
        return "\n".join(lines) + "\n"

    def add(self, rank: int, statement: str, after: Sequence[int] | None = None, *, nic: bool = True) -> int:
        """An op that waits for the ends of the ops `after`; without them for random earlier ones. Returns its place."""
        cpu, own_nic = self.dice.randrange(self.cpus), self.dice.randrange(self.nics) if nic else 0
        attributes = (f" cpu {cpu}" if cpu else "") + (f" nic {own_nic}" if own_nic else "")
        place = self.counts[rank]
        self.counts[rank] += 1
        self.lines[rank].append(f"l{place}: {statement}{attributes}")
        edges = [("requires", other) for other in after or ()]
        if after is None and place > 0:
            verbs = ("requires", "requires", "irequires")
            waits = self.dice.choice(self.waits)
            edges = [(self.dice.choice(verbs), self.dice.randrange(place)) for _ in range(waits)]
        self.lines[rank] += [f"l{place} {verb} l{other}" for verb, other in edges]
        return place

    def rank(self) -> int:
        return self.dice.randrange(self.ranks)

    def size(self) -> int:
        return self.dice.choice((0, 1, self.dice.randint(0, 40)))

    def source(self, rank: int) -> int:
        return -1 if self.wildcards and self.dice.random() < 0.4 else rank

    def computation(self) -> None:
        if self.dice.random() < 0.6:
            self.add(self.rank(), f"calc {self.dice.randint(0, 12)}", nic=False)

    def both(self, halves: list[tuple[int, str]]) -> None:
        """The ops of two ranks, in any order; rarely one of them is missing."""
        self.dice.shuffle(halves)
        if self.dice.random() < 0.003:
            halves.pop()
        for rank, statement in halves:
            self.add(rank, statement)

    def notified_put(self) -> None:
        """A put with a tag, and the await of its notification."""
        origin, target, tag = self.rank(), self.rank(), self.dice.choice(TAGS)
        awaited = self.dice.choice((tag, -1)) if self.wildcards else tag
        put = f"put {self.size()}b to {target} tag {tag}"
        self.both([(origin, put), (target, f"await from {self.source(origin)} tag {awaited}")])

    def message(self) -> None:
        sender, receiver, size, tag = self.rank(), self.rank(), self.size(), self.dice.choice(TAGS)
        receive = f"recv {size}b from {self.source(sender)} tag {tag}"
        self.both([(sender, f"send {size}b to {receiver} tag {tag}"), (receiver, receive)])

    def access(self) -> None:
        """A put that notifies nobody, a notification that nobody awaits, or a get."""
        self.add(self.rank(), self.random_access(self.rank()))

    def random_access(self, target: int) -> str:
        tag = " tag 77" if self.dice.random() < 0.2 and not self.wildcards else ""
        return self.dice.choice((f"get {self.size()}b from {target}", f"put {self.size()}b to {target}{tag}"))

    def epoch(self) -> None:
        """Accesses while a rank has one lock, or two of ascending numbers."""
        origin = self.rank()
        wanted = sorted((self.rank(), self.dice.choice((0, 0, 1))) for _ in range(self.dice.choice((1, 1, 2))))
        held: dict[tuple[int, int], int] = {}
        for lock in wanted:
            if lock not in held:
                kind = self.dice.choice(("lock", "shared_lock"))
                held[lock] = self.add(origin, f"{kind} at {_lock(lock)}", list(held.values()) or None)
        accesses = []
        for _ in range(self.dice.randint(0, 3)):
            work = f"calc {self.dice.randint(0, 5)}" if self.dice.random() < 0.2 else None
            target = self.dice.choice(wanted)[0]
            accesses.append(self.add(origin, work or self.random_access(target), list(held.values()), nic=work is None))
        for lock in held:
            self.add(origin, f"unlock at {_lock(lock)}", [*held.values(), *accesses])


def _lock(lock: tuple[int, int]) -> str:
    rank, number = lock
    return f"{rank} tag {number}" if number else str(rank)
