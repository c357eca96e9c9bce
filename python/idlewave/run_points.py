"""Points in a traced run, written as text: ``"5000"``, ``"12s"``, ``"pcontrol:1"``."""

from __future__ import annotations

import re

from . import _core
from .errors import UsageError
from .escaping import quote
from .trace_format import LATEST
from .units import PICOSECONDS, parse_time


def run_point(text: str, option: str) -> tuple[_core.TracePoint, int]:
    """The kind and the value of a point, as the core has them: a number of calls of each rank, ns since the first rank
    left MPI_Init, or which call of MPI_Pcontrol, from 1 on. Raises UsageError that names the `option`."""
    if not text:
        return _core.TracePoint.none, 0
    if re.fullmatch(r"[0-9]{1,18}", text):
        return _core.TracePoint.calls, int(text)
    if marked := re.fullmatch(r"pcontrol:([0-9]{1,18})", text):
        if int(marked[1]) == 0:
            raise UsageError(f"{option}: expected a call of MPI_Pcontrol from 1 on, found {quote(text)}")
        return _core.TracePoint.pcontrol, int(marked[1])
    try:
        time = parse_time(text)
    except ValueError:
        time = -1
    if time < 0:
        raise UsageError(
            f"{option}: expected a number of calls, a time with a unit or pcontrol:N, such as 5000, 12s or pcontrol:1, "
            f"found {quote(text)}"
        )
    return _core.TracePoint.time, min(time // PICOSECONDS["ns"], LATEST)
