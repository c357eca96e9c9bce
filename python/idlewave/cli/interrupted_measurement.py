"""A measurement's folder, in which an interrupt or a failure leaves what was recorded."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

from ..termination_signals import ended_by_signals
from .terminal import errors


@contextmanager
def recording_folder(folder: Path | None, shown_by: Mapping[str, str]) -> Iterator[Path]:
    """`folder`, or a temporary one that is deleted in the end, to record into.

    If SIGINT, SIGTERM or any error ends this, such as a failed fit, what was recorded stays in either, and it is said
    where. `shown_by` has the command that shows the folder of a file, by the file's pattern.
    """
    place = folder or Path(mkdtemp(prefix="idlewave-"))
    before = _recorded(place, shown_by)
    kept: dict[Path, str] = {}
    try:
        with ended_by_signals():
            yield place
    except BaseException:
        kept = {
            file.parent: shown_by[p]
            for (p, file), at in _recorded(place, shown_by).items()
            if before.get((p, file)) != at
        }
        for found, command in kept.items():
            errors.print(f"kept: {found}; to show it: {command} {shlex.quote(str(found))}")
        raise
    finally:
        if folder is None and not kept:
            shutil.rmtree(place, ignore_errors=True)


def _recorded(place: Path, patterns: Mapping[str, str]) -> dict[tuple[str, Path], int]:
    """When each file was written, by its pattern."""
    return {(pattern, file): file.stat().st_mtime_ns for pattern in patterns for file in place.glob(pattern)}
