"""Programs that run beside another one, so that a node is as full as with more ranks."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..child_processes import Child
from ..errors import MeasurementError
from ..escaping import quote

if TYPE_CHECKING:
    from .suite import Network, Program

_ON_CPU = "import os, sys; os.sched_setaffinity(0, {int(sys.argv[1])}); os.execvp(sys.argv[2], sys.argv[2:])"
"""A program of Python that becomes another one on one CPU."""
_AGAIN = 'while "$@" > /dev/null 2>&1; do :; done'
"""A shell's loop about its arguments, until they fail."""


@contextlib.contextmanager
def running_beside(
    program: Program, network: Network, copies: int, environment: dict[str, str] | None = None
) -> Iterator[None]:
    """Copies of `program`, each a job of its own, started again and again while the block runs. `environment`:
    of the launcher, None: that of this process.

    A launcher binds the rank of each job of one rank to the first core: each copy goes on to a CPU of its own, the
    first one to the second CPU. (Without the launcher they would wait for a second in MPI_Init, and compute less than
    half of the time.) Raises MeasurementError if one of them ended before the block did.
    """
    cpus = sorted(os.sched_getaffinity(0))
    with contextlib.ExitStack() as stack:
        others = []
        for copy in range(copies):
            on_cpu = [sys.executable, "-c", _ON_CPU, str(cpus[(copy + 1) % len(cpus)])] if program.ranks == 1 else []
            launched = [*network.launch, "-n", str(program.ranks), *on_cpu, *program.command]
            command = ["sh", "-c", _AGAIN, "sh", *launched]
            others.append(stack.enter_context(Child.start(command, environment=environment, stdin=subprocess.DEVNULL)))
        yield
        if any(other.poll() is not None for other in others):
            raise MeasurementError(f"{quote(program.command[0])} failed beside the traced run of {quote(program.name)}")
