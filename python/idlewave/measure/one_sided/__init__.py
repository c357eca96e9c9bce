"""One-sided communication, measured against two-sided on the same pair of ranks."""

from .fit import OneSidedFit, OneSidedRange, fit_one_sided
from .samples import OneSidedMeasurement, measure_one_sided, read_one_sided

__all__ = [
    "OneSidedFit",
    "OneSidedMeasurement",
    "OneSidedRange",
    "fit_one_sided",
    "measure_one_sided",
    "read_one_sided",
]
