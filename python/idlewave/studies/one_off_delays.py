"""Delays that come once: each stops the CPU of one rank from one time on, beside the noise of the machine.

A machine's noise says for all ranks what comes again and again. Here the detours of each rank are listed up to a time,
the delays among them, and the lists of the ranks stand one after another in one long period, in which each rank has a
phase of its own: that is noise as any other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from ..errors import UsageError
from ..escaping import quote
from ..machine import Machine
from ..noise_models import REACHES, Noise, as_times
from ..units import MOST_TIME, exact_time, parse_time

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Times = npt.NDArray[np.int64]

_DELAY = re.compile(r"\s*(\d{1,10})\s*@([^+]*)\+([^+]*)", re.ASCII)


@dataclass(frozen=True)
class Delay:
    """The CPU of `rank` stands still for `length` ps from the time `at`, ps, on."""

    rank: int
    at: int
    length: int

    def __str__(self) -> str:
        return f"{self.rank}@{exact_time(self.at)}+{exact_time(self.length)}"


def parse_delays(text: str) -> tuple[Delay, ...]:
    """The delays in a text such as "32@10ms+13.5ms,5@0ms+1ms": RANK@TIME+LENGTH. Raises UsageError,
    also for delays of one rank that overlap."""
    found = []
    for word in text.split(","):
        match = _DELAY.fullmatch(word)
        try:
            if match is None:
                raise ValueError(f"found {quote(word.strip())}")
            delay = Delay(int(match[1]), parse_time(match[2]), parse_time(match[3]))
        except ValueError as error:
            raise UsageError(f"expected delays as RANK@TIME+LENGTH, such as 32@10ms+13.5ms: {error}") from None
        if delay.at < 0 or delay.length <= 0:
            raise UsageError(f"expected a delay from 0 on, of a length above 0, found {quote(word.strip())}")
        found.append(delay)
    for one, after in pairwise(sorted(found, key=lambda delay: (delay.rank, delay.at))):
        if one.rank == after.rank and after.at < one.at + one.length:
            raise UsageError(f"expected delays of a rank one after another, found {one} and {after}, which overlap")
    return tuple(found)


def delays_text(delays: Sequence[Delay]) -> str:
    """The text that `parse_delays` reads."""
    return ",".join(map(str, delays))


def with_delays(machine: Machine, seed: int, ranks: int, until: int, delays: Sequence[Delay]) -> Machine:
    """`machine` with its noise under `seed` up to the time `until`, ps, and the delays; later times mean nothing.

    A detour that falls into a delay takes no time beside it. The delays lengthen what the noise of the machine
    lengthens, and all work of a CPU where it has no noise. Raises UsageError.
    """
    import numpy as np

    if ranks > (most := MOST_TIME // until):
        raise UsageError(f"expected at most {most:,} ranks for delays in a run of that length, found {ranks:,}")
    starts, lengths = [], []
    for rank in range(ranks):
        own = [delay for delay in delays if delay.rank == rank and delay.at < until]
        begin, length = as_times([delay.at for delay in own]), as_times([delay.length for delay in own])
        if machine.noise is not None:
            detours = machine.noise.detours(seed, rank, until)
            begin, length = np.concatenate([begin, detours[0]]), np.concatenate([length, detours[1]])
        begin, end = _united(begin, np.minimum(begin + length, until))
        starts.append(begin + rank * until)
        lengths.append(end - begin)
    phases = tuple(rank * until for rank in range(ranks))
    noise = Noise(np.concatenate(starts), np.concatenate(lengths), ranks * until, phases)
    reaches = machine.noise_reaches if machine.noise else REACHES
    return replace(machine, noise=noise, noise_reaches=reaches)


def _united(begin: Times, end: Times) -> tuple[Times, Times]:
    """The union of intervals, as ascending, separate ones."""
    import numpy as np

    order = np.argsort(begin, kind="stable")
    begin, end = begin[order], np.maximum.accumulate(end[order]) if len(end) else end
    first = np.ones(len(begin), bool)
    first[1:] = begin[1:] > end[:-1]
    last = np.append(first[1:], True)[: len(first)]
    return begin[first], end[last]
