"""Programs that compute and exchange with the next ranks of a ring, iteration after iteration, in several ways.

They are schedules of computations, messages and what waits for what, so that each way to wait is as MPI calls make it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..jobs import Job, Operation
from ..pattern_options import PatternOptions
from ..schedule import Schedule
from ..units import PICOSECONDS

UP, DOWN = 0, 1
"""Tags of messages to higher and to lower ranks."""


@dataclass(frozen=True)
class Message:
    """An op of an exchange: a send to `peer`, or a receive from it."""

    sends: bool
    peer: int
    tag: int


Stage = list[Message]
Exchange = Callable[[int, int, int], list[Stage]]
"""Makes the stages of a rank's exchange from rank, ranks and partners. What is in a stage is begun together, when
all of the stage before has ended."""


@dataclass(frozen=True)
class RingPattern:
    """Ranks on a ring, of which each exchanges messages with those up to `partners` ranks away.

    `eager` and `rendezvous` are the ranks by which a delay goes on in an iteration towards higher and towards lower
    ranks if only the next ranks are partners, as published for these protocols; None: nothing was published on it.
    `ahead`: an exchange is waited for one computation later than it begins. `uneven`: odd ranks compute half as long
    again.
    """

    does: str
    exchange: Exchange
    eager: tuple[int, int] | None = None
    rendezvous: tuple[int, int] | None = None
    ahead: bool = False
    uneven: bool = False

    def goes_up_only(self, protocol: str) -> bool:
        """Whether nobody waits for a higher rank."""
        return protocol == "eager" and self.eager == (1, 0)

    def published(self, protocol: str, partners: int) -> tuple[int, int] | None:
        """The same for partners that far away, with all of which a rank exchanges at once, else None."""
        steps = {"eager": self.eager, "rendezvous": self.rendezvous}.get(protocol)
        at_once = len(self.exchange(partners, 2 * partners + 1, partners)) == len(self.exchange(1, 3, 1))
        return (steps[0] * partners, steps[1] * partners) if steps and at_once else None


def _one_way(rank: int, ranks: int, partners: int) -> list[Stage]:
    return [
        [
            *_messages(rank, ranks, partners, sends=False, up=True),
            *_messages(rank, ranks, partners, sends=True, up=True),
        ]
    ]


def _nonblocking(rank: int, ranks: int, partners: int) -> list[Stage]:
    return [[*_both(rank, ranks, partners, sends=False), *_both(rank, ranks, partners, sends=True)]]


def _shifts(rank: int, ranks: int, partners: int) -> list[Stage]:
    stages = []
    for up in (True, False):
        for step in range(1, partners + 1):
            stages.append(
                [
                    *_messages(rank, ranks, step, sends=False, up=up, least=step),
                    *_messages(rank, ranks, step, sends=True, up=up, least=step),
                ]
            )
    return stages


def _messages(rank: int, ranks: int, most: int, *, sends: bool, up: bool, least: int = 1) -> Iterator[Message]:
    """Sends upwards or downwards, or the receives of such messages, of partners from `least` to `most` away."""
    for step in range(least, most + 1):
        yield Message(sends, (rank + step if sends == up else rank - step) % ranks, UP if up else DOWN)


def _both(rank: int, ranks: int, partners: int, *, sends: bool) -> Iterator[Message]:
    for up in (True, False):
        yield from _messages(rank, ranks, partners, sends=sends, up=up)


PATTERNS = {
    "one-way": RingPattern("Irecv from below, Send upwards, Wait", _one_way, (1, 0), (1, 1)),
    "nonblocking": RingPattern("Irecv and Isend both ways, Waitall", _nonblocking, (1, 1), (2, 2)),
    "sendrecv": RingPattern("Sendrecv upwards, then Sendrecv downwards", _shifts, (1, 1), (2, 2)),
    "overlap": RingPattern("Irecv and Isend both ways, computation, Waitall", _nonblocking, ahead=True),
    "uneven": RingPattern("nonblocking, and odd ranks compute half as long again", _nonblocking, uneven=True),
}
"""The patterns on a ring, by name."""
JOBS = ("halo2d", "allreduce")
"""Patterns of other shapes, of computations and one operation each."""


def ring_schedule(name: str, ranks: int, iterations: int, compute_ns: int, size: int, partners: int) -> Schedule:
    """The schedule of a pattern on a ring, named after it."""
    pattern = PATTERNS[name]
    lines = [f"num_ranks {ranks}"]
    for rank in range(ranks):
        own_ns = compute_ns + compute_ns // 2 if pattern.uneven and rank % 2 else compute_ns
        lines += [f"rank {rank} {{", *_rank(pattern, rank, ranks, iterations, own_ns, size, partners), "}"]
    return Schedule.from_goal("\n".join(lines) + "\n", name=name)


def _rank(
    pattern: RingPattern, rank: int, ranks: int, iterations: int, compute_ns: int, size: int, partners: int
) -> Iterator[str]:
    stages = pattern.exchange(rank, ranks, partners)
    computed, done, before = "", list[str](), list[str]()
    for iteration in range(iterations):
        yield f"c{iteration}: calc {compute_ns}"
        waited = before if pattern.ahead else done
        yield from (f"c{iteration} requires {label}" for label in [*waited, *([computed] if computed else [])])
        if pattern.ahead:  # the calls that begin the exchange have returned
            yield from (f"c{iteration} irequires {label}" for label in done)
        if pattern.ahead and iteration == iterations - 1:
            return  # no computation is left to hide an exchange
        computed, before = f"c{iteration}", done
        required = [computed, *(done if pattern.ahead else [])]
        for stage_number, stage in enumerate(stages):
            done = [f"m{iteration}_{stage_number}_{number}" for number in range(len(stage))]
            for label, message in zip(done, stage, strict=True):
                verb, word = ("send", "to") if message.sends else ("recv", "from")
                yield f"{label}: {verb} {size}b {word} {message.peer} tag {message.tag}"
                yield from (f"{label} requires {other}" for other in required)
            required = done


def job_schedule(name: str, ranks: int, iterations: int, compute_ns: int, size: int) -> Schedule:
    """The schedule of a pattern of another shape, named after it."""
    options = PatternOptions(compute_ns=compute_ns, periodic=True)
    if name == "halo2d":
        operations = [Operation("halo2d", bytes=size, options=options)]
    else:
        operations = [Operation("compute", options=options), Operation(name, bytes=size)]
    return Schedule.compose([Job(ranks, operations, repetitions=iterations)], name=name)


def schedule_of(name: str, ranks: int, iterations: int, compute_ps: int, size: int, partners: int) -> Schedule:
    """The schedule of any of these patterns; `compute_ps` is whole ns."""
    compute_ns = compute_ps // PICOSECONDS["ns"]
    if name in PATTERNS:
        return ring_schedule(name, ranks, iterations, compute_ns, size, partners)
    return job_schedule(name, ranks, iterations, compute_ns, size)
