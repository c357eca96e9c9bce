"""Measure a machine: its noise on each core, its network between two MPI ranks.

>>> noise = measure_noise(seconds_per_core=3)
>>> network = measure_network(seconds=10)
>>> write_machine("machine", noise, network, name="this")
>>> Measurement.load("machine").network.fit.ranges[0].parameters.L  # ps
"""

from ..environment import describe
from .files import Measurement, machine_toml, write_machine
from .network import LogGP, Network, NetworkMeasurement, Parameters, Range, estimate, measure_network, prtt
from .noise import NoiseMeasurement, measure_noise

__all__ = [
    "LogGP",
    "Measurement",
    "Network",
    "NetworkMeasurement",
    "NoiseMeasurement",
    "Parameters",
    "Range",
    "describe",
    "estimate",
    "machine_toml",
    "measure_network",
    "measure_noise",
    "prtt",
    "write_machine",
]
