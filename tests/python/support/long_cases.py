"""Cases of a test of which most are left to `make test-long`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def most_long(cases: Iterable[Any], kept: int) -> list[Any]:
    """All of `cases`, to parametrize with: each run tries the first `kept`, `make test-long` also the others."""
    return [case if place < kept else pytest.param(case, marks=pytest.mark.long) for place, case in enumerate(cases)]


def later_long(cases: Iterable[Any], kind_of: Callable[[Any], object]) -> list[Any]:
    """The same where each run tries the first case of each kind."""
    seen: set[object] = set()
    found = []
    for case in cases:
        found.append(pytest.param(case, marks=pytest.mark.long) if kind_of(case) in seen else case)
        seen.add(kind_of(case))
    return found
