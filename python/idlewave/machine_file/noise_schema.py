"""The schema of the [noise] table of a machine.toml (docs/model.md).

Its annotations are types, not texts, as in network_schema.py.
"""

from typing import Annotated, Literal

from msgspec import Meta

from ..input.value_types import Closed, Positive, Time
from ..noise_models import REACHES, Reach
from ..units import PICOSECONDS

Phase = Literal["random", "same"]
Phases = Annotated[
    Phase | Annotated[tuple[Time, ...], Meta(min_length=1)], Meta(description="random, same, or a list of times")
]
Reaches = tuple[Reach, ...]
Share = Annotated[float, Meta(ge=0, le=1, description="a number from 0 to 1")]
_LISTED = "a list of times, or file, a CSV file of detours"


class Exponential(Closed, tag_field="distribution", tag="exponential"):
    """Exponential lengths of mean `mean` that are at least `min`."""

    mean: Time
    min: Time = Time(0)

    def __post_init__(self) -> None:
        if self.min > self.mean:
            raise ValueError(f"min: expected a time no more than mean, found {self.min} ps")


class Uniform(Closed, tag_field="distribution", tag="uniform"):
    """Lengths from `min` to `max`, all equally likely."""

    min: Time
    max: Time

    def __post_init__(self) -> None:
        if self.max < self.min:
            raise ValueError(f"max: expected a time no less than min, found {self.max} ps")


class Lognormal(Closed, tag_field="distribution", tag="lognormal"):
    """Lognormal lengths; `sigma` is the standard deviation of their logarithm."""

    median: Time
    sigma: Positive

    def __post_init__(self) -> None:
        _check_above_0("median", self.median)


class Pareto(Closed, tag_field="distribution", tag="pareto"):
    """Pareto lengths: heavy-tailed, at least `min`."""

    min: Time
    alpha: Positive

    def __post_init__(self) -> None:
        _check_above_0("min", self.min)


class Empirical(Closed, tag_field="distribution", tag="empirical"):
    """Measured lengths: a list, or the lengths in a file of detours. Each is equally likely."""

    lengths: Annotated[tuple[Time, ...], Meta(min_length=1, description=_LISTED)] | None = None
    file: str | None = None

    def __post_init__(self) -> None:
        if (self.lengths is None) == (self.file is None):
            raise ValueError(f"lengths: expected {_LISTED}, found {'both' if self.file else 'nothing'}")


Law = Exponential | Uniform | Lognormal | Pareto | Empirical


class TraceSource(Closed, tag_field="kind", tag="trace"):
    """The detours of a file, repeated each period."""

    file: str
    period: Time


class PeriodicSource(Closed, tag_field="kind", tag="periodic"):
    """One detour a period."""

    period: Time
    length: Time


class PoissonSource(Closed, tag_field="kind", tag="poisson"):
    """Random detours: `rate` of them a second, or `interval` between the end of one and the next, in the mean."""

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
        """The mean time from the end of a detour to the next, ps."""
        return float(self.interval or 0) if self.rate is None else PICOSECONDS["s"] / self.rate


Source = TraceSource | PeriodicSource | PoissonSource


class NoNoise(Closed, tag_field="kind", tag="none"):
    """[noise] of kind "none"."""

    reaches: Reaches = REACHES


class TraceNoise(TraceSource, tag="trace"):
    """[noise] of kind "trace"."""

    phase: Phases = "random"
    reaches: Reaches = REACHES
    host: str = ""
    core_wait_share: Share | None = None


class PeriodicNoise(PeriodicSource, tag="periodic"):
    """[noise] of kind "periodic"."""

    phase: Phases = "random"
    reaches: Reaches = REACHES
    host: str = ""
    core_wait_share: Share | None = None


class RandomNoise(PoissonSource, tag="poisson"):
    """[noise] of kind "poisson"."""

    phase: Phase = "random"
    reaches: Reaches = REACHES
    host: str = ""
    core_wait_share: Share | None = None


class Mixture(Closed, tag_field="kind", tag="mixture"):
    """[noise] of kind "mixture": several sources, which share one phase."""

    source: Annotated[tuple[Source, ...], Meta(min_length=1, description="tables [[noise.source]]")]
    phase: Phase = "random"
    reaches: Reaches = REACHES
    host: str = ""
    core_wait_share: Share | None = None


NoiseTable = NoNoise | TraceNoise | PeriodicNoise | RandomNoise | Mixture


def _check_above_0(key: str, time: int) -> None:
    if time == 0:
        raise ValueError(f"{key}: expected a time above 0, found 0")
