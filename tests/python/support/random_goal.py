"""Random machines and schedules for tests: small, odd, and the same for the same seed."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

import numpy as np
from idlewave import (
    EmpiricalLength,
    ExponentialLength,
    FixedLength,
    Level,
    LognormalLength,
    Machine,
    Noise,
    Parameters,
    ParetoLength,
    PoissonNoise,
    Segment,
    UniformLength,
)
from idlewave.noise_models import REACHES
from idlewave.variation import Variation

COSTS = (0.0, 0.25, 0.5, 1.0, 2.5, 7.0)


@dataclass(frozen=True)
class Limits:
    """How large, and how odd, a random schedule may get."""

    ranks: int = 6
    messages: int = 25
    lookahead: bool = True  # whether every message takes at least 1 ps to reach anybody


def random_machine(dice: random.Random, limits: Limits) -> Machine:
    """Short times, so that much happens at once; half of the machines have noise, with given phases."""
    node = random_level(dice, limits) if dice.random() < 0.3 else None
    machine = Machine("random", random_level(dice, limits), node, dice.randint(1, 3), random_noise(dice))
    if dice.random() < 0.3:
        machine = replace(machine, shared_buffer=random_level(dice, limits))
    return machine if dice.random() < 0.7 else machine.with_noise_reaches(random_reaches(dice))


def random_level(dice: random.Random, limits: Limits) -> Level:
    segments, start = [], 0
    while dice.random() < 0.25:
        start += dice.randint(1, 20)
        segments.append(Segment(start, random_parameters(dice, limits)))
    limit = None if dice.random() < 0.5 else dice.randint(0, 30)
    return Level(random_parameters(dice, limits), tuple(segments), limit)


def random_parameters(dice: random.Random, limits: Limits) -> Parameters:
    def time(most: int) -> int:
        return 1000 * dice.randint(0, 4) if dice.random() < 0.5 else dice.randint(0, most)

    L, o_s = time(9000), time(5000)
    if limits.lookahead:
        o_s = max(o_s, 1)
    elif dice.random() < 0.5:
        L, o_s = 0, 0
    costs = [100 * dice.choice(COSTS) for _ in range(3)]
    added = {"c": dice.choice([0, 0, time(4000)]), "o_p": dice.choice([0, 0, 0, time(2000)])}
    return Parameters(L, o_s, time(5000), time(6000), *costs, **added)


def random_noise(dice: random.Random) -> Noise | None:
    if dice.random() < 0.5:
        return None
    period = dice.randint(5_000, 60_000)
    starts, lengths, at = [], [], dice.randint(0, 4_000)
    while at < period - 1:
        length = min(dice.randint(0, 3_000), period - at - 1)
        starts.append(at)
        lengths.append(length)
        at += length + dice.choice((0, 1, dice.randint(1, 20_000)))
    phases = tuple(dice.randrange(period) for _ in range(dice.randint(1, 4)))
    return Noise(np.array(starts, dtype=np.int64), np.array(lengths, dtype=np.int64), period, phases)


def random_variation(dice: random.Random) -> Variation:
    """Many steps, up and down, some of them sooner after each other than a message takes. Factors are from 0.5 on, so
    that an L of 1 ps stays one."""
    starts: list[int] = []
    at = dice.choice((0, dice.randint(0, 5_000)))
    for _ in range(dice.randint(1, 12)):
        starts.append(at)
        at += dice.choice((1, dice.randint(1, 2_000), dice.randint(1, 20_000)))

    def factors() -> list[float]:
        return [dice.choice((0.5, 1.0, 1.5, 4.0, dice.uniform(0.5, 6))) for _ in starts]

    period = None if dice.random() < 0.4 else max(at + dice.choice((0, dice.randint(0, 10_000))), 3_000)
    return Variation(np.array(starts), np.array(factors()), np.array(factors()), period)


def random_reaches(dice: random.Random) -> list[str]:
    return [part for part in REACHES if dice.random() < 0.5]


def random_poisson(dice: random.Random) -> PoissonNoise:
    """Many short detours, some of no length."""
    length = dice.choice(
        (
            FixedLength(dice.randint(0, 2_000)),
            ExponentialLength(dice.uniform(1, 3_000)),
            UniformLength(0, dice.randint(0, 3_000)),
            LognormalLength(dice.uniform(1, 2_000), dice.uniform(0.1, 1)),
            ParetoLength(dice.uniform(1, 1_000), dice.uniform(1.5, 3)),
            EmpiricalLength(np.array([0, 1, 500, 4_000], dtype=np.int64)),
        )
    )
    return PoissonNoise(dice.uniform(1_000, 20_000), length, dice.choice(("random", "random", "same")))


def random_goal(dice: random.Random, limits: Limits) -> str:
    """GOAL text: messages, computation, and ops that wait for earlier ones. Most such schedules end.

    A send and its receive never wait for what comes later, so only wildcards, crossing messages and (rarely) a send
    or a receive that is missing can keep the schedule from its end.
    """
    ranks = dice.randint(1, limits.ranks)
    cpus, nics = dice.choice((1, 1, 2, 3)), dice.choice((1, 1, 2))
    wildcards = dice.random() < 0.2
    waits = dice.choice(((0, 0, 1, 1, 2), (0, 0, 1, 1, 2), (0, 0, 0, 0, 1)))  # in the last, most ops wait for none
    lines: list[list[str]] = [[] for _ in range(ranks)]
    counts = [0] * ranks

    def attributes_of(*, message: bool) -> str:
        cpu = dice.randrange(cpus)
        nic = dice.randrange(nics) if message else 0
        return (f" cpu {cpu}" if cpu else "") + (f" nic {nic}" if nic else "")

    def exchange(rank: int, peer: int, size: int, tag: int) -> None:
        """A receive, and a send of the same kind that waits for its start alone."""
        attributes = attributes_of(message=True)
        place = counts[rank]
        source = -1 if wildcards and dice.random() < 0.4 else peer
        lines[rank].append(f"l{place}: recv {size}b from {source} tag {tag}{attributes}")
        if place > 0 and dice.random() < 0.7:
            lines[rank].append(f"l{place} requires l{dice.randrange(place)}")
        lines[rank].append(f"l{place + 1}: send {size}b to {peer} tag {tag}{attributes}")
        lines[rank].append(f"l{place + 1} irequires l{place}")
        counts[rank] += 2

    def add(rank: int, statement: str, *, message: bool = True) -> None:
        attributes = attributes_of(message=message)
        place = counts[rank]
        lines[rank].append(f"l{place}: {statement}{attributes}")
        for _ in range(dice.choice(waits)):
            if place > 0:
                verb = dice.choice(("requires", "requires", "irequires"))
                lines[rank].append(f"l{place} {verb} l{dice.randrange(place)}")
        counts[rank] += 1

    for _ in range(dice.randint(1, limits.messages)):
        source, destination = dice.randrange(ranks), dice.randrange(ranks)
        size, tag = dice.choice((0, 1, dice.randint(0, 40))), dice.choice((0, 1, 2, 2**31, 2**31 + 1))
        if dice.random() < 0.5:
            add(source, f"calc {dice.randint(0, 12)}", message=False)
        if dice.random() < 0.5:
            add(destination, f"calc {dice.randint(0, 12)}", message=False)
        if dice.random() < 0.25:
            exchange(source, destination, size, tag)
            exchange(destination, source, size, tag)
            continue
        any_source = wildcards and dice.random() < 0.4
        any_tag = wildcards and dice.random() < 0.4
        send = f"send {size}b to {destination} tag {tag}"
        receive = f"recv {size}b from {-1 if any_source else source} tag {-1 if any_tag else tag}"
        halves = [(source, send), (destination, receive)]
        if dice.random() < 0.5:
            halves.reverse()
        if dice.random() < 0.002:
            halves.pop()
        for rank, statement in halves:
            add(rank, statement)
    text = [f"num_ranks {ranks}"]
    for rank in range(ranks):
        text += [f"rank {rank} {{", *lines[rank], "}"]
    return "\n".join(text) + "\n"
