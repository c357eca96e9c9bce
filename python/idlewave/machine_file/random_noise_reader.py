"""Random detours, and their mixtures with recordings, from the [noise] table of a machine.toml."""

from __future__ import annotations

from ..input.files import Origin
from ..input.validation import checked
from ..input.value_types import Time
from ..noise_models import AnyNoise, Noise, buffer_of_times
from ..random_noise import (
    DetourLength,
    EmpiricalLength,
    ExponentialLength,
    FixedLength,
    LognormalLength,
    MixedNoise,
    ParetoLength,
    PoissonNoise,
    UniformLength,
)
from ..units import PICOSECONDS
from .noise_reader import fixed_detours
from .noise_schema import (
    Exponential,
    Law,
    Lognormal,
    Mixture,
    Pareto,
    PeriodicSource,
    PoissonSource,
    TraceSource,
    Uniform,
)


def mixture_of(table: Mixture, origin: Origin) -> AnyNoise:
    """Several sources, of which at most one has detours at fixed times. Raises InputError naming the key."""
    traces: list[Noise] = []
    random: list[PoissonNoise] = []
    for i, row in enumerate(table.source):
        key = f"noise.source[{i}]"
        if isinstance(row, PeriodicSource | TraceSource):
            traces.append(fixed_detours(row, table.phase, key, origin))
        else:
            random.append(random_detours(row, table.phase, key, origin))
    if len(traces) > 1:
        raise origin.refusal("noise.source", "at most one trace or periodic source", f"{len(traces)} of them")
    if not random:
        return traces[0]
    quiet = Noise(buffer_of_times([]), buffer_of_times([]), PICOSECONDS["s"], table.phase)
    return MixedNoise(traces[0] if traces else quiet, tuple(random))


def random_detours(source: PoissonSource, phase: str | tuple[int, ...], key: str, origin: Origin) -> PoissonNoise:
    """Detours at random times. Raises InputError naming the key of their lengths."""
    return PoissonNoise(source.picoseconds, _length(source.length, f"{key}.length", origin), str(phase))


def _length(law: str | Law, key: str, origin: Origin) -> DetourLength:
    """The law of the lengths of random detours; a text is the one length of all of them."""
    if isinstance(law, str):
        return FixedLength(checked(law, Time, origin.name, form="TOML", key=key))
    if isinstance(law, Exponential):
        return ExponentialLength(float(law.mean), float(law.min))
    if isinstance(law, Uniform):
        return UniformLength(law.min, law.max)
    if isinstance(law, Lognormal):
        return LognormalLength(float(law.median), law.sigma)
    if isinstance(law, Pareto):
        return ParetoLength(float(law.min), law.alpha)
    if law.file is None:
        return EmpiricalLength(buffer_of_times(law.lengths or ()))
    from ..detour_file import read_detours

    lengths = read_detours(origin.file(law.file, f"{key}.file"))[1]
    if len(lengths) == 0:
        raise origin.refusal(f"{key}.file", "a file with at least one detour", law.file)
    return EmpiricalLength(lengths)
