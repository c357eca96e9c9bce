"""Refuses to load a large library if its memory does not fit into the limits of the process.

Without enough memory some libraries end the process, and OpenBLAS asks for its buffers for ever.
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
    "matplotlib": 100_000_000,
}
"""Bytes of address space that a library needs, measured on one core after loading those before it (Linux, x86-64).

Those of matplotlib are with its first figure, for which numpy's OpenBLAS takes a buffer.
"""
BLAS = ("numpy", "scipy.special")
"""Libraries with an OpenBLAS of their own, which has a buffer for every thread."""
BLAS_BUFFER = 41_000_000
MOST_BLAS_THREADS = 64


def check_memory_on_import() -> None:
    """From here on the first import of one of the libraries raises MemoryLimit if it does not fit."""
    if _limits():
        sys.meta_path.insert(0, _MemoryCheck())


class _MemoryCheck:
    """A finder of modules that finds none, but checks the memory for them."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,  # noqa: ARG002 - as Python calls it
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        """None, so that other finders find the module. Raises MemoryLimit."""
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
    """The number of threads of OpenBLAS."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        said = os.environ.get(name, "")
        if said.isdecimal() and int(said) > 0:
            return min(int(said), MOST_BLAS_THREADS)
    return min(len(os.sched_getaffinity(0)), MOST_BLAS_THREADS)


def _limits() -> list[Limit]:
    """The limits of this process, with its address space as used: it counts even if the memory is not touched."""
    with open("/proc/self/statm", encoding="utf-8") as file:  # noqa: PTH123 - no pathlib; this codec is loaded
        pages = [int(word) for word in file.read().split()]
    page = os.sysconf("SC_PAGE_SIZE")
    return [
        Limit(most, name, pages[field] * page)
        for kind, name, field in ((resource.RLIMIT_AS, "ulimit -v", 0), (resource.RLIMIT_DATA, "ulimit -d", 5))
        if (most := resource.getrlimit(kind)[0]) != resource.RLIM_INFINITY
    ]
