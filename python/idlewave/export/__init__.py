"""A recorded timeline in other formats: for ui.perfetto.dev, as OTF2 archive, as a picture; and a trace for Pipit.

>>> ops = idlewave.simulate(schedule, machine, record=True).ops_to_arrow()
>>> write_perfetto(ops, "timeline.pftrace", name="allreduce")
>>> plot_timeline(ops, ranks=range(8)).savefig("timeline.pdf")

A library is loaded when its format is first written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .formats import ENDINGS, writer_for
from .otf2 import write_otf2
from .perfetto import write_perfetto

if TYPE_CHECKING:
    from .picture import plot_timeline
    from .pipit import pipit_events

__all__ = ["ENDINGS", "pipit_events", "plot_timeline", "write_otf2", "write_perfetto", "writer_for"]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name == "plot_timeline":
            from .picture import plot_timeline

            return plot_timeline
        if name == "pipit_events":
            from .pipit import pipit_events

            return pipit_events
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
