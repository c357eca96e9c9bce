"""The noise of a machine from the [noise] table of a machine.toml: recordings of detours, and periodic ones."""

from __future__ import annotations

from ..input.files import Origin
from ..noise_models import REACHES, AnyNoise, Noise, NoiseOrigin, buffer_of_times
from .noise_schema import Mixture, NoiseTable, NoNoise, PeriodicSource, TraceSource


def noise_of(table: NoiseTable | None, origin: Origin) -> tuple[AnyNoise | None, tuple[str, ...]]:
    """The noise of a machine, None without a table; and the parts of a CPU's work that the noise reaches."""
    if table is None:
        return None, REACHES
    if isinstance(table, NoNoise):
        return None, table.reaches
    if isinstance(table, PeriodicSource | TraceSource):
        return fixed_detours(table, table.phase, "noise", origin), table.reaches

    from .random_noise_reader import mixture_of, random_detours  # most commands need no random detours

    if isinstance(table, Mixture):
        return mixture_of(table, origin), table.reaches
    return random_detours(table, table.phase, "noise", origin), table.reaches


def origin_of(table: NoiseTable | None) -> NoiseOrigin | None:
    """Where the noise was recorded; None if the table does not say."""
    if table is None or isinstance(table, NoNoise) or (not table.host and table.core_wait_share is None):
        return None
    return NoiseOrigin(table.host, table.core_wait_share)


def fixed_detours(
    source: PeriodicSource | TraceSource, phase: str | tuple[int, ...], key: str, origin: Origin
) -> Noise:
    """Detours at fixed times of a period. Raises InputError naming the key of their file."""
    if isinstance(source, PeriodicSource):
        return Noise(buffer_of_times([0]), buffer_of_times([source.length]), source.period, phase)
    from ..detour_file import read_detours

    starts, lengths = read_detours(origin.file(source.file, f"{key}.file"))
    return Noise(starts, lengths, source.period, phase)
