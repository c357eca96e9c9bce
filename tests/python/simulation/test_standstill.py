"""Why a simulation cannot go on: what is said of it, against a plain search through what the tests' oracle has left."""

from __future__ import annotations

import pickle
import random
import re
from collections import Counter
from dataclasses import replace
from typing import Any

import idlewave
import pytest
from idlewave import Deadlock, Machine, Schedule, Standstill, UnmatchedReceive, UnmatchedRendezvous, UnmatchedSend
from loggops_rules import ANY, Simulation, simulate
from long_cases import most_long
from random_goal import Limits, random_goal, random_machine

SCHEDULES_A_BLOCK = 60

Place = tuple[int, int]


def spoilt(dice: random.Random, goal: str) -> str:
    """The schedule with a few messages that have another tag or source, and requirements in any direction."""
    lines = goal.splitlines()
    for _ in range(dice.randint(1, 4)):
        i = dice.randrange(len(lines))
        first, last = i, i
        while not lines[first].startswith(("rank", "num_ranks")):
            first -= 1
        while last < len(lines) and lines[last] != "}":
            last += 1
        labels = re.findall(r"^(l\d+):", "\n".join(lines[first:last]), re.MULTILINE)
        if dice.random() < 0.5:
            lines[i] = re.sub(r"tag -?\d+", f"tag {dice.choice((-1, 0, 1, 2, 7))}", lines[i])
        elif dice.random() < 0.3:
            lines[i] = re.sub(r"from \d+", "from -1", lines[i])
        elif labels:
            waiting, other = dice.choice(labels), dice.choice(labels)
            lines.insert(last, f"{waiting} {dice.choice(('requires', 'irequires'))} {other}")
    return "\n".join(lines) + "\n"


def agree(a: int, b: int) -> bool:
    return ANY in (a, b) or a == b


class Left:
    """What the oracle has left, and what could still happen of it if all that has no other half had one."""

    def __init__(self, run: Simulation) -> None:
        self.ops = {(r, i): op for r, ops in enumerate(run.schedule) for i, op in enumerate(ops)}
        self.started = {(r, i) for r, rank in enumerate(run.ranks) for i in rank.started}
        self.ended = {(r, i) for r, rank in enumerate(run.ranks) for i in rank.ended}
        self.pending = self.started - self.ended
        self.blocked = set(self.ops) - self.started
        arrived = [(r, m) for r, rank in enumerate(run.ranks) for m in rank.unexpected if m.kind == "data"]
        self.lost = [
            (m.source, r, m.tag, m.size)
            for r, m in arrived
            if not any(
                p[0] == r
                and self.ops[p].kind == "recv"
                and agree(self.ops[p].peer, m.source)
                and agree(self.ops[p].tag, m.tag)
                for p in self.blocked
            )
        ]
        self.unmatched = {place for place in self.pending if not self.ways(place)}
        self.stuck = self.search()

    def ways(self, place: Place) -> list[Place]:
        """The ops that have not started and would be a pending op's other half."""
        return [other for other in self.blocked if self.meet(place, other)]

    def meet(self, a: Place, b: Place) -> bool:
        if {self.ops[a].kind, self.ops[b].kind} != {"send", "recv"}:
            return False
        (sender, send), (receiver, receive) = sorted(
            ((p[0], self.ops[p]) for p in (a, b)), key=lambda x: x[1].kind == "recv"
        )
        return send.peer == receiver and agree(receive.peer, sender) and agree(send.tag, receive.tag)

    def search(self) -> set[Place]:
        """What could never end, whatever happens with messages that are missing."""
        starts, ends = set(self.started), self.ended | self.unmatched
        before = -1
        while before != len(starts) + len(ends):
            before = len(starts) + len(ends)
            for r, i in self.blocked:
                if all((r, other) in (ends if edge == "end" else starts) for other, edge in self.ops[r, i].needs):
                    starts.add((r, i))
                    ends.add((r, i))
            ends |= {place for place in self.pending if any(way in starts for way in self.ways(place))}
        return set(self.ops) - ends

    def needs(self, place: Place, other: Place) -> bool:
        """Whether an op cannot start before another one has ended."""
        return any(
            ((place[0], before) == other and edge == "end") or self.needs((place[0], before), other)
            for before, edge in self.ops[place].needs
            if (place[0], before) not in self.ended and ((place[0], before) in self.blocked or edge == "end")
            if (place[0], before) != place
        )

    def place_of(self, rank: int, name: str) -> Place:
        return next(place for place, op in self.ops.items() if place[0] == rank and op.label == name)


def expected_type(left: Left) -> type[Standstill]:
    if left.stuck:
        return Deadlock
    if not left.pending | left.blocked:
        return UnmatchedSend
    if any(left.ops[place].kind == "recv" for place in left.unmatched):
        return UnmatchedReceive
    return UnmatchedRendezvous


def check_cycle(left: Left, cycle: list[tuple[int, str, str]]) -> None:
    """Each op of the cycle waits for the next one, as it says."""
    for (rank, name, why), (next_rank, next_name, _) in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
        place, other = left.place_of(rank, name), left.place_of(next_rank, next_name)
        if words := re.fullmatch(r"waits for (\w+) of its rank to (end|start)", why):
            assert (next_rank, next_name) == (rank, words[1])
            assert (other[1], words[2]) in left.ops[place].needs
            assert place in left.blocked
            continue
        words = re.search(r"; rank (\d+) (?:does so|sends it|sends one) in (\w+), after (\w+) has ended", why)
        assert words, why
        assert place in left.pending
        assert (int(words[1]), words[3]) == (next_rank, next_name)
        by = left.place_of(next_rank, words[2])
        assert by in left.ways(place)
        assert left.needs(by, other)
        assert all(way in left.stuck for way in left.ways(place))


