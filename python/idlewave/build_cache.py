"""The cache of compiled programs: each file lies beside its hash, and is used only if its content has that hash.

``IDLEWAVE_CACHE`` names the folder of the cache (default: ``$XDG_CACHE_HOME/idlewave`` or ``~/.cache/idlewave``).
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from .errors import OutputError
from .output import write_text

ELSEWHERE = "name another place with IDLEWAVE_CACHE"


def cache_directory() -> Path:
    """The folder of the cache. Raises OutputError if there is no home directory."""
    if named := os.environ.get("IDLEWAVE_CACHE"):
        return Path(named).absolute()
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "idlewave"
    except RuntimeError as error:
        raise OutputError("~/.cache/idlewave", f"{error}; {ELSEWHERE}") from error


def is_sound(file: Path) -> bool:
    """Whether `file` is there and has the hash that was written with it."""
    try:
        return _sum_file(file).read_text(encoding="utf-8") == _sum_of(file)
    except (OSError, UnicodeDecodeError):
        return False


def keep(unfinished: Path, file: Path) -> None:
    """Rename `unfinished` to `file` once it is on the disk, and then write its hash. Raises OutputError."""
    try:
        with unfinished.open("rb") as written:
            os.fsync(written.fileno())
        for place in (file, _sum_file(file)):
            if place.is_dir() and not place.is_symlink():  # not made by this module; a file cannot replace a folder
                shutil.rmtree(place)
        unfinished.replace(file)
    except OSError as error:
        raise not_kept(file, error.strerror or str(error)) from error
    write_text(_sum_file(file), _sum_of(file))


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of `folder`, which is made if it is not there. Raises OutputError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / ".lock").open("w")
    except OSError as error:
        raise not_kept(folder, error.strerror or str(error)) from error
    with lock:
        with contextlib.suppress(OSError):  # a file system without locks: the last process that compiles wins
            fcntl.lockf(lock, fcntl.LOCK_EX)
        yield


def not_kept(path: Path, reason: str) -> OutputError:
    """The error about a path of the cache that cannot be written."""
    return OutputError(path, f"{reason}; {ELSEWHERE}")


def _sum_file(file: Path) -> Path:
    return file.with_name(f"{file.name}.sha256")


def _sum_of(file: Path) -> str:
    """The line that sha256sum prints for the file."""
    with file.open("rb") as content:
        return f"{hashlib.file_digest(content, 'sha256').hexdigest()}  {file.name}\n"
