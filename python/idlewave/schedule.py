"""A schedule: what each rank computes, sends and receives, and in which order."""

from __future__ import annotations

from pathlib import Path

from . import _core
from .errors import InputError


class Schedule:
    """What each rank does: in memory (GOAL), or made on demand (a traced program, a pattern). Immutable.

    Make one with `load`, `from_goal`, `from_trace` or `pattern`.
    """

    def __init__(self, core: _core.Graph, name: str) -> None:
        self._core = core
        self.name = name

    @classmethod
    def load(cls, path: str | Path) -> Schedule:
        """Read a GOAL file. Raises InputError that names file, line, column and what was expected."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise InputError(f"{path}: cannot be read as a schedule: {error.strerror}") from error
        return cls.from_goal(text, name=str(path))

    @classmethod
    def from_goal(cls, text: str, *, name: str = "GOAL") -> Schedule:
        """Read GOAL text; `name` is what messages call it."""
        return cls(_core.read_goal(text, name), name)

    @property
    def ranks(self) -> int:
        """How many ranks it has."""
        return self._core.ranks

    def core(self) -> _core.Graph:
        """The schedule as the compiled core sees it."""
        return self._core
