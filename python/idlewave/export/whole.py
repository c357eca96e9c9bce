"""Files and folders that are there whole or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ..errors import InputError


@contextmanager
def whole_file(path: str | Path) -> Iterator[BinaryIO]:
    """A file to write, which becomes `path` when the block ends. Raises InputError if it cannot be written."""
    path = Path(path)
    part = path.with_name(path.name + ".part")
    try:
        with part.open("wb") as file:
            yield file
        part.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)


def check_new(path: Path) -> None:
    """Raises InputError unless `path` can become a folder: it is not there, or an empty one."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise InputError(f"{path}: expected a folder that is empty or not there yet")


@contextmanager
def whole_folder(path: str | Path) -> Iterator[Path]:
    """A folder to fill, which becomes `path` when the block ends.

    Raises InputError if `path` is there and not empty, or cannot be made.
    """
    path = Path(path)
    part = path.with_name(path.name + ".part")
    try:
        check_new(path)
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        yield part
        part.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
