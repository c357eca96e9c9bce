"""Models that run on the kernel of the simulator, to measure it and to begin with (docs/kernel.md)."""

from ..kernel import SCHEDULERS, EventRun
from .epidemic import EpidemicRun, epidemic
from .flood import FloodRun, flood
from .phold import phold

__all__ = ["SCHEDULERS", "EpidemicRun", "EventRun", "FloodRun", "epidemic", "flood", "phold"]
