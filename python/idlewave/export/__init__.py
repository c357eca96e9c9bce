"""A recorded timeline in other forms: for ui.perfetto.dev, as OTF2 archive, as a picture.

>>> ops = idlewave.simulate(schedule, machine, record=True).ops_to_arrow()
>>> write_perfetto(ops, "timeline.pftrace", name="allreduce")
"""

from .otf2 import write_otf2
from .perfetto import write_perfetto

__all__ = ["write_otf2", "write_perfetto"]
