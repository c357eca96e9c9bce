"""Models of noise, which interrupts a machine's CPUs: a recording of detours, or random detours.

During a detour the CPU stands still; docs/model.md says what that does to a simulated rank.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeGuard, cast, get_args

from . import _core
from .errors import InputError
from .escaping import quote

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Times = npt.NDArray[np.int64]

Reach = Literal["o_s", "o_r", "O", "calc", "reduction"]
"""The parts of a CPU's work that noise can lengthen: overheads, costs per byte, computation of the application and of
reductions."""
REACHES: tuple[Reach, ...] = get_args(Reach)


def as_times(values: npt.ArrayLike) -> Times:
    """Times in ps as the core takes them. numpy is imported here, because that takes longer than many simulations."""
    import numpy as np

    return np.ascontiguousarray(values, dtype=np.int64)


def buffer_of_times(values: Iterable[int]) -> Times:
    """The same in a buffer of int64, for which numpy is not needed: `Noise` and `EmpiricalLength` have it as an array
    once somebody reads it there."""
    return cast("Times", values if is_buffer_of_times(values) else array("q", values))


def is_buffer_of_times(values: object) -> TypeGuard[array[int]]:
    """Whether these are times in such a buffer; an array of another type is converted as any sequence is."""
    return isinstance(values, array) and values.typecode == "q"


def times_of(record_of_times: Noise | EmpiricalLength, name: str) -> Times:
    """The times of that name, as the core takes them: an array, or the buffer if nobody has read them yet."""
    held = vars(record_of_times).get(f"_{name}")
    return as_times(getattr(record_of_times, name)) if held is None else held


class _OfTimes:
    """Has times in ps; a buffer (`buffer_of_times`) is kept beside them until they are read."""

    def __post_init__(self) -> None:
        state = vars(self)
        for name in ("starts", "lengths"):
            if is_buffer_of_times(state.get(name)):
                state[f"_{name}"] = state.pop(name)

    if not TYPE_CHECKING:  # else every name would pass for one that the noise has

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401
            state = vars(self)
            held = state.get(f"_{name}")
            if held is not None:
                state[name] = as_times(held)
                state.pop(f"_{name}", None)
            if name not in state:  # another thread may have read it meanwhile
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            return state[name]


@dataclass(frozen=True)
class Noise(_OfTimes):
    """The detours of one period, repeated for ever. During a detour the CPU stands still.

    `starts` and `lengths` are int64 arrays in ps, ascending and separate, inside [0, period). `phase` says where in
    the period each rank is at time 0: "random" (drawn from the run's seed), "same" (one draw for all: co-scheduled),
    or a tuple of times in ps, repeated over the ranks.
    """

    starts: Times
    lengths: Times
    period: int
    phase: str | tuple[int, ...] = "random"

    @property
    def overhead(self) -> float:
        """The share of time that detours take."""
        return float(self.lengths.sum()) / self.period

    def _core(self) -> _core.NoiseTrace:
        return _core.NoiseTrace(
            times_of(self, "starts"),
            times_of(self, "lengths"),
            self.period,
            drawn_phase(self.phase) if isinstance(self.phase, str) else _core.Phase.given,
            [] if isinstance(self.phase, str) else list(self.phase),
        )


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
class EmpiricalLength(_OfTimes):
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
        return _random_detours((self,))


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

    def _core(self) -> _core.MixedNoise:
        return _core.MixedNoise(self.trace._core(), _random_detours(self.random))


AnyNoise = Noise | PoissonNoise | MixedNoise


def drawn_phase(name: str) -> _core.Phase:
    """The phase that is drawn from the seed: random or same. Raises InputError for another name."""
    if name not in ("random", "same"):
        raise InputError(f"noise: expected phase random or same, found {quote(name)}")
    return _core.Phase[name]


def _random_detours(sources: tuple[PoissonNoise, ...]) -> _core.PoissonNoise:
    phases = {drawn_phase(source.phase) for source in sources}
    if len(phases) != 1:
        raise InputError("noise: expected at least one source of random detours, all of one phase")
    return _core.PoissonNoise([(source.interval, source.length._core()) for source in sources], phases.pop())
