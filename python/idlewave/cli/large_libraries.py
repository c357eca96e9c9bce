"""Large libraries are loaded only where there is room for them.

Without it some of them end the process, and others never return: OpenBLAS asks for its buffers until it gets them.
"""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

from ..memory_limits import Limit, refuse_beyond

NEEDED = {
    "numpy": 85_000_000,
    "pyarrow": 230_000_000,
    "pandas": 17_000_000,
    "scipy.special": 70_000_000,
    "scipy.stats": 70_000_000,
    "matplotlib": 33_000_000,
}
"""Bytes of addresses that loading a library adds, measured on one core with those before it loaded (Linux, x86-64)."""
BLAS = ("numpy", "scipy.special")
"""They have an OpenBLAS each, which has a buffer for every thread."""
BLAS_BUFFER = 41_000_000
MOST_BLAS_THREADS = 64


def watch_room() -> None:
    """From here on the first import of one of the libraries raises MemoryLimit if it cannot fit."""
    if _limits():
        sys.meta_path.insert(0, _Room())


class _Room:
    """Finds no module; looks whether there is room for it."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,  # noqa: ARG002 - as Python calls it
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        """None: others find it. Raises MemoryLimit."""
        if fullname not in NEEDED:
            return None
        threads = _blas_threads() if fullname in BLAS else 1
        needed = NEEDED[fullname] + (threads - 1) * BLAS_BUFFER
        what = f"loading {fullname}"
        if threads > 1:
            what += f" for {threads} cores (OPENBLAS_NUM_THREADS=1 makes that less)"
        for limit in _limits():
            refuse_beyond(what, needed, limit)
        return None


def _blas_threads() -> int:
    """As many as OpenBLAS starts."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        said = os.environ.get(name, "")
        if said.isdecimal() and int(said) > 0:
            return min(int(said), MOST_BLAS_THREADS)
    return min(len(os.sched_getaffinity(0)), MOST_BLAS_THREADS)


def _limits() -> list[Limit]:
    """Those of this process, with what it has of addresses: they count whether they are used or not."""
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - pathlib need not be loaded
        pages = [int(word) for word in file.read().split()]
    page = os.sysconf("SC_PAGE_SIZE")
    return [
        Limit(most, name, pages[field] * page)
        for kind, name, field in ((resource.RLIMIT_AS, "ulimit -v", 0), (resource.RLIMIT_DATA, "ulimit -d", 5))
        if (most := resource.getrlimit(kind)[0]) != resource.RLIM_INFINITY
    ]
