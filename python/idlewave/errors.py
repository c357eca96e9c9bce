"""The exceptions of Idlewave. They carry data; the command line turns them into exit statuses."""

from __future__ import annotations

from typing import NamedTuple

from .escaping import name_of, printable


class IdlewaveError(Exception):
    """Any error that Idlewave reports. ``exit_status`` is the exit status of the command line.

    Its message has no control characters except ends of lines, even if it quotes a file.
    """

    exit_status = 1

    def __init__(self, message: object = "") -> None:
        super().__init__(printable(str(message)))


class InputError(IdlewaveError):
    """An input cannot be used. The message names the place and what was expected."""


class OutputError(IdlewaveError):
    """A file or folder cannot be written. An earlier file of that name is unchanged."""

    def __init__(self, path: object, reason: str) -> None:
        super().__init__(f"{name_of(str(path))}: cannot be written: {reason}")
        self.path = str(path)
        self.reason = reason

    def __reduce__(self) -> tuple[type[OutputError], tuple[str, str]]:
        return OutputError, (self.path, self.reason)


class TimeOverflow(InputError):  # noqa: N818 - the core's name
    """A simulated time leaves the range of int64 picoseconds, which is 106 days."""


class UsageError(IdlewaveError):
    """A command or function was called with arguments that have no meaning."""

    exit_status = 2


class MpiError(IdlewaveError):
    """The MPI installation is missing or broken, or two of them are mixed up."""


class ProgramError(IdlewaveError):
    """The measured or traced program failed. What was recorded is kept; the message says where."""


class MeasurementError(IdlewaveError):
    """A measurement gave no usable result: the message says which number and why."""


class LibraryError(IdlewaveError):
    """An optional library is not installed. The message says how to install it."""

    def __init__(self, what: str, package: str, reason: object, extra: str = "export") -> None:
        super().__init__(
            f"{what} needs the Python package {package}, which cannot be loaded ({reason}); to get it: "
            f"pip install {package}, or with all that is needed for such: pip install 'idlewave[{extra}]'"
        )
        self._made_of = (what, package, str(reason), extra)

    def __reduce__(self) -> tuple[type[LibraryError], tuple[str, str, str, str]]:
        return LibraryError, self._made_of


class CaseError(IdlewaveError):
    """The row of a case of a study could not be computed. The message names the case with its values, and why.

    The exit status is that of the error which it names.
    """

    def __init__(self, message: str, exit_status: int = 1) -> None:
        super().__init__(message)
        self.exit_status = exit_status

    def __reduce__(self) -> tuple[type[CaseError], tuple[str, int]]:
        return CaseError, (str(self), self.exit_status)


class MemoryLimit(IdlewaveError):  # noqa: N818 - a name of the contract
    """A run needs more memory than a limit allows, or memory ran out.

    ``needed`` is a lower bound (0: not known), ``limit`` the limit of this process, both in bytes; ``which`` says what
    sets the limit.
    """

    def __init__(self, message: str, needed: int, limit: int, which: str) -> None:
        super().__init__(message)
        self.needed = needed
        self.limit = limit
        self.which = which

    def __reduce__(self) -> tuple[type[MemoryLimit], tuple[str, int, int, str]]:
        return MemoryLimit, (str(self), self.needed, self.limit, self.which)


class UnmatchedMessage(NamedTuple):
    """A message that no op receives.

    ``op`` is its send, or "" if that is not certain; a ``tag`` of −1 matches any tag. ``hint`` names a possible cause,
    such as a receive that waits for another tag. Of very many messages only the first 100 have both.
    """

    sender: int
    op: str
    receiver: int
    tag: int
    size: int
    hint: str


class Standstill(IdlewaveError):  # noqa: N818 - as its parts, whose first one is the contract's name
    """A simulation cannot continue, and ops or messages are left. The classes below are raised.

    ``waiting`` has a tuple (rank, op, why) for each op that waits and each message that nobody receives, by rank.
    ``cycle`` has such a tuple for each op of a cycle in which each op waits for the next, and the last for the first;
    it is empty if there is no cycle. ``messages`` has the messages that no op receives. Each list has at most 65,536
    entries; ``left`` and ``cycle_length`` count all.
    """

    def __init__(
        self,
        message: str,
        waiting: list[tuple[int, str, str]],
        cycle: list[tuple[int, str, str]] | None = None,
        messages: list[UnmatchedMessage] | None = None,
        left: int | None = None,
        cycle_length: int | None = None,
    ) -> None:
        super().__init__(message)
        self.waiting = waiting
        self.cycle = cycle or []
        self.messages = messages or []
        self.left = len(waiting) if left is None else left
        self.cycle_length = len(self.cycle) if cycle_length is None else cycle_length

    def __reduce__(self) -> tuple[type[Standstill], tuple[object, ...]]:
        state = (str(self), self.waiting, self.cycle, self.messages, self.left, self.cycle_length)
        return type(self), state


class Deadlock(Standstill):
    """The schedule cannot end: ops wait for ever. If they wait for each other, ``cycle`` has them."""

    exit_status = 3


class UnmatchedReceive(Deadlock):
    """The schedule cannot end, without a cycle: ops wait for messages that nobody sends."""


class UnmatchedSend(Standstill):
    """Every op has ended, and messages have arrived that no op receives."""


class UnmatchedRendezvous(Deadlock, UnmatchedSend):
    """The schedule cannot end, without a cycle: sends that are synchronous, or larger than S, wait
    for receives that no op posts."""
