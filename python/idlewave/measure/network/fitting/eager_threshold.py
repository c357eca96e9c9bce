"""S: the size up to which a send does not wait for its receiver.

It follows from the series `late`: a send whose receiver comes late. Without it (older samples) the MPI library's limit
gives it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....errors import MeasurementError
from ..transports import Transport
from .observations import Observations
from .protocol_changes import LATE, find_switch_near, find_threshold
from .range_model import Medians

HEADER = 96
"""The largest header, in bytes, that a library may include in its eager limit."""


@dataclass(frozen=True)
class Threshold:
    """S and the sizes between which it lies (None if every message counts as eager), and notes about it."""

    S: int | None
    bounds: tuple[int, int] | None = None
    notes: tuple[str, ...] = ()


def eager_threshold(seen: Observations, medians: Medians, limit: int | None, transport: Transport) -> Threshold:
    """S and notes about it; `limit` is the library's limit in bytes. Raises MeasurementError if no message is eager:
    the time of a rendezvous' control messages is known from eager messages alone."""
    if not transport.rendezvous:
        return _without_rendezvous(seen, transport)
    if seen.late.empty:
        return _threshold_near(medians, limit)
    sizes = seen.late["size"].to_numpy(dtype=np.int64)
    waited = seen.late["share"].to_numpy() >= LATE
    eager = find_threshold(sizes, waited)
    if eager == len(sizes):
        beyond = "" if limit is None or limit > sizes[-1] else f", although the library names a limit of {limit} B"
        note = f"No send of up to {sizes[-1]} B waited for its receiver{beyond}: every message is taken as eager."
        return Threshold(None, None, (note,))
    if eager == 0:
        raise MeasurementError(
            f"every send waited for its receiver, from {sizes[0]} B on: no message is eager, and a network of which "
            "every message makes a rendezvous (S = 0) is not estimated"
        )
    last, beyond_it = int(sizes[eager - 1]), int(sizes[eager])
    notes = []
    if beyond_it > last + 1:
        notes.append(f"S lies between {last} and {beyond_it - 1} B: no size between was measured.")
    if limit is not None and not last - 8 <= limit <= beyond_it - 1 + HEADER:
        notes.append(
            f"The MPI library names an eager limit of {limit} B, but a send waits for its receiver from "
            f"{beyond_it} B on: S is what was measured."
        )
    return Threshold(last, (last, beyond_it - 1), tuple(notes))


def _without_rendezvous(seen: Observations, transport: Transport) -> Threshold:
    """S for a transport without rendezvous: a send waits at most until its buffers are emptied."""
    notes = [f"The transport {transport.name} has no rendezvous: every message is eager (S = inf)."]
    sizes, waited = seen.late["size"].to_numpy(dtype=np.int64), seen.late["share"].to_numpy() >= LATE
    if transport.buffered and waited.any():
        free = find_threshold(sizes, waited)
        last = int(sizes[free - 1]) if free else 0
        notes.append(
            f"A send of more than {last} B lasts as long as its receiver is late, because the buffers between them are "
            "full; a simulated one does not."
        )
    return Threshold(None, None, tuple(notes))


def _threshold_near(medians: Medians, limit: int | None) -> Threshold:
    if limit is None:
        note = "The MPI library does not show its eager limit: every message is taken as eager (S = inf)."
        return Threshold(None, None, (note,))
    index = find_switch_near(medians, limit - HEADER - 8, limit)
    if index is None:
        note = "No break is seen at the eager limit that the MPI library names; S is that limit."
        return Threshold(limit, None, (note,))
    last, beyond = int(medians.sizes[index - 1]), int(medians.sizes[index])
    return Threshold(last, (last, beyond - 1))