def compare(seed: int) -> str:
    """One random schedule. Returns how it ended."""
    dice = random.Random(seed)
    machine, goal = random_machine(dice, Limits()), spoilt(dice, random_goal(dice, Limits()))
    run = simulate(goal, machine)
    what = f"seed {seed}\n{machine}\n{goal}"
    if run.complete:
        return "ended"
    with pytest.raises(Standstill) as raised:
        idlewave.simulate(Schedule.from_goal(goal), machine)
    found, left = raised.value, Left(run)
    assert type(found) is expected_type(left), what
    assert (found.cycle != []) == (left.stuck != set()), what
    if found.cycle:
        check_cycle(left, found.cycle)
    unmatched = {place for place in left.unmatched if left.ops[place].kind == "recv"}
    said = {left.place_of(r, name) for r, name, why in found.waiting if why.endswith(", which nobody sends")}
    assert said == unmatched, what
    rendezvous = [
        (r, op.peer, op.tag, op.size) for (r, i), op in left.ops.items() if (r, i) in left.unmatched - unmatched
    ]
    messages = [(m.sender, m.receiver, m.tag, m.size) for m in found.messages]
    assert Counter(messages) == Counter(left.lost + rendezvous), what
    for message in found.messages:
        if message.op:
            op = left.ops[left.place_of(message.sender, message.op)]
            assert (op.kind, op.peer, op.tag, op.size) == ("send", message.receiver, message.tag, message.size), what
    return type(found).__name__


@pytest.mark.parametrize("block", most_long(range(10), 3))
def test_why_a_schedule_cannot_end_is_what_a_plain_search_finds(block: int) -> None:
    ways = Counter(compare(seed) for seed in range(block * SCHEDULES_A_BLOCK, (block + 1) * SCHEDULES_A_BLOCK))
    assert ways["Deadlock"] > 2
    assert ways["UnmatchedReceive"] + ways["UnmatchedSend"] + ways["UnmatchedRendezvous"] > 2


def ring(ranks: int) -> str:
    """Every rank receives from the next one before it sends to the one before."""
    text = f"num_ranks {ranks}\n"
    for r in range(ranks):
        receive, send = f"recv 8b from {(r + 1) % ranks}", f"send 8b to {(r - 1) % ranks}"
        text += f"rank {r} {{\nr: {receive}\ns: {send}\ns requires r\n}}\n"
    return text


CYCLE = ring(3)
EAGER = Machine.from_toml('[network]\nL = "1us"\no = "1us"\ng = "0us"\nG = "1ns"\nO = "0ns"\nS = "inf"\n')
RENDEZVOUS = replace(EAGER, network=replace(EAGER.network, eager_limit=4))
SEND = "num_ranks 2\nrank 0 {\ns: send 8b to 1 tag 2\n}\nrank 1 {\n}\n"
RECEIVE = "num_ranks 2\nrank 0 {\n}\nrank 1 {\nr: recv 8b from 0\n}\n"


@pytest.mark.parametrize(
    "run", [{"scheduler": "check"}, *({"scheduler": s, "threads": t} for s in ("yawns", "timewarp") for t in (1, 2))]
)
def test_every_scheduler_says_the_same(run: dict[str, Any]) -> None:
    schedule = Schedule.from_goal(CYCLE)
    with pytest.raises(Deadlock) as alone:
        idlewave.simulate(schedule, EAGER)
    with pytest.raises(Deadlock) as found:
        idlewave.simulate(schedule, EAGER, **run)
    assert len(found.value.cycle) == 3
    assert found.value.__reduce__() == alone.value.__reduce__()


@pytest.mark.parametrize(
    ("goal", "machine", "kinds", "status"),
    [
        (CYCLE, EAGER, {Deadlock}, 3),
        (RECEIVE, EAGER, {Deadlock, UnmatchedReceive}, 3),
        (SEND, RENDEZVOUS, {Deadlock, UnmatchedSend, UnmatchedRendezvous}, 3),
        (SEND, EAGER, {UnmatchedSend}, 1),
    ],
    ids=["cycle", "receive", "rendezvous", "send"],
)
def test_what_cannot_end_is_a_deadlock_and_an_unmatched_send_after_which_all_has_ended_is_none(
    goal: str, machine: Machine, kinds: set[type[Standstill]], status: int
) -> None:
    with pytest.raises(Standstill) as raised:
        idlewave.simulate(Schedule.from_goal(goal), machine)
    every = (Deadlock, UnmatchedReceive, UnmatchedSend, UnmatchedRendezvous)
    assert {kind for kind in every if isinstance(raised.value, kind)} == kinds
    assert raised.value.exit_status == status


@pytest.mark.parametrize("goal", [CYCLE, RECEIVE, SEND], ids=["cycle", "receive", "send"])
def test_a_standstill_goes_to_other_processes_whole(goal: str) -> None:
    with pytest.raises(Standstill) as raised:
        idlewave.simulate(Schedule.from_goal(goal), EAGER)
    again = pickle.loads(pickle.dumps(raised.value))
    assert type(again) is type(raised.value)
    assert str(again) == str(raised.value)
    assert vars(again) == vars(raised.value)


def test_of_very_many_things_that_wait_the_first_are_named_and_all_are_counted() -> None:
    ranks = 70_000
    with pytest.raises(Deadlock) as raised:
        idlewave.simulate(Schedule.from_goal(ring(ranks)), EAGER)
    assert (raised.value.cycle_length, raised.value.left) == (ranks, 2 * ranks)
    assert len(raised.value.cycle) == len(raised.value.waiting) == 65_536
    assert len(str(raised.value).splitlines()) < 12
