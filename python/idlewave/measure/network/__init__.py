"""The network between a machine's ranks: samples, and the LogGOPS parameters that they show."""

from .assessment import assess_pair
from .files.network_recording import NetworkMeasurement, read_measurement, read_samples
from .fitting.fitted_ranges import Range
from .fitting.loggp import LogGP, estimate
from .fitting.page_steps import Pages
from .fitting.prediction import FittedParameters, Network, prtt
from .probing.network_run import measure_network

__all__ = [
    "FittedParameters",
    "LogGP",
    "Network",
    "NetworkMeasurement",
    "Pages",
    "Range",
    "assess_pair",
    "estimate",
    "measure_network",
    "prtt",
    "read_measurement",
    "read_samples",
]
