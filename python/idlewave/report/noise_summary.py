"""The numbers of measured noise that figures and sentences need: by magnitude of the detours, and over all cores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..formatting import SPACE

if TYPE_CHECKING:
    from ..measure import NoiseMeasurement

_UNITS = (("s", 12), ("ms", 9), ("µs", 6), ("ns", 3), ("ps", 0))


def cores_in_seconds(noise: NoiseMeasurement) -> pd.DataFrame:
    """core, duration_s, overhead (a share), as the plots of detours take them."""
    cores = noise.cores
    return pd.DataFrame(
        {"core": cores["core"], "duration_s": cores["duration_ps"] / 1e12, "overhead": cores["overhead"]}
    )


def magnitudes(noise: NoiseMeasurement) -> pd.DataFrame:
    """core, decade (label), overhead: the share of each core's time in detours of each decade of length.

    All cores have all decades from the shortest detour to the longest, shortest first.
    """
    detours = noise.detours[noise.detours["length_ps"] > 0]
    columns = ["core", "decade", "overhead"]
    if detours.empty:
        return pd.DataFrame(columns=columns)
    exponents = np.floor(np.log10(detours["length_ps"].to_numpy(dtype=float))).astype(int)
    sums = detours["length_ps"].groupby([detours["core"], exponents]).sum()
    durations = noise.cores.set_index("core")["duration_ps"]
    rows = [
        (core, decade_label(exponent), float(sums.get((core, exponent), 0)) / duration)
        for core, duration in durations.items()
        for exponent in range(int(exponents.min()), int(exponents.max()) + 1)
    ]
    return pd.DataFrame(rows, columns=columns)


def decade_label(exponent: int) -> str:
    """The decade from 10^exponent ps on, in words: 6 -> "1–10 µs", 8 -> "0.1–1 ms"."""
    below, above = _power(exponent), _power(exponent + 1)
    if below[1] != above[1]:
        below = ("0.1", above[1])
    return f"{below[0]}–{above[0]}{SPACE}{above[1]}"


def _power(exponent: int) -> tuple[str, str]:
    unit, power = next(item for item in _UNITS if exponent >= item[1])
    return str(10 ** (exponent - power)), unit


@dataclass(frozen=True)
class NoiseSummary:
    """Noise over all cores: mean, lowest and highest overhead (shares), the decade of length with most of it."""

    cores: int
    detours: int
    overhead: float
    lowest: float
    highest: float
    longest_ps: float
    decade: str | None
    decade_share: float


def noise_summary(noise: NoiseMeasurement) -> NoiseSummary:
    """The numbers of all cores together; the mean overhead is weighted by the duration of each core's recording."""
    cores = noise.cores
    duration = float(cores["duration_ps"].sum())
    by_decade = magnitudes(noise).groupby("decade", sort=False)["overhead"].sum()
    total = float(by_decade.sum())
    return NoiseSummary(
        cores=len(cores),
        detours=len(noise.detours),
        overhead=float((cores["overhead"] * cores["duration_ps"]).sum() / duration) if duration > 0 else 0.0,
        lowest=float(cores["overhead"].min()) if len(cores) else 0.0,
        highest=float(cores["overhead"].max()) if len(cores) else 0.0,
        longest_ps=float(cores["longest_ps"].max()) if len(noise.detours) else 0.0,
        decade=str(by_decade.idxmax()) if total > 0 else None,
        decade_share=float(by_decade.max()) / total if total > 0 else 0.0,
    )
