"""The tables of a noise-signature.toml (docs/noise.md)."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from ...input.value_types import Amount, Closed, Cpu, Number

Period = Annotated[float, Meta(ge=1000, le=1e30, description="a number of ps, of at least 1 ns")]
Share = Annotated[float, Meta(ge=0, le=1, description="a number from 0 to 1")]
Numbers = Annotated[list[Amount], Meta(min_length=1, description="a list of at least one number")]


class LengthTable(Closed):
    """source.length: a law, and its numbers."""

    kind: Literal["fixed", "exponential", "lognormal", "pareto", "empirical"]
    numbers: Numbers


class SourceTable(Closed):
    """[[source]]."""

    name: str
    core: Cpu
    kind: Literal["periodic", "random"]
    period_ps: Period
    length: LengthTable
    jitter_ps: Amount = 0.0
    share: Share = 1.0


class GoodnessTable(Closed):
    """[[goodness]]."""

    core: Cpu
    overhead: Number
    fitted_overhead: float
    ks: float
    spectrum_distance: float


class CheckTable(Closed):
    """[[check]]."""

    core: Cpu
    name: str
    detours: Annotated[int, Meta(ge=0, description="a whole number from 0 on")]
    length_ps: Amount
    least_ps: Amount
    most_ps: Amount
    mixed: Share = 0.0
    separable: bool = True
    gaps_off: Share = 0.0


class SignatureTable(Closed):
    """A noise-signature.toml."""

    format: Literal[1]
    name: str
    cores: Annotated[list[Cpu], Meta(description="a list of whole numbers that are not negative")]
    source: list[SourceTable] = []  # noqa: RUF012 - msgspec copies it
    goodness: list[GoodnessTable] = []  # noqa: RUF012
    check: list[CheckTable] = []  # noqa: RUF012

    def __post_init__(self) -> None:
        for number, source in enumerate(self.source):
            if source.core not in self.cores:
                raise ValueError(f"source[{number}].core: expected cores of {self.cores}, found {source.core}")
