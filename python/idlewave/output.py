"""The one way out: all files are written here, and are complete or not there at all.

A file is written beside its place, synchronised to the disk, and renamed. If a full disk or a signal prevents that, an
earlier file of that name is unchanged, and nothing is left beside it. A pipe, a terminal or /dev/null is written
directly.
"""

from __future__ import annotations

import contextlib
import io
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from .errors import OutputError
from .provenance import KEY, provenance_text_of
from .wait_notices import logger

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

TABLE_ENDINGS = (".parquet", ".csv")
"""The endings of files of tables."""
_TRIES = 1000


def check_output(path: str | Path) -> Path:
    """Check that a file can be written to `path`, without writing it, before a long run; returns the path.

    Raises OutputError that names the path and the obstacle.
    """
    path = Path(path)
    if path.is_dir():
        raise OutputError(path, "it is a directory: expected a name for a file")
    if path.exists() and not path.is_file():
        return path
    check_output_folder(path.absolute().parent, path)
    return path


def check_output_folder(folder: str | Path, path: str | Path | None = None) -> Path:
    """Check that `folder` can be written or made, and return it. Raises OutputError about `path` (default: the
    folder)."""
    folder = Path(folder)
    path = folder if path is None else path
    there = folder.absolute()
    while not there.exists() and there != there.parent:
        there = there.parent
    if not there.is_dir():
        raise OutputError(path, f"{there} is not a directory")
    if not os.access(there, os.W_OK | os.X_OK):
        raise OutputError(path, f"nothing may be written in {there}")
    return folder


def make_folder(folder: str | Path) -> Path:
    """Make `folder` and its parents, if they are not there, and return it. Raises OutputError."""
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(folder, _reason(error)) from error
    return folder


class OutputFiles:
    """Files that belong together: at the end of the block all of them are renamed to their names, or none is.

    They are renamed in the order in which they were opened, so a file that refers to others is opened last. Folders are
    made.
    """

    def __init__(self) -> None:
        self._files: list[_Unfinished] = []

    def __enter__(self) -> OutputFiles:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                for file in self._files:
                    file.finish()
                for file in self._files:
                    file.rename()
        finally:
            for file in self._files:
                file.discard()

    def open(self, path: str | Path) -> IO[bytes]:
        """A file to write, which becomes `path`. Raises OutputError, as do its own methods."""
        file = _Unfinished(Path(path))
        self._files.append(file)
        return file.stream

    def text(self, path: str | Path, text: str) -> None:
        """Write `text`, as UTF-8."""
        self.open(path).write(text.encode())

    def json(self, path: str | Path, value: object) -> None:
        """Write `value` as JSON; JSON has neither infinities nor NaN."""
        import json

        self.text(path, json.dumps(value, indent=1, allow_nan=False) + "\n")

    def table(
        self, path: str | Path, table: pd.DataFrame | pa.Table, metadata: Mapping[str, str] | None = None
    ) -> None:
        """Write `table` without its index: as CSV if the name ends with .csv, else as Parquet.

        `metadata` and the provenance of the table go to the schema of Parquet. CSV has no place for them: the
        provenance goes to PATH-metadata.json, the file for metadata by CSV on the Web.
        """
        import pyarrow as pa

        provenance = provenance_text_of(table)
        entries = ({} if provenance is None else {KEY: provenance}) | dict(metadata or {})
        if Path(path).suffix == ".csv":
            rows = table.to_pandas() if isinstance(table, pa.Table) else table
            text = rows.to_csv(index=False)
            self.text(path, text)
            if KEY in entries and not _is_special(Path(path)):
                from .provenance_in_files import beside_csv, metadata_of_csv

                self.json(beside_csv(Path(path)), metadata_of_csv(Path(path).name, text, entries[KEY]))
            return
        from pyarrow import parquet

        columns = table if isinstance(table, pa.Table) else pa.Table.from_pandas(table, preserve_index=False)
        file = self.open(path)
        if entries:
            columns = columns.replace_schema_metadata({**(columns.schema.metadata or {}), **entries})
        parquet.write_table(columns, file)

    def digest(self, path: str | Path) -> str:
        """The digest of what was written so far to `path`, which was opened here: equal to `digest_of_file` of the
        file."""
        unfinished = next(file for file in reversed(self._files) if file.asked == Path(path))
        return unfinished.digest()


@contextmanager
def output_file(path: str | Path) -> Iterator[IO[bytes]]:
    """A file to write; at the end of the block it becomes `path`. Raises OutputError."""
    with OutputFiles() as files:
        yield files.open(path)


