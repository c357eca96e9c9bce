"""Programs that run beside another one, so that a node is as full as with more ranks."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ..child_processes import Child
from ..errors import MeasurementError
from ..escaping import quote

if TYPE_CHECKING:
    from .suite import Network, Program

_ON_CPUS = (
    "import os, sys; os.sched_setaffinity(0, map(int, sys.argv[1].split(','))); os.execvp(sys.argv[2], sys.argv[2:])"
)
"""Python code that binds itself to the CPUs of its first argument, and then executes the rest."""
_AGAIN = 'read -r _; exec < /dev/null; while "$@" > /dev/null 2>&1; do :; done'
"""A shell's loop about its arguments, from the end of its standard input on until they fail."""


def _cores_first(cpus: list[int]) -> list[int]:
    """The first CPU of each core, and behind them the other threads of the cores."""

    def is_second(cpu: int) -> bool:
        file = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        first = re.match("[0-9]+", file.read_text()) if file.is_file() else None
        return first is not None and int(first[0]) != cpu

    return sorted(cpus, key=is_second)


@contextlib.contextmanager
def running_beside(
    program: Program, network: Network, copies: int, environment: dict[str, str] | None = None
) -> Iterator[Callable[[], None]]:
    """Copies of `program`, each a job of its own, which start when the block calls the function that it gets, and run
    again and again until it ends. `environment`: of the launcher, None: that of this process.

    A block that starts the program itself at the same moment has it and its copies in the same phase, as the ranks of a
    larger program are: they use the memory at the same time. A launcher may bind the ranks of every job to the first
    cores: those of each copy go on to CPUs of their own, behind those of the program itself, as far as this process has
    so many. (Without the launcher a copy may wait for a second in MPI_Init, and compute less than half of the time.)
    Raises MeasurementError if one of them ended before the block did.
    """
    cpus = _cores_first(sorted(os.sched_getaffinity(0)))
    waiting, start = os.pipe()
    with contextlib.ExitStack() as stack:
        start_copies = stack.enter_context(os.fdopen(start, "wb")).close
        others = []
        with os.fdopen(waiting, "rb") as until_start:
            for copy in range(copies):
                first = (copy + 1) * program.ranks
                own = ",".join(str(cpus[(first + rank) % len(cpus)]) for rank in range(program.ranks))
                on_cpus = [sys.executable, "-I", "-S", "-c", _ON_CPUS, own]
                launched = [*network.launch, "-n", str(program.ranks), *on_cpus, *program.command]
                command = ["sh", "-c", _AGAIN, "sh", *launched]
                others.append(stack.enter_context(Child.start(command, environment=environment, stdin=until_start)))
        yield start_copies
        if any(other.poll() is not None for other in others):
            raise MeasurementError(f"{quote(program.command[0])} failed beside the traced run of {quote(program.name)}")
