"""What several workers of one run of the tests read: the first one that needs it makes it, the others wait."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest

MADE = "made"


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """The folder `name` of this run of the tests, filled by `make`. Nobody else writes there."""
    base = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:  # then the base is the worker's own, below that of the run
        base = base.parent
    folder = base / name
    folder.mkdir(exist_ok=True)
    with (base / f"{name}.lock").open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.seek(0)
        if lock.read() != MADE:
            make(folder)
            lock.write(MADE)
    return folder
