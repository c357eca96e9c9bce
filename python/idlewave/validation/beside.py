"""Programs that run beside another one, so that a node is as full as with more ranks."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..child_processes import Child
from ..errors import MeasurementError
from ..escaping import quote

if TYPE_CHECKING:
    from .suite import Network, Program

_AGAIN = 'while "$@" > /dev/null 2>&1; do :; done'
"""A shell's loop about its arguments, until they fail."""


@contextlib.contextmanager
def running_beside(program: Program, network: Network, copies: int) -> Iterator[None]:
    """Copies of `program`, each a job of its own, started again and again while the block runs.

    A program of one rank is started without the launcher, which would bind each to the same core. Raises
    MeasurementError if one of them ended before the block did.
    """
    launch = [] if program.ranks == 1 else [*network.launch, "-n", str(program.ranks)]
    with contextlib.ExitStack() as stack:
        command = ["sh", "-c", _AGAIN, "sh", *launch, *program.command]
        others = [stack.enter_context(Child.start(command, stdin=subprocess.DEVNULL)) for _ in range(copies)]
        yield
        if any(other.poll() is not None for other in others):
            raise MeasurementError(f"{quote(program.command[0])} failed beside the traced run of {quote(program.name)}")
