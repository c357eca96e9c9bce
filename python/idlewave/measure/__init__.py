"""Measure a machine: its noise on each core, its network between two MPI ranks.

>>> noise = measure_noise(seconds_per_core=3)
>>> network = assess_pair()
>>> write_machine("machine", noise, network, name="this")
>>> Measurement.load("machine").machine().network.parameters.L  # ps

The modules for noise are loaded at their first use: the measurement of a network does not need them, and their
statistics take a second to load.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..host_environment import describe
from ..lazy_names import lazy_names
from .network import (
    FittedParameters,
    LogGP,
    Network,
    NetworkMeasurement,
    Range,
    assess_pair,
    estimate,
    measure_network,
    prtt,
)

if TYPE_CHECKING:
    from .machine_files import Measurement, write_machine
    from .noise import NoiseMeasurement, measure_noise
    from .one_sided import OneSidedMeasurement, measure_one_sided
    from .overtime import OvertimeRecording, measure_overtime, read_overtime

__all__ = [
    "FittedParameters",
    "LogGP",
    "Measurement",
    "Network",
    "NetworkMeasurement",
    "NoiseMeasurement",
    "OneSidedMeasurement",
    "OvertimeRecording",
    "Range",
    "assess_pair",
    "describe",
    "estimate",
    "measure_network",
    "measure_noise",
    "measure_one_sided",
    "measure_overtime",
    "prtt",
    "read_overtime",
    "write_machine",
]


if not TYPE_CHECKING:  # a type checker would otherwise accept every name
    _LATER = {
        "Measurement": "machine_files",
        "NoiseMeasurement": "noise",
        "OneSidedMeasurement": "one_sided",
        "OvertimeRecording": "overtime",
        "measure_noise": "noise",
        "measure_one_sided": "one_sided",
        "measure_overtime": "overtime",
        "read_overtime": "overtime",
        "write_machine": "machine_files",
    }

    __getattr__ = lazy_names(__name__, _LATER)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
