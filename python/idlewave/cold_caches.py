"""The extra time of messages after a computation, which drives the MPI library and the buffers out of the caches: part
of a machine (docs/model.md, R21)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from . import _core
from .digests import digest_of
from .errors import InputError
from .field_methods import FieldMethods
from .units import PICOSECONDS

_NS = PICOSECONDS["ns"]
_MOST = 50 * 24 * 3600 * PICOSECONDS["s"]
"""Times are below 50 days, as all times of a machine."""


@dataclass(frozen=True, eq=False, repr=False)
class ColdCaches(FieldMethods):
    """The extra CPU time of messages after a computation. Times in ps, sizes in bytes.

    `calls` has (after, time), by ascending length: the extra time of the next call that begins a message or a
    collective after a computation of the length `after`; linear between two rows and from 0 after none to the first,
    constant beyond the last. `buffers` has (size, time), by ascending size: the extra time of the two ends of a
    message together, after a computation of `buffer_after` or more since the last use of the same buffer, and in
    proportion less after a shorter one; linear between two rows, that of the first one for fewer bytes, and for
    more on the line through the last two; a single row holds for all sizes.
    """

    calls: tuple[tuple[int, int], ...] = ()
    buffer_after: int = 1
    buffers: tuple[tuple[int, int], ...] = ()

    def core(self) -> _core.ColdCaches:
        """The same as the compiled core sees it. Raises InputError for times and sizes that cannot be."""
        if not 1 <= self.buffer_after < _MOST:
            raise InputError(
                f"cold caches: buffer_after: expected 1 ps or more, below 50 days, found {self.buffer_after}"
            )
        if problem := problem_of(self.calls, self.buffers):
            raise InputError(f"cold caches: {problem}")
        calls = [(_whole_ns(after), time) for after, time in self.calls]
        return _core.ColdCaches(calls, _whole_ns(self.buffer_after), self.buffers)

    def exchange(self, computed: int, size: int) -> int:
        """The extra time, in ps, of a call that sends and receives a message of `size` bytes, 0 or more, after a
        computation of `computed` ps, 0 or more. Raises InputError as `core` does."""
        return self.core().exchange(round(computed / _NS), size) * _NS


def _whole_ns(time: int) -> int:
    """`time`, in ps, to the nearest ns; at least one."""
    return max(1, round(time / _NS))


def problem_of(calls: Sequence[tuple[int, int]], buffers: Sequence[tuple[int, int]]) -> str:
    """What is wrong with the rows of both tables: the name of the value, what was expected and found; empty if nothing
    is."""
    return _problem("call", "after", "ps", _MOST, calls) or _problem("buffer", "size", "B", 2**63, buffers)


def _problem(table: str, key: str, unit: str, end: int, rows: Sequence[tuple[int, int]]) -> str:
    before = (0, 0)
    for i, (value, time) in enumerate(rows):
        if not before[0] < value < end:
            expected = f"more than before, {before[0]} {unit}" if value <= before[0] else f"less than {end} {unit}"
            return f"{table}[{i}].{key}: expected {expected}, found {value} {unit}"
        if not before[1] <= time < _MOST:
            return (
                f"{table}[{i}].time: expected no less than before, {before[1]} ps, and below 50 days, found {time} ps"
            )
        before = (value, time)
    return ""


def core_of(cold_caches: ColdCaches | None) -> _core.ColdCaches:
    """The costs as the compiled core sees them; None: there are none."""
    return (cold_caches or ColdCaches()).core()


def described(cold_caches: ColdCaches | None) -> dict[str, Any]:
    """The costs as an option of a provenance: their digest; nothing without them."""
    return {} if cold_caches is None else {"cold_caches": digest_of(asdict(cold_caches))}
