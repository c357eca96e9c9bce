"""The end of a command: every error becomes one line on the error stream, and an exit status.

0: success; 1: an error, which the line names; 2: wrong use; 3: a deadlock of the simulated program; 70: a bug in
Idlewave; 129, 130, 143: ended by SIGHUP, SIGINT, SIGTERM (docs/command-line.md).

This module imports only small modules of the standard library, so that signals are handled before large ones load.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import NoReturn

from .errors import IdlewaveError
from .standard_streams import Streams
from .termination_signals import Interrupted, answer_signals, end_at_once

FAILED = 1
BUG = 70
"""EX_SOFTWARE of sysexits.h: an internal error of a program."""
OBJECTS_BEFORE_COLLECTION = 20_000
"""So many new objects before Python searches for unused ones: modules make tens of thousands, which stay."""
DEBUG = "IDLEWAVE_DEBUG"
"""If this variable is set, errors are shown with their tracebacks."""


def run(program: Callable[[], object]) -> NoReturn:
    """Run `program`, print its error if it has one, and end the process with the exit status."""
    try:
        gc.set_threshold(OBJECTS_BEFORE_COLLECTION)
        answer_signals()
        streams = Streams.take()
        status = _status_of(program)
        status = _closed(streams, status)
        end_at_once(status)
    except BaseException as error:  # a signal before the program begins, or after it has ended
        status = _status_of_error(error)
        end_at_once(status)
    if status == 0 and threading.active_count() == 1:  # Python waits for other threads
        _exit_without_teardown()
    sys.exit(status)


def _exit_without_teardown() -> NoReturn:
    """End the process after a success. Python would first destroy all modules and search for unused objects, which
    takes a tenth of a short command's time. The functions of `atexit` are called as always: Python has no public name
    for that."""
    try:
        atexit._run_exitfuncs()
        sys.stdout.flush()  # what these have printed
    finally:
        os._exit(0)


def _status_of(program: Callable[[], object]) -> int:
    try:
        program()
    except BaseException as error:
        return _status_of_error(error)
    return 0


def _closed(streams: Streams, status: int) -> int:
    """The exit status after the output was flushed; `status` of an earlier error goes first."""
    try:
        whole = streams.close()
    except (IdlewaveError, OSError) as error:
        return status or _status_of_error(error)
    return status or (0 if whole else FAILED)


def _status_of_error(error: BaseException) -> int:
    """Print the line of an error; returns its exit status."""
    if isinstance(error, SystemExit):
        return _status_of_exit(error)
    if isinstance(error, BrokenPipeError) and error.filename is None:
        return FAILED  # the reader of our output has closed the pipe
    if os.environ.get(DEBUG):
        _write(_trace_of(error))
    if isinstance(error, KeyboardInterrupt):
        end = error if isinstance(error, Interrupted) else Interrupted.by(error)
        _write(f"{end}\n")
        return end.exit_status
    if isinstance(error, IdlewaveError):
        say_error(str(error))
        return error.exit_status
    if isinstance(error, MemoryError) or _is_out_of_memory(error):
        say_error(_out_of_memory(error))
        return FAILED
    if isinstance(error, OSError):
        say_error(_os_error_text(error))
        return FAILED
    say_error(_bug(error))
    return BUG


def say_error(text: str) -> None:
    """Print the line of an error, without characters that act on a terminal."""
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


def _os_error_text(error: OSError) -> str:
    """The reason of the system, and the file that it concerns."""
    reason = error.strerror or str(error)
    if error.filename is None:
        return f"{reason} ({_place(error)})"
    names = [error.filename] if error.filename2 is None else [error.filename, error.filename2]
    return f"{' and '.join(_text(name) for name in names)}: {reason}"


def _text(name: object) -> str:
    return os.fsdecode(name) if isinstance(name, (str, bytes)) else str(name)


def _is_out_of_memory(error: BaseException) -> bool:
    """Whether a library could not be loaded, or a thread not started, because memory ran out; Python has no exception
    for that."""
    words = ("failed to map segment", "Cannot allocate memory", "cannot allocate memory", "can't start new thread")
    return isinstance(error, (ImportError, RuntimeError)) and any(word in str(error) for word in words)


def _out_of_memory(error: BaseException) -> str:
    said = str(error).removeprefix("std::bad_alloc")
    return f"memory ran out{': ' if said else ''}{said} ({_place(error)})"


def _bug(error: BaseException) -> str:
    """The text of an unexpected error. Its traceback goes to a file, for a report of the bug."""
    what = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return f"this is a bug in Idlewave: {what[:300]} ({_place(error)}); please report it with {_traceback_place(error)}"


def _traceback_place(error: BaseException) -> str:
    """Write the traceback to a file; returns where it is, in words."""
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
        return f"its output with {DEBUG}=1"
    return f"the file {file.name}"


def _trace_of(error: BaseException) -> str:
    import traceback

    return "".join(traceback.format_exception(error))


def _place(error: BaseException) -> str:
    """The last line of this package that the error came through."""
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - without loading pathlib
    place = "at the start"
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file.startswith(here) and file != __file__:
            place = f"{os.path.relpath(file, here)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place
