"""Cases of a test of which most are left to `make test-long`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def spread_long(cases: Iterable[Any], step: int) -> list[Any]:
    """The same with every `step`-th of the cases in each run: where neighbours are alike."""
    return [
        case if place % step == 0 else pytest.param(case, marks=pytest.mark.long) for place, case in enumerate(cases)
    ]


def most_long(cases: Iterable[Any], kept: int) -> list[Any]:
    """All of `cases`, to parametrize with: each run tries the first `kept`, `make test-long` also the others."""
    return [case if place < kept else pytest.param(case, marks=pytest.mark.long) for place, case in enumerate(cases)]
