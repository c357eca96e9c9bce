"""Cases on their way to workers in other processes: a worker makes a schedule once, and not for every case again.

A schedule is pickled as what it was made of, such as the folder of a trace, which takes long to read. So it goes as
bytes of its own, by which a worker knows it again.
"""

from __future__ import annotations

import io
import pickle
from functools import lru_cache
from typing import Any

from ..schedule import Schedule

_SCHEDULES_KEPT = 2
"""A worker keeps so many schedules: cases of one schedule follow each other."""


class CasePickler:
    """Pickles the cases of a study. Each schedule is pickled once."""

    def __init__(self) -> None:
        self._schedules: dict[int, tuple[Schedule, bytes]] = {}

    def pickled(self, case: object) -> bytes:
        """The case for `case_of`."""
        file = io.BytesIO()
        pickler = pickle.Pickler(file)
        pickler.persistent_id = self._persistent_id  # type: ignore[method-assign]
        pickler.dump(case)
        return file.getvalue()

    def _persistent_id(self, value: object) -> bytes | None:
        if not isinstance(value, Schedule):
            return None
        if id(value) not in self._schedules:
            self._schedules[id(value)] = (value, pickle.dumps(value))
        return self._schedules[id(value)][1]


def case_of(pickled: bytes) -> Any:  # noqa: ANN401 - a case of any study
    """In a worker: the case. Raises what making its schedule raises."""
    unpickler = pickle.Unpickler(io.BytesIO(pickled))
    unpickler.persistent_load = _schedule_of  # type: ignore[method-assign]
    return unpickler.load()


@lru_cache(maxsize=_SCHEDULES_KEPT)
def _schedule_of(pickled: bytes) -> Schedule:
    schedule: Schedule = pickle.loads(pickled)
    return schedule
