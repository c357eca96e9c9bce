"""The network between a machine's ranks: samples, and the LogGOPS parameters that they show."""

from .loggp import LogGP, Range, estimate
from .probing import NetworkMeasurement, measure_network, read_measurement, read_samples
from .rules import Network, Parameters, prtt

__all__ = [
    "LogGP",
    "Network",
    "NetworkMeasurement",
    "Parameters",
    "Range",
    "estimate",
    "measure_network",
    "prtt",
    "read_measurement",
    "read_samples",
]
