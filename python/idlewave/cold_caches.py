"""What messages take longer after a computation, which drives the library and the buffers out of the caches: part of a
machine."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from . import _core
from .digests import digest_of
from .units import PICOSECONDS

_NS = PICOSECONDS["ns"]


@dataclass(frozen=True)
class ColdCaches:
    """What calls of a rank take longer because it has computed before them. Times in ps.

    The first call takes `call` longer after a computation of `call_after` or more, and in proportion less after a
    shorter one. The two ends of a message share what its buffers take: `buffers` has (bytes, time), by ascending size,
    after a computation of `buffer_after` or more since the last message of the same kind, peer and tag; sizes between
    two of them lie on the line between these, and larger ones on the line through the last two.
    """

    call: int
    call_after: int
    buffer_after: int
    buffers: tuple[tuple[int, int], ...] = ()

    def core(self) -> _core.ColdCaches:
        """The same as the compiled core sees it."""
        call_after, buffer_after = (max(1, round(time / _NS)) for time in (self.call_after, self.buffer_after))
        return _core.ColdCaches(self.call, call_after, buffer_after, self.buffers)

    def exchange(self, computed: int, size: int) -> int:
        """What a call that sends and receives a message of `size` bytes takes longer after a computation of `computed`
        ps; ps."""
        return self.core().exchange(round(computed / _NS), size) * _NS


def core_of(cold_caches: ColdCaches | None) -> _core.ColdCaches:
    """The costs as the compiled core sees them; None: there are none."""
    return ColdCaches(0, 1, 1).core() if cold_caches is None else cold_caches.core()


def described(cold_caches: ColdCaches | None) -> dict[str, Any]:
    """The costs as an option of a provenance: their digest; nothing without them."""
    return {} if cold_caches is None else {"cold_caches": digest_of(asdict(cold_caches))}
