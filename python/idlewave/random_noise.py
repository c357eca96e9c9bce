"""Random detours: the laws of their lengths, sources of them, and mixtures with a recording."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import _core
from .errors import InputError
from .noise_models import Noise, OfTimes, as_times, drawn_phase, times_of

if TYPE_CHECKING:
    from .noise_models import Times


@dataclass(frozen=True)
class FixedLength:
    """All detours take `length` ps."""

    length: int

    @property
    def mean(self) -> float:
        """The mean length, ps."""
        return float(self.length)

    def _core(self) -> _core.FixedLength:
        return _core.FixedLength(self.length)


@dataclass(frozen=True)
class ExponentialLength:
    """Lengths of mean `mean` ps that are at least `min` ps, and beyond it exponential."""

    mean: float
    min: float = 0.0

    def _core(self) -> _core.ExponentialLength:
        return _core.ExponentialLength(self.mean, self.min)


@dataclass(frozen=True)
class UniformLength:
    """Any whole number of ps from `min` to `max`, both included, all equally likely."""

    min: int
    max: int

    @property
    def mean(self) -> float:
        """The mean length, ps."""
        return (self.min + self.max) / 2

    def _core(self) -> _core.UniformLength:
        return _core.UniformLength(self.min, self.max)


@dataclass(frozen=True)
class LognormalLength:
    """Lognormal lengths: `median` (ps) times exp(`sigma` z), z standard normal."""

    median: float
    sigma: float

    @property
    def mean(self) -> float:
        """The mean length, ps."""
        return self.median * math.exp(self.sigma**2 / 2)

    def _core(self) -> _core.LognormalLength:
        return _core.LognormalLength(self.median, self.sigma)


@dataclass(frozen=True)
class ParetoLength:
    """Heavy-tailed lengths: longer than x ps with probability (`min` / x) ** `alpha`."""

    min: float
    alpha: float

    @property
    def mean(self) -> float:
        """The mean length, ps; infinite for an alpha of at most 1."""
        return self.alpha * self.min / (self.alpha - 1) if self.alpha > 1 else math.inf

    def _core(self) -> _core.ParetoLength:
        return _core.ParetoLength(self.min, self.alpha)


@dataclass(frozen=True)
class EmpiricalLength(OfTimes):
    """One of the measured `lengths`, an int64 array in ps, all equally likely."""

    lengths: Times

    @property
    def mean(self) -> float:
        """The mean length, ps."""
        return float(self.lengths.mean())

    def _core(self) -> _core.EmpiricalLength:
        return _core.EmpiricalLength(times_of(self, "lengths"))


DetourLength = FixedLength | ExponentialLength | UniformLength | LognormalLength | ParetoLength | EmpiricalLength


@dataclass(frozen=True)
class PoissonNoise:
    """Random detours: between two of them the CPU is available for an exponential time of mean `interval` ps.

    Each rank has detours of its own, drawn from the run's seed, or, co-scheduled, all have the same ones (`phase`
    "random" or "same").
    """

    interval: float
    length: DetourLength
    phase: str = "random"

    @property
    def overhead(self) -> float:
        """The share of time that detours take, in the long run."""
        mean = self.length.mean
        return mean / (mean + self.interval) if math.isfinite(mean) else 1.0

    def detours(self, seed: int, rank: int, until: int) -> tuple[Times, Times]:
        """Starts and lengths, in ps, of the detours of a rank that begin before the time `until`, under a seed."""
        return self._core().detours(seed, rank, until)

    def _core(self) -> _core.PoissonNoise:
        return _core_of((self,))


@dataclass(frozen=True)
class MixedNoise:
    """The detours of `trace`, such as periodic ones, together with those of the `random` sources.

    The intervals of the random sources count only the time between the detours of the trace. All sources have one
    phase, "random" or "same".
    """

    trace: Noise
    random: tuple[PoissonNoise, ...]

    @property
    def overhead(self) -> float:
        """The share of time that detours take, in the long run."""
        taken = sum(source.length.mean / source.interval for source in self.random)  # per unit of CPU time
        return 1 - (1 - self.trace.overhead) / (1 + taken)

    def detours(self, seed: int, rank: int, until: int) -> tuple[Times, Times]:
        """Starts and lengths, in ps, of the detours of a rank that begin before the time `until`, under a seed.

        A detour of the trace that falls into a random one is a row of its own, and lengthens the other.
        """
        import numpy as np

        core = self.trace._core()
        phase = core.phase(seed, rank)
        starts, lengths = _core_of(self.random).detours(seed, rank, until)  # in the time between the trace's
        begin = as_times([core.finish(phase, 0, time) for time in starts.tolist()])
        end = as_times([core.finish(phase, 0, time) for time in (starts + lengths).tolist()])
        random, recorded = begin < until, self.trace.detours(seed, rank, until)
        begin, length = begin[random], (end - begin)[random]
        return np.concatenate([begin, recorded[0]]), np.concatenate([length, recorded[1]])

    def _core(self) -> _core.MixedNoise:
        return _core.MixedNoise(self.trace._core(), _core_of(self.random))


def _core_of(sources: tuple[PoissonNoise, ...]) -> _core.PoissonNoise:
    phases = {drawn_phase(source.phase) for source in sources}
    if len(phases) != 1:
        raise InputError("noise: expected at least one source of random detours, all of one phase")
    return _core.PoissonNoise([(source.interval, source.length._core()) for source in sources], phases.pop())
