"""The expected worst loss at scale, and the differences between two machines' noises.

P ranks that wait for each other in every window of length w wait for the slowest of them. If each rank's loss in a
window has the distribution F, independently, the expected worst is E[max] = sum of x (F(x)^P - F(x-)^P) over the losses
x.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from .noise_recording import Detours
from .spectrum import HIGHEST_HZ, Values, binned_loss, lost_until, power_spectrum

RANKS = (1, 10, 100, 1000, 10_000, 100_000, 1_000_000)
WINDOWS_PS = (10**8, 10**9, 10**10, 10**11)
"""100 µs, 1 ms, 10 ms, 100 ms."""

QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999, "longest": 1.0}
_BANDS_PER_OCTAVE = 3


def window_losses(cores: Sequence[Detours], window_ps: int) -> npt.NDArray[np.int64]:
    """The time that detours take of each window of `window_ps`, in ps, of all cores; windows do not overlap."""
    parts = []
    for core in cores:
        edges = np.arange(0, core.duration + 1, window_ps, dtype=np.int64)
        parts.append(np.diff(lost_until(edges, core.starts, core.lengths)))
    return np.concatenate(parts).round().astype(np.int64) if parts else np.array([], dtype=np.int64)


def expected_maximum(losses: npt.ArrayLike, ranks: Sequence[int]) -> Values:
    """The expected largest of P independent draws from `losses`, each as likely, for each P of `ranks`. Exact."""
    values = np.sort(np.asarray(losses, dtype=np.float64))
    if len(values) == 0:
        return np.full(len(ranks), np.nan)
    below = np.concatenate([[-np.inf], np.log(np.arange(1, len(values) + 1) / len(values))])
    # F^P as exp(P log F), which loses no precision for an F near 1.
    return np.array([float((values * np.diff(np.exp(count * below))).sum()) for count in ranks])


def maximum_table(
    cores: Sequence[Detours], ranks: Sequence[int] = RANKS, windows_ps: Sequence[int] = WINDOWS_PS
) -> pd.DataFrame:
    """A row a (window, P): window_ps, ranks, expected_ps, slowdown (1 + expected / window), windows, beyond.

    `windows`: their number in the recording; `beyond`: P is larger, so the worst of P windows is worse than any
    recorded one, and the number is a lower bound. Windows of which the recording has fewer than ten are left out.
    """
    rows = []
    for window in windows_ps:
        losses = window_losses(cores, window)
        if len(losses) < 10:
            continue
        for count, expected in zip(ranks, expected_maximum(losses, ranks), strict=True):
            rows.append((window, count, expected, 1 + expected / window, len(losses), count > len(losses)))
    columns = ["window_ps", "ranks", "expected_ps", "slowdown", "windows", "beyond"]
    return pd.DataFrame(rows, columns=columns)


@dataclass(frozen=True)
class Comparison:
    """Two noises, A and B.

    `figures`: quantity, a, b: overhead, rate_per_s, p50_ps … longest_ps of the detours. `ks`: the largest distance of
    the two distributions of length (0 the same, 1 apart). `spectrum_distance`: half the sum of differences of the
    normalised power in bands of a third of an octave (0 the same, 1 apart; NaN if one is too short for a spectrum).
    `maxima`: window_ps, ranks, a_ps, b_ps, beyond (P is larger than the number of windows in a recording).
    """

    figures: pd.DataFrame
    ks: float
    spectrum_distance: float
    maxima: pd.DataFrame


def compare(a: Sequence[Detours], b: Sequence[Detours]) -> Comparison:
    """The differences of two noises: in overhead, in shape, and at scale."""
    figures = pd.DataFrame({"a": noise_figures(a), "b": noise_figures(b)}).rename_axis("quantity").reset_index()
    both = maximum_table(a).merge(maximum_table(b), on=["window_ps", "ranks"], suffixes=("_a", "_b"))
    maxima = pd.DataFrame(
        {
            "window_ps": both["window_ps"],
            "ranks": both["ranks"],
            "a_ps": both["expected_ps_a"],
            "b_ps": both["expected_ps_b"],
            "beyond": both["beyond_a"] | both["beyond_b"],
        }
    )
    return Comparison(figures, ks_distance(all_lengths(a), all_lengths(b)), spectrum_distance(a, b), maxima)


def noise_figures(cores: Sequence[Detours]) -> dict[str, float]:
    """overhead (a share), rate_per_s (of a core), and quantiles of the lengths in ps."""
    lengths = all_lengths(cores)
    duration = sum(core.duration for core in cores)
    quantiles = {
        f"{name}_ps": float(np.quantile(lengths, part)) if len(lengths) else 0.0 for name, part in QUANTILES.items()
    }
    return {
        "overhead": float(lengths.sum() / duration) if duration else 0.0,
        "rate_per_s": len(lengths) / (duration * 1e-12) if duration else 0.0,
        **quantiles,
    }


def all_lengths(cores: Sequence[Detours]) -> npt.NDArray[np.int64]:
    """The lengths of all cores' detours, in ps."""
    return np.concatenate([core.lengths for core in cores]) if cores else np.array([], dtype=np.int64)


def ks_distance(a: npt.ArrayLike, b: npt.ArrayLike, tolerance: float = 0.0) -> float:
    """The largest difference of two samples' distribution functions (Kolmogorov and Smirnov); 1 if one is empty.

    Lengths with a relative difference below `tolerance` count as the same (Lévy's distance, of logarithms).
    """
    first, second = (np.sort(np.asarray(values, dtype=np.float64)) for values in (a, b))
    if len(first) == 0 or len(second) == 0:
        return float(len(first) != len(second))
    at = np.concatenate([first, second])
    beyond = np.concatenate([at, at * (1 + tolerance)])
    worst = 0.0
    for one, other in ((first, second), (second, first)):
        below = np.searchsorted(one, beyond / (1 + tolerance), side="right") / len(one)
        worst = max(worst, float((below - np.searchsorted(other, beyond, side="right") / len(other)).max()))
    return worst


def spectrum_distance(a: Sequence[Detours], b: Sequence[Detours]) -> float:
    """Half the sum of differences of normalised power in bands of a third of an octave, up to 5 kHz.

    NaN if a recording is shorter than 10 ms: it has no spectrum.
    """
    shortest = min((core.duration for core in (*a, *b)), default=0) * 1e-12
    step = 1 / (2 * HIGHEST_HZ)
    if shortest < 100 * step:
        return math.nan
    lowest = 4 / shortest
    count = int(np.log2(HIGHEST_HZ / lowest) * _BANDS_PER_OCTAVE)
    bands = HIGHEST_HZ * 2.0 ** (-np.arange(max(count, 1), -1, -1) / _BANDS_PER_OCTAVE)
    shares = []
    for cores in (a, b):
        spectrum = power_spectrum([binned_loss(core, step) for core in cores], step)
        power, _ = np.histogram(spectrum.frequency, bands, weights=spectrum.power)
        shares.append(power / power.sum() if power.sum() > 0 else np.full(len(power), 1 / len(power)))
    return float(np.abs(shares[0] - shares[1]).sum() / 2)
