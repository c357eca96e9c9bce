"""What figures and sentences need of recorded detours: magnitudes, overall figures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from idlewave.report.data import NoiseData
from idlewave.wording import SPACE

_UNITS = (("s", 12), ("ms", 9), ("µs", 6), ("ns", 3), ("ps", 0))


def magnitudes(noise: NoiseData) -> pd.DataFrame:
    """core, decade (label), overhead: the share of each core's time in detours of each decade of length.

    All cores have all decades between the shortest and the longest, shortest first.
    """
    if noise.magnitudes is not None:
        return noise.magnitudes
    detours = noise.detours[noise.detours["length_ps"] > 0]
    columns = ["core", "decade", "overhead"]
    if detours.empty:
        return pd.DataFrame(columns=columns)
    exponents = np.floor(np.log10(detours["length_ps"].to_numpy(dtype=float))).astype(int)
    sums = detours["length_ps"].groupby([detours["core"], exponents]).sum()
    durations = noise.cores.set_index("core")["duration_s"]
    rows = [
        (core, decade_label(exponent), float(sums.get((core, exponent), 0)) * 1e-12 / duration)
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
class NoiseFigures:
    """Noise over all cores: mean, lowest and highest overhead (shares), the decade with most of it."""

    cores: int
    detours: int
    overhead: float
    lowest: float
    highest: float
    longest_ns: float
    decade: str | None
    decade_share: float


def noise_figures(noise: NoiseData) -> NoiseFigures:
    """The overall figures of `noise`, the mean weighted by each core's duration."""
    cores = noise.cores
    duration = float(cores["duration_s"].sum())
    overhead = float((cores["overhead"] * cores["duration_s"]).sum() / duration) if duration > 0 else 0.0
    by_decade = magnitudes(noise).groupby("decade", sort=False)["overhead"].sum()
    total = float(by_decade.sum())
    return NoiseFigures(
        cores=len(cores),
        detours=len(noise.detours),
        overhead=overhead,
        lowest=float(cores["overhead"].min()) if len(cores) else 0.0,
        highest=float(cores["overhead"].max()) if len(cores) else 0.0,
        longest_ns=float(cores["longest_ns"].max()) if len(noise.detours) else 0.0,
        decade=str(by_decade.idxmax()) if total > 0 else None,
        decade_share=float(by_decade.max()) / total if total > 0 else 0.0,
    )
