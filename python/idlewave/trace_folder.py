"""The folder of a trace before its job starts: it is made or emptied, and removed again if nothing was recorded."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

from . import unrecorded_ranks
from .errors import InputError, OutputError
from .escaping import name_of, quote


class TraceFolder:
    """The folder of a trace. A folder from a run that recorded nothing counts as empty."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._prepared = False
        self._made: list[Path] = []

    def prepare(self, *, overwrite: bool) -> None:
        """Make the folder with an empty failure file; with `overwrite` remove an earlier trace first.

        Raises InputError if something else is there, OutputError if the folder cannot be made.
        """
        try:
            entries = list(self.path.iterdir()) if self.path.exists() else []
            self._check(entries, overwrite=overwrite)
            for entry in entries:
                entry.unlink()
            self._make()
        except NotADirectoryError as error:
            raise InputError(f"{name_of(self.path)} is not a directory: expected a place for the trace") from error
        except OSError as error:
            raise OutputError(self.path, error.strerror or str(error)) from error

    @contextlib.contextmanager
    def removed_if_unused(self) -> Iterator[None]:
        """Remove what `prepare` made if the block raises and nothing was recorded."""
        try:
            yield
        except BaseException:
            self._remove()
            raise

    def _remove(self) -> None:
        if not self._prepared:
            return
        with contextlib.suppress(OSError):  # a folder that is not empty stays
            unrecorded_ranks.remove_failure_file(self.path)
            for folder in self._made:
                folder.rmdir()

    def _check(self, entries: list[Path], *, overwrite: bool) -> None:
        if not overwrite and not all(unrecorded_ranks.is_failure_file(entry) for entry in entries):
            raise InputError(
                f"{name_of(self.path)} exists and is not empty: name another place for the trace, or overwrite it"
            )
        for entry in entries:
            if not _is_of_trace(entry.name):
                what = f"more than a trace ({quote(entry.name)})"
                raise InputError(f"{name_of(self.path)} holds {what} and is not overwritten")

    def _make(self) -> None:
        self._prepared = True
        above = (self.path, *self.path.parents)
        self._made = [folder for folder in above if not folder.exists()]
        self.path.mkdir(parents=True, exist_ok=True)
        unrecorded_ranks.make_failure_file(self.path)


def _is_of_trace(name: str) -> bool:
    return (
        name in ("trace.json", unrecorded_ranks.FILE)
        or re.fullmatch(r"rank-\d+\.iwtrace|conflict-\d+", name) is not None
    )