def write_text(path: str | Path, text: str) -> None:
    """Write `text` to `path`, as UTF-8. Raises OutputError."""
    with OutputFiles() as files:
        files.text(path, text)


def write_json(path: str | Path, value: object) -> None:
    """Write `value` to `path` as JSON. Raises OutputError."""
    with OutputFiles() as files:
        files.json(path, value)


def write_table(path: str | Path, table: pd.DataFrame | pa.Table, metadata: Mapping[str, str] | None = None) -> None:
    """Write `table` to `path`, in the format of `OutputFiles.table`. Raises OutputError."""
    with OutputFiles() as files:
        files.table(path, table, metadata)


def check_new_folder(path: str | Path) -> Path:
    """Check that `path` is an empty folder or not there, and return it. Raises OutputError."""
    path = Path(path)
    try:
        taken = path.exists() and (not path.is_dir() or any(path.iterdir()))
    except OSError as error:
        raise OutputError(path, _reason(error)) from error
    if taken:
        raise OutputError(path, "expected a folder that is empty or not there yet")
    return check_output_folder(path.absolute().parent, path) and path


@contextmanager
def output_folder(path: str | Path) -> Iterator[Path]:
    """A folder to fill; at the end of the block it becomes `path`, which is empty or not there. Raises OutputError."""
    import shutil

    path = check_new_folder(path)
    place = make_folder(path.absolute().parent)
    part = place / f"{path.name}.{os.getpid()}.part"
    try:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        yield part
        for file in part.rglob("*"):
            if file.is_file():
                _sync(file)
        part.replace(path)
        logger(__name__).info("written: %s", path)
    except OSError as error:
        raise OutputError(path, _reason(error)) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


class _Raw(io.FileIO):
    """A file whose errors name its final path."""

    def __init__(self, descriptor: int, path: Path) -> None:
        super().__init__(descriptor, "wb")
        self._path = path

    def write(self, data: Any, /) -> int:  # noqa: ANN401 - whatever has a buffer
        try:
            return super().write(data)
        except OSError as error:
            raise OutputError(self._path, _reason(error)) from error


class _Unfinished:
    """A file that is written beside its place; a pipe or a device is written directly."""

    def __init__(self, path: Path) -> None:
        self.asked = path
        self._path = path
        self._beside: Path | None = None
        make_folder(path.absolute().parent)
        try:
            self.stream: IO[bytes] = io.BufferedWriter(_Raw(self._open(), path))
        except OSError as error:
            raise OutputError(path, _reason(error)) from error

    def _open(self) -> int:
        before = self._path.stat() if self._path.exists() else None
        if before is not None and not stat.S_ISREG(before.st_mode):
            return os.open(self._path, os.O_WRONLY | os.O_CLOEXEC)
        self._path = self._path.resolve()  # the target of a link is replaced, not the link
        for attempt in range(_TRIES):  # another process may write the same file, or have left a part of one
            beside = self._path.with_name(f"{self._path.name}.{os.getpid()}-{attempt}.part")
            try:
                descriptor = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
            except FileExistsError:
                continue
            self._beside = beside
            if before is not None:
                with contextlib.suppress(OSError):
                    os.fchmod(descriptor, stat.S_IMODE(before.st_mode))
            return descriptor
        raise FileExistsError(f"{_TRIES} unfinished files are in its place")

    def digest(self) -> str:
        """The digest of what was written so far."""
        try:
            self.stream.flush()
            from .digests import digest_of_stream

            with Path(f"/proc/self/fd/{self.stream.fileno()}").open("rb") as again:
                return digest_of_stream(again)
        except OSError as error:
            raise OutputError(self._path, _reason(error)) from error

    def finish(self) -> None:
        """Synchronise the file to the disk."""
        try:
            self.stream.flush()
            if self._beside is not None:
                os.fsync(self.stream.fileno())
            self.stream.close()
        except OSError as error:
            raise OutputError(self._path, _reason(error)) from error

    def rename(self) -> None:
        """Give the file its name."""
        if self._beside is None:
            return
        try:
            self._beside.replace(self._path)
        except OSError as error:
            raise OutputError(self._path, _reason(error)) from error
        self._beside = None
        logger(__name__).info("written: %s", self._path)
        with contextlib.suppress(OSError):  # not every file system has folders that can be synchronised
            _sync(self._path.parent)

    def discard(self) -> None:
        """Remove the file, unless it has its name."""
        with contextlib.suppress(OSError, OutputError):
            self.stream.close()
        if self._beside is not None:
            self._beside.unlink(missing_ok=True)


def _is_special(path: Path) -> bool:
    """Whether `path` is a pipe, a device or a folder."""
    return path.exists() and not path.is_file()


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
