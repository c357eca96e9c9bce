"""A recorded timeline in other formats: for ui.perfetto.dev, as OTF2 archive, as a picture; and a trace as OTF2 archive
and for Pipit.

>>> ops = idlewave.simulate(schedule, machine, record=True).ops_to_arrow()
>>> write_perfetto(ops, "timeline.pftrace", name="allreduce")
>>> write_trace_otf2(idlewave.Trace.load("trace"), "run.otf2")
>>> plot_timeline(ops, ranks=range(8)).savefig("timeline.pdf")

A library is loaded when its format is first written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy_names import lazy_names
from .formats import ENDINGS, writer_for
from .otf2 import write_otf2
from .perfetto import write_perfetto

if TYPE_CHECKING:
    from .picture import plot_timeline
    from .pipit import pipit_events
    from .trace_otf2 import write_trace_otf2

__all__ = [
    "ENDINGS",
    "pipit_events",
    "plot_timeline",
    "write_otf2",
    "write_perfetto",
    "write_trace_otf2",
    "writer_for",
]

if not TYPE_CHECKING:  # a type checker would otherwise accept every name
    _LATER = {"pipit_events": "pipit", "plot_timeline": "picture", "write_trace_otf2": "trace_otf2"}
    __getattr__ = lazy_names(__name__, _LATER)
