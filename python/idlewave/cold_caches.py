"""The extra time of messages after a computation, which drives the MPI library and the buffers out of the caches: part
of a machine (docs/model.md, R21)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from . import _core
from .digests import digest_of
from .errors import InputError
from .units import PICOSECONDS

_NS = PICOSECONDS["ns"]
_MOST = 50 * 24 * 3600 * PICOSECONDS["s"]
"""Times are below 50 days, as all times of a machine."""


@dataclass(frozen=True)
class ColdCaches:
    """The extra CPU time of messages after a computation. Times in ps, sizes in bytes.

    The first call takes `call` longer after a computation of `call_after` or more, and in proportion less after a
    shorter one. `buffers` has (size, time), by ascending size: the extra time of the two ends of a message together,
    after a computation of `buffer_after` or more since the last message of the same kind, peer and tag. A size between
    two of them lies on the line between these, any other size has the time of the nearest.
    """

    call: int
    call_after: int
    buffer_after: int
    buffers: tuple[tuple[int, int], ...] = ()

    def core(self) -> _core.ColdCaches:
        """The same as the compiled core sees it. Raises InputError for times and sizes that cannot be."""
        for name in ("call", "call_after", "buffer_after"):
            least = 0 if name == "call" else 1
            if not least <= getattr(self, name) < _MOST:
                raise InputError(
                    f"cold caches: {name}: expected {least} ps or more, below 50 days, found {getattr(self, name)}"
                )
        if problem := problem_of(self.buffers):
            raise InputError(f"cold caches: {problem}")
        call_after, buffer_after = (max(1, round(time / _NS)) for time in (self.call_after, self.buffer_after))
        return _core.ColdCaches(self.call, call_after, buffer_after, self.buffers)

    def exchange(self, computed: int, size: int) -> int:
        """The extra time, in ps, of a call that sends and receives a message of `size` bytes, 0 or more, after a
        computation of `computed` ps, 0 or more. Raises InputError as `core` does."""
        return self.core().exchange(round(computed / _NS), size) * _NS


def problem_of(buffers: Sequence[tuple[int, int]]) -> str:
    """Why (size, time) of buffers cannot be: the name of the value, what was expected and found; empty if they can."""
    before = (0, 0)
    for i, (size, time) in enumerate(buffers):
        if not before[0] < size < 2**63:
            return f"buffer[{i}].size: expected more than before, {before[0]}, found {size}"
        if not before[1] <= time < _MOST:
            return f"buffer[{i}].time: expected no less than before, {before[1]} ps, and below 50 days, found {time} ps"
        before = (size, time)
    return ""


def core_of(cold_caches: ColdCaches | None) -> _core.ColdCaches:
    """The costs as the compiled core sees them; None: there are none."""
    return ColdCaches(0, 1, 1).core() if cold_caches is None else cold_caches.core()


def described(cold_caches: ColdCaches | None) -> dict[str, Any]:
    """The costs as an option of a provenance: their digest; nothing without them."""
    return {} if cold_caches is None else {"cold_caches": digest_of(asdict(cold_caches))}
