"""The noise of a machine's cores: recordings, and what they say."""

from .detour import NoiseMeasurement, measure_noise, summarise

__all__ = ["NoiseMeasurement", "measure_noise", "summarise"]
