"""What writers of OTF2 archives share: a new archive, and its strings."""

from __future__ import annotations

import errno
import os
import re
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import OutputError
from ..otf2_library import Library
from ..output import output_folder
from .library_stderr import captured_lines

PROPERTY = "IDLEWAVE::PROVENANCE"  # the property of the archive with the provenance
ANCHOR = "traces"  # the name of the files of an archive in the tools of OTF2
CHUNK = 1 << 20  # bytes of events, and of definitions, in a buffer of OTF2


@contextmanager
def new_archive(library: Library, directory: str | Path, description: str) -> Iterator[Library]:
    """A new archive `directory`/traces.otf2, whose events are written first and its global definitions at last.

    The directory is there whole or not at all. Raises OutputError if it is not empty or cannot be written.
    """
    with output_folder(directory) as folder, captured_lines("[OTF2]") as said:
        try:
            with _archive(library, folder, description) as archive:
                yield archive
        except library.Error as error:
            raise OutputError(directory, _cause(folder, said.lines()) or f"OTF2: {error}") from error


def _cause(folder: Path, said: list[str]) -> str:
    """What the system refused; "" if nothing is known of that. OTF2 says it in passing (`[OTF2] FILE:LINE: error: No
    space left on device: …`), and then raises what came of it."""
    refusals = {os.strerror(number) for number in errno.errorcode}
    for line in said:
        found = re.match(r"\[OTF2\] \S+ error: ([^:]+):", line)
        if found and found[1] in refusals:
            return found[1]
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]  # it holds for the captured lines, too
    if limit != resource.RLIM_INFINITY and any(
        file.is_file() and file.stat().st_size >= limit for file in folder.rglob("*")
    ):
        return os.strerror(errno.EFBIG)
    return "" if os.statvfs(folder).f_bavail else os.strerror(errno.ENOSPC)


@contextmanager
def _archive(library: Library, folder: Path, description: str) -> Iterator[Library]:
    def flush(*_: object) -> object:
        return library.FLUSH

    archive = library.Archive_Open(
        str(folder), ANCHOR, library.FILEMODE_WRITE, CHUNK, CHUNK, library.SUBSTRATE_POSIX, library.COMPRESSION_NONE
    )
    callbacks = library.FlushCallbacks(
        pre_flush=flush, post_flush=None
    )  # a reference to keep while the archive is open
    library.Archive_SetFlushCallbacks(archive, callbacks, None)
    library.Archive_SetSerialCollectiveCallbacks(archive)
    library.Archive_SetCreator(archive, "Idlewave")
    library.Archive_SetDescription(archive, description)
    library.Archive_OpenDefFiles(archive)
    library.Archive_OpenEvtFiles(archive)
    yield archive
    library.Archive_Close(archive)


class Strings:
    """Gives each string of an archive its number, and writes it when it is first asked for."""

    def __init__(self, library: Library, writer: Library) -> None:
        self._library = library
        self._writer = writer
        self._numbers: dict[str, int] = {}

    def __call__(self, string: str) -> int:
        """The number of a string."""
        if string not in self._numbers:
            self._numbers[string] = len(self._numbers)
            self._library.GlobalDefWriter_WriteString(self._writer, self._numbers[string], string)
        return self._numbers[string]
