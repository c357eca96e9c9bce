"""A recording over time as the analysis takes it: from a folder of `idlewave measure overtime`, or one made here."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..escaping import name_of
from ..measure.overtime.recording import COUNTER, read_overtime
from ..measure.overtime.settings import IDLE

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["COUNTER", "IDLE", "Recording", "read_recording"]


@dataclass(frozen=True, eq=False)
class Recording:
    """A recording: a row a phase (docs/measuring.md, Over time), what was measured where, and the counters.

    `notes` says what of the folder could not be used.
    """

    name: str
    table: pd.DataFrame
    said: dict[str, Any] = field(default_factory=dict)
    counters: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def read_recording(folder: str | Path) -> Recording:
    """Read a recording, also one that is being written or was interrupted. Raises InputError."""
    found = read_overtime(folder)
    name = name_of(Path(folder))
    if not len(found.table):
        raise InputError(f"{name}: expected at least one phase, found none")
    return Recording(name, found.table, found.said, found.counters, found.notes)
