"""Collectives of a Chakra trace as messages, by the algorithms that schedules of patterns have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..schedule import Schedule

KINDS = {
    0: "allreduce",
    1: "reduce",
    2: "allgather",
    3: "gather",
    4: "scatter",
    5: "bcast",
    6: "alltoall",
    7: "reduce_scatter",
    8: "reduce_scatter",
    9: "barrier",
}
"""By the number in the attribute comm_type."""
_PARTS = ("alltoall", "scatter")
"""The collectives whose size is for all parts of a rank's tensor, where a schedule counts one part."""
_OP = re.compile(r"l(\d+): (?:calc (\d+)|(send|recv) (\d+)b (?:to|from) (\d+))")
_REQUIRES = re.compile(r"l(\d+) (i?requires) l(\d+)")


class Op(NamedTuple):
    """An op of a rank in a collective: send, recv or calc; bytes or ns; the other rank's place in the group."""

    kind: str
    size: int
    peer: int


class Part(NamedTuple):
    """What one rank does in a collective: its ops, and their requirements as (op, requires or irequires, op)."""

    ops: list[Op]
    requirements: list[tuple[int, str, int]]

    def first(self) -> list[int]:
        """The ops that wait for no other."""
        waiting = {op for op, _, _ in self.requirements}
        return [op for op in range(len(self.ops)) if op not in waiting]

    def last(self) -> list[int]:
        """The ops for whose end no other waits."""
        needed = {other for _, how, other in self.requirements if how == "requires"}
        return [op for op in range(len(self.ops)) if op not in needed]


class Collectives:
    """Makes each different collective once; `algorithms` names an algorithm for a collective."""

    def __init__(self, algorithms: Mapping[str, str]) -> None:
        self._algorithms = algorithms
        self._made: dict[tuple[str, int, int], list[Part]] = {}

    def part(self, kind: str, size: int, ranks: int, place: int) -> Part:
        """What the rank with number `place` does. Raises InputError for an algorithm that does not exist."""
        size = 0 if kind == "barrier" else size // ranks if kind in _PARTS else size
        key = (kind, size, ranks)
        if key not in self._made:
            algorithm = self._algorithms.get(kind, "")
            schedule = Schedule.pattern(kind, ranks=ranks, bytes=size, algorithm=algorithm)
            self._made[key] = list(_parts(schedule.to_goal()))
        return self._made[key][place]


def _parts(goal: str) -> Iterator[Part]:
    """The ranks in GOAL text that Idlewave has written."""
    part: Part | None = None
    for line in goal.splitlines():
        if line.startswith("rank "):
            part = Part([], [])
        elif line == "}" and part is not None:
            yield part
        elif part is not None and (found := _OP.match(line)):
            _, calc, kind, size, peer = found.groups()
            part.ops.append(Op("calc", int(calc), 0) if calc else Op(kind, int(size), int(peer)))
        elif part is not None and (found := _REQUIRES.match(line)):
            part.requirements.append((int(found[1]) - 1, found[2], int(found[3]) - 1))
