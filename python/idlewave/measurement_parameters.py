"""The parameters of measurements, for the functions that measure and for the commands.

They are beside the package `measure`, which takes long to load: a command shows its help without it. The largest values
are those of the probes; a network is measured up to three times, the last time for three times as long.
"""

from __future__ import annotations

from .parameters import Parameter

NOISE_SECONDS = Parameter(3.0, "Seconds on each core", least=0.01, most=86_400)
NETWORK_SECONDS = Parameter(
    3.0, "Seconds of measuring; where the fit fails, twice and then three times as many", least=0.5, most=28_800
)
MAX_SIZE = Parameter(256 * 1024, "Largest message", unit="bytes", least=64, most=2**30)
