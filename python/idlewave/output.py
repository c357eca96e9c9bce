"""The one way out: files that are there whole or not at all.

A file is written beside its place, brought to the disk, and renamed to its name. If anything fails before that, a full
disk or a signal, what had the name before stays, and nothing is left beside it. What is no regular file (a pipe, a
terminal, /dev/null) is written as it is.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from .digests import digest_of_stream
from .errors import OutputError
from .provenance import KEY, provenance_text_of

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

TABLE_ENDINGS = (".parquet", ".csv")
"""What a table's file may end in."""
_TRIES = 1000
_log = logging.getLogger(__name__)


def check_output(path: str | Path) -> Path:
    """`path`, if a file can be made there as far as can be told without making one: before hours are spent for it.

    Raises OutputError that names the path and what is in the way.
    """
    path = Path(path)
    if path.is_dir():
        raise OutputError(path, "it is a directory: expected a name for a file")
    if path.exists() and not path.is_file():
        return path
    check_output_folder(path.absolute().parent, path)
    return path


def check_output_folder(folder: str | Path, told: str | Path | None = None) -> Path:
    """`folder`, if it can be written, or made; errors name `told`, or the folder. Raises OutputError."""
    folder = Path(folder)
    told = folder if told is None else told
    there = folder.absolute()
    while not there.exists() and there != there.parent:
        there = there.parent
    if not there.is_dir():
        raise OutputError(told, f"{there} is not a directory")
    if not os.access(there, os.W_OK | os.X_OK):
        raise OutputError(told, f"nothing may be written in {there}")
    return folder


def make_folder(folder: str | Path) -> Path:
    """`folder`, which is made with those above it if need be. Raises OutputError."""
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(folder, _reason(error)) from error
    return folder


class OutputFiles:
    """Files that belong together: all of them take their places when the block ends, or none does.

    They do so in the order in which they were opened, so what refers to others is opened last. Folders are made.
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
                    file.put()
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
        """Write `value` as JSON, which has neither infinities nor NaN."""
        self.text(path, json.dumps(value, indent=1, allow_nan=False) + "\n")

    def table(
        self, path: str | Path, table: pd.DataFrame | pa.Table, metadata: Mapping[str, str] | None = None
    ) -> None:
        """Write `table` without its index, as its name says: .csv, or else Parquet.

        `metadata`, and the provenance that the table carries, are in the schema of Parquet. CSV has no room for them:
        beside it the provenance is in PATH-metadata.json, where CSV on the Web looks for what concerns a table.
        """
        import pyarrow as pa

        carried = provenance_text_of(table)
        said = ({} if carried is None else {KEY: carried}) | dict(metadata or {})
        if Path(path).suffix == ".csv":
            rows = table.to_pandas() if isinstance(table, pa.Table) else table
            text = rows.to_csv(index=False)
            self.text(path, text)
            if KEY in said and not _is_special(Path(path)):
                from .provenance_in_files import beside_csv, metadata_of_csv

                self.json(beside_csv(Path(path)), metadata_of_csv(Path(path).name, text, said[KEY]))
            return
        from pyarrow import parquet

        columns = table if isinstance(table, pa.Table) else pa.Table.from_pandas(table, preserve_index=False)
        file = self.open(path)
        if said:
            columns = columns.replace_schema_metadata({**(columns.schema.metadata or {}), **said})
        parquet.write_table(columns, file)

    def digest(self, path: str | Path) -> str:
        """Of what was written to `path`, which was opened here, so far: as `digest_of_file` gives it of the file."""
        unfinished = next(file for file in reversed(self._files) if file.asked == Path(path))
        return unfinished.digest()


@contextmanager
def output_file(path: str | Path) -> Iterator[IO[bytes]]:
    """A file to write, which becomes `path` when the block ends. Raises OutputError."""
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
    """Write `table` to `path`, as its name says: see `OutputFiles.table`. Raises OutputError."""
    with OutputFiles() as files:
        files.table(path, table, metadata)


def check_new_folder(path: str | Path) -> Path:
    """`path`, if it can become a folder: it is not there, or empty. Raises OutputError."""
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
    """A folder to fill, which becomes `path`, that is not there or empty, when the block ends. Raises OutputError."""
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
        _log.info("written: %s", path)
    except OSError as error:
        raise OutputError(path, _reason(error)) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


class _Raw(io.FileIO):
    """A file whose errors name the path that it will have."""

    def __init__(self, descriptor: int, path: Path) -> None:
        super().__init__(descriptor, "wb")
        self._path = path

    def write(self, data: Any, /) -> int:  # noqa: ANN401 - whatever has a buffer
        try:
            return super().write(data)
        except OSError as error:
            raise OutputError(self._path, _reason(error)) from error


class _Unfinished:
    """A file that is written beside its place; what is no regular file, at its place."""

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
        self._path = self._path.resolve()  # what a link leads to is replaced, and not the link
        for attempt in range(_TRIES):  # another process may write the same file, or have left something
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
        """Of what was written so far."""
        try:
            self.stream.flush()
            with Path(f"/proc/self/fd/{self.stream.fileno()}").open("rb") as again:
                return digest_of_stream(again)
        except OSError as error:
            raise OutputError(self._path, _reason(error)) from error

    def finish(self) -> None:
        """Brings all to the disk."""
        try:
            self.stream.flush()
            if self._beside is not None:
                os.fsync(self.stream.fileno())
            self.stream.close()
        except OSError as error:
            raise OutputError(self._path, _reason(error)) from error

    def put(self) -> None:
        """Gives it its name."""
        if self._beside is None:
            return
        try:
            self._beside.replace(self._path)
        except OSError as error:
            raise OutputError(self._path, _reason(error)) from error
        self._beside = None
        _log.info("written: %s", self._path)
        with contextlib.suppress(OSError):  # not every file system has folders that can be synchronised
            _sync(self._path.parent)

    def discard(self) -> None:
        """Leaves nothing, unless it has its name."""
        with contextlib.suppress(OSError, OutputError):
            self.stream.close()
        if self._beside is not None:
            self._beside.unlink(missing_ok=True)


def _is_special(path: Path) -> bool:
    """Whether it is there, and no regular file."""
    return path.exists() and not path.is_file()


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
