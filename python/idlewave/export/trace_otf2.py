"""A trace as an OTF2 archive, with the regions and events that Score-P writes, for Vampir, Scalasca and others.

A location for each rank, with a tick a nanosecond, on the clock of rank 0. Each call is a region with its messages,
collectives and requests. What OTF2 cannot say of a call is left out, and its region stays (docs/importing.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError
from ..escaping import name_of
from ..otf2_library import Library, load_library
from ..provenance import Provenance
from .otf2_archive import PROPERTY, new_archive
from .trace_definitions import Definitions
from .trace_events import RankEvents

if TYPE_CHECKING:
    from ..trace import Trace


def write_trace_otf2(
    trace: Trace, directory: str | Path, *, progress: Callable[[int, int], None] | None = None
) -> Mapping[str, int]:
    """Write a trace as an OTF2 archive `directory`/traces.otf2. Returns how much of each kind has a region and no
    events.

    The trace is read a rank at a time, some thousand records of it. The directory is there whole or not at all.
    `progress` is called with ranks done and all. Raises InputError if the trace cannot be read or written as one of
    calls one after another, OutputError if the directory is not empty or cannot be written, LibraryError if the package
    otf2 is missing.
    """
    library = load_library()
    for header in trace.core().headers():
        if header["threads"] > 1:
            raise InputError(
                f"{name_of(trace.directory)}: rank {header['rank']} calls MPI in {header['threads']} threads: expected "
                "one thread a rank, to write an OTF2 archive"
            )
    by = "idlewave.export.write_trace_otf2"
    provenance = Provenance.made("trace", str(directory), by=by, sources=(trace.provenance,))
    with new_archive(library, directory, trace.command or "trace") as archive:
        library.Archive_SetProperty(archive, PROPERTY, provenance.to_json(), True)
        return _write(library, archive, trace, progress)


def _write(
    library: Library, archive: Library, trace: Trace, progress: Callable[[int, int], None] | None
) -> Mapping[str, int]:
    """Write events rank by rank, so that OTF2 keeps one rank in memory; then the definitions that they refer to."""
    core = trace.core()
    definitions = Definitions(library, core)
    left_out: Counter[str] = Counter()
    counts, first, last = [], [], 0
    place = name_of(trace.directory)
    for rank in range(core.ranks):
        # The file of local definitions is empty, but readers expect it.
        library.Archive_CloseDefWriter(archive, library.Archive_GetDefWriter(archive, rank))
        writer = library.Archive_GetEvtWriter(archive, rank)
        events = RankEvents(library, writer, rank, definitions, left_out, place)
        core.each_records(rank, events.add)
        events.close()
        if events.first >= 0:
            first.append(events.first)
        last = max(last, events.now)
        counts.append(int(library.EvtWriter_GetNumberOfEvents(writer)))
        library.Archive_CloseEvtWriter(archive, writer)
        if progress is not None:
            progress(rank + 1, core.ranks)
    library.Archive_CloseEvtFiles(archive)
    library.Archive_CloseDefFiles(archive)
    writer = library.Archive_GetGlobalDefWriter(archive)
    times = range(min(first, default=0), last + 1)
    definitions.write(writer, core.headers(), counts, times)
    library.Archive_CloseGlobalDefWriter(archive, writer)
    return dict(left_out)
