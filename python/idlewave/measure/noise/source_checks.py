"""What the recording says of each source of a signature: a posterior check of its lengths and of its gaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from ...formatting import percent_text, plain, time_text
from .noise_recording import Detours
from .periodic_trains import Flags
from .source_lengths import SourceLength
from .spectrum import lost_until

LEAST_MIXED = 0.05
"""The part of a source's detours that also hold other work from which on this is said."""

_FEWEST_GAPS = 30
_OFF = 0.2  # distance of the gaps from random ones at which a source is doubtful
_CRITICAL = 1.63  # times 1 / sqrt(n): 1 % (Kolmogorov)


@dataclass(frozen=True)
class SourceCheck:
    """What the detours of a core say of its source `name`.

    `detours`: how many of them hold an event of it and nothing else. The mean length of its events is `length_ps`,
    between `least_ps` and `most_ps` (see source_lengths.SourceLength). `mixed`: the part of its detours that also hold
    other work, which is not counted as the source's; unless `separable`, its lengths may hold a competing task's time.
    `gaps_off`: for a random source the distance of its gaps from exponential ones (Kolmogorov and Smirnov), 0 if that
    could be by chance.
    """

    core: int
    name: str
    detours: int
    length_ps: float
    least_ps: float
    most_ps: float
    mixed: float = 0.0
    separable: bool = True
    gaps_off: float = 0.0

    @property
    def doubt(self) -> str:
        """What the recording does not support; empty if nothing."""
        if not self.separable:
            return inseparable(self.most_ps)
        return f"its gaps are not exponential (off by {self.gaps_off:.2f})" if self.gaps_off > _OFF else ""


def check_notes(checks: Sequence[SourceCheck]) -> tuple[str, ...]:
    """Sentences on sources that are mixed with other work, or doubtful."""
    said = []
    for check in checks:
        if not check.separable:
            said.append(f"Core {check.core}: {check.name} is doubtful: {check.doubt}.")
        elif check.mixed >= LEAST_MIXED:
            said.append(mixture_note(f"Core {check.core}: {check.name}", check.mixed, check.least_ps, check.most_ps))
    for core in dict.fromkeys(check.core for check in checks):
        bursts = [check.name for check in checks if check.core == core and check.gaps_off > _OFF]
        if bursts:
            said.append(f"Core {core}: not wholly random, by the gaps between detours: {', '.join(bursts)}.")
    return tuple(said)


def mixture_note(source: str, mixed: float, least_ps: float, most_ps: float) -> str:
    """The sentence on a source of whose detours the part `mixed` also holds other work."""
    text = f"{source}: {percent_text(mixed)} of its detours also hold other work, which is not counted as its own"
    return plain(f"{text}; an event takes {_range(least_ps, most_ps)}.")


def inseparable(most_ps: float) -> str:
    """The doubt about a source whose detours may hold a competing task's time."""
    return plain(f"it cannot be separated from a competing task; its detours take up to {time_text(most_ps)}")


def check_of_periodic(name: str, core: int, found: SourceLength) -> SourceCheck:
    """The check of a periodic source by the lengths of its detours."""
    own = int(found.alone.sum())
    ends = (found.length_ps, found.least_ps, found.most_ps)
    return SourceCheck(core, name, own, *ends, found.mixed, found.separable)


def check_of_random(name: str, core: Detours, own: Flags) -> SourceCheck:
    """The check of a random source, whose detours are `own`: whether the gaps between them are exponential.

    A gap counts only the time in which the core was free, because no detour begins during another.
    """
    starts, lengths = core.starts[own], core.lengths[own]
    least, most = (float(end) for end in np.quantile(lengths, (0.025, 0.975)))
    off = 0.0
    if len(starts) > _FEWEST_GAPS:
        gaps = np.diff(starts - lost_until(starts, core.starts, core.lengths))
        distance = float(scipy.stats.kstest(gaps, "expon", (0, max(gaps.mean(), 1.0))).statistic)
        off = distance if distance > _CRITICAL / np.sqrt(len(gaps)) else 0.0
    return SourceCheck(core.core, name, len(starts), float(lengths.mean()), least, most, gaps_off=off)


def _range(least_ps: float, most_ps: float) -> str:
    return f"{time_text(least_ps)} to {time_text(most_ps)}"
