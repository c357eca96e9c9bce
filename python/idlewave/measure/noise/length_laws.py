"""The lengths of a source's detours: a law with few parameters if one fits, else the measured lengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import scipy

from ...errors import InputError
from ...escaping import found
from ...random_noise import DetourLength, EmpiricalLength, ExponentialLength, FixedLength, LognormalLength, ParetoLength
from .compare import ks_distance

KINDS = {"fixed": 1, "exponential": 2, "lognormal": 2, "pareto": 2, "empirical": 0}
"""The laws, with the number of their parameters; empirical has as many numbers as there are lengths."""

_MOST_LENGTHS = 1000
_SAME = 0.01  # lengths with a smaller relative difference from the median are equal
_CRITICAL_KS = 1.63  # times 1 / sqrt(n): 1 % (Kolmogorov)
_NEAR_KS = 0.05  # a law this near to the sample is good enough, however large the sample

Lengths = npt.NDArray[np.int64]


@dataclass(frozen=True)
class LengthLaw:
    """Lengths in ps. `numbers` by `kind`: fixed: the length; exponential: least, mean above it; lognormal: median,
    sigma; pareto: least, alpha; empirical: ascending lengths, each as likely.
    """

    kind: str
    numbers: tuple[float, ...]

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"length: expected one of {', '.join(KINDS)}, found {found(self.kind)}")
        if len(self.numbers) != (KINDS[self.kind] or max(len(self.numbers), 1)):
            raise InputError(
                f"length: expected {KINDS[self.kind] or 'some'} numbers of {self.kind}, found {found(self.numbers)}"
            )
        if not all(np.isfinite(self.numbers)) or min(self.numbers) < 0:
            raise InputError(f"length: expected numbers that are not negative, found {found(self.numbers)}")
        if self.kind == "pareto" and self.numbers[1] == 0:
            raise InputError("length: expected an alpha of pareto above 0, found 0")
        if self.kind in ("lognormal", "pareto") and self.numbers[0] == 0:
            raise InputError(f"length: expected a first number of {self.kind} above 0, found 0")

    def quantile(self, part: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """The length, in ps, that the share `part` (in [0, 1)) of detours does not exceed."""
        u = np.asarray(part, dtype=np.float64)
        n = self.numbers
        if self.kind == "fixed":
            return np.full(u.shape, n[0])
        if self.kind == "exponential":
            return np.asarray(n[0] - n[1] * np.log1p(-u))
        with np.errstate(over="ignore"):  # lengths beyond the largest number are infinite
            if self.kind == "lognormal":
                return np.asarray(n[0] * np.exp(n[1] * scipy.special.ndtri(np.maximum(u, np.finfo(float).tiny))))
            if self.kind == "pareto":
                return np.asarray(n[0] * (1 - u) ** (-1 / n[1]))
        return np.asarray(n)[np.minimum((u * len(n)).astype(np.int64), len(n) - 1)]

    @property
    def mean(self) -> float:
        """The mean, ps; infinite for a Pareto law with an alpha of at most 1."""
        n = self.numbers
        if self.kind == "fixed":
            return n[0]
        if self.kind == "exponential":
            return n[0] + n[1]
        if self.kind == "lognormal":
            with np.errstate(over="ignore"):
                return float(n[0] * np.exp(n[1] ** 2 / 2))
        if self.kind == "pareto":
            return n[0] * n[1] / (n[1] - 1) if n[1] > 1 else float("inf")
        return float(np.mean(n))

    def scaled(self, factor: float) -> LengthLaw:
        """The law of lengths `factor` times as long."""
        shapes = 1 if self.kind in ("lognormal", "pareto") else len(self.numbers)
        return replace(self, numbers=tuple(x * factor if i < shapes else x for i, x in enumerate(self.numbers)))

    def for_simulator(self) -> DetourLength:
        """The same law for the simulator."""
        n = self.numbers
        if self.kind == "fixed":
            return FixedLength(round(n[0]))
        if self.kind == "exponential":
            return ExponentialLength(n[0] + n[1], n[0])
        if self.kind == "lognormal":
            return LognormalLength(n[0], n[1])
        if self.kind == "pareto":
            return ParetoLength(n[0], n[1])
        return EmpiricalLength(np.round(n).astype(np.int64))

    def distance(self, lengths: Lengths) -> float:
        """The largest difference of its distribution function from that of `lengths` (Kolmogorov and Smirnov)."""
        return ks_distance(self.quantile((np.arange(4000) + 0.5) / 4000), lengths)


def fit_lengths(lengths: Lengths) -> LengthLaw:
    """The best law by Bayes's information criterion (fixed, exponential, lognormal, Pareto), or the lengths themselves.

    The lengths are used if the best law does not fit (Kolmogorov and Smirnov at 1 %, and a distance above 0.05), or if
    its mean is off by more than a tenth, which would change the overhead. `lengths` in ps, at least one.
    """
    values = np.maximum(np.sort(np.asarray(lengths, dtype=np.float64)), 1.0)
    middle, mean = float(np.median(values)), float(values.mean())
    most = float(np.mean(np.abs(values / middle - 1) <= _SAME))
    if most >= 0.98 and abs(mean / middle - 1) <= _SAME:
        return LengthLaw("fixed", (mean,))
    if len(values) < 8:
        return _empirical(values)
    best = min(_laws(values), key=lambda law: _bic(law, values))
    off = best.distance(values.astype(np.int64))
    good = off <= max(_CRITICAL_KS / np.sqrt(len(values)), _NEAR_KS)
    return best if good and abs(best.mean / values.mean() - 1) <= 0.1 else _empirical(values)


def _empirical(values: npt.NDArray[np.float64]) -> LengthLaw:
    """The lengths themselves, or, if they are many, the means of groups of equal size: this preserves the overhead."""
    count = min(len(values), _MOST_LENGTHS)
    taken = np.interp(
        np.linspace(0, len(values), count + 1), np.arange(len(values) + 1), np.append(0, np.cumsum(values))
    )
    return LengthLaw("empirical", tuple((np.diff(taken) * count / len(values)).round(1).tolist()))


def _laws(values: npt.NDArray[np.float64]) -> Sequence[LengthLaw]:
    least, logs = float(values[0]), np.log(values)
    above = float(values.mean()) - least
    exponent = float((logs - logs[0]).mean())
    return [
        LengthLaw("exponential", (least, above)),
        LengthLaw("lognormal", (float(np.exp(logs.mean())), float(logs.std()))),
        LengthLaw("pareto", (least, 1 / exponent)),
    ]


def _bic(law: LengthLaw, values: npt.NDArray[np.float64]) -> float:
    first, second = law.numbers
    if law.kind == "exponential":
        density = scipy.stats.expon.logpdf(values, first, second)
    elif law.kind == "lognormal":
        density = scipy.stats.lognorm.logpdf(values, second, scale=first)
    else:
        density = scipy.stats.pareto.logpdf(values, second, scale=first)
    return float(2 * np.log(len(values)) - 2 * density.sum())
