"""What must hold of a reader of files, whatever they are: it reads them, or refuses them in words that name the file,
in bounded time and memory."""

from __future__ import annotations

import signal
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from idlewave import InputError
from idlewave.errors import IdlewaveError
from idlewave.escaping import printable
from idlewave.memory_limits import limit_address_space

SECONDS = 5
"""CPU time within which a reader answers."""
MOST_WAITED = 300
"""Time of an attempt on a machine that does other things, s."""
TOO_LONG = f"more than {SECONDS} s"
MEMORY = 1 << 30
"""Bytes that it may take."""
LONGEST = 2000
"""Characters of a message."""

Files = Mapping[str, bytes]
"""Contents of files, by their places in a folder."""


@dataclass(frozen=True)
class Quick:
    """The reading alone of a reader, without the use of what was read, and small valid samples that together have all
    that it reads. `read` is given the folder of a sample, and one for what it writes."""

    samples: Callable[[], Sequence[Files]]
    read: Callable[[Path, Path], object]


@dataclass(frozen=True)
class Reader:
    """One way of reading: `write` makes a valid sample in a folder, `read` reads it."""

    name: str
    write: Callable[[Path], object]
    read: Callable[[Path], object]
    quick: Quick | None = None


class TooLongError(BaseException):
    """A reader took more than its time. No Exception, so that nothing takes it for one."""


def complaint(reader: Reader, folder: Path) -> str:
    """What does not hold of what `reader` makes of the files in `folder`; empty if all does."""
    with limited():
        return attempt(lambda: reader.read(folder), str(folder))[1]


def attempt(read: Callable[[], object], folder: str) -> tuple[str, str]:
    """Whether `read` reads the files in `folder` or refuses them, and what does not hold of that, or nothing. It is
    called in a block of `limited`."""
    try:
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        signal.setitimer(signal.ITIMER_REAL, MOST_WAITED)
        try:
            read()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.setitimer(signal.ITIMER_PROF, 0)
    except IdlewaveError as error:
        words = str(error)
        if len(words) > LONGEST:
            return "refused", f"a message of {len(words)} characters: {words[:200]}"
        if printable(words, keep="") != words:
            return "refused", f"control characters in a message: {words!r}"
        if isinstance(error, InputError) and folder not in words:
            return "refused", f"a message that does not name the file: {words}"
        return "refused", ""
    except TooLongError:
        return "neither", TOO_LONG
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        place = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else "?"
        return "neither", f"{type(error).__name__} at {place}: {str(error)[:200]}"
    return "read", ""


@contextmanager
def limited() -> Iterator[None]:
    """Attempts end after SECONDS of CPU time, or MOST_WAITED of any, and nothing warns."""

    def end(_number: int, _frame: FrameType | None) -> None:
        raise TooLongError

    before = {number: signal.signal(number, end) for number in (signal.SIGALRM, signal.SIGPROF)}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def limit_memory() -> None:
    """Let this process take MEMORY more than it has, and no more."""
    limit_address_space(MEMORY)
