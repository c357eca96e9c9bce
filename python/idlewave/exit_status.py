"""How a command ends: whatever happens in it becomes one line on the error stream, and an exit status.

0 all went well; 1 an error, which the line names; 2 wrong use; 3 a deadlock of the simulated program; 70 a bug in
Idlewave; 129, 130, 143 ended by SIGHUP, SIGINT, SIGTERM (docs/command-line.md).

Only what every program has is loaded here, so that signals are answered before anything else is.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import TracebackType
from typing import NoReturn

from .errors import IdlewaveError
from .standard_streams import Streams
from .termination_signals import Interrupted, answer_signals, end_at_once, in_place_of

FAILED = 1
BUG = 70
"""As sysexits.h calls an internal error of a program."""
DEBUG = "IDLEWAVE_DEBUG"
"""If this variable is set, errors are shown with their tracebacks."""


def run(program: Callable[[], object]) -> NoReturn:
    """Run `program`, say how it ended, and end the process."""
    try:
        answer_signals()
        streams = Streams.take()
        status = _status_of(program)
        status = _closed(streams, status)
        end_at_once(status)
    except BaseException as error:  # a signal before or after the program's own time
        status = _told(error)
        end_at_once(status)
    sys.exit(status)


def _status_of(program: Callable[[], object]) -> int:
    try:
        program()
    except BaseException as error:
        return _told(error)
    return 0


def _closed(streams: Streams, status: int) -> int:
    """The exit status when all that is printed has been written, or cannot be; what went wrong before goes first."""
    try:
        whole = streams.close()
    except (IdlewaveError, OSError) as error:
        return status or _told(error)
    return status or (0 if whole else FAILED)


def _told(error: BaseException) -> int:
    """Says what happened; the exit status that it stands for."""
    if isinstance(error, SystemExit):
        return _status_of_exit(error)
    if isinstance(error, BrokenPipeError) and error.filename is None:
        return FAILED  # who read our output has enough of it
    if os.environ.get(DEBUG):
        _write(_trace_of(error))
    error = in_place_of(error) or error
    if isinstance(error, KeyboardInterrupt):
        end = error if isinstance(error, Interrupted) else Interrupted.by(error)
        _write(f"{end}\n")
        return end.exit_status
    if isinstance(error, IdlewaveError):
        say_error(str(error))
        return error.exit_status
    if isinstance(error, MemoryError) or _is_for_want_of_memory(error):
        say_error(_out_of_memory(error))
        return FAILED
    if isinstance(error, OSError):
        say_error(_refused(error))
        return FAILED
    say_error(_bug(error))
    return BUG


def say_error(text: str) -> None:
    """The line about an error, in which nothing acts on a terminal."""
    from .escaping import printable

    text = printable(text)
    coloured = sys.stderr is not None and sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    _write(f"\033[1;31merror:\033[0m {text}\n" if coloured else f"error: {text}\n")


def _write(text: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(text)
        sys.stderr.flush()


def _status_of_exit(end: SystemExit) -> int:
    if end.code is None or isinstance(end.code, int):
        return end.code or 0
    say_error(str(end.code))
    return FAILED


def _refused(error: OSError) -> str:
    """What the system refused, of which file."""
    reason = error.strerror or str(error)
    if error.filename is None:
        return f"{reason} ({_place(error)})"
    names = [error.filename] if error.filename2 is None else [error.filename, error.filename2]
    return f"{' and '.join(_text(name) for name in names)}: {reason}"


def _text(name: object) -> str:
    return os.fsdecode(name) if isinstance(name, (str, bytes)) else str(name)


def _is_for_want_of_memory(error: BaseException) -> bool:
    """Whether a library or a thread was not to be had since memory ran out: no exception of its own says that."""
    words = ("failed to map segment", "Cannot allocate memory", "cannot allocate memory", "can't start new thread")
    return isinstance(error, (ImportError, RuntimeError)) and any(word in str(error) for word in words)


def _out_of_memory(error: BaseException) -> str:
    said = str(error).removeprefix("std::bad_alloc")
    return f"memory ran out{': ' if said else ''}{said} ({_place(error)})"


def _bug(error: BaseException) -> str:
    """What no line of ours expected. Its traceback is for those who mend it, and so in a file."""
    what = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return f"this is a bug in Idlewave: {what[:300]} ({_place(error)}); please report it with {_kept(error)}"


def _kept(error: BaseException) -> str:
    """What has the traceback."""
    import platform
    import shlex
    import tempfile

    if os.environ.get(DEBUG):
        return "the lines above"
    about = f"{shlex.join(sys.argv)}\nPython {platform.python_version()}, {platform.platform()}\n\n"
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="idlewave-bug-", suffix=".txt", delete=False, encoding="utf-8", errors="backslashreplace"
        ) as file:
            file.write(about + _trace_of(error))
    except OSError:
        return f"what it prints where {DEBUG}=1 is set"
    return f"the file {file.name}"


def _trace_of(error: BaseException) -> str:
    import traceback

    return "".join(traceback.format_exception(error))


def _place(error: BaseException) -> str:
    """The last line of ours that it came through."""
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - without loading pathlib
    place = "at the start"
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file.startswith(here) and file != __file__:
            place = f"{os.path.relpath(file, here)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place
