"""How many of a study's cases may run at a time, so that together they fit in memory."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor

from ..formatting import plain, volume_text
from ..memory_limits import UNCHECKED, Limit, tightest

OnNote = Callable[[str], None]


class MemoryShare:
    """The memory of the cases that have begun on an executor of this machine.

    What a case needs is a lower bound. One alone always may begin: if it does not fit, its own simulation says so.
    """

    def __init__(self, executor: Executor, on_note: OnNote | None) -> None:
        self._workers = workers_here(executor)
        self._on_note = on_note
        self._limit: Limit | None = None
        self._taken = 0
        self._running = 0

    def has_room(self, needed: int) -> bool:
        """Whether a case that needs so many bytes may begin beside the others. Says once if that leaves a worker
        idle."""
        if not self._workers or not self._running or self._taken + needed < UNCHECKED:
            return True
        limit = self._limit = self._limit or tightest()
        if self._taken + needed <= limit.left:
            return True
        if self._running < self._workers:
            self._say(self._taken + needed, limit)
        return False

    def begin(self, needed: int) -> None:
        """A case has begun."""
        self._running += 1
        self._taken += needed

    def end(self, needed: int) -> None:
        """It has ended."""
        self._running -= 1
        self._taken -= needed

    def _say(self, needed: int, limit: Limit) -> None:
        if self._on_note is None:
            return
        cases = self._running + 1
        self._on_note(
            f"where cases are large, fewer than {self._workers} run at a time: {cases} of them need at least about "
            f"{plain(volume_text(needed))} together, and {plain(volume_text(limit.left))} are left of {limit.name}"
        )
        self._on_note = None


def workers_here(executor: Executor) -> int:
    """How many cases an executor runs on this machine at a time; 0 if that is not known."""
    known = isinstance(executor, ThreadPoolExecutor | ProcessPoolExecutor)
    return int(executor._max_workers) if known else 0  # type: ignore[attr-defined]
