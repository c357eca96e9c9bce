"""The [noise] table of a machine.toml (docs/model.md), and the noise that it amounts to."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from .detour_file import read_detours
from .input import checked
from .input.files import Origin
from .input.kinds import Closed, Positive, Time
from .noise import (
    REACHES,
    AnyNoise,
    DetourLength,
    EmpiricalLength,
    ExponentialLength,
    FixedLength,
    LognormalLength,
    MixedNoise,
    Noise,
    ParetoLength,
    PoissonNoise,
    Reach,
    UniformLength,
    as_times,
)
from .units import PICOSECONDS

Phase = Literal["random", "same"]
Phases = Annotated[
    Phase | Annotated[tuple[Time, ...], Meta(min_length=1)], Meta(description="random, same, or a list of times")
]
Reaches = tuple[Reach, ...]
_LISTED = "a list of times, or file, a CSV file of detours"


class Exponential(Closed, tag_field="distribution", tag="exponential"):
    """Lengths of a mean, from a least one on."""

    mean: Time
    min: Time = Time(0)

    def __post_init__(self) -> None:
        if self.min > self.mean:
            raise ValueError(f"min: expected a time no more than mean, found {self.min} ps")


class Uniform(Closed, tag_field="distribution", tag="uniform"):
    """Lengths between two."""

    min: Time
    max: Time

    def __post_init__(self) -> None:
        if self.max < self.min:
            raise ValueError(f"max: expected a time no less than min, found {self.max} ps")


class Lognormal(Closed, tag_field="distribution", tag="lognormal"):
    """Lengths by their median and the deviation of their logarithm."""

    median: Time
    sigma: Positive

    def __post_init__(self) -> None:
        _check_above_0("median", self.median)


class Pareto(Closed, tag_field="distribution", tag="pareto"):
    """Heavy-tailed lengths."""

    min: Time
    alpha: Positive

    def __post_init__(self) -> None:
        _check_above_0("min", self.min)


class Empirical(Closed, tag_field="distribution", tag="empirical"):
    """Lengths that were seen: a list, or those in a file of detours."""

    lengths: Annotated[tuple[Time, ...], Meta(min_length=1, description=_LISTED)] | None = None
    file: str | None = None

    def __post_init__(self) -> None:
        if (self.lengths is None) == (self.file is None):
            raise ValueError(f"lengths: expected {_LISTED}, found {'both' if self.file else 'nothing'}")


Law = Exponential | Uniform | Lognormal | Pareto | Empirical


class TraceSource(Closed, tag_field="kind", tag="trace"):
    """Detours of a file, repeated."""

    file: str
    period: Time


class PeriodicSource(Closed, tag_field="kind", tag="periodic"):
    """One detour a period."""

    period: Time
    length: Time


class PoissonSource(Closed, tag_field="kind", tag="poisson"):
    """Detours at random: so many a second, or at such a mean distance."""

    length: Annotated[str | Law, Meta(description="a time, or a table with a distribution")]
    rate: Positive | None = None
    interval: Time | None = None

    def __post_init__(self) -> None:
        if (self.rate is None) == (self.interval is None):
            both = "nothing" if self.rate is None else "both"
            raise ValueError(f"interval: expected either a time, interval, or detours a second, rate, found {both}")
        if not PICOSECONDS["ns"] <= self.picoseconds < 2**62:
            key, said = ("interval", f"{self.interval} ps") if self.rate is None else ("rate", str(self.rate))
            raise ValueError(
                f"{key}: expected 1 ns or more, and less than 50 days, from one detour to the next, found {said}"
            )

    @property
    def picoseconds(self) -> float:
        """The mean distance."""
        return float(self.interval or 0) if self.rate is None else PICOSECONDS["s"] / self.rate


Source = TraceSource | PeriodicSource | PoissonSource


class NoNoise(Closed, tag_field="kind", tag="none"):
    """No noise."""

    reaches: Reaches = REACHES


class TraceNoise(TraceSource, tag="trace"):
    """A trace alone."""

    phase: Phases = "random"
    reaches: Reaches = REACHES


class PeriodicNoise(PeriodicSource, tag="periodic"):
    """A periodic detour alone."""

    phase: Phases = "random"
    reaches: Reaches = REACHES


class RandomNoise(PoissonSource, tag="poisson"):
    """Random detours alone."""

    phase: Phase = "random"
    reaches: Reaches = REACHES


class Mixture(Closed, tag_field="kind", tag="mixture"):
    """Several sources, of one phase."""

    source: Annotated[tuple[Source, ...], Meta(min_length=1, description="tables [[noise.source]]")]
    phase: Phase = "random"
    reaches: Reaches = REACHES


NoiseTable = NoNoise | TraceNoise | PeriodicNoise | RandomNoise | Mixture


def noise_of(table: NoiseTable | None, origin: Origin) -> tuple[AnyNoise | None, tuple[str, ...]]:
    """The noise of a machine (None without a table), and what of a CPU's work it reaches. Raises InputError."""
    if table is None:
        return None, REACHES
    if isinstance(table, NoNoise):
        return None, table.reaches
    if isinstance(table, Mixture):
        return _mixture(table, origin), table.reaches
    return _noise(table, table.phase, "noise", origin), table.reaches


def _mixture(table: Mixture, origin: Origin) -> AnyNoise:
    found = [_noise(row, table.phase, f"noise.source[{i}]", origin) for i, row in enumerate(table.source)]
    traces = [source for source in found if isinstance(source, Noise)]
    random = tuple(source for source in found if isinstance(source, PoissonNoise))
    if len(traces) > 1:
        raise origin.refusal("noise.source", "at most one trace or periodic source", f"{len(traces)} of them")
    if not random:
        return traces[0]
    quiet = Noise(as_times([]), as_times([]), PICOSECONDS["s"], table.phase)
    return MixedNoise(traces[0] if traces else quiet, random)


def _noise(source: Source, phase: str | tuple[int, ...], where: str, origin: Origin) -> Noise | PoissonNoise:
    if isinstance(source, PeriodicSource):
        return Noise(as_times([0]), as_times([source.length]), source.period, phase)
    if isinstance(source, TraceSource):
        starts, lengths = read_detours(origin.file(source.file, f"{where}.file"))
        return Noise(starts, lengths, source.period, phase)
    return PoissonNoise(source.picoseconds, _length(source.length, f"{where}.length", origin), str(phase))


def _length(said: str | Law, where: str, origin: Origin) -> DetourLength:
    if isinstance(said, str):
        return FixedLength(checked(said, Time, origin.name, form="TOML", key=where))
    if isinstance(said, Exponential):
        return ExponentialLength(float(said.mean), float(said.min))
    if isinstance(said, Uniform):
        return UniformLength(said.min, said.max)
    if isinstance(said, Lognormal):
        return LognormalLength(float(said.median), said.sigma)
    if isinstance(said, Pareto):
        return ParetoLength(float(said.min), said.alpha)
    if said.file is None:
        return EmpiricalLength(as_times(said.lengths or ()))
    lengths = read_detours(origin.file(said.file, f"{where}.file"))[1]
    if len(lengths) == 0:
        raise origin.refusal(f"{where}.file", "a file with at least one detour", said.file)
    return EmpiricalLength(lengths)


def _check_above_0(key: str, time: int) -> None:
    if time == 0:
        raise ValueError(f"{key}: expected a time above 0, found 0")
