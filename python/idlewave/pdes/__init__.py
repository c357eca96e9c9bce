"""Models that run on the kernel of the simulator, to measure it and to begin with (docs/kernel.md)."""

from ..event_run import EventRun
from ..kernel import SCHEDULERS
from .epidemic import EpidemicRun, epidemic
from .flood import FloodRun, flood
from .phold import phold

__all__ = ["SCHEDULERS", "EpidemicRun", "EventRun", "FloodRun", "epidemic", "flood", "phold"]
