"""The network between a machine's ranks: samples, and the LogGOPS parameters that they show."""

from .loggp import LogGP, estimate
from .pages import Pages
from .probing import measure_network
from .ranges import Range
from .recording import NetworkMeasurement, read_measurement, read_samples
from .rules import Network, Parameters, prtt

__all__ = [
    "LogGP",
    "Network",
    "NetworkMeasurement",
    "Pages",
    "Parameters",
    "Range",
    "estimate",
    "measure_network",
    "prtt",
    "read_measurement",
    "read_samples",
]
