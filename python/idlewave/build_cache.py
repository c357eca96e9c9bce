"""Where what is compiled is kept: each file beside its hash, and used only while it is what was kept.

``IDLEWAVE_CACHE`` names the place; else it is ``$XDG_CACHE_HOME/idlewave`` or ``~/.cache/idlewave``.
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
    """The place. Raises OutputError if there is no home directory to have it in."""
    if named := os.environ.get("IDLEWAVE_CACHE"):
        return Path(named).absolute()
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "idlewave"
    except RuntimeError as error:
        raise OutputError("~/.cache/idlewave", f"{error}; {ELSEWHERE}") from error


def is_sound(file: Path) -> bool:
    """Whether `file` is there, and is what was kept."""
    try:
        return _sum_file(file).read_text(encoding="utf-8") == _sum_of(file)
    except (OSError, UnicodeDecodeError):
        return False


def keep(unfinished: Path, file: Path) -> None:
    """Make `unfinished` the `file`, on the disk, and then write down its hash. Raises OutputError."""
    try:
        with unfinished.open("rb") as written:
            os.fsync(written.fileno())
        for place in (file, _sum_file(file)):
            if place.is_dir() and not place.is_symlink():  # nothing of ours: no file can take its place
                shutil.rmtree(place)
        unfinished.replace(file)
    except OSError as error:
        raise not_kept(file, error.strerror or str(error)) from error
    write_text(_sum_file(file), _sum_of(file))


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Meanwhile this process alone works in `folder`, which is made if need be. Raises OutputError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / ".lock").open("w")
    except OSError as error:
        raise not_kept(folder, error.strerror or str(error)) from error
    with lock:
        with contextlib.suppress(OSError):  # a file system without locks: each works, and the last one's is kept
            fcntl.lockf(lock, fcntl.LOCK_EX)
        yield


def not_kept(path: Path, reason: str) -> OutputError:
    """The error about a path of the cache that cannot be written."""
    return OutputError(path, f"{reason}; {ELSEWHERE}")


def _sum_file(file: Path) -> Path:
    return file.with_name(f"{file.name}.sha256")


def _sum_of(file: Path) -> str:
    """As sha256sum prints it."""
    with file.open("rb") as content:
        return f"{hashlib.file_digest(content, 'sha256').hexdigest()}  {file.name}\n"
