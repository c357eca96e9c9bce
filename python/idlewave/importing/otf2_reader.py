"""The definitions and the events of an OTF2 archive, read by the library of OTF2 with its Python bindings.

The library crashes in some archives that are damaged, so this runs in a process of its own (otf2_process.py).
"""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from ..errors import IdlewaveError
from ..memory_limits import memory_for
from ..otf2_library import load_library, load_package
from .otf2_events import UnknownEvent
from .otf2_ranks import write_ranks

BATCH = 100
"""Events that the library reads at a time."""


class Refused(Exception):  # noqa: N818 - what happened
    """OTF2's library refuses the archive."""


def read_archive(source: Path, folder: Path, seconds: float) -> Counter[str] | Exception:
    """Write the files of the ranks to `folder`. Returns what was left out, or the error of reading or writing.

    The reader of the library is never closed: the process is to end.
    """
    try:
        with memory_for(f"reading {source}"):
            library = load_library()
            otf2 = load_package()
            _mend_definitions(otf2.definitions)
            with _the_library(seconds):
                archive = otf2.reader.Reader(str(source), batch_events=BATCH)
            _take_unknown(archive, library)
            return write_ranks(archive.definitions, _events(archive, seconds), source, folder)
    except (IdlewaveError, OSError, Refused) as error:
        return error


def _mend_definitions(definitions: Any) -> None:  # noqa: ANN401 - a library without types
    """Let the bindings read intercommunicators: up to version 3.2 they take the fields of their definition for those of
    a communicator of one group, which come first."""
    kind = definitions.InterComm
    fields = {field.name: field for field in reversed(kind._fields)}  # the first one of each name
    kind._fields = tuple(fields[name] for name in ("name", "groupA", "groupB", "parent", "flags"))


def _take_unknown(archive: Any, library: Any) -> None:  # noqa: ANN401
    """Let the archive's events have those of unknown kinds, which the bindings pass over."""
    reader = archive.events
    take_known = reader._set_global_event_reader_callbacks

    def take(location: int, time: int, *_: object) -> None:
        reader.buffer.append((archive.definitions.locations[location], UnknownEvent(time)))

    def take_all(callbacks: Any) -> None:  # noqa: ANN401
        take_known(callbacks)
        library.GlobalEvtReaderCallbacks_SetUnknownCallback(callbacks, take)

    reader._set_global_event_reader_callbacks = take_all


def _events(archive: Any, seconds: float) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401
    events = iter(archive.events)
    batch: list[Any] = [None]
    while batch:
        with _the_library(seconds):
            batch = list(islice(events, BATCH))
        yield from batch


@contextmanager
def _the_library(seconds: float) -> Iterator[None]:
    """Only what the library does is in the block. It raises errors of all kinds where definitions are missing, and the
    process ends after so many seconds of computing in the block."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        raise Refused(f"{type(error).__name__}: {error}") from error
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
